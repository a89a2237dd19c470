package export

import (
	"context"
	"errors"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/snappy"
	dto "github.com/prometheus/client_model/go"
)

// backlogMax bounds what waits for a server, in bytes of requests: some 100 updates of a large job.
const backlogMax = 8 << 20

// stale is the value by which Prometheus ends a series.
const stale = 0x7ff0000000000002

// update is what all series were at one moment, as requests that are ready to be sent.
type update struct {
	requests [][]byte
	bytes    int
}

// backlog holds the updates that a server has not taken, the oldest first: a server takes samples of a series in their order.
type backlog struct {
	waiting []update
	bytes   int
	newest  int64 // the time of the update that was added last, in ms
	missing int   // updates that the server never takes, or that had no room
	last    error // why the server never takes the update that was sent last; nil: it took it
	seen    map[string]labels
}

// add appends what all metrics are at one moment. An update that has no room takes that of the oldest one: counters say later what it said.
func (b *backlog) add(families []*dto.MetricFamily, at time.Time) {
	all := seriesOf(families)
	if b.seen == nil {
		b.seen = map[string]labels{}
	}
	for _, s := range all {
		b.seen[s.labels.key()] = s.labels
	}
	b.append(all, at)
}

// end appends the end. A series that the end does not have is stale from then on, else a server shows its last value for minutes.
func (b *backlog) end(families []*dto.MetricFamily, at time.Time) {
	all := seriesOf(families)
	for _, s := range all {
		delete(b.seen, s.labels.key())
	}
	for _, key := range slices.Sorted(maps.Keys(b.seen)) {
		all = append(all, series{b.seen[key], math.Float64frombits(stale)})
	}
	b.append(all, at)
}

// append gives each update a time of its own, behind that of the last one, also when the clock goes back: a server rejects
// two values of a series at one time, and an older one.
func (b *backlog) append(all []series, at time.Time) {
	b.newest = max(at.UnixMilli(), b.newest+1)
	at = time.UnixMilli(b.newest)
	var u update
	for part := range slices.Chunk(all, seriesMax) {
		body := snappy.Encode(nil, encode(part, at))
		u.requests, u.bytes = append(u.requests, body), u.bytes+len(body)
	}
	b.waiting, b.bytes = append(b.waiting, u), b.bytes+u.bytes
	for b.bytes > backlogMax && len(b.waiting) > 1 {
		b.drop()
		b.missing++
	}
}

func (b *backlog) drop() {
	b.bytes -= b.waiting[0].bytes
	b.waiting = b.waiting[1:]
}

// send sends what waits, and returns an error if the server takes no more now. An update that it never takes is missing, and
// the next one follows it. What the server took of an update is not sent again.
func (b *backlog) send(ctx context.Context, r *Remote) error {
	for len(b.waiting) > 0 {
		u := &b.waiting[0]
		b.last = nil
		for len(u.requests) > 0 && b.last == nil {
			err := r.send(ctx, u.requests[0])
			switch {
			case err == nil || taken(err):
				n := len(u.requests[0])
				b.bytes, u.bytes, u.requests = b.bytes-n, u.bytes-n, u.requests[1:]
			case unfit(err):
				b.last = err
				b.missing++
			default:
				return err
			}
		}
		b.drop()
	}
	return nil
}

// taken says that a server rejects samples since it has them: a try whose answer was lost had arrived. What is out of order is
// not there: another sender has written younger samples of these series.
func taken(err error) bool {
	var refused *refusedError
	return errors.As(err, &refused) && (refused.status == http.StatusBadRequest || refused.status == http.StatusConflict) && strings.Contains(refused.text, "duplicate sample")
}

// unfit says that a server never takes this update, and may take others. Thanos answers 409 to samples that are out of order.
func unfit(err error) bool {
	var refused *refusedError
	if !errors.As(err, &refused) {
		return false
	}
	switch refused.status {
	case http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return true
	}
	return false
}

// key names a series.
func (l labels) key() string {
	var b strings.Builder
	for _, one := range l {
		b.WriteString(one.name + "\x00" + one.value + "\x00")
	}
	return b.String()
}
