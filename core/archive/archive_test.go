package archive

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/datadriven"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

// toy is a machine around an archive. Commands: FileChunk keeps its Data under the ticket
// Nonce, FileFetch fetches under the ticket Offset (borrows from 100 on), FileMissing drops,
// FileOffer sweeps all but its File. It shows outcomes as event.Reached.
type toy struct {
	*Archive
	post    func(to node.Addr, m node.Message) // instead of a datagram
	outcome func(Outcome)
}

func newToy(c Config) *toy {
	t := &toy{}
	t.Archive = New(c, t)
	return t
}

func (t *toy) Post(env node.Env, to node.Addr, m node.Message) {
	if t.post != nil {
		t.post(to, m)
		return
	}
	env.Datagram(to, m)
}

func (t *toy) Step(env node.Env, in *node.Input) {
	switch in.Kind {
	case node.InputStart:
		t.Start(env)
	case node.InputMessage:
		if !t.Receive(env, in.From, in.Message) {
			node.Bug("not a message of an archive")
		}
	case node.InputTimer:
		t.Fire(env, in.Timer)
	case node.InputStored:
		t.Stored(env, in)
	case node.InputCommand:
		t.command(env, in.Message)
	}
	for _, o := range t.Take() {
		if t.outcome != nil {
			t.outcome(o)
		}
		text := fmt.Sprintf("%v %v ticket %d", o.Kind, o.File, o.Ticket)
		if o.Err != nil {
			text += ": " + o.Err.Error()
		}
		if o.Kind == Fetched {
			text += fmt.Sprintf(" %dB", len(o.Bytes))
		}
		env.Emit(event.Reached{What: text})
	}
}

func (t *toy) command(env node.Env, m node.Message) {
	switch m := m.(type) {
	case *message.FileChunk:
		t.Keep(env, m.Data, m.Nonce)
	case *message.FileFetch:
		if m.Offset >= 100 {
			t.Borrow(env, m.File, m.Offset)
		} else {
			t.Fetch(env, m.File, m.Offset)
		}
	case *message.FileMissing:
		t.Drop(env, m.File)
	case *message.FileOffer:
		t.Sweep(env, map[message.FileDigest]bool{m.File: true})
	}
}

func config(self int, members int) Config {
	c := Default()
	c.Group, c.ChunkBytes, c.FilesMax, c.BytesMax = "gates", chunkMin, 20, 128<<10
	for i := range members {
		c.Members = append(c.Members, addr(i+1))
	}
	c.Self = addr(self)
	return c
}

func addr(i int) node.Addr { return node.Addr(fmt.Sprintf("g%d:1", i)) }

func peer(i int) node.Peer {
	return node.Peer{ID: node.ID(fmt.Sprintf("g%d", i)), Incarnation: 1, Role: node.RoleGate, Addr: addr(i)}
}

func world(self, members int, opened func(*toy)) *nodetest.Env {
	return nodetest.New(nodetest.Config{Self: peer(self), Seed: 1, New: func() node.Machine {
		t := newToy(config(self, members))
		if opened != nil {
			opened(t)
		}
		return t
	}})
}

func TestStories(t *testing.T) {
	nodetest.Stories(t, func(t *testing.T, path string) {
		members := 3
		if len(path) > 10 && path[len(path)-10:] == "single.txt" {
			members = 1
		}
		w := world(1, members, nil)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return w.Run(t, d) })
	})
}
