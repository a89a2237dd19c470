package consumer

import (
	"hyperscale/runtime/protocol/kafka"
	"hyperscale/runtime/protocol/kafka/group"
)

// desk is a broker that is or was a member's coordinator, as the connections to it meet the member. What the member
// says beside the operations goes by connections to its coordinator alone: a former one knows it no more. A member keeps
// the desk of each broker, as a connection to it may be on its way.
type desk struct {
	member *Member
	at     string // names the broker
	links  int    // connections
	next   *desk  // another broker
}

var _ kafka.Attendant = (*desk)(nil)

// Attends returns what a connection to a broker tells the member, while that is its coordinator.
func (m *Member) Attends(broker string) kafka.Attendant {
	for d := m.desk; ; d = d.next {
		if d.at == broker {
			return d
		}
		if d.next == nil {
			d.next = &desk{member: m, at: broker}
		}
	}
}

// CoordinatedBy says which broker is the coordinator.
func (m *Member) CoordinatedBy(broker string) {
	if m.desk.at == broker {
		return
	}
	before := m.desk
	for before.next != nil && before.next.at != broker {
		before = before.next
	}
	found := before.next
	if found == nil {
		found = &desk{member: m, at: broker}
	} else {
		before.next = found.next
	}
	found.next = m.desk
	m.desk, m.beats = found, false
}

// Arrives implements kafka.Attendant.
func (d *desk) Arrives() { d.links++ }

// Tick implements kafka.Attendant: the member lives while no user asks.
func (d *desk) Tick(now int64) *group.Request {
	if m := d.member; m.desk == d {
		return m.due(now)
	}
	return nil
}

// Answered implements kafka.Attendant.
func (d *desk) Answered(a group.Answer) {
	m := d.member
	switch {
	case a.Of == group.Heartbeat && m.desk == d:
		m.beat(a.Code)
	case a.Of == group.LeaveGroup && a.Code == 0 && m.parting != "":
		m.as.Member, m.parting = "", ""
	case a.Of == group.OffsetCommit && a.Code == 0 && names(a.Places, m.commits):
		m.owed, m.refused = 0, ""
	case a.Of == group.OffsetCommit && a.Code == 0:
		m.refused = errCommit.Detail
	case a.Of == group.OffsetCommit:
		m.refused = kafka.Told(a.Code).Detail
	}
}

// Departs implements kafka.Attendant.
func (d *desk) Departs() []group.Request {
	d.links--
	if m := d.member; m.desk == d {
		return m.departs()
	}
	return nil
}

// due returns the heartbeat that is due; nil: none is.
func (m *Member) due(now int64) *group.Request {
	if now < m.beaten {
		m.beaten = now // the clock began anew
	}
	if m.beats || m.at != stageReads || m.stale || m.fault != 0 || now-m.beaten < beatEvery {
		return nil
	}
	m.beats, m.beaten = true, now
	r := group.Beat(m.as)
	return &r
}

// beat takes the answer to a heartbeat that was due.
func (m *Member) beat(code int16) {
	switch m.beats = false; {
	case code == codeRebalance:
		m.stale = true
	case code != 0 && m.at == stageReads:
		m.fault = code // the next operation has it
	}
}
