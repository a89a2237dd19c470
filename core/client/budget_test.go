package client_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/client"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// TestOutagesMultiplyNothing: a gate loses streams, is silent, refuses with or without a time, or
// answers, in any order. Whatever it does, of what a client sends in the span that ends with a
// repeated request, at most the limit's share is repeated. A client that has asked for long enough gets the answer of a gate that
// has recovered.
func TestOutagesMultiplyNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := client.Default()
		c.Gates = []node.Addr{"g1:1"}
		c.AskTimeout, c.ReachTimeout = 30*time.Second, 30*time.Second
		c.ReconnectMin, c.ReconnectMax = 10*time.Millisecond, 20*time.Millisecond
		c.AskRetry = time.Duration(rapid.IntRange(1, 5).Draw(t, "seconds until it asks again")) * time.Second
		c.Retries.Least = rapid.IntRange(1, 4).Draw(t, "least")
		f := &finals{answers: map[node.CommandID]node.Message{}}
		w := worldOfMachine(func() node.Machine { f.Machine = client.New(c); return f })
		w.Discard = true
		gate := struct {
			mute  bool
			code  message.Code
			after time.Duration
		}{}
		type sent struct {
			at    node.Instant
			again bool
		}
		var all []sent
		asked := map[message.JobID]bool{}
		type question struct {
			stream node.StreamID
			query  *message.JobQuery
		}
		var open []question
		within := func(again bool) (n int) {
			for _, s := range all {
				if s.again == again && s.at > w.Now().Add(-c.Retries.Span) {
					n++
				}
			}
			return n
		}
		w.WatchSend = func(s node.StreamID, m node.Message) {
			q, ok := m.(*message.JobQuery)
			if !ok {
				return
			}
			again := asked[q.Job]
			all = append(all, sent{w.Now(), again})
			asked[q.Job] = true
			if n, first := within(true), within(false); again && n > max(c.Retries.Least, first/c.Retries.Asks) {
				t.Fatalf("%d requests are repeated in %v, of %d that are new", n, c.Retries.Span, first)
			}
			open = append(open, question{s, q})
		}
		serve := func() {
			for _, s := range w.Opening() {
				w.Opened(s, node.Peer{ID: "g1", Incarnation: 1, Role: node.RoleGate, Addr: "g1:1"})
			}
			for !gate.mute && len(open) > 0 {
				q := open[0]
				open = open[1:]
				for _, s := range w.StreamsOf("g1") {
					switch {
					case s != q.stream:
					case gate.code != message.CodeNone:
						w.Receive(s, &message.Refused{Request: q.query.Request, Code: gate.code, RetryAfter: gate.after})
					default:
						w.Receive(s, &message.JobStatus{Request: q.query.Request, Job: q.query.Job, State: message.JobRunning})
					}
				}
			}
		}
		w.Start()
		jobs := 0
		for range rapid.IntRange(1, 16).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				for range rapid.IntRange(1, 20).Draw(t, "commands") {
					jobs++
					w.Command(&message.JobQuery{Request: message.RequestID{Counter: 1}, Job: message.JobOf(fmt.Sprint(jobs))})
				}
			case 1:
				gate.mute = rapid.Bool().Draw(t, "silent")
				gate.code = rapid.SampledFrom([]message.Code{message.CodeNone, message.CodeOverloaded, message.CodeRateLimited, message.CodeQuorumUnavailable, message.CodeCircuitOpen}).Draw(t, "code")
				gate.after = time.Duration(rapid.IntRange(0, 3).Draw(t, "retry after")) * time.Second
			case 2:
				for _, s := range w.StreamsOf("g1") {
					w.Break(s, "cut")
				}
			default:
				w.Advance(time.Duration(rapid.IntRange(1, 4000).Draw(t, "ms")) * time.Millisecond)
			}
			serve()
		}
		gate.mute, gate.code = false, message.CodeNone
		before := len(f.answers)
		w.Command(&message.JobQuery{Request: message.RequestID{Counter: 1}, Job: message.JobOf("last")})
		for range 20 {
			serve()
			w.Advance(time.Second)
		}
		if len(f.answers) == before {
			t.Fatal("the gate has recovered, and a new request gets no answer")
		}
		for range int(c.AskTimeout / time.Second) {
			serve()
			w.Advance(time.Second)
		}
		if len(f.answers) != jobs+1 {
			t.Fatalf("%d of %d requests have an answer", len(f.answers), jobs+1)
		}
	})
}
