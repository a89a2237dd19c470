package manager

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"hyperscale/core/alert"
	"hyperscale/core/event"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/manager/vigil"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/pressure"
	"hyperscale/core/swim"
	"hyperscale/core/uplink"
)

const (
	workersListed = 256 // in one heartbeat
	beatsKept     = 256 // answers to older heartbeats renew nothing
	tripsKept     = 8
)

// beats are what a stream to a gate has of heartbeats.
type beats struct {
	sent  [beatsKept]node.Instant // when the last ones were sent, by sequence
	word  pressure.Word           // how often the gate wants reports
	trips                         // from heartbeats to their answers
}

// trips are the last ones of a stream.
type trips struct {
	last [tripsKept]time.Duration
	next int
}

func (t *trips) add(d time.Duration) {
	t.last[t.next%tripsKept] = max(d, time.Microsecond)
	t.next++
}

// least is the least of the last trips: it leaves out waits of a busy node. 0: there was none.
func (t *trips) least() (least time.Duration) {
	for _, d := range t.last {
		if d > 0 && (least == 0 || d < least) {
			least = d
		}
	}
	return least
}

func (m *gateSide) onGateOpened(env node.Env, l *uplink.Link) {
	//lint:orderfree each entry goes or stays by itself
	for old := range m.sent {
		if m.gates.Of(old) == nil { // this manager closed it: no break follows
			delete(m.sent, old)
		}
	}
	m.sent[l.Stream] = &beats{}
	m.beat(env, l, m.heartbeat(env))
	for _, p := range m.order {
		if p.Gate == l.Addr && m.holds(env, p) {
			m.tell(env, p)
		}
	}
}

// onHeartbeatAck registers this manager with the gate, and extends the deadlines of the subjobs
// that the gate names.
func (m *gateSide) onHeartbeatAck(env node.Env, l *uplink.Link, ack *message.HeartbeatAck) {
	if !m.gates.Acked(env, l, ack.Sequence) {
		return
	}
	sent := m.sent[l.Stream]
	if sent == nil || ack.Sequence == 0 || l.Sequence-ack.Sequence >= beatsKept {
		return
	}
	if m.follow(env, l, ack); !l.Stands {
		return // it has lost its seat
	}
	at := sent.sent[ack.Sequence%beatsKept]
	sent.word.Hear(env.Now(), ack.Every)
	sent.add(env.Now().Sub(at))
	var resumed []*subjob.Subjob
	for _, ref := range ack.Subjobs {
		p := m.subjobs[ref.Job]
		if p == nil || ref.Fence.JobEpoch < p.Fence.JobEpoch || !m.holds(env, p) {
			continue
		}
		p.Gate = l.Addr
		was := p.Fresh(env.Now())
		m.extend(p, at)
		if !was && p.Fresh(env.Now()) {
			resumed = append(resumed, p)
		}
	}
	m.resumed(env, resumed)
}

// follow connects to the gates of a later set, once a majority of those that this manager knows tells it.
func (m *gateSide) follow(env node.Env, l *uplink.Link, ack *message.HeartbeatAck) {
	told := m.gates.Tells(l, m.names, ack.Set, ack.SetVersion)
	if !told || ack.SetVersion <= m.set || len(ack.Set) != len(m.names) && len(m.names) > 0 {
		return
	}
	env.Emit(event.Reached{What: "manager/follows-set"})
	m.set, m.names = ack.SetVersion, slices.Sorted(slices.Values(ack.Set))
	to := slices.Clone(m.config.Seeds)
	for _, a := range ack.Set {
		to = append(to, node.Addr(a))
	}
	m.gates.Retarget(env, to)
	m.writeOrder(env)
}

// keyGates has the gates of a later set than the configured one, so that a manager that starts again finds them: it
// starts again when its own set changes, and all configured gates may be gone by then.
const keyGates = "gates"

// recordGates is the record of the gates that a manager follows: the set's version, the configured gates, and the set. There
// is none while it follows no later set.
func recordGates(configured []node.Addr, set uint64, names []string) []node.Record {
	if set == 0 || len(configured) == 0 {
		return nil
	}
	text := strconv.FormatUint(set, 10) + "\n" + joined(configured) + "\n" + strings.Join(names, ",")
	return []node.Record{{Key: keyGates, Value: []byte(text)}}
}

// recallGates returns the gates that the disk has. An operator who has configured other gates since knows better.
func recallGates(env node.Env, configured []node.Addr) (set uint64, names []string) {
	for _, r := range env.Store().Load(keyGates) {
		lines := strings.Split(string(r.Value), "\n")
		if r.Key != keyGates || len(lines) != 3 || lines[1] != joined(configured) {
			continue
		}
		if set, err := strconv.ParseUint(lines[0], 10, 64); err == nil {
			return set, strings.Split(lines[2], ",")
		}
	}
	return 0, nil
}

func joined(all []node.Addr) string {
	var texts []string
	for _, a := range all {
		texts = append(texts, string(a))
	}
	slices.Sort(texts)
	return strings.Join(texts, ",")
}

// resumed continues subjobs that a gate named again, or for the first time. It renews their
// running shards at once: their time has run since the former manager fell silent.
func (m *gateSide) resumed(env node.Env, subjobs []*subjob.Subjob) {
	if len(subjobs) == 0 {
		return
	}
	run := map[node.ID]bool{}
	for _, p := range subjobs {
		for _, f := range p.Workflows {
			for _, s := range f.Shards {
				if s.Live() && s.Written {
					run[s.Worker] = true
				}
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(run)) {
		if w := m.roster.Of(id); w != nil {
			m.renew(env, w)
		}
	}
	m.place(env)
}

func (m *gateSide) beatAll(env node.Env) {
	var hb *message.ManagerHeartbeat // all gates share its lists, as nothing changes a sent message
	for _, l := range m.gates.All() {
		if l.Stands {
			if hb == nil {
				hb = m.heartbeat(env)
			}
			m.beat(env, l, hb)
		}
	}
}

// beat sends a gate a heartbeat with the next sequence of its stream.
func (m *gateSide) beat(env node.Env, l *uplink.Link, hb *message.ManagerHeartbeat) {
	l.Sequence++
	own := *hb
	own.Sequence = l.Sequence
	if sent := m.sent[l.Stream]; sent != nil {
		sent.sent[l.Sequence%beatsKept] = env.Now()
		own.RoundTrip = sent.least()
	}
	env.Send(l.Stream, &own)
}

// heartbeat describes this datacenter, and lists the subjobs that this manager holds and whose
// results no gate has acknowledged.
func (m *gateSide) heartbeat(env node.Env) *message.ManagerHeartbeat {
	hb := &message.ManagerHeartbeat{
		Datacenter: m.config.Datacenter, Draining: m.draining, LoadFor: m.config.terms().Load(),
		Refuses: m.refuses(), Overdue: m.vigil.Most(), Managers: uint32(len(m.group.Members())),
		CoresMax: uint32(m.config.CoresMax),
	}
	for _, w := range m.roster.All() {
		if !w.Draining {
			hb.WorkerSum++
			hb.CoresTotal += w.Total
			if w.Suspect {
				hb.Suspects++
			}
		}
		if !w.Draining && !w.Loaded() {
			hb.CoresFree += w.Free()
			hb.SeatsFree += w.FreeSeats()
		}
		if hb.Workers == nil {
			hb.Workers = make([]message.WorkerInfo, 0, min(workersListed, m.roster.Len()))
		}
		if len(hb.Workers) < workersListed {
			hb.Workers = append(hb.Workers, message.WorkerInfo{
				Node: string(w.Peer.ID), CoresTotal: w.Total, CoresFree: w.Free(), Incarnation: w.Peer.Incarnation, Draining: w.Draining,
				Version: versionBeside(env.Self(), w.Peer),
			})
		}
	}
	hb.Subjobs = make([]message.SubjobRef, 0, len(m.order))
	for _, p := range m.order {
		if p.Stage != subjob.Acknowledged && m.holds(env, p) {
			hb.Subjobs = append(hb.Subjobs, message.SubjobRef{Job: p.Job, Fence: p.Fence, State: p.State})
		}
	}
	slices.SortFunc(hb.Subjobs, func(a, b message.SubjobRef) int { return a.Job.Compare(b.Job) })
	hb.Gates = m.names // nothing changes a sent message
	hb.Doubts = doubts(m.group.Swim.Doubted())
	leader, term, _ := m.group.Election.Leader()
	hb.Leader, hb.Term = string(leader), term
	return hb
}

// lookOver looks, after placement, at what waits although it lacks nothing.
func (m *gateSide) lookOver(env node.Env) {
	m.vigil.Look(env.Now(), m.config.Heartbeat)
	room, alone := vigil.Room(m.roster), m.roster.Loaded() > 0
	for _, p := range m.order {
		acts := p.Missing == 0 && p.Result == nil && p.Dispatch != nil && p.Stop.Decided == message.JobNone && p.Fresh(env.Now()) && m.holds(env, p)
		for _, f := range p.Workflows {
			left := 0
			if acts && f.Ready != 0 && f.End == message.WorkflowNone && !f.Stopping() {
				alone = alone || exclusive(f) // and those after it wait for it
				left = vigil.Left(env.Now(), f, m.roster, room, alone || m.keptFor(env, f) != "")
			}
			m.vigil.At(f, left)
		}
	}
}

// refuses is why this manager would reject a dispatch now, beside its drain.
func (m *gateSide) refuses() message.Code {
	switch code, _ := m.room(); {
	case m.draining:
		return message.CodeNone
	case !m.group.Leases.Speaks():
		return message.CodeNotMember
	case !m.group.Reaches():
		return message.CodeQuorumUnavailable
	default:
		return code
	}
}

// doubtsListed bounds the doubted members in a heartbeat.
const doubtsListed = 64

// doubts lists the members of the datacenter that are not alive, for people.
func doubts(members []swim.Member) []message.MemberInfo {
	var all []message.MemberInfo
	for _, o := range members {
		if len(all) < doubtsListed {
			all = append(all, message.MemberInfo{
				Node: string(o.ID), Addr: string(o.Addr), Role: uint8(o.Role), Incarnation: o.Run(), State: o.State.String(), By: string(o.By),
			})
		}
	}
	return all
}

// onResultRecorded ends the subjob for good: its result is on a majority.
func (m *gateSide) onResultRecorded(env node.Env, p *subjob.Subjob) {
	p.Stage = subjob.Recorded
	p.Finished = env.Now()
	p.Restamp()
	m.becomeSubjob(env, p, p.Result.Subjob.State, p.Result.Subjob.Error)
	m.tell(env, p)
	m.beatAll(env) // the gates queue the jobs that wait for its cores
}

// turns is how often this manager reports a subjob's figures on a link: as often as workers do, and as
// its gate asks for; zero: as it likes. It counts in whole turns.
func (m *gateSide) turns(env node.Env, l *uplink.Link) (turns uint64, every time.Duration) {
	every = m.figures.every(env)
	if sent := m.sent[l.Stream]; sent != nil {
		every = max(every, sent.word.Every(env.Now()))
	}
	if turns = pressure.Turns(every, m.config.ProgressInterval); turns == 1 {
		return turns, 0
	}
	return turns, time.Duration(turns) * m.config.ProgressInterval
}

// onPush sends gates the progress of the subjobs that changed since the last push, as far as figures
// are due.
func (m *gateSide) onPush(env node.Env) {
	m.pushing = false
	m.figures.turn++
	first, skipped := m.turn, -1
	m.turn = 0
	for i := range m.order {
		at := (first + i) % len(m.order)
		p := m.order[at]
		if !p.Dirty || p.Adding || p.Result != nil || p.Missing > 0 || !m.holds(env, p) {
			continue
		}
		l := m.gates.To(p.Gate)
		if l == nil || !l.Stands {
			continue // the next push after the gate reconnects
		}
		if !node.Calm(env, l.Stream) {
			if skipped < 0 {
				skipped, m.turn = at, at // whose figures wait is the first to send them
			}
			continue
		}
		turns, _ := m.turns(env, l)
		if !p.Moved && !pressure.Due(m.figures.turn, p.Turn, uint64(p.Job[0]), turns) {
			continue
		}
		p.Dirty, p.Moved, p.Turn, p.Adding = false, false, m.figures.turn, true
		t := &teller{p, surveyOf(p, env.Now())}
		if t.survey.add(sumBytes) > 0 {
			m.progress(env, t)
		} else {
			m.sums.tellers = append(m.sums.tellers, t)
			m.addLater(env)
		}
	}
	for _, p := range m.order {
		if p.Dirty && p.Result == nil && !m.pushing {
			m.pushing = true
			env.SetTimer(node.Key(node.PartManager, node.ManagerPush), m.config.ProgressInterval)
		}
	}
}

// onSum goes on with what adds up figures in steps.
func (m *Machine) onSum(env node.Env) {
	m.sums.waits = false
	room := m.addEnds(env, sumBytes)
	for room > 0 && len(m.sums.tellers) > 0 {
		t := m.sums.tellers[0]
		if m.subjobs[t.p.Job] == t.p && t.p.Result == nil {
			if room = t.survey.add(room); room <= 0 {
				break
			}
		}
		m.sums.tellers = slices.Delete(m.sums.tellers, 0, 1)
		m.progress(env, t)
	}
	m.addLater(env)
}

// progress sends a gate the progress of a subjob, unless that has ended or moved away since it was begun.
func (m *gateSide) progress(env node.Env, t *teller) {
	p := t.p
	p.Adding = false
	if m.subjobs[p.Job] != p || p.Result != nil || !m.holds(env, p) {
		return
	}
	l := m.gates.To(p.Gate)
	if l == nil || !l.Stands {
		m.touch(env, p) // the next push after the gate reconnects
		return
	}
	p.Sequence++
	out := &message.JobProgress{
		Job: p.Job, Fence: p.Fence, Subjob: t.survey.told(env, m.config.Datacenter, m.roster),
		// A later holder continues above these numbers.
		Sequence: p.Fence.SubjobEpoch<<24 + p.Sequence,
	}
	_, out.Subjob.Every = m.turns(env, l)
	subjob.Fit(&out.Subjob, out.Size)
	if message.HeaderSize+out.Size() > message.FrameMax {
		subjob.Slim(&out.Subjob, out.Size)
	}
	env.Send(l.Stream, out)
}

// watch is what a manager measures for its alerts.
type watch struct {
	post  alert.Post
	lines alert.Lines
	fleet event.FleetCounted // as last reported
	broke node.ID            // the last worker whose circuit was open
	again int                // how many more heartbeats tell gates that no alert is raised
}

// because says what this manager sees of an alert.
func (w *watch) because(id alert.ID, lag time.Duration) string {
	f := w.fleet
	switch id {
	case alert.CriticalShed, alert.HighLane:
		return w.post.Why(id)
	case alert.DestinationSaturated:
		return w.lines.Why()
	case alert.LeaderOverloaded:
		return fmt.Sprintf("the loop of the leader was late by %v", lag.Round(time.Millisecond))
	case alert.WorkerCircuit:
		return fmt.Sprintf("%d workers have failed shards, such as %s", f.Tripped, w.broke)
	case alert.WorkersOverloaded, alert.WorkersUnhealthy, alert.NoWorkerHealthy:
		return fmt.Sprintf("of %d workers %d are healthy, of which %d are overloaded", f.Healthy+f.Unhealthy, f.Healthy, f.Overloaded)
	}
	return ""
}

// againAfter is how often a manager says that its last alert is over: gates may lose such a word.
const againAfter = 3

// Bounds of readings, in percent.
const (
	overloadedMet  = 50
	overloadedGone = 40
	unhealthyMet   = 80
	unhealthyGone  = 60
	unhealthyOf    = 3 // workers, at least
)

// report reports changes of alerts.
func (m *gateSide) report(env node.Env) {
	now, b := env.Now(), m.group.Alerts()
	m.watch.post.Read(b, now)
	b.See(now, alert.LeaderOverloaded, alert.Whether(m.group.Slow()))
	m.group.Report(env, func(id alert.ID) string { return m.watch.because(id, m.group.Lag()) })
}

// readFleet counts the workers. A manager that is ill itself cannot judge them.
func (m *gateSide) readFleet(env node.Env) {
	now, b := env.Now(), m.group.Alerts()
	f := m.countFleet()
	if f != m.watch.fleet {
		m.watch.fleet = f
		env.Emit(f)
	}
	b.See(now, alert.DestinationSaturated, m.watch.lines.Read(env, m.lines()))
	overloaded, unhealthy, none := readingsOf(f)
	if m.group.Slow() {
		overloaded, unhealthy, none = alert.Unknown, alert.Unknown, alert.Unknown
	}
	b.See(now, alert.WorkersOverloaded, overloaded)
	b.See(now, alert.WorkersUnhealthy, unhealthy)
	b.See(now, alert.NoWorkerHealthy, none)
	b.See(now, alert.WorkerCircuit, alert.Whether(f.Tripped > 0))
}

// readingsOf reads the workers' alerts. Of workers that left on purpose, or never came, none is read.
func readingsOf(f event.FleetCounted) (overloaded, unhealthy, none alert.Reading) {
	all := int(f.Healthy + f.Unhealthy)
	if f.Healthy > 0 {
		overloaded, none = alert.Of(int(100*f.Overloaded/f.Healthy), overloadedMet, overloadedGone), alert.Calm
	} else if f.Unhealthy > 0 {
		none = alert.Met
	}
	if unhealthy = alert.Calm; all >= unhealthyOf {
		unhealthy = alert.Of(100*int(f.Unhealthy)/all, unhealthyMet, unhealthyGone)
	} else if f.Healthy == 0 {
		unhealthy = alert.Unknown
	}
	return overloaded, unhealthy, none
}

// countFleet counts the workers that this manager hears, and those that are suspect or dead.
func (m *gateSide) countFleet() (f event.FleetCounted) {
	for _, w := range m.roster.All() {
		switch {
		case w.Draining:
			f.Draining++
			continue
		case !w.Able():
			f.Unhealthy++
			continue
		}
		f.Healthy++
		f.CoresTotal, f.CoresFree = f.CoresTotal+w.Total, f.CoresFree+w.Free()
	}
	f.Overloaded = uint32(m.roster.Loaded())
	if n, name := m.roster.Tripped(); n > 0 {
		f.Tripped, m.watch.broke = uint32(n), name
	}
	for _, o := range m.group.Swim.Doubted() {
		if o.Role == node.RoleWorker && o.State != swim.Left && m.roster.Of(o.ID) == nil {
			f.Unhealthy++
		}
	}
	return f
}

// lines lists the streams to gates, other managers and workers.
func (m *gateSide) lines() (all []alert.Line) {
	for _, l := range slices.Concat(m.gates.All(), m.group.Links.All()) {
		all = append(all, alert.Line{Peer: l.Known.ID, Stream: l.Stream})
	}
	for _, w := range m.roster.All() {
		all = append(all, alert.Line{Peer: w.Peer.ID, Stream: w.Stream})
	}
	return all
}

// tellAlerts tells gates which alerts this manager has raised, while there are some and shortly
// after.
func (m *gateSide) tellAlerts(env node.Env) {
	on := m.group.Alerts().On()
	if on != 0 {
		m.watch.again = againAfter
	} else if m.watch.again == 0 {
		return
	} else {
		m.watch.again--
	}
	list := &message.ManagerAlerts{}
	for id := range alert.IDs {
		if on.Has(id) {
			list.Alerts = append(list.Alerts, message.AlertInfo{Name: id.String(), Why: m.watch.because(id, m.group.Lag())})
		}
	}
	for _, l := range m.gates.All() {
		if l.Stands {
			env.Send(l.Stream, list)
		}
	}
}

// versionBeside is the version of a worker for a heartbeat: empty if it is the manager's own.
func versionBeside(self, worker node.Peer) string {
	if worker.Minor == self.Minor {
		return ""
	}
	return message.VersionText(worker.Minor)
}
