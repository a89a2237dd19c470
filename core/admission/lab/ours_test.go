package lab

import (
	"strconv"
	"time"

	"hyperscale/core/admission"
	"hyperscale/core/node"
)

// ours is core/admission, as a role wires it.
type ours struct {
	door     *admission.Door
	detector admission.Detector
	names    []string // of streams
}

func newOurs(workers int) *ours {
	c := admission.Default()
	c.Workers = workers
	c.Limits = [admission.Operations]int{1 << 30, 1 << 30, 1 << 30} // the windows have their own tests
	return &ours{door: admission.NewDoor(c)}
}

func (o *ours) admit(now node.Instant, r *request) bool {
	v := o.door.Admit(now, o.detector.Level(), &admission.Request{
		Class: r.class, Source: o.name(r.stream), Left: r.deadline.Sub(now), Admitted: r.stage > 0,
	})
	r.place = v.Place
	return v.Reason == admission.Admitted
}

func (o *ours) name(stream int32) string {
	for len(o.names) <= int(stream) {
		o.names = append(o.names, strconv.Itoa(len(o.names)))
	}
	return o.names[stream]
}

func (o *ours) begin(now node.Instant, r *request) bool {
	return o.door.Begin(r.place, r.deadline.Sub(now))
}

func (o *ours) end(_ node.Instant, r *request, waited, took time.Duration) {
	o.door.End(r.class, took)
	o.detector.Observe(waited + took)
}

func (o *ours) answer(node.Instant, *request, time.Duration, bool) {}
func (o *ours) tick(node.Instant)                                  { o.detector.Tick(o.door.Share()) }
func (o *ours) lane(class node.Priority) node.Priority             { return class }
func (o *ours) hear(now node.Instant, ahead admission.Outlook)     { o.door.Behind(now, ahead) }
func (o *ours) ahead(now node.Instant, class node.Priority) admission.Outlook {
	return o.door.Ahead(now, o.detector.Level(), class)
}

// sheds is ours, and refuses all normal requests while it is stressed.
type sheds struct{ *ours }

func (s sheds) admit(now node.Instant, r *request) bool {
	if s.detector.Level() >= admission.Stressed && r.class == node.Normal {
		return false
	}
	return s.ours.admit(now, r)
}
