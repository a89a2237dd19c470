package gate

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"hyperscale/core/lease"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/output"
	"hyperscale/core/quorum"
	"hyperscale/core/retry"
	"hyperscale/core/swim"
	"hyperscale/core/uplink"
)

// base is what all layers of a gate share: its settings, and its place in the group of gates.
// Each layer embeds the one below it and calls no layer above it.
type base struct {
	config Config

	group    *quorum.Member // of the gates; nil until the start, when this gate knows its address
	circuit  retry.Circuit  // around the group's majorities
	readings readings       // for alerts
	lookout
	retirement
	hearing hearing
	heardAt node.Instant // when hearing last changed
	began   node.Instant // when this gate started
	seat    seatAsk
}

// hearing says whether a gate hears managers. Gates gossip it: never renumber.
type hearing uint8

const (
	unsure hearing = iota // it has just started, or is of an older version
	hears
	deaf // to all managers of all datacenters
)

// gossip tells the other gates whether this one takes new jobs, whether it hears managers, and which sinks it has.
func (m *base) gossip() {
	state := append([]byte{0, byte(m.hearing)}, sinksSaid(m.config.Sinks, m.config.SinkDigest)...)
	if m.retiring() {
		state[0] = 1
	}
	m.group.Swim.SetState(state)
}

// retires says that a gate told that it drains or stops.
func retires(app []byte) bool { return len(app) > 0 && app[0] == 1 }

// sinksSaid is what a gate tells of its sinks: how many it has, a mark of each name, and the digest of all. Gates without
// sinks tell the digest alone, as those of older versions do, whose digest begins with a digit of base 16.
func sinksSaid(all []output.Sink, digest string) []byte {
	var said []byte
	if len(all) > 0 {
		said = append(said, byte(len(all)))
	}
	for i := range all {
		said = binary.BigEndian.AppendUint32(said, markOf(all[i].Name))
	}
	return append(said, digest...)
}

// markOf stands for the name of a sink in gossip. Two names may have one mark: then a job may go to a gate without its
// sink, which looks for another one.
func markOf(sink string) uint32 { return uint32(node.MixString(0, sink)) }

// hasSink says that a gate told that it has a sink. One of an older version tells no names.
func hasSink(app []byte, sink string) bool {
	if len(app) < 3 || app[2] > output.SinksMax || len(app) < 3+4*int(app[2]) {
		return false
	}
	for i := range int(app[2]) {
		if binary.BigEndian.Uint32(app[3+4*i:]) == markOf(sink) {
			return true
		}
	}
	return false
}

// equipped returns the next gate in a job's order that takes jobs, hears managers and has all of the sinks.
func (m *base) equipped(env node.Env, id message.JobID, sinks []string) node.Addr {
	for _, a := range m.group.Ring.Order(id) {
		o, known := m.group.Swim.FindAddr(a)
		if known && a != env.Self().Addr && m.hears(a) && !slices.ContainsFunc(sinks, func(s string) bool { return !hasSink(o.App, s) }) {
			return a
		}
	}
	return ""
}

// hearingOf is what a gate told last.
func hearingOf(app []byte) hearing {
	if len(app) < 2 {
		return unsure
	}
	return hearing(app[1])
}

// sinksOf is the digest of the sinks that a gate told last. It returns false for one that has told nothing yet.
func sinksOf(app []byte) (digest string, told bool) {
	if len(app) < 2 {
		return "", false
	}
	said := app[2:]
	if len(said) > 0 && said[0] <= output.SinksMax { // names stand before it
		said = said[min(1+4*int(said[0]), len(said)):]
	}
	return string(said), true
}

// otherSinks warns of gates whose sinks are not those of this one: they hand over jobs that they take over and whose sinks they lack.
func otherSinks(own string, self node.Peer, members []swim.Member) []string {
	var others []string
	for _, o := range members {
		if theirs, told := sinksOf(o.App); told && o.ID != self.ID && o.State == swim.Alive && theirs != own {
			others = append(others, string(o.ID))
		}
	}
	if len(others) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("outputs: the sinks of %s are not those of %s by name, kind or window: give all gates the same section outputs, and start them again one by one", strings.Join(others, ", "), self.ID)}
}

// hears says that another gate is connected, takes jobs, and says that it hears managers.
func (m *base) hears(a node.Addr) bool {
	o, known := m.group.Swim.FindAddr(a)
	k := m.group.Links.To(a)
	return known && !o.State.Gone() && hearingOf(o.App) == hears && !retires(o.App) && k != nil && k.Stands
}

// takes says that another gate is alive and connected, and neither drains nor stops.
func (m *base) takes(a node.Addr) bool {
	o, known := m.group.Swim.FindAddr(a)
	k := m.group.Links.To(a)
	return known && m.group.Alive(a) && !retires(o.App) && k != nil && k.Stands
}

// isDeaf says that this gate hears no manager, and another gate does: that one can run jobs.
func (m *base) isDeaf() bool {
	return m.hearing == deaf && slices.ContainsFunc(m.group.Members(), m.hears)
}

// groupName distinguishes the group of gates from other groups of a cluster.
const groupName = "gates"

// fellowAlive says whether another gate could go on with this gate's jobs, and if it must, one that retires.
func (m *base) fellowAlive() bool {
	return slices.ContainsFunc(m.group.Links.All(), func(k *uplink.Link) bool { return k.Stands && m.group.Alive(k.Addr) })
}

// fellowTakes says whether another gate takes jobs. Of gates that all retire each takes over what has no owner.
func (m *base) fellowTakes() bool {
	return slices.ContainsFunc(m.group.Links.All(), func(k *uplink.Link) bool { return m.takes(k.Addr) })
}

// successor returns the next gate in a job's order that is alive and connected: of those that take jobs and hear managers,
// else of those that take jobs, else of all.
func (m *base) successor(env node.Env, id message.JobID) node.Addr {
	for _, fits := range []func(node.Addr) bool{m.hears, m.takes} {
		for _, a := range m.group.Ring.Order(id) {
			if a != env.Self().Addr && fits(a) {
				return a
			}
		}
	}
	for _, a := range m.group.Ring.Order(id) {
		if a == env.Self().Addr || !m.group.Alive(a) {
			continue
		}
		if k := m.group.Links.To(a); k != nil && k.Stands {
			return a
		}
	}
	return ""
}

// holds says whether this gate may act for a job now. Every act asks, since the lease may end
// between two acts.
func (m *base) holds(env node.Env, j *entry) bool { return m.holdsAt(env.Now(), j) }

func (m *base) holdsAt(now node.Instant, j *entry) bool {
	token, ok := m.group.Leases.Holds(now, j.ID)
	return ok && token == j.Token
}

// onMember records for operators why a member changed its state. The gate decides nothing here:
// each decision asks SWIM itself.
func (m *base) onMember(env node.Env, c *swim.Change) {
	m.reasons[c.Member.ID] = standing{env.Now(), c.Reason}
	if c.To == swim.Removed {
		delete(m.reasons, c.Member.ID)
	}
}

// onDrift records for operators that two clocks drift apart faster than both may.
func (m *base) onDrift(d quorum.Drift) {
	what := "drifts by"
	if d.Jump {
		what = "has jumped, by"
	}
	m.alarms++
	m.alarm = fmt.Sprintf("the clock of %s %s %d ppm against this gate's, each may drift by %d: set both right", d.Member, what, d.PPM, m.config.DriftPPM)
}

// onAlarm records for operators what the registers have emitted as an event.
func (m *base) onAlarm(o lease.Outcome) {
	m.alarms++
	m.alarm = o.Reason
	if o.Err != nil {
		m.alarm = o.Err.Error()
	}
}

func list[T ~string](names []T) string {
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = string(n)
	}
	return strings.Join(all, ", ")
}

func texts(addrs []node.Addr) []string {
	all := make([]string, len(addrs))
	for i, a := range addrs {
		all[i] = string(a)
	}
	return all
}

// standing says for operators why a member is in its state.
type standing struct {
	at  node.Instant
	why string
}

// lookout is what a gate records about its peers for operators.
type lookout struct {
	reasons map[node.ID]standing
	alarms  uint32 // of clocks and of registers
	alarm   string // the newest
}

// retirement says how far a gate's drain or stop is. Operators can take a drain back. A gate
// that stops halts by the deadline, once its successors own all jobs of moved.
type retirement struct {
	draining bool // by an operator's order: it takes no new work
	stopping bool
	halted   bool                        // implies stopping
	deadline node.Instant                // of stopping
	moved    map[message.JobID]node.Addr // jobs on their way to another gate
}

// retiring says that this gate accepts no new job.
func (r *retirement) retiring() bool { return r.draining || r.stopping }

// seatAsk is the client that waits for the end of the last change of seats.
type seatAsk struct {
	tag     uint64
	stream  node.StreamID // zero: none waits
	request message.RequestID
	old     string
	of      []node.StreamID // of managers that were asked and have not answered
}

// onSeatReplace gives the seat of a gate, or of a manager, to another address. This gate changes the
// set of gates itself. A dead manager may be unknown here: one of each datacenter is asked whether it is of its set.
func (m *operations) onSeatReplace(env node.Env, in *node.Input, r *message.SeatReplace) {
	if !m.group.Leases.Speaks() { // it may be the new one, which is configured with the set that is to come
		refuse(env, in.Stream, r.Request, message.CodeNotMember, "it does not know the set that the others have")
		return
	}
	set := m.group.Leases.Set().Members
	a := &m.seat
	*a = seatAsk{tag: a.tag + 1, stream: in.Stream, request: r.Request, old: r.Old}
	if slices.Contains(set, r.Old) || slices.Contains(set, r.New) {
		m.group.Replace(env, node.Addr(r.Old), node.Addr(r.New), a.tag)
		return
	}
	for _, d := range m.places.All() {
		for _, mgr := range d.Managers {
			if string(mgr.Addr()) != r.Old && string(mgr.Addr()) != r.New && mgr.Stream != 0 && mgr.Live {
				a.of = append(a.of, mgr.Stream)
				env.Send(mgr.Stream, &message.SeatOrder{Request: message.RequestID{Counter: a.tag}, Old: r.Old, New: r.New})
				break
			}
		}
	}
	m.noSeat(env)
}

// noSeat refuses a change once no manager is left that may know the address.
func (m *base) noSeat(env node.Env) {
	if a := &m.seat; len(a.of) == 0 && a.stream != 0 {
		refuse(env, a.stream, a.request, message.CodeSeatKept, "no gate has the address "+shortened(a.old, detailMax)+", and no set of managers that are connected")
		a.stream = 0
	}
}

// onSeat answers the client of the last change of gates.
func (m *operations) onSeat(env node.Env, s *quorum.Seat) {
	r := &message.SeatReplaced{Request: message.RequestID{Counter: s.Tag}, Group: groupName, Version: s.Set.Version, Set: s.Set.Members, Known: uint32(s.Known)}
	if s.Err != nil {
		r.Why = s.Err.Error()
	}
	m.seatEnds(env, r)
}

// onSeatReplaced takes the word of a manager that was asked. One of another set names none.
func (m *operations) onSeatReplaced(env node.Env, in *node.Input, r *message.SeatReplaced) {
	a := &m.seat
	at := slices.Index(a.of, in.Stream)
	switch {
	case at < 0 || r.Request.Counter != a.tag:
		ignore(env, in, "this gate has not asked it for that")
	case len(r.Set) == 0 && r.Why == "":
		a.of = slices.Delete(a.of, at, at+1)
		m.noSeat(env)
	default:
		m.seatEnds(env, r)
	}
}

// seatEnds answers the client of the last change, of gates or of managers.
func (m *base) seatEnds(env node.Env, r *message.SeatReplaced) {
	a := &m.seat
	if r.Request.Counter != a.tag || a.stream == 0 {
		return
	}
	if r.Why != "" {
		refuse(env, a.stream, a.request, message.CodeSeatKept, shortened(r.Why, detailMax))
	} else {
		told := *r
		told.Request = a.request
		env.Send(a.stream, &told)
	}
	a.stream, a.of = 0, nil
}
