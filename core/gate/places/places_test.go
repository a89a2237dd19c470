package places_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/gate/places"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// twin is what the model knows about a manager: its newest heartbeat, and the stream.
type twin struct {
	peer           node.Peer
	place          string
	stream, former node.StreamID
	live           bool
	heard          node.Instant
	beat           *message.ManagerHeartbeat
}

// model remembers every heartbeat of a datacenter and searches them each time.
type model struct {
	now      node.Instant
	bounds   places.Bounds
	managers map[node.ID]*twin
	reserved map[string]uint32
	silent   map[string]node.Instant  // since when none of the datacenter's managers was lost
	saved    map[string]time.Duration // silences as the gate has them on disk
}

// takes says whether a manager takes subjobs.
func (o *twin) takes() bool {
	return o.live && o.stream != 0 && !o.beat.Draining && o.beat.Refuses == message.CodeNone
}

// rank orders those that take subjobs: moving, stalled, stuck.
func (o *twin) rank() int {
	switch {
	case o.beat.Overdue >= 30*time.Second:
		return 2
	case o.beat.Overdue >= 10*time.Second:
		return 1
	}
	return 0
}

// of lists the managers of a datacenter.
func (w *model) of(place string) (all []*twin) {
	for _, id := range slices.Sorted(maps.Keys(w.managers)) {
		if w.managers[id].place == place {
			all = append(all, w.managers[id])
		}
	}
	return all
}

// free is the highest number that a manager without a drain reports, less what is reserved.
func (w *model) free(place string) uint32 {
	var most uint32
	for _, o := range w.of(place) {
		if o.takes() {
			most = max(most, o.beat.CoresFree)
		}
	}
	return most - min(most, w.reserved[place])
}

// TestPlacesAreWhatHeartbeatsSay plays heartbeats, losses and sweeps. The places know the same
// managers and free cores as a model that remembers only the newest heartbeats.
func TestPlacesAreWhatHeartbeatsSay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := places.Bounds{Datacenters: 2, Managers: 3, Silence: 5 * time.Second, ManagerAge: 20 * time.Second, DatacenterAge: 40 * time.Second}
		p := places.New(b)
		w := &model{now: 1, bounds: b, managers: map[node.ID]*twin{}, reserved: map[string]uint32{}, silent: map[string]node.Instant{}, saved: map[string]time.Duration{}}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"beat", "beat", "beat", "beat", "break", "pass", "reserve", "release", "sweep"}).Draw(t, "what") {
			case "beat":
				w.hear(t, p)
			case "break":
				s := node.StreamID(rapid.IntRange(1, 4).Draw(t, "stream"))
				p.Broken(s)
				//lint:orderfree each is looked at by itself
				for _, o := range w.managers {
					if o.stream == s {
						o.stream = 0
					}
				}
			case "pass":
				w.pass(t, p)
			case "reserve":
				if d := p.Datacenter("a"); d != nil {
					d.Reserve(places.Room{Cores: 3})
					w.reserved["a"] += 3
				}
			case "release":
				p.Release("a", places.Room{Cores: 4})
				w.reserved["a"] -= min(w.reserved["a"], 4)
			case "sweep":
				w.sweep(t, p)
			}
			w.compare(t, p)
		}
	})
}

func (w *model) hear(t *rapid.T, p *places.Places) {
	id := rapid.SampledFrom([]node.ID{"m1", "m1", "m2", "m3", "m4"}).Draw(t, "manager")
	peer := node.Peer{ID: id, Incarnation: rapid.Uint64Range(1, 2).Draw(t, "incarnation"), Addr: node.Addr(fmt.Sprint(id, ":", rapid.IntRange(1, 2).Draw(t, "port")))}
	stream := node.StreamID(rapid.IntRange(1, 4).Draw(t, "stream"))
	h := &message.ManagerHeartbeat{
		Datacenter: rapid.SampledFrom([]string{"a", "a", "b", "c", "no name/"}).Draw(t, "datacenter"), Sequence: rapid.Uint64Range(1, 4).Draw(t, "sequence"),
		CoresTotal: 8, CoresFree: uint32(rapid.IntRange(0, 8).Draw(t, "free")), WorkerSum: uint32(rapid.IntRange(0, 2).Draw(t, "workers")),
		Draining: rapid.Bool().Draw(t, "draining"),
		Refuses:  rapid.SampledFrom([]message.Code{message.CodeNone, message.CodeNone, message.CodeNone, message.CodeQuorumUnavailable, message.CodeQueueFull}).Draw(t, "refuses"),
		Overdue:  rapid.SampledFrom([]time.Duration{0, 0, 20 * time.Second, time.Minute}).Draw(t, "overdue"),
		Managers: rapid.SampledFrom([]uint32{0, 0, 3}).Draw(t, "configured"), Suspects: rapid.Uint32Range(0, 2).Draw(t, "suspects"),
	}
	was := w.managers[id]
	twins := was != nil && was.live && (peer.Incarnation < was.peer.Incarnation || peer.Incarnation == was.peer.Incarnation && peer.Addr != was.peer.Addr)
	m := p.Manager(id)
	if got := m.Twin(peer) != ""; got != twins {
		t.Fatalf("%+v is a twin of %+v: %v, want %v", peer, was, got, twins)
	}
	if twins {
		return
	}
	late := was != nil && (stream == was.stream && h.Sequence <= was.beat.Sequence || stream == was.former)
	if got := !m.Follows(stream, h.Sequence); got != late {
		t.Fatalf("%+v on stream %d arrives late: %v, want %v; known is %+v", h, stream, got, late, was)
	}
	if late {
		return
	}
	same := was != nil && was.live && was.peer.Incarnation == peer.Incarnation && was.place == h.Datacenter
	if got := m.Registered(peer.Incarnation, h.Datacenter); got != same {
		t.Fatalf("%+v is registered in %s: %v, want %v", peer, h.Datacenter, got, same)
	}
	if !same {
		_, known := w.silent[h.Datacenter]
		room := known || len(w.silent) < w.bounds.Datacenters && h.Datacenter != "no name/"
		d, fresh := p.Know(h.Datacenter, w.now)
		if (d != nil) != room || fresh != (room && !known) {
			t.Fatalf("datacenter %q is known: %v, new: %v; want %v, %v", h.Datacenter, d != nil, fresh, room, room && !known)
		}
		if fresh {
			w.silent[h.Datacenter] = w.now
		}
		if full := len(w.managers) >= w.bounds.Managers; p.Full() != full {
			t.Fatalf("%d managers are known, full is %v", len(w.managers), p.Full())
		} else if d == nil || was == nil && full {
			return
		}
		if was != nil && was.place != h.Datacenter {
			if m.Live {
				m.Lose(w.now)
				w.silent[was.place] = w.now
			}
			p.Forget(m)
			was = nil
		}
		m = p.Register(d, peer, w.now)
	}
	if was == nil {
		was = &twin{}
		w.managers[id] = was
	}
	if was.stream != stream {
		was.former = was.stream
	}
	was.peer, was.place, was.stream, was.live, was.heard, was.beat = peer, h.Datacenter, stream, true, w.now, h
	m.Take(stream, h, w.now)
}

// pass advances the clock: the places list the managers that are lost, and predict the next
// loss.
func (w *model) pass(t *rapid.T, p *places.Places) {
	w.now = w.now.Add(time.Duration(rapid.IntRange(1, 15).Draw(t, "seconds")) * time.Second)
	var want []node.ID
	for _, place := range []string{"a", "b", "c"} {
		for _, o := range w.of(place) {
			if o.live && w.now.Sub(o.heard) >= w.bounds.Silence {
				want = append(want, o.peer.ID)
				o.live, o.stream = false, 0
				w.silent[place] = w.now
			}
		}
	}
	var got []node.ID
	for _, m := range p.Silent(w.now) {
		got = append(got, m.ID)
		m.Lose(w.now)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("silent are %v, want %v", got, want)
	}
	first, any := node.Instant(0), false
	//lint:orderfree a minimum
	for _, o := range w.managers {
		if at := o.heard.Add(w.bounds.Silence); o.live && (!any || at < first) {
			first, any = at, true
		}
	}
	if at, ok := p.FirstLoss(); ok != any || ok && at != first {
		t.Fatalf("the first loss is at %v (%v), want %v (%v)", at, ok, first, any)
	}
}

func (w *model) sweep(t *rapid.T, p *places.Places) {
	var want []string
	for _, id := range slices.Sorted(maps.Keys(w.managers)) {
		if o := w.managers[id]; !o.live && w.now.Sub(o.heard) >= w.bounds.ManagerAge {
			delete(w.managers, id)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.silent)) {
		if len(w.of(name)) == 0 && w.now.Sub(w.silent[name]) >= w.bounds.DatacenterAge {
			want = append(want, name)
			delete(w.silent, name)
			delete(w.reserved, name)
			delete(w.saved, name)
		}
	}
	if got := p.Sweep(w.now); !slices.Equal(got, want) {
		t.Fatalf("swept are %v, want %v", got, want)
	}
	var silences []places.Silence
	for _, name := range slices.Sorted(maps.Keys(w.silent)) {
		silence := w.now.Sub(w.silent[name])
		if slices.ContainsFunc(w.of(name), func(o *twin) bool { return o.live }) {
			silence = 0
		}
		if saved := w.saved[name]; silence == 0 && saved > 0 || silence >= saved+w.bounds.DatacenterAge/8 {
			silences = append(silences, places.Silence{Datacenter: name, For: silence})
			w.saved[name] = silence
		}
	}
	if got := p.Silences(w.now); !slices.Equal(got, silences) {
		t.Fatalf("silences to save are %v, want %v", got, silences)
	}
}

func (w *model) compare(t *rapid.T, p *places.Places) {
	if got := p.Names(); !slices.Equal(got, slices.Sorted(maps.Keys(w.silent))) {
		t.Fatalf("known are %v, want %v", got, slices.Sorted(maps.Keys(w.silent)))
	}
	total := 0
	for _, d := range p.All() {
		all := w.of(d.Name)
		if len(d.Managers) != len(all) {
			t.Fatalf("%s has %d managers, want %d", d.Name, len(d.Managers), len(all))
		}
		total += len(all)
		var workers uint32
		live, configured := 0, 0
		for i, o := range all {
			m := d.Managers[i]
			if m.ID != o.peer.ID || m.Place != d || m.Live != o.live || m.Stream != o.stream || p.Manager(m.ID) != m {
				t.Fatalf("manager %+v, want %+v", m, o)
			}
			if o.live {
				live++
				configured = max(configured, int(o.beat.Managers))
				workers = max(workers, o.beat.WorkerSum)
			}
		}
		if d.Free() != w.free(d.Name) {
			t.Fatalf("%s has %d free cores, want %d", d.Name, d.Free(), w.free(d.Name))
		}
		health := d.Health()
		switch {
		case (live == 0 || workers == 0) != (health == message.HealthUnhealthy):
			t.Fatalf("%s with %d live managers of %d workers is %v", d.Name, live, workers, health)
		case health == message.HealthHealthy && (2*live <= cmp.Or(configured, len(all)) || d.Free() == 0), health == message.HealthBusy && d.Free() > 0:
			t.Fatalf("%s with %d of %d managers and %d free cores is %v", d.Name, live, len(all), d.Free(), health)
		}
		best, some := 2, false
		for _, o := range all {
			if o.takes() && o.peer.ID != "m1" {
				best, some = min(best, o.rank()), true
			}
		}
		fit := d.Candidates(func(m *places.Manager) bool { return m.ID == "m1" })
		if some != (len(fit) > 0) {
			t.Fatalf("some of %s would take a subjob: %v, and the candidates are %v", d.Name, some, fit)
		}
		for _, m := range fit {
			if o := w.managers[m.ID]; !o.takes() || o.rank() != best || m.ID == "m1" {
				t.Fatalf("%s is a candidate of rank %d, the best is %d: %+v", m.ID, o.rank(), best, o.beat)
			}
		}
	}
	if total != len(w.managers) {
		t.Fatalf("%d managers are listed, want %d", total, len(w.managers))
	}
	best, others := p.Best(w.now, func(name string) bool { return name == "b" })
	if _, known := w.silent["b"]; others != (len(w.silent) > 1 || len(w.silent) == 1 && !known) {
		t.Fatalf("beside b there are others: %v", others)
	}
	for _, d := range p.All() {
		if d.Name != "b" && d.Health() != message.HealthUnhealthy && (best == nil || d.Health() < best.Health() || d.Health() == best.Health() && d.Cost(w.now) < best.Cost(w.now)) {
			t.Fatalf("the best beside b is %+v, but there is %+v", best, d)
		}
	}
}

// Each pair of managers, in any two conditions: the candidates are those of the better decision, and
// there are none if neither takes subjobs.
func TestCandidatesHaveTheBestDecision(t *testing.T) {
	conditions := []struct {
		name string
		rank int // of the decision; above 2 it takes nothing
		beat message.ManagerHeartbeat
	}{
		{"moving", 0, message.ManagerHeartbeat{}},
		{"stalled", 1, message.ManagerHeartbeat{Overdue: 10 * time.Second}},
		{"stuck", 2, message.ManagerHeartbeat{Overdue: 30 * time.Second}},
		{"full", 3, message.ManagerHeartbeat{Refuses: message.CodeQueueFull}},
		{"without quorum", 3, message.ManagerHeartbeat{Refuses: message.CodeQuorumUnavailable, Overdue: time.Minute}},
		{"draining", 3, message.ManagerHeartbeat{Draining: true}},
	}
	for _, a := range conditions {
		for _, b := range conditions {
			p := places.New(places.Bounds{Datacenters: 1, Managers: 2, Silence: time.Second, ManagerAge: time.Minute, DatacenterAge: time.Minute})
			d, _ := p.Know("a", 1)
			var want, got []node.ID
			for i, c := range []message.ManagerHeartbeat{a.beat, b.beat} {
				id := node.ID(fmt.Sprint("m", i+1))
				c.Sequence, c.CoresTotal, c.CoresFree = 1, 8, 8
				p.Register(d, node.Peer{ID: id, Incarnation: 1, Addr: node.Addr(id + ":1")}, 1).Take(node.StreamID(i+1), &c, 1)
				if rank := []int{a.rank, b.rank}[i]; rank <= 2 && rank == min(a.rank, b.rank) {
					want = append(want, id)
				}
			}
			for _, m := range d.Candidates(func(*places.Manager) bool { return false }) {
				got = append(got, m.ID)
			}
			if !slices.Equal(got, want) {
				t.Errorf("m1 is %s and m2 is %s: the candidates are %v, want %v", a.name, b.name, got, want)
			}
		}
	}
}

// A manager's alerts take a bounded place at the gate, and those of a former stream none.
func TestAlertsAreBounded(t *testing.T) {
	p := places.New(places.Bounds{Datacenters: 1, Managers: 1, Silence: time.Second})
	d, _ := p.Know("a", 1)
	m := p.Register(d, node.Peer{ID: "m", Incarnation: 1}, 1)
	m.Take(1, &message.ManagerHeartbeat{Datacenter: "a", Sequence: 1}, 1)
	short := message.AlertInfo{Name: "emergency", Why: "it is"}
	for _, c := range []struct {
		name   string
		stream node.StreamID
		sent   []message.AlertInfo
		want   int
	}{
		{"one", 1, []message.AlertInfo{short}, 1},
		{"of another stream", 2, nil, 1},
		{"a long reason", 1, []message.AlertInfo{short, {Name: "emergency", Why: strings.Repeat("x", 513)}}, 1},
		{"a long name", 1, []message.AlertInfo{{Name: strings.Repeat("x", 65)}, short, short}, 2},
		{"too many", 1, slices.Repeat([]message.AlertInfo{short}, 1000), 32},
		{"none", 1, nil, 0},
	} {
		if m.Report(c.stream, c.sent); len(m.Alerts()) != c.want {
			t.Errorf("%s: the gate keeps %d alerts, want %d", c.name, len(m.Alerts()), c.want)
		}
	}
}

// A manager that says nothing for half a second, and twice the way to it, after a dispatch gets no
// further one. Whatever it says on its stream ends that. Another one of its datacenter gets them.
func TestAMuteManagerGetsNoMore(t *testing.T) {
	const trip = 100 * time.Millisecond
	start := node.Instant(time.Hour)
	p := places.New(places.Bounds{Datacenters: 1, Managers: 2, Silence: 5 * time.Second, ManagerAge: time.Minute, DatacenterAge: time.Minute})
	d, _ := p.Know("a", start)
	beat := func(m *places.Manager, s node.StreamID, n uint64, now node.Instant) {
		m.Take(s, &message.ManagerHeartbeat{Datacenter: "a", Sequence: n, CoresTotal: 8, CoresFree: 8, RoundTrip: trip}, now)
	}
	m := p.Register(d, node.Peer{ID: "m1", Incarnation: 1, Addr: "m1:1"}, start)
	beat(m, 1, 1, start)
	other := p.Register(d, node.Peer{ID: "m2", Incarnation: 1, Addr: "m2:1"}, start)
	beat(other, 2, 1, start)
	takes := func() bool {
		return slices.Contains(d.Candidates(func(*places.Manager) bool { return false }), m)
	}
	mute := func(after time.Duration, want bool) {
		t.Helper()
		if changed := m.Mute(start.Add(after)); changed != want || takes() == want {
			t.Fatalf("%v later the gate finds it mute: %v, and it takes subjobs: %v", after, changed, takes())
		}
	}
	const bound = 500*time.Millisecond + 2*trip
	mute(time.Hour, false) // without a dispatch its silence says nothing
	m.Ask(start)
	m.Ask(start.Add(bound / 2)) // the first of several counts
	mute(bound-1, false)
	mute(bound, true)
	if m.Mute(start.Add(2 * bound)) {
		t.Fatal("the gate finds it mute twice")
	}
	if fit := d.Candidates(func(*places.Manager) bool { return false }); !slices.Equal(fit, []*places.Manager{other}) || d.Free() != 8 {
		t.Fatalf("beside it %v take subjobs, on %d cores", fit, d.Free())
	}
	if m.Hear(9) || takes() {
		t.Fatal("a word on a stream that is not its own ends it")
	}
	if !m.Hear(1) || !takes() || m.Hear(1) {
		t.Fatal("a word does not end it, or ends it twice")
	}
	m.Ask(start.Add(time.Second))
	beat(m, 1, 2, start.Add(2*time.Second))
	mute(time.Minute, false)
	m.Ask(start.Add(time.Second))
	mute(time.Second+bound, true)
	if beat(m, 3, 1, start.Add(3*time.Second)); !takes() {
		t.Fatal("a heartbeat on a new stream does not end it")
	}
}

// That a manager is mute for a moment changes nothing of its datacenter's health: one whose commits
// stand still is DEGRADED all the same.
func TestAMuteManagerIsNoIllness(t *testing.T) {
	start := node.Instant(time.Hour)
	p := places.New(places.Bounds{Datacenters: 1, Managers: 2, Silence: 5 * time.Second, ManagerAge: time.Minute, DatacenterAge: time.Minute})
	d, _ := p.Know("a", start)
	m := p.Register(d, node.Peer{ID: "m1", Incarnation: 1, Addr: "m1:1"}, start)
	m.Take(1, &message.ManagerHeartbeat{Datacenter: "a", Sequence: 1, CoresTotal: 8, CoresFree: 8, WorkerSum: 2, Overdue: time.Minute}, start)
	before := d.Health()
	m.Ask(start)
	if !m.Mute(start.Add(time.Second)) {
		t.Fatal("it is not mute")
	}
	if after := d.Health(); before != message.HealthDegraded || after != before {
		t.Errorf("the datacenter is %v, and %v with a mute manager, want DEGRADED", before, after)
	}
}

// Workers of fewer cores take the place of as many larger ones: within the manager's age nothing waits for the cores that left.
func TestCoresThatLeftAreForgotten(t *testing.T) {
	start := node.Instant(time.Hour)
	p := places.New(places.Bounds{Datacenters: 1, Managers: 2, Silence: 5 * time.Second, ManagerAge: time.Minute, DatacenterAge: time.Minute})
	d, _ := p.Know("a", start)
	m := p.Register(d, node.Peer{ID: "m1", Incarnation: 1, Addr: "m1:1"}, start)
	now := start
	for sequence, cores := range []uint32{32, 28, 24, 20, 16} {
		now = start.Add(time.Duration(sequence) * time.Second)
		m.Take(1, &message.ManagerHeartbeat{Datacenter: "a", Sequence: uint64(sequence + 1), CoresTotal: cores, WorkerSum: 4}, now)
	}
	for _, tt := range []struct {
		at   time.Duration
		want uint32
	}{{59 * time.Second, 32}, {time.Minute, 16}} {
		m.Take(1, &message.ManagerHeartbeat{Datacenter: "a", Sequence: uint64(100 + tt.at), CoresTotal: 16, WorkerSum: 4}, start.Add(tt.at))
		if p.Sweep(start.Add(tt.at)); d.Cores != tt.want {
			t.Errorf("%v behind the first worker's end it counts on %d cores, want %d", tt.at, d.Cores, tt.want)
		}
	}
}
