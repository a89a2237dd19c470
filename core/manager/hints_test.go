package manager

import (
	"fmt"
	"testing"
	"time"

	"hyperscale/core/manager/roster"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// An attempt that was placed more than two quorum timeouts ago is placed anew if its worker, by what
// it reported since, is full or gone.
func TestLateCutsArePlacedAnew(t *testing.T) {
	for _, c := range []struct {
		about string
		age   time.Duration
		full  bool
		gone  bool
		want  bool
	}{
		{"at once", 0, true, false, false},
		{"after two quorum timeouts", 2 * time.Second, true, false, false},
		{"a nanosecond later", 2*time.Second + 1, true, false, true},
		{"late, and there is room", time.Minute, false, false, false},
		{"late, and the worker is gone", 2*time.Second + 1, false, true, true},
	} {
		d := newDesk(t, nil, "w1")
		s := &subjob.Shard{ID: message.ShardID{Job: message.JobID{1}}, Worker: "w1", Extent: subjob.Extent{Cores: 4}}
		d.m.roster.Give(d.m.roster.Of("w1"), s.ID, roster.Given{Fence: message.Fence{JobEpoch: 1}, Cores: 4})
		if c.full {
			d.beat++
			d.Receive(d.up["w1"], &message.WorkerHeartbeat{Datacenter: "dc1", Sequence: d.beat, CoresTotal: 4, CoresFree: 1})
		}
		if c.gone {
			d.m.roster.Drop(d.m.roster.Of("w1"))
		}
		s.Renewed = d.Now().Add(-c.age)
		if got := d.m.beaten(d.Env, s); got != c.want {
			t.Errorf("%s: placed anew: %v", c.about, got)
		}
	}
}

// A manager tells each other one that it is connected to, once, which cores an attempt takes of each
// worker, in datagrams of any sender's size.
func TestHintsNameEveryShard(t *testing.T) {
	const shards = 100
	d := newDesk(t, func(c *Config) { c.Managers = []node.Addr{"m1:1", "m2:1", "m3:1", "m4:1"} })
	for _, id := range []node.ID{"m2", "m3"} { // m4 is away
		d.Opened(d.OpeningTo(node.Addr(id + ":1"))[0], node.Peer{ID: id, Incarnation: 1, Role: node.RoleManager, Addr: node.Addr(id + ":1")})
	}
	told := map[node.Addr]map[uint32]message.TakenCores{}
	d.WatchDatagram = func(to node.Addr, m node.Message) {
		h, ok := m.(*message.CoresTaken)
		if !ok {
			return
		}
		if h.Job != (message.JobID{7}) || h.Workflow != 3 || h.Size() > message.DatagramBody {
			t.Errorf("a hint of %d bytes: %+v", h.Size(), h)
		}
		if told[to] == nil {
			told[to] = map[uint32]message.TakenCores{}
		}
		for _, s := range h.Shards {
			if _, twice := told[to][s.Ordinal]; twice {
				t.Errorf("%s hears twice of shard %d", to, s.Ordinal)
			}
			told[to][s.Ordinal] = s
		}
	}
	var list []*subjob.Shard
	for i := range uint32(shards) {
		id := node.ID(fmt.Sprintf("w-with-the-longest-name-that-an-operator-gives-%d", i))
		d.arrive(id)
		s := &subjob.Shard{ID: message.ShardID{Job: message.JobID{7}, Workflow: 3, Ordinal: i}, Worker: id}
		d.m.roster.Give(d.m.roster.Of(id), s.ID, roster.Given{Cores: 1 + i%4})
		list = append(list, s)
	}
	d.m.hint(d.Env, list...)
	for _, to := range []node.Addr{"m2:1", "m3:1"} {
		for i := range uint32(shards) {
			if got := told[to][i]; got.Cores != 1+i%4 || got.Worker != string(list[i].Worker) {
				t.Errorf("%s hears of shard %d: %+v", to, i, got)
			}
		}
	}
	if len(told) != 2 {
		t.Errorf("%d managers hear it", len(told))
	}
}
