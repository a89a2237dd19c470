package host

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"hyperscale/core/alert"
	"hyperscale/core/event"
	"hyperscale/core/node"
	"hyperscale/runtime/certs"
	"hyperscale/runtime/outputs/carrier"
)

// alertsEvery is how often a node looks at its certificate and its disk.
const alertsEvery = 5 * time.Second

// Thresholds of alert.DiskLow, in percent of the volume that are free.
const (
	diskLow  = 10
	diskCalm = 12
)

// sinkLate is how long a batch waits for a sink before alert.SinkBehind is raised.
const sinkLate = 5 * time.Minute

// watch judges the alerts that no machine can: it sees neither certificates, nor disks, nor sinks. One goroutine uses it.
type watch struct {
	certs  *certs.Store                                    // nil: there is none
	dir    string                                          // of the data; empty: there is none
	volume func(dir string) (free, size uint64, err error) // in bytes
	sinks  func() []carrier.Stats                          // nil: there are none
	lacks  func() []string                                 // of jobs whose sinks were given up since the last call; nil: it has no jobs
	retell func(id alert.ID, why string)                   // hears why a raised alert stands now, as that changes: each text is another alert to readers of events; nil: nothing does
	board  alert.Board

	looked time.Time // at sinks
}

// look reads all conditions, and returns what has changed.
func (w *watch) look(now node.Instant) (all []event.Alert) {
	why := map[alert.ID]string{}
	see := func(id alert.ID, r alert.Reading, text string) {
		w.board.See(now, id, r)
		why[id] = text
	}
	if w.certs != nil {
		left := w.certs.Left()
		text := "it expires at "
		if left <= 0 {
			text = "it has expired at "
		}
		text += w.certs.Until().UTC().Format(time.RFC3339)
		see(alert.CertificateExpires, alert.Whether(left < w.certs.Soon()), text)
		if w.retell != nil && left < w.certs.Soon() && w.board.On().Has(alert.CertificateExpires) {
			w.retell(alert.CertificateExpires, text)
		}
	}
	if w.dir != "" {
		free, size, err := w.volume(w.dir)
		reading, text := alert.Unknown, ""
		if err == nil && size > 0 {
			share := int(100 * (float64(free) / float64(size)))
			reading, text = alert.Of(-share, 1-diskLow, 1-diskCalm), fmt.Sprintf("%d %% of the volume of %s are free", share, w.dir)
		}
		see(alert.DiskLow, reading, text)
	}
	var lost []string
	if w.sinks != nil {
		behind, late, lacking := w.lookAtSinks()
		lost = lacking
		see(alert.SinkBehind, alert.Whether(late), behind)
	}
	if w.lacks != nil {
		lost = append(lost, w.lacks()...)
	}
	text := "no sink has lost rows since"
	if len(lost) > 0 {
		text = "sink " + strings.Join(lost, ", ")
	}
	see(alert.SinkLost, alert.Whether(len(lost) > 0), text)
	for _, c := range w.board.Judge(alert.Follows, 0) {
		all = append(all, c.Event("", why[c.ID]))
	}
	return all
}

// lookAtSinks finds the sink that is behind most, whether that is too long, and those that have lost rows since the last look.
func (w *watch) lookAtSinks() (behind string, late bool, lost []string) {
	var worst carrier.Stats
	newest := w.looked
	for _, s := range w.sinks() {
		if s.Behind > worst.Behind {
			worst = s
		}
		if s.LostAt.After(w.looked) {
			lost = append(lost, fmt.Sprintf("%s (%d rows so far, with %d requests)", s.Sink, s.Total.Lost, s.Total.LostRequests))
		}
		if s.LostAt.After(newest) {
			newest = s.LostAt
		}
	}
	w.looked = newest
	behind = "no batch waits"
	if worst.Sink != "" {
		behind = fmt.Sprintf("a batch for sink %s has waited for %v: %s", worst.Sink, worst.Behind.Round(time.Second), cmp.Or(worst.Why, "no try has failed"))
	}
	return behind, worst.Behind >= sinkLate, lost
}

// volumeAt is what a user without rights may write to a volume, and its size.
func volumeAt(dir string) (free, size uint64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, 0, err
	}
	return s.Bavail * uint64(s.Bsize), s.Blocks * uint64(s.Bsize), nil
}

// watchHost reports what the watch finds, until the node ends.
func (n *Node) watchHost() {
	w := &watch{certs: n.doors.certs.held(), dir: n.options.DataDir, volume: volumeAt, retell: n.work.retell}
	if n.sinks != nil {
		w.sinks = n.sinks.Stats
	}
	if n.self.Role == node.RoleGate { // it may own jobs whose sinks it does not have
		w.lacks = n.work.takeLacks
	}
	look := time.NewTicker(alertsEvery)
	defer look.Stop()
	for {
		for _, e := range w.look(n.loop.Now()) {
			n.observe(n.loop.Now(), e)
		}
		select {
		case <-n.done:
			return
		case <-look.C:
		}
	}
}
