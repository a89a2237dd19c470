package worker

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

// A worker whose store is damaged at one place halts and names the record, unless the damage
// changed none of its promises. No attempt that it started starts a second time.
func TestDamagedStoresStartNothingTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := small()
		c.OutboxMax = 9
		var damage func(key string, value []byte, load func(string) []node.Record) []byte
		halted := ""
		began := map[message.ShardRef]int{}
		w := nodetest.New(nodetest.Config{
			Self: node.Peer{ID: "w1", Incarnation: 1, Role: node.RoleWorker, Addr: "w1:1"},
			New:  func() node.Machine { return &damaged{New(c), &damage, &halted} },
		})
		w.Discard = true
		w.WatchEvent = func(e node.Event) {
			if e, ok := e.(event.ShardStarted); ok {
				if began[message.ShardRef{Shard: e.Shard, Fence: e.Fence}]++; began[message.ShardRef{Shard: e.Shard, Fence: e.Fence}] > 1 {
					t.Fatalf("%v %v starts twice", e.Shard, e.Fence)
				}
			}
		}
		up := func() node.StreamID {
			s := w.OpeningTo("m1:1")[0]
			w.Opened(s, node.Peer{ID: "m1", Incarnation: 1, Role: node.RoleManager, Addr: "m1:1"})
			w.Receive(s, &message.HeartbeatAck{Sequence: 1})
			return s
		}
		dispatch := func(s node.StreamID, n uint32) {
			r := ref(n, 1)
			w.Receive(s, &message.ShardDispatch{Shard: r.Shard, Fence: r.Fence, Workflow: "load", Program: message.Program{Main: "f"}, PlanDigest: 9, VUs: 1, Cores: 1})
		}
		w.Start()
		s := up()
		n := rapid.Uint32Range(1, 4).Draw(t, "shards")
		for i := range n {
			dispatch(s, i)
		}
		for _, id := range w.Execs()[:rapid.IntRange(0, int(n)).Draw(t, "ended")] {
			w.ExecSays(id, &message.ExecResult{State: message.WorkflowCompleted})
			w.ExecGone(id, "", "")
		}
		keys := w.Disk()
		key := rapid.SampledFrom(keys).Draw(t, "record")
		other := rapid.SampledFrom(keys).Draw(t, "other")
		how, at := rapid.IntRange(0, 3).Draw(t, "damage"), rapid.IntRange(0, 99).Draw(t, "at")
		same := false
		w.Crash()
		damage = func(k string, value []byte, load func(string) []node.Record) []byte {
			if k != key {
				return value
			}
			was := string(value)
			value = []byte(was)
			switch how {
			case 0:
				value = value[:at%len(value)]
			case 1: // another record's
				value = load(other)[0].Value
			case 2:
				value[at%min(len(value), 4)] ^= 0xff
			default: // a manager's name that is longer than the record
				value = append([]byte{255, 255, 3}, value...)
			}
			same = string(value) == was
			return value
		}
		w.Start()
		if halted != "" || !w.Running() {
			if same || !strings.Contains(halted, strings.TrimSpace(key)) || !strings.Contains(halted, "restore the directory") {
				t.Fatalf("record %s was damaged (%v), and it halts with %q", key, !same, halted)
			}
			return
		}
		if !same && strings.HasPrefix(key, prefixFence) {
			t.Fatalf("fence %s was damaged, and it goes on", key)
		}
		s = up()
		for i := range n {
			dispatch(s, i)
		}
	})
}

// damaged is a worker that reads some damaged records from its store.
type damaged struct {
	*Machine
	damage *func(string, []byte, func(string) []node.Record) []byte
	halted *string
}

func (d *damaged) Step(env node.Env, in *node.Input) { d.Machine.Step(&damagedEnv{env, d}, in) }

type damagedEnv struct {
	node.Env
	d *damaged
}

func (e *damagedEnv) Restart(reason string) { e.Halt("restart: " + reason) }
func (e *damagedEnv) Halt(reason string) {
	*e.d.halted = reason
	e.Env.Halt(reason)
}

func (e *damagedEnv) Store() node.Store { return &damagedStore{e.Env.Store(), *e.d.damage} }

type damagedStore struct {
	node.Store
	damage func(string, []byte, func(string) []node.Record) []byte
}

func (s *damagedStore) Load(prefix string) []node.Record {
	all := s.Store.Load(prefix)
	for i := range all {
		if s.damage != nil {
			all[i].Value = s.damage(all[i].Key, all[i].Value, s.Store.Load)
		}
	}
	return all
}
