package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"hyperscale/core/node"
)

// aimKind is what a fault, or a datagram that is held, waits for at a node.
type aimKind uint8

const (
	aimTimer   aimKind = iota // a timer fires, or is about to
	aimStoring                // a sync is about to end: a crash now loses all of it
	aimStored                 // a sync has ended, and nobody was told: a crash now keeps it
)

// aim is a parsed Fault.Aim:
//
//	timer:PART.KIND    the next firing of such a timer; core/node lists the numbers
//	timer:PART.*       of any timer of a part; timer:* of any at all
//	timer:9.8-1ms      that much before it; or after, with a plus
//	storing[:PREFIX]   the next write, of keys with a prefix, before it is durable
//	stored[:PREFIX]    after it is durable, and before the machine is told
type aim struct {
	kind   aimKind
	any    bool      // timer
	part   node.Part // zero: any
	timer  uint8
	offset time.Duration
	prefix string
}

// aimOffsetMax bounds the distance to a firing.
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

// shot waits for its aim, at one node or several; the first one takes it.
type shot struct {
	aim  *aim
	over bool
	fire func(*process)
}

// shoot fires once.
func (s *shot) shoot(p *process) {
	if !s.over {
		s.over = true
		s.fire(p)
	}
}

// await makes a fault wait at its nodes.
func (x *injector) await(f Fault) {
	w := x.w
	a, _ := parseAim(f.Aim) // it was checked
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

// lookout is what waits for a timer or a write of one node.
type lookout struct {
	p     *process
	shots []*shot
}

// watchFor lets a node look out for an aim. Timers that are set already count.
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

// lead is told that a timer was set: what is aimed at a moment before it gets
// ready.
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

// fired is told that a timer fires now, whether its machine is told at once or
// not.
func (l *lookout) fired(k *node.TimerKey) {
	p := l.p
	for _, s := range l.shots {
		if !s.over && s.aim.offset >= 0 && s.aim.matches(k) {
			p.w.At(p.w.now+s.aim.offset, func() { s.shoot(p) })
		}
	}
	l.forget()
}

// forget drops the shots that are over.
func (l *lookout) forget() {
	p := l.p
	l.shots = slices.DeleteFunc(l.shots, func(s *shot) bool { return s.over })
	p.bars.set(barAimed, len(l.shots) > 0)
}

// written is told that puts are about to be durable, or are. True: the node has
// not survived it.
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

// hold makes a late datagram come when the aim does, and no later than it would
// have.
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
			return // it has come
		}
		w.queue.cancel(event)
		_, e := w.queue.add(w.now, eventDatagram)
		e.node, e.from, e.life, e.word, e.message = held.node, held.from, held.life, held.word, held.message
	}})
}
