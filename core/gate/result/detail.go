package result

import (
	"cmp"
	"slices"

	"hyperscale/core/message"
)

// detailMax bounds a page of details: it fits a frame beside the rest of a status.
const detailMax = message.FrameMax / 2

// Everywhere names the sums of all datacenters, as no datacenter may be called.
const Everywhere = "*"

// Detail returns the page that a query asks for, of what datacenters report: the workflows of one
// datacenter, or the sums Everywhere, which an ended job already has. A page has steps with
// histograms, statuses and errors, and no windows.
func Detail(places []message.DatacenterResult, q *message.JobQuery) (page []message.DatacenterResult, more bool, fault message.Code) {
	name := cmp.Or(q.Datacenter, Everywhere)
	at := slices.IndexFunc(places, func(d message.DatacenterResult) bool { return d.Name == name })
	var place message.DatacenterResult
	switch {
	case at >= 0:
		place = places[at]
	case name == Everywhere:
		place = message.DatacenterResult{Name: name, Workflows: total(places)}
	default:
		return nil, false, message.CodeUnknownDatacenter
	}
	flows := place.Workflows
	if q.Workflow != "" {
		flows = slices.DeleteFunc(slices.Clone(flows), func(w message.WorkflowResult) bool { return w.Name != q.Workflow })
		if len(flows) == 0 {
			return nil, false, message.CodeUnknownWorkflow
		}
	}
	place.Workers, place.Workflows = nil, nil
	first := slices.IndexFunc(flows, func(w message.WorkflowResult) bool { return w.Name == q.AfterWorkflow })
	room := detailMax
	for i := max(0, first); i < len(flows); i++ {
		steps := flows[i].Stats.Steps
		if i == first {
			steps = steps[1+slices.IndexFunc(steps, func(s message.StepStats) bool { return s.Name == q.AfterStep }):]
			if len(steps) == 0 { // an earlier page has it
				continue
			}
		}
		w := head(&flows[i])
		room -= size(w)
		for k := range steps {
			s := steps[k]
			s.Windows = message.Windows{}
			room -= size(message.WorkflowResult{Stats: message.Stats{Steps: []message.StepStats{s}}})
			if more = room < 0 && len(w.Stats.Steps)+len(place.Workflows) > 0; more {
				break
			}
			w.Stats.Steps = append(w.Stats.Steps, s)
		}
		if !more || len(w.Stats.Steps) > 0 {
			place.Workflows = append(place.Workflows, w)
		}
		if more {
			break
		}
	}
	return []message.DatacenterResult{place}, more, message.CodeNone
}

// head is a workflow without its steps and without what grows with time.
func head(w *message.WorkflowResult) message.WorkflowResult {
	h := *w
	h.Stats.Steps, h.Stats.Spans, h.Stats.Activity = nil, nil, message.Windows{}
	h.Stats.Logs, h.Stats.Told, h.Lost, h.Tags, h.StepTags = nil, 0, nil, nil, nil
	return h
}

func size(w message.WorkflowResult) int {
	return (&message.JobStatus{Datacenters: []message.DatacenterResult{{Workflows: []message.WorkflowResult{w}}}}).Size()
}

// total sums the workflows of all datacenters, in the order in which they are first reported.
func total(places []message.DatacenterResult) (sums []message.WorkflowResult) {
	for i := range places {
		for k := range places[i].Workflows {
			name := places[i].Workflows[k].Name
			if slices.ContainsFunc(sums, func(w message.WorkflowResult) bool { return w.Name == name }) {
				continue
			}
			sum, _ := mergeWorkflow(name, places, message.JobNone)
			if state := furthest(places, name); state != message.WorkflowNone {
				sum.State = state
			}
			sums = append(sums, sum)
		}
	}
	return sums
}

// furthest is the state of a workflow that has not ended everywhere: the one that is furthest.
func furthest(places []message.DatacenterResult, name string) (state message.WorkflowState) {
	for i := range places {
		for k := range places[i].Workflows {
			if w := &places[i].Workflows[k]; w.Name == name && !w.State.Terminal() {
				state = max(state, w.State)
			}
		}
	}
	return state
}
