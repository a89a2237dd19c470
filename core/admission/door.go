package admission

import (
	"time"

	"hyperscale/core/node"
)

// Operation is what a client asks for. Each has its own limit.
type Operation uint8

// The operations of clients.
const (
	Submit Operation = iota
	Query
	Watch
	Operations
)

// Reason says why a door refuses a request.
type Reason uint8

// The reasons. Admitted is the zero value.
const (
	Admitted  Reason = iota
	TooLate          // it would not end within its deadline
	TooLong          // it would wait longer than its class may at this level
	LaneFull         // its lane, or all lanes together, hold as many as they may
	ShareUsed        // its source holds its share
	RateLimit        // its source has sent as many as it may in this span
)

func (r Reason) String() string {
	return [...]string{"admitted", "too late", "too long", "lane full", "share used", "rate limit"}[min(r, RateLimit)]
}

// Config configures a door.
type Config struct {
	Workers int                   // requests that the node handles at the same time; a machine handles one
	Places  int                   // requests that wait, without the critical ones
	Lanes   [node.Priorities]int  // likewise of each class; of Critical it is unused
	Waits   [Levels]time.Duration // longest wait at a level
	Limits  [Operations]int       // requests of one source in a span, from Stressed on
	Span    time.Duration         // of the limits
	Sources int                   // sources that the door tells apart
	Idle    time.Duration         // after which a source may be forgotten

	// Patience is how long a client waits for an answer, until messages say so themselves.
	Patience time.Duration
}

// Default is the configuration of a gate.
//
// Waits shrink with the level, but not to what keeps a queue shortest. At an offered load of
// exactly the capacity, a queue that holds k requests refuses about 1 in k of them.
//
// The lanes are those of node.DefaultMailbox: the wait bounds what they hold.
//
// Limits are ten times those of a single client that polls: all clients behind one address
// translation are one source. A calm node serves more.
//
// Patience is what a client of this version waits before it asks another gate.
func Default() Config {
	return Config{
		Workers: 1,
		Places:  8192,
		Lanes:   [node.Priorities]int{node.High: 4096, node.Normal: 4096, node.Low: 1024},
		Waits:   [Levels]time.Duration{500 * time.Millisecond, 200 * time.Millisecond, 125 * time.Millisecond, 80 * time.Millisecond, 50 * time.Millisecond},
		Limits:  [Operations]int{Submit: 500, Query: 1000, Watch: 1000},
		Span:    10 * time.Second,
		Sources: 10_000,
		Idle:    5 * time.Minute,

		Patience: 10 * time.Second,
	}
}

// Request is what a door asks about a request.
type Request struct {
	Class     node.Priority
	Operation Operation
	Source    string        // the caller's certificate or address; callers choose their ids themselves
	Left      time.Duration // until the caller's deadline
}

// Place is what an admitted request holds while it waits.
type Place struct {
	class  node.Priority
	source int32
}

// Verdict is what a door decides. RetryAfter of a refused request has no jitter yet.
type Verdict struct {
	Reason     Reason
	RetryAfter time.Duration
	Place      Place
}

// Bounds of RetryAfter.
const (
	retryMin = time.Second
	retryMax = 30 * time.Second
)

// meanPart is how much of the distance a mean follows a sample: it has followed a step to two
// thirds after 32 requests, and its noise is an eighth of a sample's.
const meanPart = 32

// Door decides at the entrance of a node which requests it admits.
type Door struct {
	config  Config
	sources *sources
	waiting [node.Priorities]int
	mean    [node.Priorities]time.Duration // handling time, an EMA
	line    node.Instant                   // the earliest appointment of a source that has none
}

// NewDoor returns a door of an idle node.
func NewDoor(c Config) *Door {
	if c.Workers < 1 || c.Places < 1 || c.Span <= 0 || c.Sources < 1 || c.Idle < 2*c.Span {
		node.Bug("admission: %+v: all bounds must be positive, and Idle at least two spans: start from admission.Default", c)
	}
	return &Door{config: c, sources: newSources(c.Sources, c.Idle)}
}

// Admit decides on a request that arrives. An admitted one holds its place until Begin.
func (d *Door) Admit(now node.Instant, level Level, r *Request) Verdict {
	v := Verdict{Place: Place{class: r.Class}}
	if r.Class != node.Critical {
		v.Place.source = d.sources.of(now, r.Source)
		if v.Reason, v.RetryAfter = d.refuse(now, level, r, v.Place.source); v.Reason != Admitted {
			return v
		}
		d.sources.hold(v.Place.source)
	}
	d.waiting[r.Class]++
	return v
}

// refuse returns why a request is not admitted, and when it may be.
func (d *Door) refuse(now node.Instant, level Level, r *Request, from int32) (Reason, time.Duration) {
	s := &d.sources.all[from]
	ahead := d.wait(r.Class)
	if left := s.windows[r.Operation].wait(now, d.config.Span, d.config.Limits[r.Operation]); left > 0 && level >= Stressed {
		return RateLimit, clamp(left)
	}
	most := d.config.Waits[classLevel(r.Class, level)]
	limit := min(most, r.Left/2)
	patience := limit
	if s.places == 0 { // a source that holds nothing finds the queue as full as callers with longer deadlines make it
		patience = min(most, r.Left*3/4)
	}
	switch {
	case ahead+d.mean[r.Class] > r.Left:
		return TooLate, clamp(ahead)
	case d.waiting[r.Class] >= d.config.Lanes[r.Class] || d.global() >= d.config.Places:
		return LaneFull, clamp(ahead)
	case ahead > patience && d.busy(r.Class):
		return TooLong, clamp(ahead)
	case s.places >= d.sources.share(d.bound(r.Class, limit)):
		return ShareUsed, clamp(ahead)
	}
	s.windows[r.Operation].add()
	return Admitted, 0
}

// classLevel returns the level that a class suffers: the lowest class two sooner, the highest
// one later.
func classLevel(class node.Priority, level Level) Level {
	switch class {
	case node.High:
		return max(level, 1) - 1
	case node.Low:
		return min(level+2, Emergency)
	}
	return min(level, Emergency)
}

// global returns how many requests wait, without the critical ones: their senders have at most
// one each, and they must not take the place of others.
func (d *Door) global() int {
	return d.waiting[node.High] + d.waiting[node.Normal] + d.waiting[node.Low]
}

// wait returns how long a request of a class waits that arrives now.
func (d *Door) wait(class node.Priority) time.Duration {
	sum := time.Duration(0)
	for c := range class + 1 {
		sum += time.Duration(d.waiting[c]) * d.mean[c]
	}
	return sum / time.Duration(d.config.Workers)
}

// busy reports whether at least one request for each worker waits. Fewer would let workers idle.
func (d *Door) busy(class node.Priority) bool {
	n := 0
	for c := range class + 1 {
		n += d.waiting[c]
	}
	return n >= d.config.Workers
}

// bound returns how many requests of a class a wait holds, at least one for each worker.
func (d *Door) bound(class node.Priority, limit time.Duration) int {
	bound := min(d.config.Lanes[class], d.config.Places)
	if mean := d.mean[class]; mean > 0 {
		bound = min(bound, int(limit*time.Duration(d.config.Workers)/mean))
	}
	return max(bound, d.config.Workers)
}

// Begin ends a wait: the node is about to handle the request. It reports false if the request
// cannot end within what is left of its deadline: the node refuses it.
func (d *Door) Begin(p Place, left time.Duration) bool {
	d.waiting[p.class]--
	if p.class == node.Critical {
		return true
	}
	d.sources.release(p.source)
	return left >= d.mean[p.class]
}

// End says how long the handling of a request took.
func (d *Door) End(class node.Priority, took time.Duration) {
	if d.mean[class] == 0 {
		d.mean[class] = took
		return
	}
	d.mean[class] += (took - d.mean[class]) / meanPart
}

// Clear forgets what waits: the node has lost it.
func (d *Door) Clear() {
	d.waiting = [node.Priorities]int{}
	d.sources, d.line = newSources(d.config.Sources, d.config.Idle), 0
}

// Share returns how much of its places the door has given away, for the Detector.
func (d *Door) Share() Share { return ShareOf(d.global(), d.config.Places) }

// Sources returns how many sources the door tells apart.
func (d *Door) Sources() int { return len(d.sources.byKey) }

func clamp(d time.Duration) time.Duration { return min(max(d, retryMin), retryMax) }
