package cluster

import (
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// wrapper is a machine whose inputs a world sees first. It holds what the machine holds.
type wrapper struct{ node.Machine }

// Sizes implements node.Sizer.
func (w wrapper) Sizes(tell node.Tell) {
	if m, ok := w.Machine.(node.Sizer); ok {
		m.Sizes(tell)
	}
}

// Rests implements node.Rester.
func (w wrapper) Rests(tell node.Tell) {
	if m, ok := w.Machine.(node.Rester); ok {
		m.Rests(tell)
	}
}

// Entrance implements node.Doorkept.
func (w wrapper) Entrance() node.Entrance {
	if m, ok := w.Machine.(node.Doorkept); ok {
		return m.Entrance()
	}
	return nil
}

// openWrapper is a machine without its entrance.
type openWrapper struct{ node.Machine }

// Sizes implements node.Sizer.
func (w openWrapper) Sizes(tell node.Tell) { wrapper(w).Sizes(tell) }

// Rests implements node.Rester.
func (w openWrapper) Rests(tell node.Tell) { wrapper(w).Rests(tell) }

// Chatting says which worker does not ask what waits to be written before it sends figures, and when.
type Chatting struct {
	Of   node.ID
	When func(now time.Duration) bool
	Now  func() time.Duration
}

// chattyWrapper is a worker that keeps more than half of what a stream holds waiting on its stream to a
// manager. It sends figures of a shard that no node has.
type chattyWrapper struct {
	wrapper
	chats    *Chatting
	to       node.StreamID
	sequence uint64
}

const (
	chatEvery = 25 * time.Millisecond
	chatBytes = 1 << 10
	chatMost  = 2 // messages at once: on a fast link nothing waits
)

// chatTimer is no timer of a worker.
var chatTimer = node.KeyN(node.PartWorker, 255, 0)

// Step implements node.Machine.
func (w *chattyWrapper) Step(env node.Env, in *node.Input) {
	if in.Kind == node.InputTimer && in.Timer == chatTimer {
		w.chat(env)
		env.SetTimer(chatTimer, chatEvery)
		return
	}
	switch {
	case in.Kind == node.InputStart:
		env.SetTimer(chatTimer, chatEvery)
	case in.Kind == node.InputMessage && in.Message.Kind() == message.KindHeartbeatAck:
		w.to = in.Stream
	}
	w.Machine.Step(env, in)
}

func (w *chattyWrapper) chat(env node.Env) {
	if !w.chats.When(w.chats.Now()) {
		return
	}
	text := []string{strings.Repeat(".", chatBytes)}
	for range chatMost {
		if bytes, bound := env.Backlog(w.to); bytes >= bound*11/16 {
			return // also if it has just broken
		}
		w.sequence++
		env.Send(w.to, &message.ShardProgress{Shard: message.ShardID{Job: message.JobOf("chat")}, Sequence: w.sequence, Stats: message.Stats{Logs: text}})
	}
}
