package measure

import (
	"math/bits"

	"hyperscale/core/message"
)

// phases is the number of phases; a phase's index is its number less one.
const phases = int(message.PhaseReceive)

// Times are the phases of one request: they follow each other without a gap, so that they
// add up to the latency. All instants are nanoseconds since the run's base.
type Times struct {
	due   int64 // intended start
	wrote int64 // when the first byte was written; 0: never
	Mark  int64 // when the current phase began
	phase message.Phase
	took  uint8 // bit i: the phase of index i happened
	spent [phases]int64

	Talked bool // it exchanged messages
}

// Begin starts to wait for the request's turn, at its intended start.
func (t *Times) Begin(due int64) {
	*t = Times{due: due, Mark: due, phase: message.PhaseBlocked}
}

// Shift moves the instants to a clock that began so much later.
func (t *Times) Shift(by int64) {
	t.due, t.Mark = t.due-by, t.Mark-by
}

// Enter ends the current phase and begins another. A phase may occur again, such as connecting
// after a redirect: its times add up.
func (t *Times) Enter(p message.Phase, now int64) {
	now = max(now, t.Mark)
	if t.phase != message.PhaseNone {
		i := t.phase - message.PhaseBlocked
		t.spent[i] += now - t.Mark
		t.took |= 1 << i
	}
	t.phase, t.Mark = p, now
	if p == message.PhaseSend && t.wrote == 0 {
		t.wrote = max(now, 1)
	}
}

// Spent returns the time of each phase, in their order; negative: it did not happen.
func (t *Times) Spent() (all [message.PhaseReceive]int64) {
	for i := range all {
		if all[i] = t.spent[i]; t.took>>i&1 == 0 {
			all[i] = -1
		}
	}
	return all
}

// end ends the last phase: a request that timed out spent its remaining time there.
func (t *Times) end(now int64) { t.Enter(message.PhaseNone, now) }

func (t *Times) Latency() int64 { return t.Mark - t.due }

// service returns the time since the first byte was written, 0 if none was.
func (t *Times) service() int64 {
	if t.wrote == 0 {
		return 0
	}
	return t.Mark - t.wrote
}

// record adds the times of a request that has ended to its step's histograms.
func (a *Account) record(t *Times) {
	a.latency.Record(uint64(t.Latency()))
	if t.wrote != 0 {
		a.service.Record(uint64(t.service()))
	}
	for rest := t.took; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros8(rest)
		a.phases[i].Record(uint64(t.spent[i]))
	}
}

// Instants are the beginnings of a request's phases, in their order.
type Instants struct {
	Named   int64 // the look-up of its host began; 0: the address was known
	Dialled int64 // connecting began; 0: the connection was open
	Shook   int64 // TLS began; 0: there was none to begin
	Wrote   int64 // its first byte was written; 0: not yet
	Written int64 // its last byte was written
	Heard   int64 // the first byte of the answer was read, if more followed
}

// Shift moves the instants to a clock that began so much later. What was before its base is at it.
func (n *Instants) Shift(by int64) {
	for _, at := range []*int64{&n.Named, &n.Dialled, &n.Shook, &n.Wrote, &n.Written, &n.Heard} {
		if *at != 0 {
			*at = max(*at-by, 1)
		}
	}
}

// AddTo adds the phases of one request to t. A request that the kernel takes at once has no
// sending time, and an answer in one piece no receiving time.
func (n *Instants) AddTo(t *Times, now int64) {
	if n.Named != 0 {
		t.Enter(message.PhaseDNS, n.Named)
	}
	if n.Dialled != 0 {
		t.Enter(message.PhaseConnect, n.Dialled)
	}
	if n.Shook != 0 {
		t.Enter(message.PhaseTLS, n.Shook)
	}
	if n.Wrote != 0 {
		t.Enter(message.PhaseSend, n.Wrote)
	}
	if n.Written != 0 {
		t.Enter(message.PhaseWait, n.Written)
	}
	if n.Heard != 0 {
		t.Enter(message.PhaseReceive, n.Heard)
	}
	t.end(now)
}

// wirePhases returns the phases that occurred.
func (a *Account) wirePhases() []message.PhaseTimes {
	var out []message.PhaseTimes
	for i := range a.phases {
		if a.phases[i].Count() > 0 {
			out = append(out, message.PhaseTimes{Phase: message.PhaseBlocked + message.Phase(i), Time: a.phases[i].Wire()})
		}
	}
	return out
}
