package lease

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/lease/seats"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// group is a small world: the members of one group in memory, with clocks that drift, disks
// that complete late, and a network that a test controls.
type group struct {
	now     int64 // real time
	order   uint64
	members []*host
	events  []happening
	latency func(from, to int, m node.Message) []time.Duration // of each copy; an empty list loses the message
	held    func(from, to int, m node.Message) bool
	kept    []envelope
	disk    func() time.Duration
	line    func(format string, args ...any)
	watch   func(h *host, e node.Event)
	tell    func(h *host, o Outcome)
	clone   bool
	scratch []byte
}

type happening struct {
	at    int64
	order uint64
	do    func()
}

type envelope struct {
	from node.Peer
	to   int
	m    node.Message
}

// host is one node: Env and Poster of its Registers.
type host struct {
	g       *group
	index   int
	name    string
	config  Config
	ppm     int64
	self    node.Peer
	r       *Registers
	run     uint64 // a crash raises it: completions of an earlier run go to no node
	timers  map[node.TimerKey]uint64
	timer   uint64
	records map[string][]byte
	rand    *node.Rand
	start   bool
	failing bool
	stuck   bool
	quiet   bool // it runs, and the others do not hear it
	pending []func()
}

func newGroup(names []string, c Config, seed uint64) *group {
	g := &group{
		line: func(string, ...any) {}, watch: func(*host, node.Event) {}, tell: func(*host, Outcome) {}, clone: true,
		held: func(int, int, node.Message) bool { return false },
		disk: func() time.Duration { return 100 * time.Microsecond },
	}
	g.latency = func(int, int, node.Message) []time.Duration { return []time.Duration{time.Millisecond} }
	c.Members = nil
	for _, n := range names {
		c.Members = append(c.Members, node.Addr(n+":1"))
	}
	for i, n := range names {
		c.Self = c.Members[i]
		h := &host{
			g: g, index: i, name: n, config: c, records: map[string][]byte{}, rand: node.NewRand(seed, node.ID(n), node.PurposeLease),
			self: node.Peer{ID: node.ID(n), Role: node.RoleGate, Addr: c.Self},
		}
		h.config.Order = h
		g.members = append(g.members, h)
	}
	return g
}

func (g *group) after(d time.Duration, do func()) {
	g.order++
	g.events = append(g.events, happening{g.now + int64(d), g.order, do})
	slices.SortFunc(g.events, func(a, b happening) int {
		if a.at != b.at {
			return int(max(-1, min(1, a.at-b.at)))
		}
		return int(int64(a.order) - int64(b.order))
	})
}

func (g *group) next(end int64) bool {
	if len(g.events) == 0 || g.events[0].at > end {
		return false
	}
	e := g.events[0]
	g.events = g.events[1:]
	g.now = max(g.now, e.at)
	e.do()
	return true
}

func (g *group) advance(d time.Duration) {
	end := g.now + int64(d)
	for g.next(end) {
	}
	g.now = end
}

func (g *group) host(name string) *host {
	for _, h := range g.members {
		if h.name == name {
			return h
		}
	}
	panic("no member is called " + name)
}

func (g *group) post(from *host, to int, m node.Message) {
	if g.clone {
		c, scratch, err := message.Clone(m, g.scratch)
		g.scratch = scratch
		if err != nil {
			panic(err)
		}
		m = c
	}
	e := envelope{from.self, to, m}
	if g.held(from.index, to, m) {
		g.kept = append(g.kept, e)
		return
	}
	for _, d := range g.latency(from.index, to, m) {
		g.after(d, func() { g.deliver(e) })
	}
}

func (g *group) deliver(e envelope) {
	h := g.members[e.to]
	if h.r == nil {
		return
	}
	if !h.r.Receive(h, e.from, e.m) {
		panic("a message of the group is not its")
	}
	h.drain()
}

func (h *host) drain() {
	for _, o := range h.r.Take() {
		h.g.tell(h, o)
	}
}

func (h *host) begin() {
	h.self.Incarnation++
	h.run++
	h.timers = map[node.TimerKey]uint64{}
	h.start = true
	h.r = New(h.seated(), h)
	h.r.Start(h)
	h.start = false
	h.drain()
}

// seated is the configuration with the set of the disk.
func (h *host) seated() Config {
	c := h.config
	set, moved := seats.OnDisk((*disk)(h), c.Group)
	if !moved || !slices.Contains(set.Members, string(c.Self)) {
		return c
	}
	c.Set, c.Members = set, nil
	for _, a := range set.Members {
		c.Members = append(c.Members, node.Addr(a))
	}
	return c
}

func (h *host) crash(disk bool) {
	h.r, h.pending = nil, nil
	h.run++
	if disk {
		h.records = map[string][]byte{}
	}
}

// Rank implements Order.
func (h *host) Rank(message.JobID) int { return h.r.self }

// Hears implements Order: a member hears all that run.
func (h *host) Hears(_ node.Instant, a node.Addr) bool {
	return slices.ContainsFunc(h.g.members, func(o *host) bool { return o.self.Addr == a && o.r != nil && !o.quiet })
}

// Post implements Poster.
func (h *host) Post(env node.Env, to node.Addr, m node.Message) {
	for i, o := range h.g.members {
		if o.self.Addr == to {
			h.g.post(h, i, m)
		}
	}
}

func (h *host) Self() node.Peer { return h.self }

func (h *host) Now() node.Instant {
	return node.Instant(h.g.now + h.g.now/1_000_000*h.ppm + int64(time.Hour)*int64(h.index+1))
}

// real returns how much real time passes while the clock of h advances by d, never less.
func (h *host) real(d time.Duration) time.Duration {
	rate := 1_000_000 + h.ppm
	x := time.Duration(int64(d) / rate * 1_000_000)
	for h.Now().Add(d) > h.at(h.g.now+int64(x)) {
		x += max(1, time.Duration(h.Now().Add(d).Sub(h.at(h.g.now+int64(x))))*9/10)
	}
	return x
}

func (h *host) at(real int64) node.Instant {
	return node.Instant(real + real/1_000_000*h.ppm + int64(time.Hour)*int64(h.index+1))
}

func (h *host) Rand(node.Purpose) *node.Rand { return h.rand }
func (h *host) Store() node.Store            { return (*disk)(h) }
func (h *host) Exec() node.Executor          { panic("no executor") }
func (h *host) Outputs() node.Outputs        { panic("no sinks") }

func (h *host) Emit(e node.Event) {
	h.g.watch(h, e)
}

func (h *host) Answer(node.CommandID, node.Message) { panic("no commands") }
func (h *host) Halt(reason string)                  { panic("halt: " + reason) }
func (h *host) Restart(string) {
	run := h.run
	h.g.after(0, func() {
		if h.run == run {
			h.crash(false)
			h.begin()
		}
	})
}
func (h *host) Datagram(node.Addr, node.Message) { panic("not posted") }
func (h *host) Open(node.Addr) node.StreamID     { panic("no streams") }
func (h *host) Backlog(node.StreamID) (int, int) { panic("no streams") }
func (h *host) Send(node.StreamID, node.Message) { panic("no streams") }
func (h *host) Close(node.StreamID)              { panic("no streams") }
func (h *host) CancelTimer(k node.TimerKey)      { delete(h.timers, k) }
func (h *host) Resolve(node.Addr)                { panic("no names") }
func (h *host) SetTimer(k node.TimerKey, d time.Duration) {
	if d < 0 {
		panic(fmt.Sprintf("%v set to %v", k, d))
	}
	h.timer++
	id, run := h.timer, h.run
	h.timers[k] = id
	h.g.after(h.real(d), func() {
		if h.run == run && h.timers[k] == id {
			delete(h.timers, k)
			h.r.Fire(h, k)
			h.drain()
		}
	})
}

type disk host

func (d *disk) Put(records []node.Record, t node.WriteID) {
	h := (*host)(d)
	run := h.run
	done := func() {
		if h.run != run {
			return
		}
		in := &node.Input{Kind: node.InputStored, WriteID: t}
		if h.failing {
			in.Err = errors.New("no space left on device")
		} else {
			for _, r := range records {
				if r.Value == nil {
					delete(h.records, r.Key)
				} else {
					h.records[r.Key] = r.Value
				}
			}
		}
		h.r.Stored(h, in)
		h.drain()
	}
	if h.stuck {
		h.pending = append(h.pending, done)
		return
	}
	h.g.after(h.g.disk(), done)
}

func (d *disk) Load(prefix string) []node.Record {
	h := (*host)(d)
	if !h.start {
		panic("load outside of the start")
	}
	var found []node.Record
	for _, k := range slices.Sorted(maps.Keys(h.records)) {
		if strings.HasPrefix(k, prefix) {
			found = append(found, node.Record{Key: k, Value: h.records[k]})
		}
	}
	return found
}

// small is a group's configuration for tests: seconds, not minutes.
func small() Config {
	c := Default()
	c.Group = "gates"
	c.Lease = 10 * time.Second
	return c
}

func jobN(n int) message.JobID { return message.JobID{byte(n)} }

var _ node.Env = (*host)(nil)
var _ node.Event = event.Reached{}
