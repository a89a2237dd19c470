package gate

import (
	"fmt"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/node"
	"hyperscale/core/swim"
)

// clockSpan is how far two samples of a peer's clock lie apart at least: less, and
// the network's own delays hide the drift.
const clockSpan = time.Minute

// clock compares a fellow's clock with this gate's.
type clock struct {
	run  uint64 // of the fellow
	base swim.Sample
}

// onSample alarms when two clocks drift apart faster than both may drift at most,
// whatever the delays of the two probes were.
func (m *Machine) onSample(env node.Env, o *swim.Member, s swim.Sample) {
	c, known := m.clocks[o.ID]
	if !known || c.run != o.Run() || s.Uptime < c.base.Uptime {
		m.clocks[o.ID] = clock{o.Run(), s}
		return
	}
	local := s.Sent.Sub(c.base.Sent)
	if local < clockSpan {
		return
	}
	m.clocks[o.ID] = clock{o.Run(), s}
	unsure := s.Received.Sub(s.Sent) + c.base.Received.Sub(c.base.Sent)
	ahead := (s.Uptime - c.base.Uptime) - local
	bound := time.Duration(int64(local)/1_000_000*2*m.config.DriftPPM) + unsure
	if ahead <= bound && -ahead <= bound {
		return
	}
	ppm := int64(ahead) * 1000 / int64(local/1000)
	m.alarms++
	m.alarm = fmt.Sprintf("the clock of %s drifts by %d ppm against this gate's: leases are safe up to %d each; set both clocks right", o.ID, ppm, m.config.DriftPPM)
	env.Emit(event.ClockSuspect{Peer: o.ID, PPM: ppm, Jump: ahead > local || -ahead > local})
}

// standing is why a member is as it is, for people.
type standing struct {
	at  node.Instant
	why string
}
