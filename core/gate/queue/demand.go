package queue

import (
	"math"
	"slices"

	"hyperscale/core/gate/places"
	"hyperscale/core/message"
	"hyperscale/core/plan"
)

// Demand is what jobs want of one datacenter. It does not depend on the cores that the datacenter has: what scales by
// it would otherwise grow because it grew.
type Demand struct{ cores, light uint64 }

// Add adds a job. told is what its managers report of its workflows, in the plan's order; empty: nothing yet. A workflow
// that has cores counts with these, but for those that it shares; one that waits for cores, with the cores that it
// names, or one. A workflow counts neither after its end nor while an earlier layer runs.
func (d *Demand) Add(p *message.Plan, told []message.WorkflowResult) {
	ended := func(i int) bool { return i < len(told) && told[i].State.Terminal() }
	layer := uint32(math.MaxUint32)
	for i := range p.Workflows {
		if !ended(i) {
			layer = min(layer, p.Workflows[i].Layer)
		}
	}
	for i := range p.Workflows {
		w, has, shared := &p.Workflows[i], uint32(0), uint32(0)
		if i < len(told) {
			has, shared = told[i].Cores, told[i].Shared
		}
		switch {
		case ended(i) || has == 0 && w.Layer > layer:
		case plan.Light(w):
			d.light++
		case has > 0:
			d.cores += uint64(has - min(has, shared))
		default:
			d.cores += plan.Least(w)
		}
	}
}

// Cores is the demand in whole cores: light workflows share some.
func (d *Demand) Cores() uint64 { return d.cores + coresFor(d.light, 0) }

// Within is the demand that a datacenter can meet: no more than it can reach, if its managers tell what scaling
// can reach.
func (d *Demand) Within(of *places.Datacenter) uint64 {
	if of.Most() == 0 {
		return d.Cores()
	}
	return min(d.Cores(), uint64(of.Reach()))
}

// Demand adds each waiting job where it waits: in all datacenters that it names, or in the one for which it waits. A job
// that any datacenter suits and that no look has placed waits where the one before it does, or else in the gate's
// favourite, or in the first one that scaling can raise, or in the first one.
func (q *Queue) Demand(in *places.Places, of func(datacenter string) *Demand) {
	at := ""
	if f := in.Favourite(); f != nil {
		at = f.Name
	} else if all := in.All(); len(all) > 0 {
		at = all[max(0, slices.IndexFunc(all, func(d *places.Datacenter) bool { return d.Most() > 0 }))].Name
	}
	for _, t := range q.turns {
		for _, name := range t.Named {
			of(name).Add(t.plan, nil)
		}
		if len(t.Named) > 0 {
			continue
		}
		if t.waits != "" {
			at = t.waits
		}
		of(at).Add(t.plan, nil)
	}
}
