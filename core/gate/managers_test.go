package gate_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/event"
	"hyperscale/core/gate"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// chief is what the model knows about a manager.
type chief struct {
	incarnation, sequence uint64
	addr                  node.Addr
	place                 string
	stream, former        node.StreamID
	live                  bool
	silent                time.Duration
}

// register is a gate with a simple model of the managers that it knows.
type register struct {
	t       *rapid.T
	s       *member
	now     time.Duration
	known   map[node.ID]*chief
	places  map[string]time.Duration // since when none of the datacenter's managers was lost
	acks    int
	refused int
	sets    int
	lines   map[node.StreamID]node.Peer
	order   []node.StreamID
}

// A manager's ID belongs to the newest incarnation at one address, and a manager to one
// datacenter. A heartbeat counts if it is newer than all before. A gate refuses managers with
// another set of gates or with a longer load. It forgets managers that were lost long ago, then
// their datacenters.
func TestManagersAreToldApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := gate.Default()
		c.ManagersMax, c.DatacentersMax = rapid.IntRange(1, 3).Draw(t, "managers_max"), rapid.IntRange(1, 2).Draw(t, "datacenters_max")
		c.DatacenterAge, c.QueueAgeMax = 9*time.Minute, 9*time.Minute
		c.ManagerSilence, c.ManagerAge, c.KeyAge, c.ResultAge, c.SweepInterval = 5*time.Second, 8*time.Minute, 9*time.Minute, 5*time.Minute, 5*time.Second // longer than all steps
		r := &register{t: t, s: newMember(c), known: map[node.ID]*chief{}, places: map[string]time.Duration{}, lines: map[node.StreamID]node.Peer{}}
		r.s.world.Discard = true
		r.s.world.WatchSend = func(_ node.StreamID, m node.Message) {
			if _, ok := m.(*message.HeartbeatAck); ok {
				r.acks++
			}
		}
		r.s.world.WatchEvent = func(e node.Event) {
			switch e.(type) {
			case event.PeerRefused:
				r.refused++
			case event.GroupRefused:
				r.sets++
			}
		}
		r.s.world.Start()
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch what := rapid.IntRange(0, 9).Draw(t, "what"); {
			case len(r.order) == 0 || what < 3:
				id := rapid.SampledFrom([]node.ID{"m1", "m1", "m1", "m2", "m3", "m4"}).Draw(t, "manager")
				p := node.Peer{ID: id, Incarnation: rapid.SampledFrom([]uint64{1, 1, 1, 2, 3}).Draw(t, "incarnation"), Role: node.RoleManager, Addr: node.Addr(fmt.Sprint(id, ":", rapid.SampledFrom([]int{1, 1, 1, 2}).Draw(t, "port")))}
				s := r.s.world.Accept(p)
				r.lines[s] = p
				r.order = append(r.order, s)
			case what == 3:
				r.passes(rapid.SampledFrom([]time.Duration{time.Second, c.ManagerSilence + time.Second}).Draw(t, "time"))
			default:
				r.beat(rapid.SampledFrom(r.order).Draw(t, "stream"))
			}
		}
		// Long after all managers fell silent the gate has forgotten them.
		r.s.world.Advance(c.ManagerSilence + c.ManagerAge + c.DatacenterAge + 3*c.SweepInterval)
		r.s.world.Machine().(*gate.Machine).Sizes(func(what string, n, _ int) {
			if n > 0 && (what == "gate/managers" || what == "gate/datacenters") {
				t.Fatalf("%s is %d long after all fell silent", what, n)
			}
		})
	})
}

// passes advances the clock; silent managers become lost.
func (r *register) passes(d time.Duration) {
	r.s.world.Advance(d)
	r.now += d
	//lint:orderfree each is looked at by itself
	for _, m := range r.known {
		if r.now-m.silent >= r.s.config.ManagerSilence && m.live {
			m.live, m.stream = false, 0
		}
	}
}

func (r *register) beat(s node.StreamID) {
	t, p := r.t, r.lines[s]
	h := &message.ManagerHeartbeat{
		Datacenter: rapid.SampledFrom([]string{"a", "a", "b", "c", "no name/"}).Draw(t, "datacenter"), Sequence: rapid.Uint64Range(1, 4).Draw(t, "sequence"),
		CoresTotal: 8, CoresFree: 8, WorkerSum: 1,
	}
	if rapid.IntRange(0, 9).Draw(t, "other gates") == 0 {
		h.Gates = []string{"g1:1", "g9:1"}
	}
	if rapid.IntRange(0, 9).Draw(t, "for long") == 0 {
		h.LoadFor = time.Hour
	}
	m := r.known[p.ID]
	acks, refused, sets := 0, 0, 0
	first := 0
	if h.Sequence == 1 {
		first = 1
	}
	older := m != nil && m.live && (p.Incarnation < m.incarnation || p.Incarnation == m.incarnation && p.Addr != m.addr)
	switch {
	case len(h.Gates) > 0:
		sets = first
	case older || h.LoadFor > 0:
		refused = first
	case m != nil && (s == m.stream && h.Sequence <= m.sequence || s == m.former):
	case h.Datacenter == "no name/":
	case !r.room(h.Datacenter):
	case m == nil && len(r.known) >= r.s.config.ManagersMax:
	default:
		acks = 1
		if m == nil || m.place != h.Datacenter {
			m = &chief{place: h.Datacenter}
			r.known[p.ID] = m
		}
		if s != m.stream {
			m.former = m.stream
		}
		m.incarnation, m.addr, m.stream, m.sequence, m.live, m.silent = p.Incarnation, p.Addr, s, h.Sequence, true, r.now
	}
	r.acks, r.refused, r.sets = 0, 0, 0
	r.s.world.Receive(s, h)
	if r.acks != acks || r.refused != refused || r.sets != sets {
		t.Fatalf("%+v of %+v, known as %+v: acknowledged %d times, refused %d times, its set %d times; want %d, %d and %d", h, p, m, r.acks, r.refused, r.sets, acks, refused, sets)
	}
	told := map[string]int{}
	r.s.world.Machine().(*gate.Machine).Sizes(func(what string, n, _ int) { told[what] = n })
	if told["gate/managers"] != len(r.known) || told["gate/datacenters"] != len(r.places) {
		t.Fatalf("%d managers of %d datacenters are known, want %d of %d", told["gate/managers"], told["gate/datacenters"], len(r.known), len(r.places))
	}
}

// room says whether the gate knows a datacenter or has room for it.
func (r *register) room(name string) bool {
	if _, known := r.places[name]; !known && len(r.places) >= r.s.config.DatacentersMax {
		return false
	}
	r.places[name] = r.now
	return true
}

// A gate ignores, and reports, a message that its sender's role may not send. The same holds
// for messages of gates of another set and of clients without a stream.
func TestStrangeMessagesChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := gate.Default()
		e := newListener(c, client("c1"), managerPeer("m1"), node.Peer{ID: "g9", Incarnation: 1, Role: node.RoleGate, Addr: "g9:1"})
		e.says("m1")
		_, d := e.dispatched(t, "m1")
		fence := message.Fence{JobEpoch: d.Fence.JobEpoch, SubjobEpoch: 257}
		e.deliver("m1", &message.JobAccepted{Job: d.Job, Fence: fence})
		told := 0
		e.world.WatchEvent = func(ev node.Event) {
			if _, ok := ev.(event.Ignored); ok {
				told++
			}
		}
		ledger := func() []string {
			var lines []string
			tell := func(what string, n, bound int) { lines = append(lines, fmt.Sprintln(what, n, bound)) }
			m := e.world.Machine().(*gate.Machine)
			m.Sizes(tell)
			m.Rests(tell)
			slices.Sort(lines)
			return lines
		}
		before, want := ledger(), 0
		for range rapid.IntRange(1, 6).Draw(t, "messages") {
			want++
			switch rapid.IntRange(0, 6).Draw(t, "what") {
			case 0:
				e.deliver("c1", &message.JobAccepted{Job: d.Job, Fence: fence})
			case 1:
				e.deliver("m1", &message.JobCancel{Request: e.ask(), Job: d.Job})
			case 2:
				e.deliver("g9", &message.Drain{Node: "g1"})
			case 3:
				e.world.ReceiveDatagram(client("c1"), &message.JobCancel{Request: e.ask(), Job: d.Job})
			case 4:
				e.deliver("m1", &message.JobProgress{Job: d.Job, Fence: message.Fence{JobEpoch: d.Fence.JobEpoch + 256, SubjobEpoch: 257}, Sequence: 1, Subjob: message.DatacenterResult{Name: "a"}})
			case 5:
				e.deliver("m1", subjobResult(d.Job, message.Fence{JobEpoch: d.Fence.JobEpoch + 256, SubjobEpoch: 257}, "a", message.JobCompleted, 10, ""))
			case 6:
				e.deliver("m1", subjobResult(d.Job, fence, "a", message.JobRunning, 10, ""))
			}
		}
		if after := ledger(); !slices.Equal(after, before) || told != want || e.world.Machine().(*gate.Machine) == nil {
			t.Fatalf("%d messages are told as ignored, want %d; before\n%v\nafter\n%v", told, want, before, after)
		}
	})
}

// A gate whose own address is not in the configured set halts at its start and gives the
// reason. It holds nothing, and halts when an operator stops it.
func TestRefusedAtTheStart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := gate.Default()
		c.Gates = rapid.SliceOfNDistinct(rapid.SampledFrom([]node.Addr{"g1:1", "g2:1", "g3:1"}), 1, 3, rapid.ID).Draw(t, "gates")
		s := newMember(c)
		s.world.Start()
		told := s.world.Take()
		if named := slices.Contains(c.Gates, "g1:1"); named != s.world.Running() {
			t.Fatalf("of the gates %v g1 is told %q", c.Gates, told)
		} else if named {
			return
		}
		m := s.world.Machine().(*gate.Machine)
		none := func(what string, n, rest int) {
			if n > 0 && n != rest {
				t.Fatalf("it was refused, and %s is %d", what, n)
			}
		}
		m.Rests(none)
		m.Sizes(func(what string, n, _ int) { none(what, n, 0) })
	})
}
