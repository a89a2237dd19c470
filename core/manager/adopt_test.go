package manager

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/event"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// adopting is a subjob that a manager takes over after its restart, with workers that may list
// any attempt of it.
type adopting struct {
	*desk
	t     *rapid.T
	ids   []node.ID
	refs  []message.ShardRef // attempts that workers may list
	right map[message.ShardID]node.Instant
	where map[message.ShardID]node.ID // the worker that lists each shard, in an honest history
	lost  map[message.ShardID]bool    // in the last step
}

// A manager takes a subjob over, and workers list its attempts in any order and number. Each
// shard has at most one live attempt, at the worker that has it, and the manager adopts or
// cancels each listed attempt. It dispatches no shard while another worker may still run it.
func TestListedAttemptsAreAdoptedOrCancelled(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a := &adopting{t: rt, ids: []node.ID{"w1", "w2", "w3"}, right: map[message.ShardID]node.Instant{}, where: map[message.ShardID]node.ID{}, lost: map[message.ShardID]bool{}}
		a.desk = newDesk(t, func(c *Config) {
			if rapid.Bool().Draw(rt, "records are files") {
				c.SpillAt = 1
			}
		}, a.ids...)
		a.submit(rapid.Uint32Range(1, 8).Draw(rt, "cores"))
		home := map[message.ShardID]node.ID{}
		for _, id := range a.ids {
			for _, d := range took[*message.ShardDispatch](a.desk, a.up[id]) {
				a.refs = append(a.refs, message.ShardRef{Shard: d.Shard, Fence: d.Fence})
				home[d.Shard] = id
			}
			if rapid.Bool().Draw(rt, "accepted") && a.attempt(id) != nil {
				a.accept(id)
			}
		}
		honest := rapid.Bool().Draw(rt, "one attempt each")
		if honest {
			a.where = home
		} else {
			for _, r := range a.refs {
				for n := range rapid.Uint64Range(0, 2).Draw(rt, "later attempts") {
					r.Fence.Attempt += n + 1
					a.refs = append(a.refs, r)
				}
			}
		}
		a.Crash()
		a.forget()
		a.WatchEvent = func(e node.Event) {
			if l, ok := e.(event.ShardLost); ok {
				a.lost[l.Shard] = true
			}
			if honest {
				a.onEvent(e)
			}
		}
		a.Start()
		a.gate = a.OpeningTo("g1:1")[0]
		a.Opened(a.gate, node.Peer{ID: "g1", Incarnation: 1, Role: node.RoleGate, Addr: "g1:1"})
		for _, id := range a.ids {
			a.up[id] = a.Accept(node.Peer{ID: id, Incarnation: 1, Role: node.RoleWorker, Addr: node.Addr(id + ":1")})
		}
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			id := rapid.SampledFrom(a.ids).Draw(rt, "worker")
			a.list(id, a.draw(id, honest))
			a.judge()
			a.Advance(time.Duration(rapid.IntRange(0, 1500).Draw(rt, "ms")) * time.Millisecond)
		}
	})
}

// draw is what a worker lists: in an honest history either all shards that it got, or none
// after their end.
func (a *adopting) draw(id node.ID, honest bool) (list []message.ShardRef) {
	if !honest {
		for range rapid.IntRange(0, 3).Draw(a.t, "listed") {
			r := rapid.SampledFrom(a.refs).Draw(a.t, "ref")
			for _, other := range list {
				if other.Shard == r.Shard {
					return list // a worker lists a shard once
				}
			}
			list = append(list, r)
		}
		return list
	}
	for _, r := range a.refs {
		if a.where[r.Shard] == id {
			list = append(list, r)
		}
	}
	return list
}

// list delivers a heartbeat and asserts that the manager adopts or cancels each attempt in it.
func (a *adopting) list(id node.ID, list []message.ShardRef) {
	a.forget()
	if len(a.StreamsOf(id)) == 0 { // the manager closed it after silence
		a.up[id] = a.Accept(node.Peer{ID: id, Incarnation: 1, Role: node.RoleWorker, Addr: node.Addr(id + ":1")})
	}
	clear(a.lost)
	a.lists(id, list...)
	p := a.m.subjobs[message.JobID{1}]
	named := map[message.ShardRef]bool{}
	for _, ack := range took[*message.HeartbeatAck](a.desk, a.up[id]) {
		for _, r := range ack.Shards {
			named[r] = true
			a.right[r.Shard] = a.Now().Add(a.m.config.RenewalTimeout)
		}
	}
	if p == nil || p.Missing > 0 || !a.m.holds(a, p) {
		return
	}
	for _, r := range list {
		s := a.m.shardOf(a, r.Shard)
		mine := s != nil && s.Fence == r.Fence && s.Worker == id && s.Live()
		cancelled := false
		for _, c := range took[*message.ShardCancel](a.desk, a.up[id]) {
			cancelled = cancelled || c.Shard == r.Shard && c.Fence == r.Fence
		}
		settled := s != nil && (s.Commit == subjob.Losing || a.lost[r.Shard] || s.Fence == r.Fence && (s.Result != nil || s.Commit == subjob.Counting)) // the next heartbeat decides
		if mine == cancelled && !settled || named[r] && !mine {
			a.t.Fatalf("%s lists %v: adopted %v, cancelled %v, renewed %v", id, r, mine, cancelled, named[r])
		}
	}
}

// judge asserts that at most one worker has a live attempt of a shard: the one that the shard
// names.
func (a *adopting) judge() {
	holders := map[message.ShardID]int{}
	for _, w := range a.m.roster.All() {
		for _, of := range w.Given() {
			s := a.m.subjobs[of.Job].Shard(of)
			if holders[of]++; s == nil || s.Worker != w.Peer.ID || !s.Live() || !w.Has(of, s.Fence) {
				a.t.Fatalf("%s has %v, which is %+v", w.Peer.ID, of, s)
			}
		}
	}
	//lint:orderfree any one that is found fails the test
	for of, n := range holders {
		if n > 1 {
			a.t.Fatalf("%v is live at %d workers", of, n)
		}
	}
}

// onEvent asserts that a new attempt begins only after the former one lost its right to run.
func (a *adopting) onEvent(e node.Event) {
	if d, ok := e.(event.ShardDispatched); ok {
		if until := a.right[d.Shard]; a.Now() < until {
			a.t.Fatalf("%v is dispatched to %s at %v, and %s may go on until %v", d.Shard, d.Worker, a.Now(), a.where[d.Shard], until)
		}
		delete(a.where, d.Shard) // no worker lists an attempt below a later one
	}
}

// In one heartbeat a worker leaves the adopted attempt out for the second time and lists a
// later attempt of the former holder. The manager adopts the later one once a majority has the
// loss, and cancels nothing.
func TestLaterAttemptIsAdoptedBehindALoss(t *testing.T) {
	d := newDesk(t, nil, "w1")
	d.submit(1)
	first := d.accept("w1")
	later := first
	later.Fence.Attempt++
	d.Crash()
	d.forget()
	d.Start()
	d.arrive("w1")
	d.lists("w1", first)
	for range 3 {
		d.Advance(time.Second)
		d.lists("w1", first)
	}
	s := d.m.shardOf(d, first.Shard)
	if s == nil || s.Fence != first.Fence || !s.Live() {
		t.Fatalf("the first attempt is not adopted: %+v", s)
	}
	d.lists("w1")
	d.Held = true
	d.lists("w1", later)
	if s.Commit != subjob.Losing {
		t.Fatal("the first attempt was denied twice, and it is not lost")
	}
	d.Held = false
	for d.Pending() > 0 {
		d.Complete(1, nil)
	}
	d.lists("w1", later)
	if s.Fence != later.Fence || !s.Live() || len(took[*message.ShardCancel](d, d.up["w1"])) > 0 {
		t.Errorf("the shard has %v, live %v; cancelled: %+v", s.Fence, s.Live(), took[*message.ShardCancel](d, d.up["w1"]))
	}
}
