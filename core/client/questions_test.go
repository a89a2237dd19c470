package client_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/client"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// TestConfigsWithinTheirBoundsAreValid: a configuration within all bounds is valid. With
// one value pushed out, there is one fault, and it names the field and its value.
func TestConfigsWithinTheirBoundsAreValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := func(what string) time.Duration { return time.Duration(rapid.Int64Range(1, 1<<40).Draw(t, what)) }
		legal := client.Config{
			AskTimeout: d("ask timeout"), ReachTimeout: d("reach timeout"), AskRetry: d("ask retry"), RetryMin: d("retry min"), PingInterval: d("ping interval"), ReconnectMin: d("reconnect min"),
			Redirects: rapid.IntRange(1, 9).Draw(t, "redirects"), CommandsMax: rapid.IntRange(1, 9).Draw(t, "commands"), HomesMax: rapid.IntRange(1, 9).Draw(t, "homes"),
		}
		some := func() time.Duration { return time.Duration(rapid.IntRange(0, 1).Draw(t, "more")) }
		legal.RetryMax, legal.ReconnectMax, legal.PingSilence = legal.RetryMin+some(), legal.ReconnectMin+some(), legal.PingInterval+1+some()
		for i := range rapid.IntRange(1, 4).Draw(t, "gates") {
			legal.Gates = append(legal.Gates, node.Addr(fmt.Sprint("g", i)))
		}
		legal.GatesMax = len(legal.Gates) + rapid.IntRange(0, 1).Draw(t, "room")
		if err := legal.Validate(); err != nil {
			t.Fatalf("within all bounds, and %v", err)
		}
		bad := time.Duration(rapid.SampledFrom([]int64{0, -1, -1 << 40}).Draw(t, "bad"))
		//lint:orderfree each is judged by itself
		for want, set := range map[string]func(c *client.Config){
			"client.gates is empty":                                        func(c *client.Config) { c.Gates = nil },
			`client.gates: "" is empty`:                                    func(c *client.Config) { c.Gates[0] = "" },
			`client.gates: "g0" is empty or named twice`:                   func(c *client.Config) { c.Gates, c.GatesMax = append(c.Gates, "g0"), 9 },
			fmt.Sprintf("client.ask_timeout = %v must", bad):               func(c *client.Config) { c.AskTimeout = bad },
			fmt.Sprintf("client.reach_timeout = %v must", bad):             func(c *client.Config) { c.ReachTimeout = bad },
			fmt.Sprintf("client.ask_retry = %v must", bad):                 func(c *client.Config) { c.AskRetry = bad },
			fmt.Sprintf("client.retry_min = %v must", bad):                 func(c *client.Config) { c.RetryMin = bad },
			fmt.Sprintf("client.ping_interval = %v must", bad):             func(c *client.Config) { c.PingInterval = bad },
			fmt.Sprintf("client.reconnect_min = %v must", bad):             func(c *client.Config) { c.ReconnectMin = bad },
			fmt.Sprintf("client.ping_silence = %v", legal.PingInterval):    func(c *client.Config) { c.PingSilence = c.PingInterval },
			fmt.Sprintf("client.retry_max = %v", legal.RetryMin-1):         func(c *client.Config) { c.RetryMax = c.RetryMin - 1 },
			fmt.Sprintf("client.reconnect_max = %v", legal.ReconnectMin-1): func(c *client.Config) { c.ReconnectMax = c.ReconnectMin - 1 },
			fmt.Sprintf("client.commands_max = %d", int(bad)):              func(c *client.Config) { c.CommandsMax = int(bad) },
			fmt.Sprintf("client.homes_max = %d", int(bad)):                 func(c *client.Config) { c.HomesMax = int(bad) },
			fmt.Sprintf("client.redirects = %d", int(bad)):                 func(c *client.Config) { c.Redirects = int(bad) },
			fmt.Sprintf("client.gates_max = %d", len(legal.Gates)-1):       func(c *client.Config) { c.GatesMax = len(c.Gates) - 1 },
		} {
			c := legal
			c.Gates = slices.Clone(legal.Gates)
			set(&c)
			err := c.Validate()
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("got %v, want %q alone", err, want)
			}
		}
	})
}

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
		{func(r id) node.Message { return &message.JobWatch{Request: r, Job: job} }, func(r id) node.Message {
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

// finals keeps what commands are answered with, and what is asked.
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

// TestQuestionsGetTheirOwnAnswers: a client asks what it was told to ask. Of all answers
// to all questions, about this job and others, under the request and others, only its
// own ends a command. What it cannot ask, and what is one too many, it refuses at once.
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
				if n == 1 && q == 2 { // a watch is told, and goes on
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

// ofAnotherJob answers a question about a job with one about another; a ping's answer
// where it is about none.
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
