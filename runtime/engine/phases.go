package engine

import (
	"math/bits"

	"hyperscale/core/message"
)

// phases is how many there are; a phase's index is its number less one.
const phases = int(message.PhaseReceive)

// times are the phases of one request: they follow each other without a gap, so that they
// add up to the latency. All instants are nanoseconds since the run's base.
type times struct {
	due   int64 // intended start
	wrote int64 // when the first byte was written; 0: never
	mark  int64 // when the phase under way began
	phase message.Phase
	took  uint8 // bit i: the phase of index i happened
	spent [phases]int64
}

// begin waits for the request's turn, from its intended start.
func (t *times) begin(due int64) {
	*t = times{due: due, mark: due, phase: message.PhaseBlocked}
}

// enter ends the phase under way and begins another. A phase may come again, as connecting
// does behind a redirect: its times add up.
func (t *times) enter(p message.Phase, now int64) {
	now = max(now, t.mark)
	if t.phase != message.PhaseNone {
		i := t.phase - message.PhaseBlocked
		t.spent[i] += now - t.mark
		t.took |= 1 << i
	}
	t.phase, t.mark = p, now
	if p == message.PhaseSend && t.wrote == 0 {
		t.wrote = max(now, 1)
	}
}

// end ends the last phase, whatever it is: a request whose time ran out has spent it there.
func (t *times) end(now int64) { t.enter(message.PhaseNone, now) }

// move gives the end of one phase to the one behind it, as is known only later.
func (t *times) move(from, to message.Phase, d int64) {
	d = min(d, t.spent[from-1])
	if d > 0 {
		t.spent[from-1] -= d
		t.spent[to-1] += d
		t.took |= 1 << (to - 1)
	}
}

func (t *times) latency() int64 { return t.mark - t.due }

// service is 0 if nothing was written.
func (t *times) service() int64 {
	if t.wrote == 0 {
		return 0
	}
	return t.mark - t.wrote
}

// record adds the times of a request that has ended to its step's histograms.
func (a *account) record(t *times) {
	a.latency.Record(uint64(t.latency()))
	if t.wrote != 0 {
		a.service.Record(uint64(t.service()))
	}
	for rest := t.took; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros8(rest)
		a.phases[i].Record(uint64(t.spent[i]))
	}
}

// times adds the phases of one request to t. What the kernel takes at once is sent in no
// time, and what comes in one piece is received in none.
func (n *lane) times(t *times, now int64) {
	if n.named != 0 {
		t.enter(message.PhaseDNS, n.named)
	}
	if n.dialled != 0 {
		t.enter(message.PhaseConnect, n.dialled)
	}
	if n.shook != 0 {
		t.enter(message.PhaseTLS, n.shook)
	}
	if n.wrote != 0 {
		t.enter(message.PhaseSend, n.wrote)
	}
	if n.written != 0 {
		t.enter(message.PhaseWait, n.written)
	}
	if n.heard != 0 {
		t.enter(message.PhaseReceive, n.heard)
	}
	t.end(now)
}

// wirePhases writes those that happened.
func (a *account) wirePhases() []message.PhaseTimes {
	var out []message.PhaseTimes
	for i := range a.phases {
		if a.phases[i].Count() > 0 {
			out = append(out, message.PhaseTimes{Phase: message.PhaseBlocked + message.Phase(i), Time: a.phases[i].Wire()})
		}
	}
	return out
}
