package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"hyperscale/core/node"
)

// aimKind is the event at a node that a fault, or a held datagram, waits for.
type aimKind uint8

const (
	aimTimer   aimKind = iota // a timer fires, or is about to
	aimStoring                // a sync is about to end: a crash now loses all of it
	aimStored                 // a sync has ended, the machine does not know it: a crash now keeps it
)

// aim is a parsed Fault.Aim:
//
//	timer:PART.KIND    the next firing of such a timer; core/node lists the numbers
//	timer:PART.*       of any timer of a part; timer:* of any timer
//	timer:9.8-1ms      1 ms before it; or after, with a plus
//	storing[:PREFIX]   the next write, of keys with a prefix, before it is durable
//	stored[:PREFIX]    after it is durable, and before the machine learns of it
type aim struct {
	kind   aimKind
	any    bool      // timer
	part   node.Part // zero: any
	timer  uint8
	offset time.Duration
	prefix string
}

// aimOffsetMax bounds the offset from a firing.
const aimOffsetMax = time.Minute

// parseAim returns nil for an empty text.
func parseAim(text string) (*aim, error) {
	if text == "" {
		return nil, nil
	}
	what, rest, _ := strings.Cut(text, ":")
	switch what {
	case "storing":
		return &aim{kind: aimStoring, prefix: rest}, nil
	case "stored":
		return &aim{kind: aimStored, prefix: rest}, nil
	case "timer":
		if a, ok := parseTimer(rest); ok {
			return a, nil
		}
	}
	return nil, fmt.Errorf("aim %.80q is not known: write timer:9.8, timer:9.* or timer:*, each with -1ms or +1ns behind it, storing, stored, either with :prefix", text)
}

func parseTimer(text string) (*aim, bool) {
	a := &aim{kind: aimTimer}
	if i := strings.IndexAny(text, "+-"); i >= 0 {
		offset, err := time.ParseDuration(text[i:])
		if err != nil || max(offset, -offset) > aimOffsetMax {
			return nil, false
		}
		a.offset, text = offset, text[:i]
	}
	if text == "*" {
		a.any = true
		return a, true
	}
	part, kind, _ := strings.Cut(text, ".")
	p, err := strconv.ParseUint(part, 10, 8)
	a.part = node.Part(p)
	if kind == "*" {
		a.any = true
		return a, err == nil
	}
	k, err2 := strconv.ParseUint(kind, 10, 8)
	a.timer = uint8(k)
	return a, err == nil && err2 == nil
}

func (a *aim) matches(k *node.TimerKey) bool {
	return a.kind == aimTimer && (a.part == 0 || a.part == k.Part) && (a.any || a.timer == k.Kind)
}

// shot is a fault that waits for its aim, at one node or several; it strikes the first.
type shot struct {
	aim  *aim
	over bool
	fire func(*process)
}

// shoot starts the fault, once.
func (s *shot) shoot(p *process) {
	if !s.over {
		s.over = true
		s.fire(p)
	}
}

// await makes a fault wait at its nodes.
func (x *injector) await(f Fault) {
	w := x.w
	a, _ := parseAim(f.Aim) // already validated
	s := &shot{aim: a, fire: func(p *process) {
		hit := f
		hit.At, hit.Nodes = w.now, []string{string(p.peer.ID)}
		x.befall(hit)
	}}
	x.shots = append(slices.DeleteFunc(x.shots, func(s *shot) bool { return s.over }), s)
	for _, p := range x.pick(f.Nodes) {
		p.look.watchFor(s)
	}
}

// lookout holds what waits for a timer or a write of one node.
type lookout struct {
	p     *process
	shots []*shot
}

// watchFor makes a node wait for an aim. Timers that are already set count.
func (l *lookout) watchFor(s *shot) {
	p := l.p
	l.shots = append(l.shots, s)
	l.forget()
	if s.aim.offset >= 0 || s.aim.kind != aimTimer {
		return
	}
	set := p.armed()
	for _, t := range set {
		l.leadShot(s, t, p.w.queue.slab[t.event].at)
	}
}

// lead handles a timer that the machine set: faults with an aim before its firing schedule
// themselves.
func (l *lookout) lead(t *timer, at time.Duration) {
	for _, s := range l.shots {
		if !s.over && s.aim.offset < 0 {
			l.leadShot(s, t, at)
		}
	}
}

func (l *lookout) leadShot(s *shot, t *timer, at time.Duration) {
	p := l.p
	w := p.w
	if at+s.aim.offset < w.now || !s.aim.matches(&t.key) {
		return
	}
	key, digest, generation := t.key, t.digest, t.generation
	w.At(at+s.aim.offset, func() {
		if t := p.timers.find(&key, digest); t != nil && t.generation == generation && t.event != 0 {
			s.shoot(p)
		}
	})
}

// fired handles the firing of a timer, whether or not the machine gets it at once.
func (l *lookout) fired(k *node.TimerKey) {
	p := l.p
	for _, s := range l.shots {
		if !s.over && s.aim.offset >= 0 && s.aim.matches(k) {
			p.w.At(p.w.now+s.aim.offset, func() { s.shoot(p) })
		}
	}
	l.forget()
}

// forget drops the shots that have struck.
func (l *lookout) forget() {
	p := l.p
	l.shots = slices.DeleteFunc(l.shots, func(s *shot) bool { return s.over })
	p.bars.set(barAimed, len(l.shots) > 0)
}

// written handles puts that are about to be durable, or are durable now. It returns true if a
// fault ended the node.
func (l *lookout) written(kind aimKind, puts []put) bool {
	p := l.p
	life := p.life
	for _, s := range slices.Clone(l.shots) {
		if s.over || s.aim.kind != kind || !touch(puts, s.aim.prefix) {
			continue
		}
		if kind == aimStoring {
			p.disk.lossy++ // it was not durable, and will not be
		}
		s.shoot(p)
		if kind == aimStoring {
			p.disk.lossy--
		}
	}
	l.forget()
	return !p.alive() || p.life != life
}

// touch says whether any put writes a key with the prefix.
func touch(puts []put, prefix string) bool {
	return slices.ContainsFunc(puts, func(x put) bool {
		return slices.ContainsFunc(x.records, func(r node.Record) bool { return strings.HasPrefix(r.Key, prefix) })
	})
}

// heldMax bounds how many datagrams wait for an aim at one node.
const heldMax = 64

// hold delivers a late datagram when its aim occurs, or at its own time if that is earlier.
func (l *lookout) hold(a *aim, event uint32) {
	p := l.p
	if a == nil || len(l.shots) >= heldMax {
		return
	}
	w := p.w
	sequence := w.queue.slab[event].sequence
	l.watchFor(&shot{aim: a, fire: func(*process) {
		held := w.queue.slab[event]
		if held.sequence != sequence {
			return // it has arrived
		}
		w.queue.cancel(event)
		_, e := w.queue.add(w.now, eventDatagram)
		e.node, e.from, e.life, e.word, e.message = held.node, held.from, held.life, held.word, held.message
	}})
}
