package places

import (
	"fmt"
	"slices"
	"time"

	"hyperscale/core/health"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Manager is one manager as its heartbeats describe it.
type Manager struct {
	ID     node.ID
	Place  *Datacenter
	Stream node.StreamID // the stream of its heartbeats; 0 until it connects again
	Live   bool          // registered, and silent for less than Bounds.Silence; Stream is 0 once it is lost

	incarnation uint64
	addr        node.Addr
	former      node.StreamID // the stream before Stream
	heard       node.Instant
	sequence    uint64 // of the newest heartbeat on Stream
	minor       uint16 // version of the protocol

	word
	stock
	trip      time.Duration // to this gate and back; 0: not known
	workerSum uint32
	workers   []message.WorkerInfo
	doubts    []message.MemberInfo
	alerts    []message.AlertInfo
	version   *message.GroupVersion // of its group, as it told last; nil: it has not
	subjobs   int                   // number that it owns
	known
}

// Addr is where others call it.
func (m *Manager) Addr() node.Addr { return m.addr }

// word is what a manager tells of its own health.
type word struct {
	draining bool
	refuses  message.Code  // why it would reject a dispatch, beside a drain
	overdue  time.Duration // for how long work waits there that lacks nothing
	set      int           // managers that the datacenter is configured with; 0: not known
	suspects uint32        // of its workers
	judged   health.Decision
}

// stock is what a manager has for subjobs.
type stock struct {
	total, free uint32       // cores
	most        uint32       // cores that scaling can reach; 0: it has not told
	seats       uint32       // free ones, of cores that light shards share
	spared      node.Instant // until then it is too busy to take any
	asked       node.Instant // when the gate sent the first dispatch since it last heard the manager; 0: none
	mute        bool         // it has said nothing for too long since then
}

// known is who leads a datacenter, as far as one of its managers knows.
type known struct {
	leader node.Addr // empty for none
	term   uint64
}

// Bounds of what a manager's alerts take here, whatever it sends.
const (
	alertsMax = 32
	whyMax    = 512 // bytes
)

// Report stores the alerts that a manager says are raised; m may be nil. It keeps the first alertsMax
// that are short enough.
func (m *Manager) Report(s node.StreamID, alerts []message.AlertInfo) {
	if m == nil || !m.Live || m.Stream != s {
		return
	}
	m.alerts = nil
	for _, a := range alerts[:min(len(alerts), alertsMax)] {
		if len(a.Name) <= NameMax && len(a.Why) <= whyMax {
			m.alerts = append(m.alerts, a)
		}
	}
}

// Alerts returns the alerts that a manager that is not lost has raised.
func (m *Manager) Alerts() []message.AlertInfo { return m.alerts }

// Twin says why a peer is not the manager that the gate knows by this name: a second process
// with the same name. It returns "" for the manager itself, also if it lost its disk and counts
// its lives anew once the former life is silent, and for a new name.
func (m *Manager) Twin(p node.Peer) string {
	switch {
	case m == nil:
	case m.Live && (p.Incarnation < m.incarnation || p.Incarnation == m.incarnation && p.Addr != m.addr):
		return fmt.Sprintf("the manager at %s has this name: give the one at %s an --id of its own", m.addr, p.Addr)
	}
	return ""
}

// Follows says whether a heartbeat is newer than all before. Each stream counts from 1, and two
// streams have no common order: a heartbeat on the former stream is always older.
func (m *Manager) Follows(s node.StreamID, sequence uint64) bool {
	return m == nil || (s != m.Stream || sequence > m.sequence) && (s != m.former || s == 0)
}

// Registered says that a manager is registered with this incarnation in this datacenter.
func (m *Manager) Registered(incarnation uint64, datacenter string) bool {
	return m != nil && m.Live && m.incarnation == incarnation && m.Place.Name == datacenter
}

// Take stores a heartbeat; the caller has checked Follows.
func (m *Manager) Take(s node.StreamID, h *message.ManagerHeartbeat, now node.Instant) {
	if m.Stream != s {
		m.former, m.alerts = m.Stream, nil
	}
	m.Stream, m.heard, m.sequence = s, now, h.Sequence
	m.asked, m.mute = 0, false
	m.total, m.free, m.seats, m.most = h.CoresTotal, h.CoresFree, h.SeatsFree, h.CoresMax
	m.draining, m.refuses, m.overdue = h.Draining, h.Refuses, h.Overdue
	m.set, m.suspects = int(h.Managers), min(h.Suspects, h.WorkerSum)
	if now < m.spared {
		m.Spend()
	}
	m.trip = h.RoundTrip
	m.workerSum, m.workers = h.WorkerSum, h.Workers
	m.doubts, m.subjobs = h.Doubts, len(h.Subjobs)
	m.leader, m.term = node.Addr(h.Leader), h.Term
	if d := m.Place; h.WorkerSum >= d.workers {
		d.workers, d.whole = h.WorkerSum, now
	}
	if d := m.Place; h.CoresTotal >= d.Cores {
		d.Cores, d.able = h.CoresTotal, now
	}
}

// Decision is what the gate does about new subjobs for the manager. It takes nothing from it.
func (m *Manager) Decision() health.Decision {
	s := m.signals()
	s.Ready = s.Ready && !m.mute
	return health.Decide(s)
}

// signals are what the manager says of itself. That it is mute for a moment is no illness.
func (m *Manager) signals() health.Signals {
	return health.Signals{
		Alive: m.Live, Ready: m.Stream != 0 && !m.draining && m.refuses == message.CodeNone, Progress: health.OfWait(m.overdue),
	}
}

// Judge returns the decisions before and after a heartbeat that changed it, and says why.
func (m *Manager) Judge() (from, to health.Decision, why string, changed bool) {
	from, m.judged = m.judged, m.Decision()
	switch {
	case from == m.judged:
		return from, from, "", false
	case m.judged == health.Route:
		why = "it takes subjobs"
	case m.draining:
		why = "it drains"
	case m.Lacks():
		why = "it reaches no majority of its datacenter's managers"
	case m.refuses != message.CodeNone:
		why = m.refuses.String()
	default:
		why = fmt.Sprintf("work waits there for %v, and lacks no cores", m.overdue)
	}
	return from, m.judged, why, true
}

// Lacks says that the manager has no majority of its datacenter's managers, so that it can own
// nothing new.
func (m *Manager) Lacks() bool {
	return m.refuses == message.CodeQuorumUnavailable || m.refuses == message.CodeNotMember
}

// Lose marks a live manager as lost.
func (m *Manager) Lose(now node.Instant) {
	m.Live, m.Stream, m.alerts = false, 0, nil
	m.Place.silent = now
}

// Spend records that a manager has no room, whatever its last heartbeat said.
func (m *Manager) Spend() { m.free, m.seats = 0, 0 }

// Spare records that an overloaded manager has no room until an instant, whatever its heartbeats
// say.
func (m *Manager) Spare(until node.Instant) {
	m.spared = max(m.spared, until)
	m.Spend()
}

// muteAfter is how long a manager may say nothing at all after a dispatch, beside the way there and
// back. It answers what it gets, and sends a heartbeat each second.
const muteAfter = 500 * time.Millisecond

// Ask records that the gate has sent a dispatch.
func (m *Manager) Ask(now node.Instant) {
	if m.asked == 0 {
		m.asked = now
	}
}

// Hear records that the manager has said something; m may be nil. It reports whether it was mute.
func (m *Manager) Hear(s node.StreamID) (again bool) {
	if m == nil || m.Stream != s {
		return false
	}
	again = m.mute
	m.asked, m.mute = 0, false
	return again
}

// Mute says that the gate has just found a manager mute: it gets no further dispatch before it says
// something. What the gate sends meanwhile may be lost with the stream, and is owed once more.
func (m *Manager) Mute(now node.Instant) (changed bool) {
	if m.mute || m.asked == 0 || now.Sub(m.asked) < muteAfter+2*m.trip {
		return false
	}
	m.mute = true
	return true
}

// Knows says whether the manager is reachable and a worker is registered with it.
func (m *Manager) Knows(worker string) bool {
	return m.Stream != 0 && slices.ContainsFunc(m.workers, func(w message.WorkerInfo) bool { return w.Node == worker })
}

// At says whether the manager is reachable at an address.
func (m *Manager) At(a node.Addr) bool { return m.addr == a && m.Live && m.Stream != 0 }
