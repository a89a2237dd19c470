package client_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/core/client"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// question is one command of a client, and every message that may answer it.
type question struct {
	ask    func(r message.RequestID) node.Message
	answer func(r message.RequestID) node.Message
}

func questions() []question {
	type id = message.RequestID
	job := message.JobOf("k")
	return []question{
		{func(r id) node.Message {
			return &message.JobSubmit{Request: r, Key: "k", Program: message.Program{Main: "a"}, Plan: message.Plan{Source: "a"}}
		}, func(r id) node.Message { return &message.JobAck{Request: r, Job: job} }},
		{func(r id) node.Message { return &message.JobQuery{Request: r, Job: job} }, func(r id) node.Message {
			return &message.JobStatus{Request: r, Job: job, State: message.JobRunning}
		}},
		{func(r id) node.Message { return &message.JobWatch{Request: r, Job: job, After: 3} }, func(r id) node.Message {
			return &message.JobResult{Request: r, Result: message.Result{Job: job, State: message.JobCompleted}}
		}},
		{func(r id) node.Message { return &message.JobCancel{Request: r, Job: job} }, func(r id) node.Message {
			return &message.JobCancelAck{Request: r, Job: job, State: message.JobCancelling}
		}},
		{func(r id) node.Message { return &message.DatacenterQuery{Request: r} }, func(r id) node.Message { return &message.DatacenterList{Request: r} }},
		{func(r id) node.Message { return &message.StatusQuery{Request: r} }, func(r id) node.Message { return &message.StatusList{Request: r} }},
		{func(r id) node.Message { return &message.ClusterQuery{Request: r} }, func(r id) node.Message { return &message.ClusterStatus{Request: r, Gate: "g1"} }},
		{func(r id) node.Message { return &message.DrainRequest{Request: r, Node: "w7", Undo: true} }, func(r id) node.Message { return &message.DrainAck{Request: r, Node: "w7"} }},
	}
}

// finals records the answers to commands, and the requests.
type finals struct {
	node.Machine
	answers map[node.CommandID]node.Message
}

type finalsEnv struct {
	node.Env
	f *finals
}

func (e finalsEnv) Answer(id node.CommandID, m node.Message) {
	e.f.answers[id] = m
	e.Env.Answer(id, m)
}

func (f *finals) Step(env node.Env, in *node.Input) { f.Machine.Step(finalsEnv{env, f}, in) }

// TestQuestionsGetTheirOwnAnswers: a client sends what its commands say. It gets all answers to
// all requests, about this job and others, under this request and others: only its own ends a
// command. It rejects at once what it cannot ask, and a command beyond its bound.
func TestQuestionsGetTheirOwnAnswers(t *testing.T) {
	all := questions()
	rapid.Check(t, func(t *rapid.T) {
		c := bounds()
		c.CommandsMax = rapid.IntRange(1, 3).Draw(t, "commands")
		f := &finals{answers: map[node.CommandID]node.Message{}}
		w := worldOfMachine(func() node.Machine { f.Machine = client.New(c); return f })
		w.Discard = true
		var sent []node.Message
		w.WatchSend = func(_ node.StreamID, m node.Message) { sent = append(sent, m) }
		w.Start()
		open := map[node.CommandID]int{} // the question
		asked := map[node.CommandID]message.RequestID{}
		for range rapid.IntRange(1, 8).Draw(t, "steps") {
			before := len(sent)
			q := rapid.IntRange(0, len(all)).Draw(t, "question")
			if q == len(all) {
				id := w.Command(&message.ClientPing{Counter: 1})
				if r, ok := f.answers[id].(*message.Refused); !ok || r.Code != message.CodeInternal || !strings.Contains(r.Detail, "ClientPing") {
					t.Fatalf("no command of a client is answered with %+v", f.answers[id])
				}
				continue
			}
			id := w.Command(all[q].ask(message.RequestID{Counter: 1}))
			if len(open) >= c.CommandsMax {
				if r, ok := f.answers[id].(*message.Refused); !ok || r.Code != message.CodeQueueFull {
					t.Fatalf("command %d of at most %d open ones is answered with %+v", len(open)+1, c.CommandsMax, f.answers[id])
				}
				continue
			}
			for _, s := range w.Opening() {
				w.Opened(s, node.Peer{ID: "g1", Incarnation: 1, Role: node.RoleGate, Addr: "g1:1"})
			}
			if len(sent) != before+1 {
				t.Fatalf("%d questions went out", len(sent)-before)
			}
			asked[id], open[id] = requestOfAny(sent[before]), q
			want := all[q].ask(asked[id]).(message.Body)
			if sent[before].(message.Body).Digest() != want.Digest() {
				t.Fatalf("asked %+v, want %+v", sent[before], want)
			}
			stream := w.StreamsOf("g1")[0]
			for _, n := range rapid.Permutation([]int{0, 1, 2, 3, 4, 5, 6, 7}).Draw(t, "answers") {
				if n == 1 && q == 2 { // a watch shows it, and continues
					continue
				}
				wrong := asked[id]
				wrong.Counter += 1000
				w.Receive(stream, all[n].answer(wrong))
				w.Receive(stream, &message.ClientPing{Counter: 7})
				if n != q {
					w.Receive(stream, all[n].answer(asked[id]))
				}
				w.Receive(stream, ofAnotherJob(q, asked[id]))
				if f.answers[id] != nil {
					t.Fatalf("question %d ends with %+v", q, f.answers[id])
				}
			}
			if rapid.Bool().Draw(t, "answered") {
				w.Receive(stream, all[q].answer(asked[id]))
				if f.answers[id] == nil || f.answers[id].(message.Body).Digest() != all[q].answer(asked[id]).(message.Body).Digest() {
					t.Fatalf("question %d ends with %+v", q, f.answers[id])
				}
				delete(open, id)
			}
		}
		w.Stop()
		if w.Running() || len(w.StreamsOf("g1")) > 0 {
			t.Fatal("a client that stops leaves a stream behind")
		}
	})
}

// ofAnotherJob answers a query about a job with an answer about another one, or with a ping's
// answer if it is about none.
func ofAnotherJob(q int, r message.RequestID) node.Message {
	job := message.JobOf("another")
	switch q {
	case 0:
		return &message.JobAck{Request: r, Job: job}
	case 1:
		return &message.JobStatus{Request: r, Job: job, State: message.JobRunning}
	case 2:
		return &message.JobResult{Request: r, Result: message.Result{Job: job, State: message.JobCompleted}}
	}
	return &message.ClientPong{Counter: 1}
}

func requestOfAny(m node.Message) message.RequestID {
	switch b := m.(type) {
	case *message.ClusterQuery:
		return b.Request
	case *message.DrainRequest:
		return b.Request
	}
	return requestOf(m)
}
