package client_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"hyperscale/core/client"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// heard keeps what a client answers to its commands.
type heard struct {
	node.Machine
	of map[node.CommandID][]node.Message
}

type heardEnv struct {
	node.Env
	a *heard
}

func (e heardEnv) Answer(id node.CommandID, m node.Message) {
	e.a.of[id] = append(e.a.of[id], m)
	e.Env.Answer(id, m)
}

func (a *heard) Step(env node.Env, in *node.Input) { a.Machine.Step(heardEnv{env, a}, in) }

// A gate knows one watch of a client for each job, by its newest request. All watches of the job get what it tells, also
// once the newest one has ended, and one that nothing reads takes no place.
func TestWatchesShareAGate(t *testing.T) {
	c := bounds()
	c.CommandsMax = 3
	f := &heard{of: map[node.CommandID][]node.Message{}}
	w := worldOfMachine(func() node.Machine { f.Machine = client.New(c); return f })
	var sent []*message.JobWatch
	w.WatchSend = func(_ node.StreamID, m node.Message) {
		if q, ok := m.(*message.JobWatch); ok {
			sent = append(sent, q)
		}
	}
	w.Start()
	job := message.JobOf("k")
	watch := func(after uint32) node.CommandID {
		id := w.Command(&message.JobWatch{Request: message.RequestID{Counter: 1}, Job: job, After: after})
		for _, s := range w.Opening() {
			w.Opened(s, node.Peer{ID: "g1", Incarnation: 1, Role: node.RoleGate, Addr: "g1:1"})
		}
		return id
	}
	first := watch(0)
	gate := w.StreamsOf("g1")[0]
	tells := func(m func(r message.RequestID) node.Message) {
		w.Receive(gate, m(sent[len(sent)-1].Request)) // as gates do: under the newest request
	}
	status := func(sequence uint64) func(r message.RequestID) node.Message {
		return func(r message.RequestID) node.Message {
			return &message.JobStatus{Request: r, Job: job, Sequence: sequence, State: message.JobRunning}
		}
	}
	end := func(number uint32) func(r message.RequestID) node.Message {
		return func(r message.RequestID) node.Message {
			return &message.WorkflowEnded{Request: r, Job: job, Number: number, Name: "load", State: message.WorkflowCompleted}
		}
	}
	count := func(id node.CommandID) int { return len(f.of[id]) }
	tells(status(1))
	tells(end(1))
	second := watch(1)
	require.Equal(t, uint32(1), sent[len(sent)-1].After)
	tells(status(2))
	require.Equal(t, []int{3, 1}, []int{count(first), count(second)})
	third := watch(0)
	require.Zero(t, sent[len(sent)-1].After)
	tells(end(1))
	require.Equal(t, []int{3, 1, 1}, []int{count(first), count(second), count(third)})
	for range 10 { // as viewers come and go
		w.CommandEnd(third)
		third = watch(2)
		require.Empty(t, f.of[third], "a watch that nothing reads takes no place")
	}
	w.CommandEnd(third)
	tells(status(3))
	tells(end(2))
	require.Equal(t, []int{5, 3}, []int{count(first), count(second)})
	tells(func(r message.RequestID) node.Message {
		return &message.JobResult{Request: r, Result: message.Result{Job: job, State: message.JobCompleted}}
	})
	require.Equal(t, []int{6, 4}, []int{count(first), count(second)})
}
