package gate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"hyperscale/core/admission"
	"hyperscale/core/alert"
	"hyperscale/core/event"
	"hyperscale/core/gate/job"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/swim"
)

// operations obeys operators: it drains, stops, and reports on the group.
type operations struct{ ownership }

// onClusterQuery reports who is alive, who leads and who owns which job, from this gate's own
// membership and acceptor.
func (m *operations) onClusterQuery(env node.Env, in *node.Input, q *message.ClusterQuery) {
	leader, term, _ := m.group.Election.Leader()
	s := &message.ClusterStatus{
		Request: q.Request, Gate: string(env.Self().ID), Standing: m.group.Leases.Standing(), Draining: m.retiring(),
		Leader: string(leader), Term: term, Alarms: m.alarms, Alarm: m.alarm, Warnings: slices.Concat(m.config.Warnings(), otherSinks(m.config.SinkDigest, env.Self(), m.group.Swim.Members()), m.nearBounds(), m.raised()),
		Gates: texts(m.group.Members()), SetVersion: m.group.Leases.Set().Version,
	}
	s.Members = m.members(env)
	s.MemberSum = uint32(len(s.Members))
	s.Members = s.Members[:min(len(s.Members), message.ClusterListed)]
	s.Leases = m.leaseList(env)
	s.LeaseSum = uint32(len(s.Leases))
	s.Leases = s.Leases[:min(len(s.Leases), message.ClusterListed)]
	env.Send(in.Stream, s)
}

// members lists the configured gates, including those that this gate never heard.
func (m *operations) members(env node.Env) []message.MemberInfo {
	var all []message.MemberInfo
	for _, o := range m.group.Swim.Members() {
		info := message.MemberInfo{
			Node: string(o.ID), Addr: string(o.Addr), Role: uint8(o.Role), Incarnation: o.Run(), State: o.State.String(), By: string(o.By),
			Draining: len(o.App) > 0 && o.App[0] == 1 || o.ID == env.Self().ID && m.retiring(),
		}
		told := hearingOf(o.App)
		if o.ID == env.Self().ID {
			told = m.hearing
		}
		if told == deaf && o.State == swim.Alive {
			info.State = "no manager"
		}
		info.Version = m.versionAt(env, o.Addr)
		if why, ok := m.reasons[o.ID]; ok {
			info.Reason, info.Since = why.why, env.Now().Sub(why.at)
		}
		all = append(all, info)
	}
	for _, a := range m.group.Members() {
		if !slices.ContainsFunc(all, func(o message.MemberInfo) bool { return o.Addr == string(a) }) {
			all = append(all, message.MemberInfo{Addr: string(a), Role: uint8(node.RoleGate), State: swim.Unknown.String()})
		}
	}
	slices.SortFunc(all, func(a, b message.MemberInfo) int {
		return cmp.Or(strings.Compare(a.Addr, b.Addr), strings.Compare(a.Node, b.Node))
	})
	return all
}

// versionAt is the version of the gate at an address: empty while this gate is not connected to it.
func (m *operations) versionAt(env node.Env, a node.Addr) string {
	if a == env.Self().Addr {
		return message.VersionText(env.Self().Minor)
	}
	if minor, heard := m.group.Links.Minor(a); heard {
		return message.VersionText(minor)
	}
	return ""
}

// leaseList lists registers, held ones first.
func (m *operations) leaseList(env node.Env) []message.LeaseInfo {
	var held, rest []message.LeaseInfo
	for _, id := range m.group.Leases.Known() {
		seen, ok := m.group.Leases.Seen(env.Now(), id)
		if !ok {
			continue
		}
		l := message.LeaseInfo{Job: id, Token: seen.Token, Left: seen.Left, Released: seen.Released, Unheard: !seen.Heard && !seen.Released}
		if j := m.jobs[id]; j != nil && j.Ready {
			l.Name, l.State = j.Name, j.Shown
		} else if rec, err := job.ReadRecord(id, seen.Record); err == nil {
			l.Name, l.State = rec.Name, rec.Last.To
			l.Missing = m.missing(rec)
		}
		if seen.Left > 0 && !seen.Released {
			l.Holder = string(seen.Holder)
			held = append(held, l)
		} else {
			rest = append(rest, l)
		}
	}
	return append(held, rest...)
}

// missing counts the files of a record that this gate does not have.
func (m *operations) missing(rec job.Record) (n uint32) {
	for _, d := range rec.Files() {
		if _, ok := m.group.Files.Have(d); !ok {
			n++
		}
	}
	return n
}

// onDrainRequest obeys, or passes the order to a node that can reach the named one.
func (m *operations) onDrainRequest(env node.Env, in *node.Input, r *message.DrainRequest) {
	via, ok := m.drain(env, r.Node, r.Undo)
	if !ok {
		refuse(env, in.Stream, r.Request, message.CodeUnreachable, "no live node is called "+shortened(r.Node, detailMax)+": see `hyperscale status`")
		return
	}
	env.Send(in.Stream, &message.DrainAck{Request: r.Request, Node: r.Node, Via: string(via)})
}

// drain sends the order to a node: this gate, another gate, a manager, or, through one of its
// managers, a worker.
func (m *operations) drain(env node.Env, name string, undo bool) (via node.ID, ok bool) {
	if name == string(env.Self().ID) {
		m.onDrain(env, &message.Drain{Node: name, Undo: undo})
		return "", true
	}
	order := &message.Drain{Node: name, Undo: undo}
	if k := m.group.Links.Peer(node.ID(name)); k != nil {
		// Not as a datagram: one that arrives late, or again, would undo a later order.
		return k.Peer.ID, m.group.Links.Send(env, k.Addr, order)
	}
	if mgr := m.places.Manager(node.ID(name)); mgr != nil && mgr.Stream != 0 {
		env.Send(mgr.Stream, order)
		return mgr.ID, true
	}
	for _, d := range m.places.All() {
		for _, mgr := range d.Managers {
			if !mgr.Knows(name) {
				continue
			}
			env.Send(mgr.Stream, order)
			via, ok = mgr.ID, true // each of its managers stops placing shards on it
		}
	}
	return via, ok
}

// onDrain takes no new jobs and hands over this gate's jobs, or, on undo, takes jobs again.
func (m *operations) onDrain(env node.Env, d *message.Drain) {
	if d.Node != string(env.Self().ID) || m.draining == !d.Undo {
		return
	}
	m.draining = !d.Undo
	m.rememberDraining(env)
	m.gossip()
	if !m.draining && !m.stopping {
		m.group.Election.Resume()
	}
	if m.draining {
		m.group.Election.HandOver(env)
		m.handOver(env)
	}
}

// drainedBefore restores the drain order from before the restart.
func (m *operations) drainedBefore(env node.Env) {
	if m.group == nil || len(env.Store().Load(drainingKey)) == 0 {
		return
	}
	reached(env, "gate/drained-before")
	m.draining = true
	m.gossip()
	m.group.Election.HandOver(env)
	m.handOver(env)
}

// stopTick is how often a gate that stops checks whether its successors have its jobs.
const stopTick = 100 * time.Millisecond

// deafTick is how often a gate that hears no manager looks whether another one does.
const deafTick = time.Second

// onStop takes no new jobs and hands this gate's jobs over. A single gate leaves its jobs
// running, and finds them again after its restart.
func (m *operations) onStop(env node.Env) {
	if m.stopping {
		return
	}
	m.stopping, m.deadline = true, env.Now().Add(m.config.StopTimeout)
	if m.group == nil {
		env.Halt("")
		return
	}
	m.gossip()
	m.handOver(env)
}

// handOver gives each job without open writes to the next gate of its order. If this gate is to
// stop, it halts once the successors own all. A gate that has been deaf for as long as it takes to
// lose a manager hands over as well: what runs goes on, under a gate that can name it.
func (m *operations) handOver(env node.Env) {
	m.listen(env)
	tick := stopTick
	switch silence := env.Now().Sub(m.heardAt); {
	case m.retiring():
	case m.isDeaf() && silence >= m.config.ManagerSilence:
		tick = deafTick
		reached(env, "gate/deaf")
	case m.hearing == deaf:
		env.SetTimer(node.Key(node.PartGate, node.GateStop), deafTick)
		return
	default: // an operator took the drain back: only jobs on their way are left
		if !m.arrived(env) {
			env.SetTimer(node.Key(node.PartGate, node.GateStop), stopTick)
		}
		return
	}
	for _, id := range m.group.Leases.Held() {
		if j := m.jobs[id]; j != nil && j.Ready && (!j.State.Terminal() || j.Rows.Delivering) && m.ledger.Idle(id) {
			m.transfer(env, j, m.successor(env, id))
		}
	}
	m.arrived(env)
	env.SetTimer(node.Key(node.PartGate, node.GateStop), tick)
}

// passOn hands a job to a gate that has all sinks whose rows wait, if this gate lacks one of them. Without such a gate it
// keeps the job and its rows, and looks again.
func (m *operations) passOn(env node.Env, id message.JobID) {
	j := m.jobs[id]
	if j == nil || !j.Ready || m.retiring() || !m.holds(env, j) || !m.ledger.Idle(id) || j.State.Terminal() && !j.Rows.Delivering {
		return
	}
	lacks, open := m.openSinks(j)
	if !lacks {
		return
	}
	if to := m.equipped(env, id, open); to != "" && m.transfer(env, j, to) {
		reached(env, "gate/job-goes-to-its-sinks")
		env.SetTimer(node.Key(node.PartGate, node.GateStop), stopTick)
	}
}

// onDeliveredHere takes a report of this gate's host, which may lack the sink.
func (m *operations) onDeliveredHere(env node.Env, d *node.Delivered) {
	j := m.deliveries[d.ID]
	m.onDelivered(env, d)
	if j != nil && d.Verdict == node.DeliveryUnconfigured {
		m.passOn(env, j.ID)
	}
}

// transfer stops acting for a job, then hands its lease to the successor. It returns false if a record must say first
// what this gate knows of the job's rows: the caller looks again.
func (m *operations) transfer(env node.Env, j *entry, to node.Addr) bool {
	if to == "" || m.settleRows(env, j) {
		return false
	}
	m.disown(env, j, to)
	m.group.Leases.Transfer(env, j.ID, to)
	m.moved[j.ID] = to
	return true
}

// arrived says whether the successors own the jobs that this gate gave them.
func (m *operations) arrived(env node.Env) bool {
	for _, id := range slices.SortedFunc(maps.Keys(m.moved), message.JobID.Compare) {
		if seen, ok := m.group.Leases.Seen(env.Now(), id); ok && m.jobs[id] == nil && seen.Holder == env.Self().Addr && !seen.Released {
			return false
		}
		delete(m.moved, id)
	}
	return true
}

// haltIfDone halts the node once it has no open write, no job that another gate could own, and
// no register to release.
func (m *operations) haltIfDone(env node.Env) {
	if !m.stopping || m.halted || m.group == nil {
		return
	}
	if env.Now() < m.deadline && !m.idle(env) {
		return
	}
	m.halted = true
	m.group.Leave(env)
	env.Halt("")
}

func (m *operations) idle(env node.Env) bool {
	if m.writes > 0 || m.accepting > 0 || !m.arrived(env) {
		return false
	}
	others := m.fellowAlive()
	for _, id := range m.group.Leases.Held() {
		if j := m.jobs[id]; j != nil && (!m.ledger.Idle(id) || others && (!j.State.Terminal() || j.Rows.Delivering)) {
			return false
		}
	}
	return true
}

// readings are what a gate measures for its alerts.
type readings struct {
	post    alert.Post
	lines   alert.Lines
	turn    uint8 // of calls: some readings need not be so frequent
	load    alert.Load
	refused alert.Rate // requests of clients, for want of room or time
	peak    uint8      // level of the entrance at the last tick
}

// Bounds of readings.
const (
	refusedMax    = 10  // requests a second
	lettersNear   = 100 // dead letters, or half of their bound
	queueWarn     = 10  // percent of gate.queue_max
	queueCritical = 50
	queueCalm     = 40
	linesEvery    = 4 // calls
	paceCritical  = 4 // a dispatch rate of one part in so many
)

// watch reads what alerts are about, and reports their changes.
func (m *operations) watch(env node.Env) {
	now, b := env.Now(), m.group.Alerts()
	m.readings.peak = m.readings.post.Read(b, now)
	m.weigh(env)
	b.See(now, alert.QueueHigh, alert.Of(m.queued(), queueCritical, queueCalm))
	b.See(now, alert.CircuitOpen, alert.Whether(m.failing(now)))
	b.See(now, alert.SustainedShedding, m.readings.refused.Read(now))
	b.See(now, alert.Emergency, alert.Whether(m.readings.load.Level() == alert.Urgent))
	letters, _ := m.history.Letters()
	most := min(lettersNear, (m.config.LettersMax+1)/2)
	b.See(now, alert.DeadLetters, alert.Of(letters, most+1, most-most/10))
	b.See(now, alert.LeaderOverloaded, alert.Whether(m.group.Slow()))
	if m.readings.turn++; m.readings.turn%linesEvery == 0 {
		b.See(now, alert.DestinationSaturated, m.readings.lines.Read(env, m.lines()))
	}
	m.group.Report(env, m.because)
}

// lines lists the streams to other gates and to managers.
func (m *operations) lines() (all []alert.Line) {
	for _, l := range m.group.Links.All() {
		all = append(all, alert.Line{Peer: l.Known.ID, Stream: l.Stream})
	}
	for _, d := range m.places.All() {
		for _, mgr := range d.Managers {
			all = append(all, alert.Line{Peer: mgr.ID, Stream: mgr.Stream})
		}
	}
	return all
}

// queued returns how much of gate.queue_max waits, in percent.
func (m *scheduler) queued() int { return 100 * (m.queue.Len() + m.accepting) / m.config.QueueMax }

// weigh derives the level from the queue, the dispatches, the requests and the majorities.
func (m *operations) weigh(env node.Env) {
	rate, most, peak := m.throttle.Rate(), m.throttle.Most(), admission.Level(m.readings.peak)
	var warned, critical []string
	signal := func(what string, warn, crit bool) {
		if warn || crit {
			warned = append(warned, what)
		}
		if crit {
			critical = append(critical, what)
		}
	}
	signal("queue", m.queued() >= queueWarn, m.queued() >= queueCritical)
	signal("dispatches", rate < most, most >= paceCritical && rate*paceCritical <= most)
	signal("requests", peak >= admission.Stressed, peak >= admission.Overloaded)
	signal("majorities", m.circuit.Open(), m.failing(env.Now()))
	if l := &m.readings.load; l.Judge(env.Now(), len(warned), len(critical)) {
		env.Emit(event.LoadChanged{Level: l.Level().String(), Rank: uint8(l.Level()), Why: strings.Join(warned, ", ")})
	}
}

// because says what this gate sees of an alert.
func (m *operations) because(id alert.ID) string {
	c := &m.config
	switch id {
	case alert.QueueHigh:
		return fmt.Sprintf("%d jobs wait, of gate.queue_max = %d", m.queue.Len()+m.accepting, c.QueueMax)
	case alert.CircuitOpen:
		if !m.group.Alerts().On().Has(id) {
			return "a majority is connected again"
		}
		return fmt.Sprintf("%d majorities of the %d gates failed within %v", majorityFuse().Failures, len(m.group.Members()), majorityFuse().Window)
	case alert.SustainedShedding:
		return fmt.Sprintf("%d requests a second were refused", m.readings.refused.Seen())
	case alert.Emergency:
		return fmt.Sprintf("the level is %v: %d jobs of gate.queue_max = %d wait, %d dispatches a second of gate.dispatch_rate_max = %d, requests find it %v, majorities fail: %v",
			m.readings.load.Level(), m.queue.Len()+m.accepting, c.QueueMax, m.throttle.Rate(), m.throttle.Most(), admission.Level(m.readings.peak), m.circuit.Open())
	case alert.DeadLetters:
		n, _ := m.history.Letters()
		return fmt.Sprintf("%d dead letters are kept, of gate.letters_max = %d", n, c.LettersMax)
	case alert.CriticalShed, alert.HighLane:
		return m.readings.post.Why(id)
	case alert.DestinationSaturated:
		return m.readings.lines.Why()
	case alert.LeaderOverloaded:
		return fmt.Sprintf("the loop of the leader was late by %v", m.group.Lag().Round(time.Millisecond))
	}
	return ""
}

// raised describes the alerts of this gate, and of the managers that it hears, for operators.
func (m *operations) raised() (all []string) {
	for id := range alert.IDs {
		if m.group.Alerts().On().Has(id) {
			all = append(all, alert.Text(id.String(), m.because(id)))
		}
	}
	for _, d := range m.places.All() {
		for _, mgr := range d.Managers {
			for _, a := range mgr.Alerts() {
				all = append(all, alert.Text(a.Name, fmt.Sprintf("%s of datacenter %s reports: %s", mgr.ID, d.Name, a.Why)))
			}
		}
	}
	return all
}

// onUpgrade reports the versions of all groups, and raises their levels if an operator wants that and
// no group is held back. It asks the managers for those of their groups: what they answer is in the
// next report.
func (m *operations) onUpgrade(env node.Env, in *node.Input, r message.RequestID, finalize bool) {
	mine := env.Self().Minor
	s := &message.UpgradeStatus{Request: r, Gate: string(env.Self().ID), Groups: []message.GroupVersion{m.group.Leases.Version(env)}}
	for _, d := range m.places.All() {
		s.Groups = append(s.Groups, d.Version(mine))
	}
	if slices.ContainsFunc(s.Groups, func(g message.GroupVersion) bool { return len(g.Held) > 0 }) {
		finalize = false // all groups, or none
	}
	order := message.LeaseLevel{Raise: 0}
	if finalize {
		m.group.Leases.Raise(env, mine)
		order.Raise = mine
	}
	for _, d := range m.places.All() {
		for _, mgr := range d.Managers {
			if mgr.Stream != 0 && mgr.Minor() >= message.Since(message.KindLeaseLevel) {
				own := order
				own.Group = d.Name
				env.Send(mgr.Stream, &own)
			}
		}
	}
	env.Send(in.Stream, s)
}
