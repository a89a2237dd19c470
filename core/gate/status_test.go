package gate_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"hyperscale/core/event"
	"hyperscale/core/gate"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// lister is a gate with a model that remembers what each manager reported last.
type lister struct {
	*member
	beat  map[node.ID]*message.ManagerHeartbeat
	heard map[node.ID]node.Instant
	most  map[string]uint32 // the most workers that a datacenter had at once
	state map[message.JobID]message.JobState
	jobs  []message.JobInfo // newest last
	last  node.Message      // to the client
}

func newLister() *lister {
	l := &lister{
		member: newMember(gate.Default()), beat: map[node.ID]*message.ManagerHeartbeat{}, heard: map[node.ID]node.Instant{},
		most: map[string]uint32{}, state: map[message.JobID]message.JobState{},
	}
	l.world.Discard = true
	l.world.WatchEvent = func(e node.Event) {
		if e, ok := e.(event.JobChanged); ok {
			l.state[e.Job] = e.To
		}
	}
	l.world.WatchSend = func(s node.StreamID, m node.Message) {
		if slices.Contains(l.world.StreamsOf("c1"), s) {
			l.last = m
		}
	}
	l.world.Start()
	l.world.Accept(node.Peer{ID: "c1", Incarnation: 1, Role: node.RoleClient})
	for i := range 5 {
		l.world.Accept(node.Peer{ID: node.ID(fmt.Sprint("m", i)), Incarnation: 1, Role: node.RoleManager, Addr: node.Addr(fmt.Sprintf("m%d:1", i))})
	}
	return l
}

// placeOf is a manager's datacenter: m0, m2 and m4 are in a, the others in b.
func placeOf(i int) string { return string(rune('a' + i%2)) }

func (l *lister) beats(t *rapid.T) {
	i := rapid.IntRange(0, 4).Draw(t, "manager")
	id, in := node.ID(fmt.Sprint("m", i)), placeOf(i)
	l.member.beats++
	h := &message.ManagerHeartbeat{
		Datacenter: in, Sequence: l.member.beats, Draining: rapid.IntRange(0, 4).Draw(t, "draining") == 0,
		CoresTotal: 8, CoresFree: rapid.Uint32Range(0, 8).Draw(t, "free"), WorkerSum: rapid.Uint32Range(0, 4).Draw(t, "workers"),
		Term:     rapid.Uint64Range(0, 3).Draw(t, "term"),
		Refuses:  rapid.SampledFrom([]message.Code{message.CodeNone, message.CodeNone, message.CodeNone, message.CodeQuorumUnavailable, message.CodeNotMember, message.CodeQueueFull}).Draw(t, "refuses"),
		Overdue:  rapid.SampledFrom([]time.Duration{0, 0, 0, 10*time.Second - 1, 10 * time.Second, 30 * time.Second}).Draw(t, "overdue"),
		Managers: uint32(rapid.SampledFrom([]int{0, 0, 3, 5}).Draw(t, "configured")), Suspects: rapid.Uint32Range(0, 2).Draw(t, "suspects"),
	}
	if h.Term > 0 { // a term has one leader
		h.Leader = rapid.SampledFrom([]string{"", fmt.Sprintf("m%d:1", i%2+2*int(h.Term%2))}).Draw(t, "leader")
	}
	for k := range h.WorkerSum {
		h.Workers = append(h.Workers, message.WorkerInfo{Node: fmt.Sprintf("%s-w%d", in, k), CoresTotal: 4, CoresFree: rapid.Uint32Range(0, 4).Draw(t, "free"), Incarnation: 9, Draining: k == 2})
	}
	for k := range rapid.IntRange(0, 2).Draw(t, "doubts") {
		h.Doubts = append(h.Doubts, message.MemberInfo{Node: fmt.Sprintf("%s-w%d", in, 2*k+1), Addr: "w:1", Role: uint8(node.RoleWorker), State: "suspect", By: "m0", Incarnation: 7})
	}
	l.beat[id], l.heard[id] = h, l.world.Now()
	l.most[in] = max(l.most[in], h.WorkerSum)
	l.deliver(string(id), h)
}

func (l *lister) submits(t *rapid.T) {
	for range rapid.SampledFrom([]int{1, 1, 1, 1, 60}).Draw(t, "jobs") {
		key := fmt.Sprint("k", len(l.jobs))
		s := l.submission(key, rapid.SampledFrom([][]string{nil, {"a"}}).Draw(t, "in"), 2)
		s.Name = "job " + key
		l.last = nil
		l.deliver("c1", s)
		if a, ok := l.last.(*message.JobAck); ok {
			l.jobs = append(l.jobs, message.JobInfo{Job: a.Job, Name: s.Name})
		}
	}
}

func (l *lister) live(id node.ID) bool {
	return l.beat[id] != nil && l.world.Now().Sub(l.heard[id]) < l.config.ManagerSilence
}

// managers lists the managers of a datacenter that the gate has ever heard.
func (l *lister) managers(in string) (all []node.ID) {
	for i := range 5 {
		if id := node.ID(fmt.Sprint("m", i)); placeOf(i) == in && l.beat[id] != nil {
			all = append(all, id)
		}
	}
	return all
}

// nodes is what a list must contain.
func (l *lister) nodes() (all []message.NodeInfo) {
	for _, in := range []string{"a", "b"} {
		leader, term := "", uint64(0)
		var most node.ID
		for _, id := range l.managers(in) {
			h := l.beat[id]
			if !l.live(id) {
				continue
			}
			if h.Term > term || h.Term == term && leader == "" {
				leader, term = h.Leader, h.Term
			}
			if most == "" || h.WorkerSum > l.beat[most].WorkerSum {
				most = id
			}
		}
		for _, id := range l.managers(in) {
			h := l.beat[id]
			n := message.NodeInfo{Node: string(id), Role: uint8(node.RoleManager), Datacenter: in, Silent: l.world.Now().Sub(l.heard[id]), CoresTotal: 8, CoresFree: h.CoresFree, Incarnation: 1, State: "lost", Draining: h.Draining, Version: "1.0"}
			if l.live(id) {
				n.State, n.Leader = stateOf(h), leader == string(id)+":1"
			}
			all = append(all, n)
		}
		if most == "" {
			continue
		}
		workers := map[string]message.NodeInfo{}
		for _, w := range l.beat[most].Workers {
			workers[w.Node] = message.NodeInfo{
				Node: w.Node, Role: uint8(node.RoleWorker), Datacenter: in, Silent: l.world.Now().Sub(l.heard[most]),
				CoresTotal: 4, CoresFree: w.CoresFree, Incarnation: 9, State: "alive", Draining: w.Draining, Version: "1.0",
			}
		}
		for _, d := range l.beat[most].Doubts {
			n := workers[d.Node]
			n.Node, n.Role, n.Datacenter, n.State, n.By, n.Incarnation = d.Node, d.Role, in, "suspect", "m0", 7
			workers[d.Node] = n
		}
		//lint:orderfree sorted below by a total order
		for _, n := range workers {
			all = append(all, n)
		}
	}
	slices.SortFunc(all, func(a, b message.NodeInfo) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Datacenter, b.Datacenter), cmp.Compare(a.Node, b.Node))
	})
	return all
}

// stateOf is the state of a live manager as people see it.
func stateOf(h *message.ManagerHeartbeat) string {
	switch {
	case h.Refuses == message.CodeNotMember:
		return "joining"
	case h.Refuses == message.CodeQuorumUnavailable:
		return "no quorum"
	case h.Refuses != message.CodeNone:
		return "full"
	case h.Overdue >= 30*time.Second:
		return "stuck"
	case h.Overdue >= 10*time.Second:
		return "stalled"
	}
	return "alive"
}

// takes says whether a manager that lives takes subjobs.
func takes(h *message.ManagerHeartbeat) bool {
	return !h.Draining && h.Refuses == message.CodeNone
}

// health is the worst health that applies to a datacenter.
func (l *lister) health(in string, free uint32) (h message.Health, live, workers uint32) {
	ready, all := 0, len(l.managers(in))
	healthy, configured, stuck := uint32(0), 0, false
	for _, id := range l.managers(in) {
		if !l.live(id) {
			continue
		}
		h := l.beat[id]
		live++
		workers, healthy = max(workers, h.WorkerSum), max(healthy, h.WorkerSum-min(h.WorkerSum, h.Suspects))
		configured = max(configured, int(h.Managers))
		if !h.Draining && (h.Refuses == message.CodeNone || h.Refuses == message.CodeQueueFull) {
			ready++
		}
		stuck = stuck || takes(h) && h.Overdue >= 30*time.Second
	}
	if configured > 0 {
		all = configured
	}
	switch {
	case live == 0 || workers == 0:
		return message.HealthUnhealthy, live, workers
	case 2*int(live) <= all || 2*ready <= all || 2*healthy <= l.most[in] || stuck:
		return message.HealthDegraded, live, workers
	case free == 0:
		return message.HealthBusy, live, workers
	}
	return message.HealthHealthy, live, workers
}

func (l *lister) asks(t *rapid.T) {
	l.request++
	r := message.RequestID{Incarnation: 1, Counter: l.request}
	l.last = nil
	if rapid.Bool().Draw(t, "datacenters") {
		l.deliver("c1", &message.DatacenterQuery{Request: r})
		got, ok := l.last.(*message.DatacenterList)
		if !ok || got.Request != r {
			t.Fatalf("got %+v", l.last)
		}
		for _, d := range got.Datacenters {
			h, live, workers := l.health(d.Name, d.CoresFree)
			if d.Health != h || d.Managers != live || d.Workers != workers || live > 0 && d.CoresTotal != 8 || d.CoresFree > 8 {
				t.Fatalf("datacenter %+v, want %v with %d managers and %d workers", d, h, live, workers)
			}
			free := uint32(0)
			for _, id := range l.managers(d.Name) {
				if l.live(id) && takes(l.beat[id]) {
					free = max(free, l.beat[id].CoresFree)
				}
			}
			if d.CoresFree > free || len(l.jobs) == 0 && d.CoresFree != free {
				t.Fatalf("datacenter %s has %d free cores, its managers tell of %d", d.Name, d.CoresFree, free)
			}
		}
		if heard := min(1, len(l.managers("a"))) + min(1, len(l.managers("b"))); len(got.Datacenters) != heard {
			t.Fatalf("%d datacenters were heard, and listed are %+v", heard, got.Datacenters)
		}
		return
	}
	l.deliver("c1", &message.StatusQuery{Request: r})
	got, ok := l.last.(*message.StatusList)
	if !ok || got.Request != r {
		t.Fatalf("got %+v", l.last)
	}
	if diff := gocmp.Diff(l.nodes(), got.Nodes, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("nodes (-want +got):\n%s", diff)
	}
	if len(got.Jobs) != min(100, len(l.jobs)) {
		t.Fatalf("%d jobs of %d", len(got.Jobs), len(l.jobs))
	}
	for i, j := range got.Jobs {
		want := l.jobs[len(l.jobs)-1-i]
		if j.Job != want.Job || j.Name != want.Name || j.State != l.state[j.Job] {
			t.Fatalf("job %d from the newest is %+v, want %+v %v", i, j, want, l.state[j.Job])
		}
	}
}

// TestStatusListsWhatManagersTell: whatever managers send, and whenever they fall silent, a
// list shows each manager as it last reported. It shows the workers as the manager with the
// most workers reports them, and the newest jobs.
func TestStatusListsWhatManagersTell(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := newLister()
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			switch rapid.IntRange(0, 9).Draw(rt, "step") {
			case 0:
				l.submits(rt)
			case 1, 2:
				l.world.Advance(time.Duration(rapid.IntRange(1, 4000).Draw(rt, "ms")) * time.Millisecond)
			case 3, 4, 5:
				l.asks(rt)
			default:
				l.beats(rt)
			}
		}
		l.asks(rt)
	})
}
