package export

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/snappy"
	"google.golang.org/protobuf/encoding/protowire"

	"hyperscale/core/message"
)

// receiver is a server that accepts remote writes, or gives the configured answer.
type receiver struct {
	*httptest.Server
	mu        sync.Mutex
	answers   []int // of the next requests; then 204
	requests  int
	samples   map[string][]float64
	user      string
	because   string // what it says
	times     map[string]int64
	unordered int
}

// wait does something until the server has had so many requests.
func (r *receiver) wait(t *testing.T, requests int, do func()) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		do()
		r.mu.Lock()
		n := r.requests
		r.mu.Unlock()
		if n >= requests {
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("%d requests, want %d", n, requests)
		}
	}
}

func newReceiver(t *testing.T, answers ...int) *receiver {
	r := &receiver{answers: answers, samples: map[string][]float64{}, times: map[string]int64{}, because: "because\x1b[2J"}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.requests++
		status := http.StatusNoContent
		if len(r.answers) > 0 {
			status, r.answers = r.answers[0], r.answers[1:]
		}
		packed, _ := io.ReadAll(q.Body)
		body, err := snappy.Decode(nil, packed)
		if err != nil || q.URL.Path != writePath || q.Header.Get("X-Prometheus-Remote-Write-Version") != "0.1.0" {
			t.Errorf("%v, path %s", err, q.URL.Path)
		}
		r.user, _, _ = q.BasicAuth()
		if status == http.StatusNoContent {
			for _, one := range fields(t, body)[1] {
				name := ""
				for _, l := range fields(t, one)[1] {
					pair := fields(t, l)
					name += fmt.Sprintf("%s=%s ", pair[1][0], pair[2][0])
				}
				sample := fields(t, one)[2][0]
				bits, size := protowire.ConsumeFixed64(sample[1:])
				at, _ := protowire.ConsumeVarint(sample[1+size+1:])
				if age := time.Since(time.UnixMilli(int64(at))); age < -time.Second || age > time.Minute {
					t.Errorf("a sample of %v ago", age)
				}
				if last, ok := r.times[name]; ok && int64(at) == last {
					continue // an update whose answer the end of the run cut off comes again, and changes nothing
				}
				if int64(at) < r.times[name] {
					r.unordered++
				}
				r.times[name] = int64(at)
				r.samples[name] = append(r.samples[name], math.Float64frombits(bits))
			}
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, r.because)
	}))
	t.Cleanup(r.Close)
	return r
}

// fields returns the fields of a message that have a length; the values of a sample follow its
// bytes.
func fields(t *testing.T, b []byte) map[protowire.Number][][]byte {
	all := map[protowire.Number][][]byte{}
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			t.Errorf("no tag in %x", b)
			return all
		}
		b = b[n:]
		size := protowire.ConsumeFieldValue(number, kind, b)
		if size < 0 {
			t.Errorf("no value in %x", b)
			return all
		}
		if kind == protowire.BytesType {
			v, _ := protowire.ConsumeBytes(b)
			all[number] = append(all[number], v)
		}
		b = b[size:]
	}
	return all
}

func newPusher(t *testing.T, address string) (p *Pusher, told *[]string) {
	t.Helper()
	r, err := NewRemote(address)
	if err != nil {
		t.Fatal(err)
	}
	told = new([]string)
	p = NewPusher(r, func(format string, args ...any) { *told = append(*told, fmt.Sprintf(format, args...)) })
	p.wait = time.Millisecond
	return p, told
}

func TestPusher(t *testing.T) {
	server := newReceiver(t)
	p, told := newPusher(t, strings.Replace(server.URL, "http://", "http://me:mine@", 1))
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	p.every = time.Millisecond
	s := &message.JobStatus{Job: message.JobID{1}, Name: "shop.star", State: message.JobRunning, Datacenters: messageResult().Datacenters}
	for limit := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		p.Apply(s)
		server.mu.Lock()
		n := server.requests
		server.mu.Unlock()
		if n > 3 {
			break
		}
		if time.Now().After(limit) {
			t.Fatalf("%d requests while it runs, want more than the check", n)
		}
	}
	if err := p.Finish(t.Context(), result(t)); err != nil {
		t.Fatal(err)
	}
	name := "__name__=hyperscale_job_state run=04000000000000000000000000 state=RUNNING test=shop.star "
	if got := server.samples[name]; len(got) < 2 || got[0] != 1 || server.user != "me" {
		t.Errorf("%v for %s, user %q", got, name, server.user)
	}
	if len(*told) > 0 {
		t.Errorf("told %q, and all went well", *told)
	}
	series, text := map[string]bool{}, 0
	for name := range server.samples {
		if strings.Contains(name, "test=load/") { // of the end
			series[name] = true
		}
	}
	b, _ := Prometheus(result(t))
	for line := range strings.Lines(string(b)) {
		if line[0] != '#' {
			text++
		}
	}
	if len(series) != text {
		t.Errorf("%d series at the end, and %d lines of text", len(series), text)
	}
}

// TestPusherTriesAgain: a busy server gets the end later. The pusher does not ask a server
// again that rejects it, and shows no address and no control character.
func TestPusherTriesAgain(t *testing.T) {
	server := newReceiver(t, 503, 429)
	p, _ := newPusher(t, server.URL)
	if err := p.Finish(t.Context(), result(t)); err != nil || server.requests != 3 {
		t.Errorf("%v after %d requests, want none after 3", err, server.requests)
	}
	server = newReceiver(t, 404, 404)
	p, _ = newPusher(t, strings.Replace(server.URL, "http://", "http://me:mine@", 1))
	err := p.Finish(t.Context(), result(t))
	if err == nil || server.requests != 1 || strings.ContainsAny(err.Error(), "\x1b@") || !strings.Contains(err.Error(), "--web.enable-remote-write-receiver") {
		t.Errorf("%q after %d requests", err, server.requests)
	}
}

// TestPusherTellsOnce: the pusher reports the first failure during the run, and nothing at the end if all arrived later: each
// update at its own time, in order.
func TestPusherTellsOnce(t *testing.T) {
	server := newReceiver(t, 500, 500, 500)
	p, told := newPusher(t, server.URL)
	p.every = time.Millisecond
	server.wait(t, 5, func() { p.Apply(&message.JobStatus{Job: message.JobID{1}, State: message.JobRunning}) })
	if err := p.Finish(t.Context(), result(t)); err != nil {
		t.Fatal(err)
	}
	if len(*told) != 1 || !strings.Contains((*told)[0], "updates wait for the server") {
		t.Errorf("told %q, want the first failure", *told)
	}
	if n := len(server.samples["__name__=hyperscale_job_state run=04000000000000000000000000 state=RUNNING "]); n != p.updates || n < 3 { // the end is its stale value
		t.Errorf("%d of %d updates arrived", n, p.updates)
	}
	if server.unordered > 0 {
		t.Errorf("%d samples came behind younger ones", server.unordered)
	}
}

// TestPusherMisses: an update that the server rejects for ever is missing, and the next ones and the end arrive. One that the server
// has, as it says, is not missing.
func TestPusherMisses(t *testing.T) {
	server := newReceiver(t, http.StatusRequestEntityTooLarge)
	p, told := newPusher(t, server.URL)
	p.every = time.Millisecond
	server.wait(t, 3, func() { p.Apply(&message.JobStatus{Job: message.JobID{1}, State: message.JobRunning}) })
	if err := p.Finish(t.Context(), result(t)); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("1 of %d updates did not arrive: the server answered 413", p.updates); len(*told) != 2 || !strings.Contains((*told)[1], want) {
		t.Errorf("told %q, want %s", *told, want)
	}
	for answer, missing := range map[string]bool{"duplicate sample for timestamp": false, "out of order sample": true, "label name is invalid": true} {
		server := newReceiver(t, http.StatusBadRequest)
		server.because = answer
		p, _ := newPusher(t, server.URL)
		if err := p.Finish(t.Context(), result(t)); err != nil != missing || server.requests != 1 {
			t.Errorf("%s: %v after %d requests", answer, err, server.requests)
		}
	}
}

// TestPusherPassesConflicts: an update to which a server answers with a conflict does not stop those behind it.
func TestPusherPassesConflicts(t *testing.T) {
	server := newReceiver(t, http.StatusConflict)
	p, told := newPusher(t, server.URL)
	p.every = time.Millisecond
	server.wait(t, 3, func() { p.Apply(&message.JobStatus{Job: message.JobID{1}, State: message.JobRunning}) })
	if err := p.Finish(t.Context(), result(t)); err != nil || p.backlog.missing != 1 {
		t.Fatalf("%v, %d missing, told %q", err, p.backlog.missing, *told)
	}
}

// TestBacklogTimesRise: updates of one moment, and of a clock that goes back, have times that rise by one millisecond.
func TestBacklogTimesRise(t *testing.T) {
	all := []series{{labels{{"__name__", "a"}}, 1}}
	var b backlog
	for _, ms := range []int64{1000, 1000, 400, 2000} {
		b.append(all, time.UnixMilli(ms))
	}
	for i, ms := range []int64{1000, 1001, 1002, 2000} {
		if got, err := snappy.Decode(nil, b.waiting[i].requests[0]); err != nil || string(got) != string(encode(all, time.UnixMilli(ms))) {
			t.Errorf("update %d is not of %d ms: %v", i, ms, err)
		}
	}
}

// TestPusherEndsSeries: a series that the end does not have is stale from then on, once, and no other one is.
func TestPusherEndsSeries(t *testing.T) {
	server := newReceiver(t)
	p, _ := newPusher(t, server.URL)
	server.wait(t, 1, func() { p.Apply(&message.JobStatus{Job: message.JobID{1}, State: message.JobRunning}) })
	if err := p.Finish(t.Context(), result(t)); err != nil {
		t.Fatal(err)
	}
	ended := 0
	for name, samples := range server.samples {
		last := math.Float64bits(samples[len(samples)-1])
		if last == stale {
			ended++
		}
		if of := strings.Contains(name, "test=load/"); of == (last == stale) {
			t.Errorf("%s ends with %x", name, last)
		}
	}
	if ended == 0 {
		t.Error("no series is stale")
	}
}

// TestBacklogIsBounded: the oldest updates go when there is no room, and are counted.
func TestBacklogIsBounded(t *testing.T) {
	var b backlog
	all := make([]series, 20_000)
	const updates = 100
	for i := range updates {
		for k := range all {
			all[k] = series{labels{{"__name__", fmt.Sprintf("%x", uint64(i*len(all)+k+1)*0x9e3779b97f4a7c15)}}, float64(k)}
		}
		b.append(all, time.UnixMilli(int64(i)))
	}
	sum := 0
	for _, u := range b.waiting {
		sum += u.bytes
	}
	if b.missing == 0 || b.missing+len(b.waiting) != updates || b.bytes != sum || sum > backlogMax || sum < backlogMax*9/10 {
		t.Errorf("%d missing, %d wait in %d bytes, which are %d", b.missing, len(b.waiting), b.bytes, sum)
	}
}

func TestDiscreet(t *testing.T) {
	for address, want := range map[string]string{
		"http://me:mine@h:1/p?token=mine#mine": "http://hidden@h:1/p?hidden",
		"http://h/p":                           "http://h/p",
		"http://me:m%zzine@h/":                 "hidden",
		"result.csv":                           "result.csv",
	} {
		if got := Discreet(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

// A server that answers each update slowly holds the end up for its bound at most, and an interrupt ends the wait.
func TestTheEndOfABacklogIsBounded(t *testing.T) {
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-q.Context().Done():
		}
	}))
	defer slow.Close()
	for what, interrupt := range map[string]time.Duration{"given up after 300ms": time.Hour, "interrupted": 300 * time.Millisecond} {
		r, err := NewRemote(slow.URL)
		if err != nil {
			t.Fatal(err)
		}
		told := ""
		p := NewPusher(r, func(format string, args ...any) { told += fmt.Sprintf(format, args...) })
		p.most = time.Hour
		if interrupt > p.most/2 {
			p.most = 300 * time.Millisecond
		}
		for n := range 200 {
			p.backlog.add(Families(&Snapshot{Result: result(t)}), time.Unix(int64(n), 0))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		time.AfterFunc(interrupt, cancel)
		began := time.Now()
		err = p.Finish(ctx, result(t))
		cancel()
		if took := time.Since(began); took > 5*time.Second || err == nil || !strings.Contains(err.Error(), what) || !strings.Contains(told, "did not arrive") {
			t.Errorf("after %v: %v, %q: want %q", took, err, told, what)
		}
	}
}
