package engine

import (
	"context"
	"fmt"
	"runtime"
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

const (
	catalogueDeadline = 200 * time.Millisecond // of requests that must exceed it
	cataloguePatience = 30 * time.Second       // of all others: a busy machine, or the race detector, causes no timeout
	catalogueAtOnce   = 48
	catalogueTries    = 4
)

// trial is one entry of the catalogue on one path.
type trial struct {
	entry    hostile.Entry
	path     string
	deadline time.Duration
	faults   []string
}

func (tr *trial) fault(format string, args ...any) {
	tr.faults = append(tr.faults, fmt.Sprintf(format, args...))
}

func trials() []*trial {
	var all []*trial
	for _, e := range hostile.All() {
		if e.Ask.Redirects == 0 {
			all = append(all, &trial{entry: e, path: "counted"})
		}
		all = append(all, &trial{entry: e, path: "kept"}, &trial{entry: e, path: "function"})
	}
	return all
}

// Every behaviour of the catalogue, on every path that can meet it, concurrently: they mostly
// wait.
func TestCatalogueOfHostileServers(t *testing.T) {
	authority.Roots()
	before := descriptors(t)
	all := trials()
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
		t.Run(tr.entry.Name+"/"+tr.path, func(t *testing.T) {
			for _, f := range tr.faults {
				t.Error(f)
			}
		})
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
	t.Logf("%d entries, %d runs", len(hostile.All()), len(all))
}

// floodKept bounds what a flood may make a client allocate, servers included, where it counts
// answers and where it keeps bodies. A body that grows up to its limit is copied while it
// grows.
var floodKept = map[string]uint64{"counted": 4 << 20, "kept": 8 * http1.BodyLimitDefault, "function": 8 * http1.BodyLimitDefault}

// The engine bounds what it holds of an answer, however much a server sends.
func TestFloodsFillNoMemory(t *testing.T) {
	var before, after runtime.MemStats
	for _, tr := range trials() {
		if !tr.entry.Flood {
			continue
		}
		t.Run(tr.entry.Name+"/"+tr.path, func(t *testing.T) {
			runtime.ReadMemStats(&before)
			tr.run()
			runtime.ReadMemStats(&after)
			for _, f := range tr.faults {
				t.Error(f)
			}
			if got := after.TotalAlloc - before.TotalAlloc; got > floodKept[tr.path] {
				t.Errorf("%d KiB were allocated", got>>10)
			}
		})
	}
}

// run plays an entry again if the machine was too busy for it. The deadline is longer if the
// server had not played its part in time, or if the server was late.
func (tr *trial) run() {
	tr.deadline = catalogueDeadline
	for range catalogueTries {
		tr.faults = nil
		late := tr.play()
		if len(tr.faults) == 0 || !late && !tr.want().Late() {
			return
		}
		tr.deadline *= 4
	}
}

// play reports whether the server was late.
func (tr *trial) play() (late bool) {
	s, err := hostile.Start(&tr.entry)
	if err != nil {
		tr.fault("start the server: %v", err)
		return false
	}
	closed := sync.OnceFunc(s.Close)
	defer closed()
	ctx, cancel := context.WithTimeout(context.Background(), cataloguePatience)
	defer cancel()
	if !tr.entry.Ask.Once {
		go func() {
			select {
			case <-s.Proved():
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	seen, result, err := tr.ask(ctx, s)
	if err != nil {
		tr.fault("run: %v", err)
		return false
	}
	if ctx.Err() == context.DeadlineExceeded {
		tr.fault("no request was right in %v", cataloguePatience)
	}
	closed() // then the count includes all that arrived
	tr.judge(s, &result.Stats.Steps[0], seen)
	if result.Stats.Active != 0 {
		tr.fault("%d virtual users are left", result.Stats.Active)
	}
	return s.Late()
}

var zeros [8 << 20]byte // content of sent bodies

// ask runs the workflow; if answers are kept, a check gets every good one.
func (tr *trial) ask(ctx context.Context, s *hostile.Server) ([]*workflow.Response, *message.ExecResult, error) {
	ask := tr.entry.Ask
	step := get("a", s.URL()+"/")
	if ask.Method != "" {
		step.Request.Method = ask.Method
	}
	step.Request.Body, step.Request.Redirects = zeros[:ask.Body], ask.Redirects
	request := step.Request
	if tr.path == "function" {
		step = other("a", message.StepFunction)
	}
	w := flow(step)
	w.Plan.Think = ask.Pause
	cfg := Config{Workflow: w, VUs: 1, Duration: time.Hour, Timeout: cataloguePatience}
	if ask.Once {
		cfg.Duration = 0
	}
	if tr.want().Late() {
		cfg.Timeout = tr.deadline
	}
	if tr.path == "kept" {
		w.Steps = append(w.Steps, other("look", message.StepCheck, 0))
	}
	g, err := newGraph(cfg)
	if err == nil {
		err = g.resolve(ctx, time.Second)
	}
	if err != nil {
		return nil, nil, err
	}
	var seen []*workflow.Response
	l, err := newLoop(cfg, g)
	if err != nil {
		return nil, nil, err
	}
	call, err := compile(request)
	if err != nil {
		return nil, nil, err
	}
	l.Dialer.Host(&call).Addrs = s.Addresses()
	l.Handshakes.Tls.RootCAs = authority.Roots()
	l.functions.scripts = func(id uint64, c workflow.Client) script {
		return &play{id: id, client: c, calls: map[int]func(*play) workflow.Outcome{0: asks(request, &seen), 1: func(p *play) workflow.Outcome {
			seen = append(seen, p.answers[0])
			return workflow.Outcome{OK: true}
		}}}
	}
	result, err := l.play(ctx)
	return seen, result, err
}

// asks is a function step that sends a request, and records every good answer.
func asks(r *request.Request, seen *[]*workflow.Response) func(*play) workflow.Outcome {
	return func(p *play) workflow.Outcome {
		a := p.client.Do(r, nil)
		switch {
		case a.Kind != "":
			return workflow.Outcome{Response: a, Kind: a.Kind, Detail: a.Error}
		case a.Status >= 400:
			return workflow.Outcome{Response: a, Kind: measure.StatusKind(a.Status)}
		}
		*seen = append(*seen, a)
		return workflow.Outcome{Response: a, OK: true}
	}
}

func (tr *trial) want() hostile.Want {
	if tr.path != "counted" && tr.entry.Kept != nil {
		return *tr.entry.Kept
	}
	return tr.entry.Want
}

// judge compares the step with what the entry wants. A run ends with a cancelled request: then
// the server knows that the earlier one succeeded.
func (tr *trial) judge(s *hostile.Server, a *message.StepStats, seen []*workflow.Response) {
	want := tr.want()
	seenAt, hops, again := s.Counts()
	requests := uint64(seenAt)
	if a.Started != a.OK+a.Failed+a.TimedOut+a.Cancelled {
		tr.fault("started %d is not ok %d + failed %d + timed out %d + cancelled %d", a.Started, a.OK, a.Failed, a.TimedOut, a.Cancelled)
	}
	if want.Unseen {
		requests++
	}
	// More of them may have timed out on a busy machine before the server saw them.
	if late := want.Late() && a.TimedOut > 1; a.Started != requests && (!late || a.Started < requests) || hops != want.Hops {
		tr.fault("started %d, the server saw %d and %d hops, want %d hops", a.Started, requests, hops, want.Hops)
	}
	tr.judgeCounts(want, a)
	if again != want.Reused {
		tr.fault("the connection was used again: %v, want %v", again, want.Reused)
	}
	if tr.path != "counted" {
		tr.judgeAnswers(want, seen)
	}
}

func (tr *trial) judgeCounts(want hostile.Want, a *message.StepStats) {
	kind := string(want.Kind)
	if want.Kind == http1.KindStatus {
		kind = measure.StatusKind(want.Status)
	}
	good, bad, cancelled := uint64(tr.entry.Ask.After+1), uint64(1), uint64(1)
	if want.Kind == http1.KindNone {
		good, bad = good+1, 0
	}
	if tr.entry.Ask.Once {
		good, cancelled = 0, 0
	}
	switch failed := a.Failed + a.TimedOut; {
	case want.Late(): // a busy machine may be late more often, also instead of being cancelled
		if a.TimedOut == 0 || a.TimedOut != failed || kinds(*a)[kind] == 0 || a.OK < good || a.Cancelled > cancelled {
			tr.fault("ok %d, failed %d, timed out %d, cancelled %d: %v, want %s", a.OK, a.Failed, a.TimedOut, a.Cancelled, a.Errors, kind)
		}
	case a.OK != good || failed != bad || kinds(*a)[kind] != bad || a.TimedOut > 0 || a.Cancelled != cancelled:
		tr.fault("ok %d, failed %d, timed out %d, cancelled %d: %v, want ok %d and %d of %q", a.OK, a.Failed, a.TimedOut, a.Cancelled, a.Errors, good, bad, kind)
	}
	for _, s := range a.Statuses {
		if s.Status != 200 && int(s.Status) != want.Status && !isRedirect(int(s.Status)) {
			tr.fault("statuses %v, want %d", a.Statuses, want.Status)
		}
	}
}

func (tr *trial) judgeAnswers(want hostile.Want, seen []*workflow.Response) {
	hit := tr.entry.Ask.After
	for i, r := range seen {
		if want.Kind == http1.KindNone && i == hit {
			if r.Status != want.Status || int64(len(r.Body)) != want.Body {
				tr.fault("status %d with %d bytes, want %d with %d", r.Status, len(r.Body), want.Status, want.Body)
			}
			continue
		}
		body := hostile.NextBody
		if tr.entry.Ask.Method == "HEAD" {
			body = ""
		}
		if string(r.Body) != body || r.Status != 200 {
			tr.fault("the next answer is %d %.40q", r.Status, r.Body)
		}
	}
}
