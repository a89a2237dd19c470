package admission

import (
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// tickEvery is how long the Detector of an Entrance gathers samples for one verdict.
const tickEvery = 250 * time.Millisecond

// Entrance puts a door before the mailbox of a machine that serves clients. It implements
// node.Entrance. Requests of peers pass: their dispatches are bounded, and results wait for them.
//
// A request costs more than its Step: answers of majorities, completions and timers that follow
// from it go before the next request. So while requests wait, the time from one to the next
// counts.
type Entrance struct {
	door     *Door
	detector Detector
	patience time.Duration
	tick     int64 // the number of the current one
	last     turn
}

// turn is the request that the machine handles, or has handled last.
type turn struct {
	class  node.Priority // Critical: none
	at     node.Instant
	took   time.Duration // its Step
	behind bool          // others waited as it began
}

// spacingMax bounds what one pause of the node adds to the cost of requests. A request that takes
// longer than costUnit counts as several: of a node that has become slow, too many requests wait
// for it to learn from as many again.
const (
	spacingMax = 250 * time.Millisecond
	costUnit   = 10 * time.Millisecond
)

// NewEntrance returns the entrance of an idle machine.
func NewEntrance(c Config) *Entrance {
	if c.Patience <= 0 {
		node.Bug("admission: patience %v must be positive: start from admission.Default", c.Patience)
	}
	return &Entrance{door: NewDoor(c), patience: c.Patience}
}

var _ node.Entrance = (*Entrance)(nil)

// Admit implements node.Entrance.
func (e *Entrance) Admit(m node.Message, role node.Role, source string, at node.Instant) (place int32, no node.Refusal) {
	if role != node.RoleClient {
		return 0, node.Refusal{}
	}
	e.pass(at)
	v := e.door.Admit(at, e.detector.Level(), &Request{
		Class: m.Priority(), Operation: operationOf(m), Source: source, Left: e.patience,
	})
	switch v.Reason {
	case Admitted:
	case RateLimit:
		return 0, node.Refusal{Reason: v.Reason.String(), RetryAfter: v.RetryAfter}
	default:
		return 0, node.Refusal{Reason: v.Reason.String(), RetryAfter: e.door.Appoint(at, m.Priority(), source)}
	}
	return v.Place.source + 1, node.Refusal{}
}

// Begin implements node.Entrance.
func (e *Entrance) Begin(m node.Message, place int32, waited time.Duration, at node.Instant) node.Refusal {
	if e.last.class != node.Critical {
		cost := e.last.took
		if e.last.behind {
			cost = max(cost, min(at.Sub(e.last.at), spacingMax))
		}
		for range max(1, cost/costUnit) {
			e.door.End(e.last.class, cost)
		}
	}
	class := m.Priority()
	inTime := e.door.Begin(Place{class: class, source: place - 1}, e.patience-waited)
	e.last = turn{class: class, at: at, behind: e.door.global() > 0}
	if inTime {
		return node.Refusal{}
	}
	return node.Refusal{Reason: TooLate.String(), RetryAfter: retryMin}
}

// End implements node.Entrance.
func (e *Entrance) End(_ node.Message, _ int32, waited, took time.Duration) {
	e.last.took = took
	e.detector.Observe(waited + took)
}

// Load implements node.Entrance: the Level, less what it has fallen since the last request.
func (e *Entrance) Load(at node.Instant) uint8 {
	passed := int64(at)/int64(tickEvery) - e.tick
	return uint8(max(0, int64(e.detector.Level())-max(0, passed)/calmTicks))
}

// Clear implements node.Entrance.
func (e *Entrance) Clear() {
	e.door.Clear()
	e.last = turn{}
}

// pass ends the ticks of the Detector up to an instant. A pause of many ticks without requests
// calms it down.
func (e *Entrance) pass(at node.Instant) {
	now := int64(at) / int64(tickEvery)
	for range min(max(0, now-e.tick), int64(calmTicks)*int64(Levels)) {
		e.detector.Tick(e.door.Share())
	}
	e.tick = now
}

func operationOf(m node.Message) Operation {
	switch m.Kind() {
	case message.KindJobSubmit:
		return Submit
	case message.KindJobWatch:
		return Watch
	}
	return Query
}
