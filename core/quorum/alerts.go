package quorum

import (
	"slices"
	"time"

	"hyperscale/core/alert"
	"hyperscale/core/health"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// board is what a member says of alerts: its own, and those of the group while it leads.
type board struct {
	alert.Board
	turn uint8 // of reports
}

// noteEvery is how many reports lie between two notes to the other members.
const noteEvery = 4

// Judges says that an input ends a tick, at which the role gives its readings and calls Report.
func Judges(in *node.Input) bool {
	return in.Kind == node.InputTimer && in.Timer.Part == node.PartHealth
}

// Alerts returns the board for readings.
func (m *Member) Alerts() *alert.Board { return &m.board.Board }

// Lag returns by how much this node's loop is late, at the worst of late.
func (m *Member) Lag() time.Duration { return m.monitor.Lag() }

// Slow says that this node's loop is so late that it cannot judge others. Its local health does not
// say that: it is bad, too, where most others have died. Members judge it whether they lead or not:
// a leader whose loop is late by a second does not know, at the end of each pause, whether it still leads.
func (m *Member) Slow() bool { return health.OfLag(m.Lag()) >= health.High }

// Report emits what has changed, and tells the other members the note: at once if it is this
// node's, and from time to time. A group that never had an alert exchanges none. why says of each
// alert what the role sees.
func (m *Member) Report(env node.Env, why func(alert.ID) string) {
	b := &m.board
	leader, term, _ := m.Election.Leader()
	duty := alert.Follows
	switch {
	case m.Election.Leads(env.Now()):
		duty = alert.Leads
	case leader == m.config.Self:
		duty = alert.Pauses
	}
	before := b.Note()
	for _, c := range b.Judge(duty, term) {
		c.Emit(env, m.config.Group, why(c.ID))
	}
	now := b.Note()
	if b.turn++; now == before && (now == alert.Note{} || b.turn%noteEvery != 0) {
		return
	}
	for _, a := range m.config.Members {
		if a != m.config.Self {
			m.Links.Post(env, a, &message.AlertNote{Group: m.config.Group, Term: now.Term, Count: now.Count, Raised: uint32(now.Set)})
		}
	}
}

// hear takes the note of another member of the group.
func (m *Member) hear(from node.Peer, msg node.Message) bool {
	n, ok := msg.(*message.AlertNote)
	if !ok {
		return false
	}
	if n.Group == m.config.Group && slices.Contains(m.config.Members, from.Addr) {
		m.board.Hear(alert.Note{Term: n.Term, Count: n.Count, Set: alert.Set(n.Raised)})
	}
	return true
}
