package client_test

import (
	"flag"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"pgregory.net/rapid"

	"hyperscale/core/client"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

func world(gates ...node.Addr) *nodetest.Env {
	c := client.Default()
	c.Gates = gates
	return nodetest.New(nodetest.Config{
		Self: node.Peer{ID: "c1", Incarnation: 1, Role: node.RoleClient}, Seed: 1,
		New: func() node.Machine { return client.New(c) },
	})
}

func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			w := world("g1:1", "g2:1")
			w.WatchEvent = func(e node.Event) { seen[e.EventName()] = true }
			datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string { return w.Run(t, d) })
		})
	}
	if !seen["ignored"] {
		t.Error("no story produces the event ignored")
	}
}

func TestConfigNamesEveryFault(t *testing.T) {
	var c client.Config
	c.Gates = []node.Addr{"a", "a"}
	err := c.Validate()
	if err == nil {
		t.Fatal("an empty configuration is valid")
	}
	for _, want := range []string{"client.gates", "ask_timeout", "ping_silence", "reconnect_max", "commands_max"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not name %s", err, want)
		}
	}
	c = client.Default()
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "--gate") {
		t.Errorf("no gates: got %v, want the flag to use", err)
	}
	c.Gates = []node.Addr{"a"}
	if err := c.Validate(); err != nil {
		t.Errorf("the default is not valid: %v", err)
	}
}

// asker drives a client at random and holds C1 to C4.
type asker struct {
	env     *nodetest.Env
	open    map[node.CommandID]*asked // not finally answered
	started []node.CommandID
	answers map[node.CommandID]int // final ones
	wire    []sent
	highest map[node.CommandID]uint64
	request map[message.RequestID]bool
	keys    map[string]node.StreamID // stream on which a submission went out, while that gate may know it
	gate    map[node.StreamID]node.ID
	rt      *rapid.T
}

type asked struct {
	watch bool
	since node.Instant
}

type sent struct {
	stream node.StreamID
	body   node.Message
}

func (a *asker) watchSend(s node.StreamID, m node.Message) {
	var r message.RequestID
	switch b := m.(type) {
	case *message.ClientPing:
		return
	case *message.JobSubmit:
		r = b.Request
		if before, ok := a.keys[b.Key]; ok && a.gate[before] != a.gate[s] {
			a.rt.Fatalf("key %s went to %s after %s may have taken it", b.Key, a.gate[s], a.gate[before])
		}
		a.keys[b.Key] = s
	case *message.JobWatch:
		r = b.Request
	case *message.JobQuery:
		r = b.Request
	case *message.JobCancel:
		r = b.Request
	case *message.DatacenterQuery:
		r = b.Request
	case *message.StatusQuery:
		r = b.Request
	}
	if a.request[r] {
		a.rt.Fatalf("request %v was used twice", r)
	}
	a.request[r] = true
	a.wire = append(a.wire, sent{s, m})
}

// answersEnv sees what the client answers.
type answersEnv struct {
	node.Env
	a *asker
}

func (e answersEnv) Answer(id node.CommandID, m node.Message) {
	e.a.onAnswer(id, m)
	e.Env.Answer(id, m)
}

type spy struct {
	inner node.Machine
	a     *asker
}

func (s spy) Step(env node.Env, in *node.Input) { s.inner.Step(answersEnv{env, s.a}, in) }

func (a *asker) onAnswer(id node.CommandID, m node.Message) {
	final := true
	if s, ok := m.(*message.JobStatus); ok && a.open[id] != nil && a.open[id].watch {
		final = false
		if s.Sequence <= a.highest[id] {
			a.rt.Fatalf("command %d: status %d after %d", id, s.Sequence, a.highest[id])
		}
		a.highest[id] = s.Sequence
	}
	if a.answers[id] > 0 {
		a.rt.Fatalf("command %d is answered with %s after its end", id, message.Name(m.Kind()))
	}
	if final {
		a.answers[id]++
		delete(a.open, id)
	}
}

func (a *asker) command(t *rapid.T) {
	id := node.CommandID(len(a.started) + 1)
	job := message.JobID{byte(rapid.IntRange(1, 3).Draw(t, "job"))}
	var m node.Message
	kind := rapid.IntRange(0, 5).Draw(t, "kind")
	switch kind {
	case 0:
		m = &message.JobSubmit{Request: message.RequestID{Counter: 1}, Key: "k" + string(rune('a'+len(a.started)%26)) + string(rune('a'+len(a.started)/26%26)),
			Program: message.Program{Main: "a"}, Plan: message.Plan{Source: "a"}}
	case 1:
		m = &message.JobWatch{Request: message.RequestID{Counter: 1}, Job: job}
	case 2:
		m = &message.JobQuery{Request: message.RequestID{Counter: 1}, Job: job}
	case 3:
		m = &message.JobCancel{Request: message.RequestID{Counter: 1}, Job: job}
	case 4:
		m = &message.DatacenterQuery{Request: message.RequestID{Counter: 1}}
	case 5:
		m = &message.StatusQuery{Request: message.RequestID{Counter: 1}}
	}
	a.started = append(a.started, id)
	a.open[id] = &asked{watch: kind == 1, since: a.env.Now()}
	if got := a.env.Command(m); got != id {
		t.Fatalf("command %d is called %d", id, got)
	}
}

// answer replies to some question, perhaps an old one.
func (a *asker) answer(t *rapid.T) {
	if len(a.wire) == 0 {
		return
	}
	q := a.wire[max(rapid.IntRange(0, len(a.wire)-1).Draw(t, "question"), rapid.IntRange(0, len(a.wire)-1).Draw(t, "or a later one"))]
	streams := append(a.env.StreamsOf("g1"), a.env.StreamsOf("g2")...)
	if len(streams) == 0 {
		return
	}
	s := rapid.SampledFrom(streams).Draw(t, "stream")
	code := rapid.SampledFrom([]message.Code{message.CodeNone, message.CodeNone, message.CodeNone, message.CodeNone, message.CodeUnknownJob, message.CodeDraining, message.CodeQueueFull}).Draw(t, "code")
	sequence := rapid.Uint64Range(1, 9).Draw(t, "sequence")
	result := rapid.IntRange(0, 7).Draw(t, "result") == 7
	m := reply(q.body, code, sequence, result)
	if r, ok := m.(*message.Refused); ok && r.Code == message.CodeDraining {
		if b, ok := q.body.(*message.JobSubmit); ok && a.request[b.Request] {
			delete(a.keys, b.Key)
		}
	}
	a.env.Receive(s, m)
}

func reply(q node.Message, code message.Code, sequence uint64, result bool) node.Message {
	refused := func(r message.RequestID) node.Message { return &message.Refused{Request: r, Code: code} }
	switch b := q.(type) {
	case *message.JobSubmit:
		if code != message.CodeNone && code != message.CodeUnknownJob {
			return refused(b.Request)
		}
		return &message.JobAck{Request: b.Request, Job: message.JobID{1}}
	case *message.JobWatch:
		if code != message.CodeNone {
			return refused(b.Request)
		}
		if result {
			return &message.JobResult{Request: b.Request, Result: message.Result{Job: b.Job, State: message.JobCompleted}}
		}
		return &message.JobStatus{Request: b.Request, Job: b.Job, Sequence: sequence, State: message.JobRunning}
	case *message.JobQuery:
		if code != message.CodeNone {
			return refused(b.Request)
		}
		return &message.JobStatus{Request: b.Request, Job: b.Job, Sequence: sequence, State: message.JobRunning}
	case *message.JobCancel:
		if code != message.CodeNone {
			return refused(b.Request)
		}
		return &message.JobCancelAck{Request: b.Request, Job: b.Job, State: message.JobCancelling}
	case *message.DatacenterQuery:
		return &message.DatacenterList{Request: b.Request}
	case *message.StatusQuery:
		return &message.StatusList{Request: b.Request}
	}
	return nil
}

func (a *asker) connect(t *rapid.T) {
	opening := a.env.Opening()
	if len(opening) == 0 {
		return
	}
	s := rapid.SampledFrom(opening).Draw(t, "opening")
	if rapid.IntRange(0, 3).Draw(t, "refuse") == 3 {
		a.env.Break(s, "connection refused")
		return
	}
	p := node.Peer{ID: "g1", Incarnation: 1, Role: node.RoleGate, Addr: "g1:1"}
	for _, other := range a.env.OpeningTo("g2:1") {
		if other == s {
			p.ID, p.Addr = "g2", "g2:1"
		}
	}
	a.gate[s] = p.ID
	a.env.Opened(s, p)
}

func (a *asker) disconnect(t *rapid.T) {
	streams := append(a.env.StreamsOf("g1"), a.env.StreamsOf("g2")...)
	if len(streams) > 0 {
		a.env.Break(rapid.SampledFrom(streams).Draw(t, "stream"), "reset")
	}
}

func (a *asker) check(t *rapid.T) {
	for _, id := range a.started {
		if c := a.open[id]; c != nil && !c.watch && a.env.Now().Sub(c.since) > time.Minute {
			t.Fatalf("command %d has no answer after %v", id, a.env.Now().Sub(c.since))
		}
	}
}

func TestCommandsAreAnsweredOnce(t *testing.T) {
	if err := flag.Set("rapid.steps", "150"); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		a := &asker{
			open: map[node.CommandID]*asked{}, answers: map[node.CommandID]int{}, highest: map[node.CommandID]uint64{},
			request: map[message.RequestID]bool{}, keys: map[string]node.StreamID{}, gate: map[node.StreamID]node.ID{}, rt: rt,
		}
		c := client.Default()
		c.Gates = []node.Addr{"g1:1", "g2:1"}
		a.env = nodetest.New(nodetest.Config{
			Self: node.Peer{ID: "c1", Incarnation: 1, Role: node.RoleClient}, Seed: 1,
			New: func() node.Machine { return spy{client.New(c), a} },
		})
		a.env.Discard, a.env.WatchSend = true, a.watchSend
		a.env.Start()
		rt.Repeat(map[string]func(*rapid.T){
			"command":    a.command,
			"connect":    a.connect,
			"disconnect": a.disconnect,
			"answer":     a.answer,
			"advance": func(t *rapid.T) {
				a.env.Advance(time.Duration(rapid.IntRange(1, 20_000).Draw(t, "ms")) * time.Millisecond)
			},
			"": a.check,
		})
	})
}
