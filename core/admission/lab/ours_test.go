package lab

import (
	"strconv"
	"time"

	"hyperscale/core/admission"
	"hyperscale/core/node"
)

// ours is core/admission, as a role wires it, with what a chain of servers needs beside it.
type ours struct {
	door     *admission.Door
	detector admission.Detector
	chain    *chain
	names    []string // of streams
}

func newOurs(workers int) *ours {
	c := admission.Default()
	c.Workers = workers
	c.Limits = [admission.Operations]int{1 << 30, 1 << 30, 1 << 30} // the windows have their own tests
	return &ours{door: admission.NewDoor(c), chain: newChain(workers)}
}

func (o *ours) admit(now node.Instant, r *request) bool {
	level := o.detector.Level()
	if r.class != node.Critical && o.chain.late(now, r) {
		return false
	}
	if r.stage == 0 {
		if r.class != node.Critical && o.chain.long(now, level, r) {
			return false
		}
		v := o.door.Admit(now, max(level, o.chain.later(now).level), &admission.Request{
			Class: r.class, Source: o.name(r.stream), Left: r.deadline.Sub(now),
		})
		if r.place = v.Place; v.Reason != admission.Admitted {
			return false
		}
	}
	o.chain.hold(r)
	return true
}

func (o *ours) name(stream int32) string {
	for len(o.names) <= int(stream) {
		o.names = append(o.names, strconv.Itoa(len(o.names)))
	}
	return o.names[stream]
}

func (o *ours) begin(now node.Instant, r *request) bool {
	o.chain.release(r)
	left := r.deadline.Sub(now)
	if r.stage == 0 {
		return o.door.Begin(r.place, left)
	}
	return left >= o.chain.mean[r.class]
}

func (o *ours) end(_ node.Instant, r *request, waited, took time.Duration) {
	o.door.End(r.class, took)
	o.chain.end(r.class, took)
	o.detector.Observe(waited + took)
}

func (o *ours) answer(node.Instant, *request, time.Duration, bool) {}
func (o *ours) tick(node.Instant)                                  { o.detector.Tick(o.chain.share()) }
func (o *ours) lane(class node.Priority) node.Priority             { return class }
func (o *ours) hear(now node.Instant, ahead outlook)               { o.chain.behind, o.chain.heard = ahead, now }
func (o *ours) ahead(now node.Instant, class node.Priority) outlook {
	later := o.chain.later(now)
	return outlook{o.chain.wait(class) + later.wait, max(o.detector.Level(), later.level)}
}

// sheds is ours, and refuses all normal requests while it is stressed.
type sheds struct{ *ours }

func (s sheds) admit(now node.Instant, r *request) bool {
	if s.detector.Level() >= admission.Stressed && r.class == node.Normal {
		return false
	}
	return s.ours.admit(now, r)
}
