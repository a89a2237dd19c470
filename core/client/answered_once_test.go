package client_test

import (
	"flag"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/client"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

// asker drives a client at random and checks CLIENT-1 to CLIENT-4.
type asker struct {
	env     *nodetest.Env
	open    map[node.CommandID]*asked // without a final answer
	started []node.CommandID
	answers map[node.CommandID]int // final ones
	wire    []sent
	highest map[node.CommandID]message.JobState // that a watch has shown
	request map[message.RequestID]bool
	keys    map[string]bool   // of submissions
	calls   map[uint64]string // operations that have begun and not returned
	call    uint64
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
		if !a.keys[b.Key] {
			a.rt.Fatalf("the key %s is of no submission", b.Key)
		}
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
	case *message.JobListQuery:
		r = b.Request
	}
	if a.request[r] {
		a.rt.Fatalf("request %v was used twice", r)
	}
	a.request[r] = true
	a.wire = append(a.wire, sent{s, m})
}

// answersEnv records the client's answers.
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
		if s.State < a.highest[id] {
			a.rt.Fatalf("command %d: status %v after %v", id, s.State, a.highest[id])
		}
		a.highest[id] = s.State
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
	kind := rapid.IntRange(0, 6).Draw(t, "kind")
	switch kind {
	case 0:
		key := "k" + string(rune('a'+len(a.started)%26)) + string(rune('a'+len(a.started)/26%26))
		a.keys[key] = true
		m = &message.JobSubmit{Request: message.RequestID{Counter: 1}, Key: key, Program: message.Program{Main: "a"}, Plan: message.Plan{Source: "a"}}
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
	case 6:
		m = &message.JobListQuery{Request: message.RequestID{Counter: 1}}
	}
	a.started = append(a.started, id)
	a.open[id] = &asked{watch: kind == 1, since: a.env.Now()}
	if got := a.env.Command(m); got != id {
		t.Fatalf("command %d is called %d", id, got)
	}
}

// answer replies to some request, perhaps an old one.
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
	code := rapid.SampledFrom([]message.Code{message.CodeNone, message.CodeNone, message.CodeNone, message.CodeNone, message.CodeUnknownJob, message.CodeDraining,
		message.CodeQueueFull, message.CodeQuorumTimeout, message.CodeNotOwner}).Draw(t, "code")
	if code != message.CodeNone {
		a.env.Receive(s, &message.Refused{Request: requestOf(q.body), Code: code, Holder: rapid.SampledFrom([]string{"", "g1:1", "g2:1", "g3:1"}).Draw(t, "holder"),
			RetryAfter: time.Duration(rapid.IntRange(0, 40).Draw(t, "after")) * time.Second})
		return
	}
	sequence := rapid.Uint64Range(1, 9).Draw(t, "sequence")
	a.env.Receive(s, reply(q.body, sequence, rapid.SampledFrom([]message.JobState{message.JobRunning, message.JobRunning, message.JobCompleting, message.JobCancelling}).Draw(t, "state"),
		rapid.IntRange(0, 7).Draw(t, "result") == 7))
}

// tell sends the set of gates: one more than configured, or those.
func (a *asker) tell(t *rapid.T) {
	if streams := append(a.env.StreamsOf("g1"), a.env.StreamsOf("g2")...); len(streams) > 0 {
		set := rapid.SampledFrom([][]string{{"g1:1", "g2:1"}, {"g1:1", "g2:1", "g3:1"}, {"g1:1"}, {""}, {}}).Draw(t, "set")
		a.env.Receive(streams[0], &message.GateSet{Gates: set})
	}
}

func requestOf(q node.Message) message.RequestID {
	switch b := q.(type) {
	case *message.JobSubmit:
		return b.Request
	case *message.JobWatch:
		return b.Request
	case *message.JobQuery:
		return b.Request
	case *message.JobCancel:
		return b.Request
	case *message.DatacenterQuery:
		return b.Request
	case *message.StatusQuery:
		return b.Request
	case *message.JobListQuery:
		return b.Request
	}
	return message.RequestID{}
}

func reply(q node.Message, sequence uint64, state message.JobState, result bool) node.Message {
	switch b := q.(type) {
	case *message.JobSubmit:
		return &message.JobAck{Request: b.Request, Job: message.JobOf(b.Key)}
	case *message.JobWatch:
		if result {
			return &message.JobResult{Request: b.Request, Result: message.Result{Job: b.Job, State: message.JobCompleted}}
		}
		return &message.JobStatus{Request: b.Request, Job: b.Job, Sequence: sequence, State: state}
	case *message.JobQuery:
		return &message.JobStatus{Request: b.Request, Job: b.Job, Sequence: sequence, State: state}
	case *message.JobCancel:
		return &message.JobCancelAck{Request: b.Request, Job: b.Job, State: message.JobCancelling}
	case *message.DatacenterQuery:
		return &message.DatacenterList{Request: b.Request}
	case *message.JobListQuery: // pages that follow the last one, or do not
		return &message.JobList{Request: b.Request, Gate: "g", Addr: "g1:1", More: !result, Jobs: []message.JobInfo{{Job: message.JobID{byte(sequence)}, State: state}}}
	}
	return &message.StatusList{Request: requestOf(q)}
}

// watchEvent checks that operations begin and return once.
func (a *asker) watchEvent(e node.Event) {
	switch e := e.(type) {
	case event.ClientCalled:
		if e.Call <= a.call || (e.What == "submit") != (e.Payload != 0) {
			a.rt.Fatalf("%+v after call %d", e, a.call)
		}
		a.call = e.Call
		a.calls[e.Call] = e.What
	case event.ClientReturned:
		if a.calls[e.Call] != e.What || e.OK != (e.Code == message.CodeNone) {
			a.rt.Fatalf("%+v returns %q", e, a.calls[e.Call])
		}
		delete(a.calls, e.Call)
	}
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
		if c := a.open[id]; c != nil && !c.watch && a.env.Now().Sub(c.since) > 90*time.Second {
			t.Fatalf("command %d has no answer after %v", id, a.env.Now().Sub(c.since))
		}
	}
	m := a.env.Machine().(spy).inner.(*client.Machine)
	m.Sizes(func(what string, n, most int) {
		if n > most {
			t.Fatalf("%s is %d, its bound %d", what, n, most)
		}
	})
	m.Rests(func(what string, n, _ int) {
		if what == "client/commands" && n != len(a.open) || what == "client/homes without a key" && n != 0 {
			t.Fatalf("%s is %d; %d commands are open", what, n, len(a.open))
		}
	})
}

func TestCommandsAreAnsweredOnce(t *testing.T) {
	if err := flag.Set("rapid.steps", "150"); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		a := &asker{
			open: map[node.CommandID]*asked{}, answers: map[node.CommandID]int{}, highest: map[node.CommandID]message.JobState{},
			request: map[message.RequestID]bool{}, keys: map[string]bool{}, calls: map[uint64]string{}, rt: rt,
		}
		c := client.Default()
		c.Gates = []node.Addr{"g1:1", "g2:1"}
		c.GatesMax, c.HomesMax = rapid.IntRange(2, 3).Draw(rt, "gates_max"), rapid.IntRange(1, 4).Draw(rt, "homes_max")
		a.env = nodetest.New(nodetest.Config{
			Self: node.Peer{ID: "c1", Incarnation: 1, Role: node.RoleClient}, Seed: 1,
			New: func() node.Machine { return spy{client.New(c), a} },
		})
		a.env.Discard, a.env.WatchSend, a.env.WatchEvent = true, a.watchSend, a.watchEvent
		a.env.Start()
		rt.Repeat(map[string]func(*rapid.T){
			"command":    a.command,
			"connect":    a.connect,
			"disconnect": a.disconnect,
			"answer":     a.answer,
			"tell":       a.tell,
			"advance": func(t *rapid.T) {
				a.env.Advance(time.Duration(rapid.IntRange(1, 20_000).Draw(t, "ms")) * time.Millisecond)
			},
			"": a.check,
		})
	})
}
