package engine

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/protocol/hostile"
	"hyperscale/runtime/protocol/hostile/authority"
	"hyperscale/runtime/protocol/http1"
)

// trial2 is one entry of the catalogue of HTTP/2. One virtual user runs as many concurrent
// steps as the entry has requests. On the path "looked" a check gets the answers, on "function"
// functions send the requests.
type trial2 struct {
	trial
	entry hostile.HTTP2Entry
}

func trials2() []*trial2 {
	var all []*trial2
	for _, e := range hostile.HTTP2() {
		for _, path := range []string{"counted", "looked", "function"} {
			all = append(all, &trial2{entry: e, trial: trial{path: path}})
		}
	}
	return all
}

// Every behaviour of the catalogue, on both paths, concurrently: they mostly wait.
func TestCatalogueOfHostileHTTP2(t *testing.T) {
	authority.Roots()
	before := descriptors(t)
	all := trials2()
	var running sync.WaitGroup
	slots := make(chan struct{}, catalogueAtOnce)
	for _, tr := range all {
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			tr.run()
		})
	}
	running.Wait()
	for _, tr := range all {
		for tries := 0; len(tr.faults) > 0 && tries < 3; tries++ { // other tests may have kept the machine too busy
			t.Logf("%s/%s, again alone: %s", tr.entry.Name, tr.path, strings.Join(tr.faults, "; "))
			tr.faults = nil
			tr.run()
		}
		if len(tr.faults) > 0 {
			t.Errorf("%s/%s: %s", tr.entry.Name, tr.path, strings.Join(tr.faults, "; "))
		}
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
	t.Logf("%d entries, %d runs", len(hostile.HTTP2()), len(all))
}

// The engine bounds what it holds of an answer, however much a server sends.
func TestHTTP2FloodsFillNoMemory(t *testing.T) {
	var before, after runtime.MemStats
	for _, tr := range trials2() {
		if !tr.entry.Flood {
			continue
		}
		runtime.ReadMemStats(&before)
		tr.run()
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 4<<20 || len(tr.faults) > 0 {
			t.Errorf("%s/%s: %d KiB were allocated; %s", tr.entry.Name, tr.path, got>>10, strings.Join(tr.faults, "; "))
		}
	}
}

func (tr *trial2) late() bool {
	for _, w := range tr.entry.Want {
		if w.Late() {
			return true
		}
	}
	return false
}

// run gives an entry that needs the deadline a longer one if the machine was busy.
func (tr *trial2) run() {
	tr.deadline = catalogueDeadline
	for tr.play(); tr.late() && len(tr.faults) > 0 && tr.deadline < cataloguePatience/8; tr.play() {
		tr.deadline *= 4
		tr.faults = nil
	}
}

func (tr *trial2) play() {
	s, err := hostile.StartHTTP2(&tr.entry)
	if err != nil {
		tr.fault("start the server: %v", err)
		return
	}
	closed := sync.OnceFunc(s.Close)
	defer closed()
	ctx, cancel := context.WithTimeout(context.Background(), cataloguePatience)
	defer cancel()
	go func() {
		select {
		case <-s.Proved():
			cancel()
		case <-ctx.Done():
		}
	}()
	seen, result, err := tr.ask(ctx, s)
	if err != nil {
		tr.fault("run: %v", err)
		return
	}
	if ctx.Err() == context.DeadlineExceeded {
		tr.fault("no request was right in %v", cataloguePatience)
	}
	closed()
	tr.judge(s, result.Stats.Steps[:len(tr.entry.Want)], seen)
}

func (tr *trial2) ask(ctx context.Context, s *hostile.Server) ([]*workflow.Response, *message.ExecResult, error) {
	var steps []workflow.Step
	var after []uint32
	var requests []*request.Request
	for i := range tr.entry.Want {
		step := get(string(rune('a'+i)), s.URL()+"/")
		if tr.entry.Method != "" {
			step.Request.Method = tr.entry.Method
		}
		step.Request.Body = zeros[:tr.entry.Body]
		requests = append(requests, step.Request)
		if tr.path == "function" {
			step = other(step.Plan.Name, message.StepFunction)
		}
		steps, after = append(steps, step), append(after, uint32(i))
	}
	if tr.path == "looked" {
		for i := range tr.entry.Want {
			steps = append(steps, other("look", message.StepCheck, after[i]))
		}
	}
	w := flow(steps...)
	w.HTTP.Version = request.Version2
	cfg := Config{Workflow: w, VUs: 1, Duration: time.Hour, Timeout: cataloguePatience}
	if tr.late() {
		cfg.Timeout = tr.deadline
	}
	g, err := newGraph(cfg)
	if err == nil {
		var l *loop
		if l, err = newLoop(cfg, g); err == nil {
			l.Handshakes.Tls.RootCAs = authority.Roots()
			var seen []*workflow.Response
			calls := looks(len(tr.entry.Want), &seen)
			for i, r := range requests {
				var call http1.Call
				if call, err = compile(r); err != nil {
					return nil, nil, err
				}
				l.Dialer.Host(&call).Addrs = s.Addresses()
				calls[i] = asks(r, new([]*workflow.Response))
			}
			l.functions.scripts = func(id uint64, c workflow.Client) script { return &play{id: id, client: c, calls: calls} }
			result, err := l.play(ctx)
			return seen, result, err
		}
	}
	return nil, nil, err
}

// looks returns checks that record the answers that they get.
func looks(n int, seen *[]*workflow.Response) map[int]func(*play) workflow.Outcome {
	all := map[int]func(*play) workflow.Outcome{}
	for i := range n {
		all[n+i] = func(p *play) workflow.Outcome {
			*seen = append(*seen, p.answers[i])
			return workflow.Outcome{OK: true}
		}
	}
	return all
}

// judge compares the steps with what the entry wants: a bad iteration, a good one, and one that
// is cancelled once the server knows that the good one succeeded.
func (tr *trial2) judge(s *hostile.Server, steps []message.StepStats, seen []*workflow.Response) {
	requests, _, again := s.Counts()
	var started, unseen, cancelled uint64
	for i, w := range tr.entry.Want {
		a := &steps[i]
		started += a.Started
		cancelled += a.Cancelled
		if a.Started != a.OK+a.Failed+a.TimedOut+a.Cancelled {
			tr.fault("started %d is not ok %d + failed %d + timed out %d + cancelled %d", a.Started, a.OK, a.Failed, a.TimedOut, a.Cancelled)
		}
		kind, good, bad := string(w.Kind), uint64(1), uint64(1)
		switch {
		case w.Kind == http1.KindStatus:
			kind = measure.StatusKind(w.Status)
		case w.Kind == http1.KindNone:
			good, bad = 2, 0
		}
		if w.Unseen {
			unseen++
		}
		if a.OK != good || a.Failed+a.TimedOut != bad || kinds(*a)[kind] != bad || w.Late() != (a.TimedOut > 0) || a.Cancelled > 1 {
			tr.fault("request %d: ok %d, failed %d, timed out %d, cancelled %d: %v, want ok %d and %d of %q", i, a.OK, a.Failed, a.TimedOut, a.Cancelled, a.Errors, good, bad, kind)
		}
	}
	// A function has also started if its request is cancelled before a stream is free.
	most := uint64(requests) + unseen
	if tr.path == "function" {
		most += cancelled
	}
	if started < uint64(requests)+unseen || started > most {
		tr.fault("started %d, the server saw %d, and %d could not be seen", started, requests, unseen)
	}
	if again != tr.entry.Reused {
		tr.fault("the connection was used again: %v, want %v", again, tr.entry.Reused)
	}
	if tr.path == "looked" {
		tr.judgeAnswers(seen)
	}
}

// judgeAnswers compares the whole answers of the first iteration with the expected ones.
func (tr *trial2) judgeAnswers(seen []*workflow.Response) {
	for _, w := range tr.entry.Want {
		if w.Kind != http1.KindNone {
			continue
		}
		if len(seen) == 0 || seen[0].Status != w.Status || int64(len(seen[0].Body)) != w.Body {
			tr.fault("answers %+v, want %+v first", seen, w)
			return
		}
		seen = seen[1:]
	}
}
