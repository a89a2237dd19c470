package loop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"hyperscale/core/message"
	"hyperscale/core/message/toy"
	"hyperscale/core/node"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const wait = 5 * time.Second

// script is a machine made from a function; it passes each input to seen.
type script struct {
	on   func(env node.Env, in *node.Input)
	seen chan string
}

func newScript(on func(env node.Env, in *node.Input)) *script {
	return &script{on: on, seen: make(chan string, 1000)}
}

func (s *script) Step(env node.Env, in *node.Input) {
	if s.on != nil {
		s.on(env, in)
	}
	switch in.Kind {
	case node.InputTimer:
		s.seen <- fmt.Sprintf("timer %d at %v", in.Timer.N(), time.Duration(env.Now()-1))
	case node.InputMessage:
		s.seen <- fmt.Sprintf("message %d stream %d", in.Message.Digest(), in.Stream)
	case node.InputStreamOpened, node.InputStreamBroken:
		s.seen <- fmt.Sprintf("%v %d", in.Kind, in.Stream)
	case node.InputExec:
		s.seen <- fmt.Sprintf("exec %d %s", in.Exec.ID, in.Exec.Reason)
	case node.InputStop:
		env.Halt("")
	default:
		s.seen <- in.Kind.String()
	}
}

func (s *script) next(t *testing.T) string {
	t.Helper()
	select {
	case got := <-s.seen:
		return got
	case <-time.After(wait):
		t.Fatal("nothing happened")
		return ""
	}
}

// wire is a network that remembers.
type wire struct {
	mu   sync.Mutex
	last node.StreamID
	log  []string
}

func (w *wire) add(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, fmt.Sprintf(format, args...))
}
func (w *wire) Datagram(to node.Addr, _ node.Message)    { w.add("datagram %s", to) }
func (w *wire) Resolve(name node.Addr)                   { w.add("resolve %s", name) }
func (w *wire) Backlog(node.StreamID) (bytes, bound int) { return 0, 0 }

func (w *wire) Open(to node.Addr) node.StreamID {
	w.add("open %s", to)
	w.last++
	return w.last + 1000
}
func (w *wire) Send(s node.StreamID, _ node.Message) { w.add("send %d", s) }
func (w *wire) Close(s node.StreamID)                { w.add("close %d", s) }

// run starts a loop over m and returns how to end it.
func run(t *testing.T, c Config) (*Loop, func() error) {
	t.Helper()
	c.Self = node.Peer{ID: "a", Incarnation: 3, Role: node.RoleToy}
	l := New(c)
	done := make(chan error, 1)
	go func() { done <- l.Run(World{Network: &wire{}}) }()
	end := sync.OnceValue(func() error { return <-done })
	t.Cleanup(func() { l.Kill(); _ = end() })
	return l, end
}

// paused is a machine that waits inside its first step, so that a test can fill
// the mailbox.
func paused(on func(env node.Env, in *node.Input)) (*script, chan struct{}) {
	gate := make(chan struct{})
	return newScript(func(env node.Env, in *node.Input) {
		if in.Kind == node.InputStart {
			<-gate
		}
		if on != nil {
			on(env, in)
		}
	}), gate
}

func TestTimersFollowTheClock(t *testing.T) {
	mock := clock.NewMock()
	key := func(n uint64) node.TimerKey { return node.KeyN(node.PartPing, 1, n) }
	s := newScript(func(env node.Env, in *node.Input) {
		switch {
		case in.Kind == node.InputStart:
			env.SetTimer(key(1), time.Second)
			env.SetTimer(key(2), 2*time.Second)
			env.SetTimer(key(3), 3*time.Second)
			env.SetTimer(key(4), 4*time.Second)
			env.SetTimer(key(4), 3500*time.Millisecond) // replaced by an earlier one
			env.SetTimer(key(5), time.Millisecond)
			env.SetTimer(key(5), 5*time.Second) // and by a later one
			env.SetTimer(key(6), time.Minute)
		case in.Kind == node.InputTimer && in.Timer.N() == 1:
			env.CancelTimer(key(2))
		case in.Kind == node.InputTimer && in.Timer.N() == 5:
			env.SetTimer(key(7), -time.Second) // at once
		}
	})
	run(t, Config{Machine: s, Clock: mock})
	if got := s.next(t); got != "start" {
		t.Fatal(got)
	}
	// Steps that expect nothing do not wait: the next step finds a wrong input.
	for _, step := range []struct {
		add  time.Duration
		want []string
	}{
		{time.Second, []string{"timer 1 at 1s"}},
		{time.Second, nil}, // 2 was cancelled by 1
		{time.Second, []string{"timer 3 at 3s"}},
		{500 * time.Millisecond, []string{"timer 4 at 3.5s"}},
		{500 * time.Millisecond, nil}, // the first setting of 4
		{time.Second, []string{"timer 5 at 5s", "timer 7 at 5s"}},
		{55 * time.Second, []string{"timer 6 at 1m0s"}},
	} {
		mock.Add(step.add)
		for _, want := range step.want {
			if got := s.next(t); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	}
}

func TestAFiringThatWaitsInTheMailboxIsNotDelivered(t *testing.T) {
	mock := clock.NewMock()
	key := func(n uint64) node.TimerKey { return node.KeyN(node.PartPing, 1, n) }
	began, gate := make(chan struct{}), make(chan struct{})
	s := newScript(func(env node.Env, in *node.Input) {
		switch {
		case in.Kind == node.InputStart:
			env.SetTimer(key(1), time.Second)
			env.SetTimer(key(2), time.Second)
			env.SetTimer(key(3), time.Second)
			env.SetTimer(key(9), 2*time.Second)
			close(began)
			<-gate // all of them are due by then
		case in.Kind == node.InputTimer && in.Timer.N() == 1:
			env.CancelTimer(key(2))              // its firing waits
			env.SetTimer(key(3), 10*time.Second) // its old firing waits
		}
	})
	run(t, Config{Machine: s, Clock: mock})
	<-began
	mock.Add(5 * time.Second)
	close(gate)
	var got []string
	for range 3 {
		got = append(got, s.next(t))
	}
	want := []string{"start", "timer 1 at 5s", "timer 9 at 5s"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	mock.Add(10 * time.Second)
	if got := s.next(t); got != "timer 3 at 15s" {
		t.Errorf("got %s, want timer 3 at 15s: ten seconds after the step that set it began", got)
	}
}

func TestTimersOnTheRealClock(t *testing.T) {
	var began, fired node.Instant
	s := newScript(func(env node.Env, in *node.Input) {
		switch in.Kind {
		case node.InputStart:
			began = env.Now()
			env.SetTimer(node.Key(node.PartPing, 1), 20*time.Millisecond)
		case node.InputTimer:
			fired = env.Now()
			env.Halt("")
		}
	})
	_, end := run(t, Config{Machine: s})
	if err := end(); err != nil {
		t.Fatal(err)
	}
	if took := fired.Sub(began); took < 20*time.Millisecond {
		t.Errorf("fired after %v, want no earlier than 20ms", took)
	}
}

func TestLanesAndBounds(t *testing.T) {
	s, gate := paused(nil)
	l, _ := run(t, Config{Machine: s, Mailbox: node.MailboxConfig{Lanes: [node.Priorities]int{2, 2, 2, 2}, Latest: 2, Bytes: 1 << 20, Stubs: 2}})
	low := &toy.Gossip{}
	for i := range 4 {
		if got, want := l.Message(node.Peer{}, 0, low), i < 2; got != want {
			t.Errorf("low message %d was taken: %v, want %v", i, got, want)
		}
	}
	if !l.Message(node.Peer{}, 0, &toy.Ping{Counter: 1}) {
		t.Error("a full low lane refused a high message")
	}
	if got := l.Stats(); got.Dropped[node.Low] != 2 || got.Waiting[node.Low] != 2 || got.Waiting[node.High] != 1 {
		t.Errorf("dropped %v, waiting %v", got.Dropped, got.Waiting)
	}
	for range 2 {
		if _, err := l.Command(t.Context(), &toy.Ping{}); err != nil {
			t.Error(err)
		}
	}
	if _, err := l.Command(t.Context(), &toy.Ping{}); !errors.Is(err, ErrBusy) {
		t.Errorf("a command for a full lane: %v, want ErrBusy", err)
	}
	l.Stop()
	close(gate)
	if got := s.next(t); got != "start" {
		t.Errorf("got %s", got)
	}
	if got := l.Stats(); got.Steps != [9]uint64{} && got.Running < 0 {
		t.Errorf("%+v", got)
	}
}

func TestStreamsAreToldInOrder(t *testing.T) {
	var opened node.StreamID
	s, gate := paused(func(env node.Env, in *node.Input) {
		if in.Kind == node.InputStart {
			opened = env.Open("b") // 1001
		}
		if in.Kind == node.InputMessage && in.Stream == 3 || in.Kind == node.InputStreamOpened && in.Stream == 5 {
			env.Close(in.Stream)
		}
	})
	l, _ := run(t, Config{Machine: s})
	peer := node.Peer{ID: "b"}
	critical := func(id node.StreamID, n uint64) { l.Message(peer, id, &ping{toy.Ping{Counter: n}, node.Critical}) }
	// A critical message overtakes the news of its stream in the mailbox.
	l.StreamOpened(1, peer)
	critical(1, 1)
	// After the break the machine gets nothing of the stream, not even what arrived before.
	l.StreamOpened(2, peer)
	l.Message(peer, 2, &ping{toy.Ping{Counter: 2}, node.High})
	l.StreamBroken(2, peer, "x", false)
	l.Message(peer, 2, &ping{toy.Ping{Counter: 3}, node.High})
	// A stream that the machine closes is silent from there on.
	l.StreamOpened(3, peer)
	critical(3, 4)
	critical(3, 5)
	l.StreamBroken(3, peer, "x", false)
	// So is one that is closed when it opens, though a message waited for that.
	l.StreamOpened(5, peer)
	critical(5, 7)
	// The loop does not know this stream.
	critical(4, 6)
	l.StreamBroken(4, peer, "x", false)
	close(gate)
	var got []string
	for range 9 {
		got = append(got, s.next(t))
	}
	want := []string{"start", "stream-opened 1", "message 1 stream 1", "stream-opened 3", "message 4 stream 3",
		"stream-opened 5", "stream-opened 2", "message 2 stream 2", "stream-broken 2"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	l.StreamBroken(opened, peer, "refused", false)
	if got := s.next(t); got != "stream-broken 1001" {
		t.Errorf("got %s", got)
	}
}

// ping is a Ping of any priority; its digest is its counter.
type ping struct {
	toy.Ping
	priority node.Priority
}

func (p *ping) Priority() node.Priority { return p.priority }
func (*ping) Full() node.Full {
	return node.Keep
}
func (*ping) Subject() uint64 {
	return 0
}
func (p *ping) Digest() uint64 { return p.Counter }

func TestSessions(t *testing.T) {
	answers := 0
	s := newScript(func(env node.Env, in *node.Input) {
		if in.Kind == node.InputCommand {
			for i := range answers {
				env.Answer(in.Command, &toy.Ack{Counter: uint64(i)})
				env.Answer(in.Command, &toy.Gossip{})
			}
		}
	})
	l, _ := run(t, Config{Machine: s})
	s.next(t)

	answers = 1
	one, err := l.Command(t.Context(), &toy.Ping{})
	if err != nil {
		t.Fatal(err)
	}
	<-one.Answers()
	one.Close()
	one.Close()
	if err := one.Err(); err != nil {
		t.Errorf("closed session: %v", err)
	}
	s.next(t)

	answers = sessionAnswers
	slow, err := l.Command(t.Context(), &toy.Ping{})
	if err != nil {
		t.Fatal(err)
	}
	s.next(t)
	n := 0
	for range slow.Answers() {
		n++
	}
	if n != sessionAnswers || !errors.Is(slow.Err(), ErrSlowSession) {
		t.Errorf("slow session got %d answers and %v, want %d and ErrSlowSession", n, slow.Err(), sessionAnswers)
	}

	answers = 0
	ctx, cancel := context.WithCancel(t.Context())
	watched, err := l.Command(ctx, &toy.Ping{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, ok := <-watched.Answers(); ok || !errors.Is(watched.Err(), context.Canceled) {
		t.Errorf("session of a context that ended: %v", watched.Err())
	}
	if _, err := l.Command(ctx, &toy.Ping{}); !errors.Is(err, context.Canceled) {
		t.Errorf("command under a context that ended: %v", err)
	}
	if got := l.Stats().Sessions; got != 0 {
		t.Errorf("%d sessions are left", got)
	}
	for ends := 0; ends < 2; { // the first one's has been seen: the machine hears of each once
		if s.next(t) == "command-end" {
			ends++
		}
	}
}

func TestEndings(t *testing.T) {
	halt := newScript(func(env node.Env, in *node.Input) { env.Halt("no quorum") })
	_, end := run(t, Config{Machine: halt})
	var h *HaltError
	if err := end(); !errors.As(err, &h) || h.Reason != "no quorum" {
		t.Errorf("halt: %v", err)
	}

	l, end := run(t, Config{Machine: newScript(nil)})
	l.Stop()
	l.Stop()
	if err := end(); err != nil {
		t.Errorf("stop: %v", err)
	}
	l.ExecEvent(node.ExecEvent{}) // no machine reads it, and no caller waits
	if _, err := l.Command(t.Context(), &toy.Ping{}); !errors.Is(err, ErrStopped) {
		t.Errorf("command after the end: %v", err)
	}

	l, end = run(t, Config{Machine: newScript(nil)})
	l.Kill()
	if err := end(); !errors.Is(err, ErrKilled) {
		t.Errorf("kill: %v", err)
	}
}

func TestAPanicEndsTheNodeAndTellsItsInputs(t *testing.T) {
	var log bytes.Buffer
	s := newScript(func(_ node.Env, in *node.Input) {
		if in.Kind == node.InputMessage {
			node.Bug("two and two are %d", 5)
		}
	})
	l, end := run(t, Config{Machine: s, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	l.Message(node.Peer{ID: "b"}, 0, &message.Beat{Counter: 77})
	err := end()
	var p *PanicError
	if !errors.As(err, &p) {
		t.Fatalf("got %v", err)
	}
	if len(p.Inputs) != 2 || !strings.Contains(p.Inputs[1], "message Beat from b") {
		t.Errorf("inputs %q", p.Inputs)
	}
	for _, want := range []string{"two and two are 5", "Counter:77", "loop_test.go"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q: %s", want, log.String())
		}
	}
}

func TestRandomNumbers(t *testing.T) {
	draw := func(seed, incarnation uint64) (got [2]uint64) {
		l := New(Config{Self: node.Peer{ID: "a", Incarnation: incarnation}, Seed: seed})
		for i, p := range []node.Purpose{node.PurposeID, node.PurposeJitter} {
			got[i] = env{l}.Rand(p).Uint64()
			if again := (env{l}).Rand(p).Uint64(); again == got[i] {
				t.Error("a purpose's stream begins again at each call")
			}
		}
		return got
	}
	if first, second := draw(1, 1), draw(1, 1); first != second {
		t.Errorf("one seed drew %v, then %v", first, second)
	}
	all := []uint64{}
	for _, d := range [][2]uint64{draw(1, 1), draw(1, 2), draw(2, 1)} {
		all = append(all, d[:]...)
	}
	slices.Sort(all)
	if len(slices.Compact(all)) != 6 {
		t.Error("seed, incarnation or purpose does not change the numbers: ids would be drawn twice")
	}
}

func TestANodeWithoutExecutors(t *testing.T) {
	s := newScript(func(env node.Env, in *node.Input) {
		if in.Kind == node.InputStart {
			env.Exec().Start(7, 0, &toy.Ping{})
			env.Exec().Cancel(7)
			env.Exec().Kill(7)
		}
	})
	run(t, Config{Machine: s})
	s.next(t)
	if got := s.next(t); got != "exec 7 this node has no executors" {
		t.Errorf("got %q", got)
	}
}

// BenchmarkStep measures the loop with a message that does nothing. Another goroutine pushes
// it, a thousand in flight at a time.
func BenchmarkStep(b *testing.B) {
	room := make(chan struct{}, 1000)
	l := New(Config{Self: node.Peer{ID: "a"}, Machine: machine(func(_ node.Env, in *node.Input) {
		if in.Kind == node.InputMessage {
			<-room
		}
	})})
	ended := make(chan error)
	go func() { ended <- l.Run(World{Network: &wire{}}) }()
	m := &toy.Ping{}
	b.ReportAllocs()
	for b.Loop() {
		room <- struct{}{}
		l.Message(node.Peer{}, 0, m)
	}
	l.Kill()
	<-ended
}

type machine func(env node.Env, in *node.Input)

func (m machine) Step(env node.Env, in *node.Input) { m(env, in) }

// A node without sinks answers each delivery, by the sink's name.
func TestDeliveriesWithoutSinks(t *testing.T) {
	var got node.Delivered
	_, end := run(t, Config{Machine: newScript(func(env node.Env, in *node.Input) {
		switch in.Kind {
		case node.InputStart:
			env.Outputs().Deliver(node.Delivery{ID: 7, Sink: "lake"})
			env.Outputs().Forget(8)
		case node.InputDelivered:
			got = *in.Delivered
			env.Halt("")
		}
	})})
	if err := end(); err != nil {
		t.Fatal(err)
	}
	if want := (node.Delivered{ID: 7, Verdict: node.DeliveryUnconfigured, Why: "sink lake is not configured on a"}); got != want {
		t.Fatalf("%+v", got)
	}
}
