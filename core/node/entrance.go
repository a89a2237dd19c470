package node

import "time"

// Entrance decides which requests a mailbox takes: when they arrive, and once more when their
// turn comes. It is pure, as a machine is, and belongs to one mailbox. The mailbox asks it about
// messages with Full Refuse alone.
type Entrance interface {
	// Admit decides on a request that arrives. The place that it gives comes back with Begin and
	// End; 0 is that of a request about which the entrance has nothing to decide.
	Admit(m Message, role Role, source string, at Instant) (place int32, no Refusal)
	// Begin decides on a request whose turn has come, and ends its wait.
	Begin(m Message, place int32, waited time.Duration, at Instant) Refusal
	// End says how long the machine's Step for an admitted request took.
	End(m Message, place int32, waited, took time.Duration)
	// Load is how loaded the entrance finds its machine; zero: not at all.
	Load(at Instant) uint8
	// Clear forgets all that waits, but not what was learnt.
	Clear()
}

// Refusal says why an entrance refuses a request, and when its sender may come again. The zero
// value admits it.
type Refusal struct {
	Reason     string
	RetryAfter time.Duration
}

// Doorkept is a machine with an entrance to its mailbox.
type Doorkept interface{ Entrance() Entrance }

// SetEntrance puts an entrance before an empty mailbox, that of machine if it has one.
func (m *Mailbox) SetEntrance(machine Machine) {
	m.entrance = nil
	if d, ok := machine.(Doorkept); ok {
		m.entrance = d.Entrance()
	}
}

// Pass asks the entrance about an input that need not wait, as Push and Pop do about one that
// waits. A refused one becomes its own stub.
func (m *Mailbox) Pass(in *Input, at Instant) {
	in.Mail = Mail{}
	if m.entrance == nil || in.Kind != InputMessage || in.Message.Full() != Refuse {
		return
	}
	in.Mail.Load = m.entrance.Load(at)
	var no Refusal
	if in.Place, no = m.entrance.Admit(in.Message, in.From.Role, in.From.Source, at); no.Reason != "" {
		in.shed(no)
		return
	}
	m.begin(in, at)
}

// begin asks the entrance about a request whose turn has come.
func (m *Mailbox) begin(in *Input, at Instant) {
	if in.Place == 0 || in.Kind != InputMessage {
		return
	}
	if no := m.entrance.Begin(in.Message, in.Place, in.Waited, at); no.Reason != "" {
		in.shed(no)
	}
}

// Done tells the entrance how long the Step for an input took.
func (m *Mailbox) Done(in *Input, took time.Duration) {
	if in.Place != 0 && m.entrance != nil {
		m.entrance.End(in.Message, in.Place, in.Waited, took)
	}
}

// shed turns a request into the stub that tells the machine of its refusal.
func (in *Input) shed(no Refusal) {
	in.Kind, in.Message = InputShed, in.Message.(Stubbed).Stub()
	in.Reason, in.RetryAfter, in.Place = no.Reason, no.RetryAfter, 0
}
