package plan

import (
	"fmt"
	"slices"
	"time"

	"hyperscale/core/message"
)

// CutsMax bounds the instants that divide a workflow's time for its thresholds.
const CutsMax = 255

// Hop is the distance between the begins of a threshold's windows: each begins in the middle of
// the one before.
func Hop(over time.Duration) time.Duration { return over / 2 }

// Cuts returns the instants that divide a workflow's time so that each part of it that a
// threshold looks at is made of whole spans: ascending, above zero. There are at most CutsMax+1
// of them: one more than a valid plan may have.
func Cuts(w *message.WorkflowPlan) []time.Duration {
	var cuts []time.Duration
	for i := range w.Thresholds {
		t := &w.Thresholds[i]
		cuts = append(cuts, t.From, t.Until)
		if hop := Hop(t.Over); hop > 0 {
			end := w.Duration
			if t.Until > 0 {
				end = min(end, t.Until)
			}
			for k := 0; k <= CutsMax+1 && t.From+hop*time.Duration(k) < end; k++ {
				cuts = append(cuts, t.From+hop*time.Duration(k))
			}
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	if len(cuts) > 0 && cuts[0] == 0 {
		cuts = cuts[1:]
	}
	return cuts[:min(len(cuts), CutsMax+1)]
}

// parts checks which parts of the workflow's time a threshold looks at.
func (c *check) parts(key string, t *message.Threshold, w *message.WorkflowPlan) {
	c.span(key+".from", t.From, 0, DurationMax, "write after 30s")
	c.span(key+".until", t.Until, 0, DurationMax, "write stage[0]")
	if t.Until > 0 && t.Until <= t.From {
		c.add(key+".until", length(t.Until), "be after from, "+length(t.From), "name a stage that lasts")
	}
	c.span(key+".over", t.Over, 0, DurationMax, "write over 30s")
	if t.Over > 0 && (t.Over < OverMin || w.Duration == 0) {
		c.add(key+".over", length(t.Over), fmt.Sprintf("be at least %s, in a workflow with a duration", length(OverMin)), "write over 30s, and a duration")
	}
	c.text(key+".datacenter", t.Datacenter, 0, NameMax, "name one that the job runs in")
	c.text(key+".group", t.Group, 0, GroupMax, "use shorter names in vu.group")
	if t.Group != "" && (t.Step != "" || len(t.Steps) > 0) {
		c.add(key+".group", quoted(t.Group), "stand alone", "name a group, a tag or a step")
	}
	for i, name := range t.Steps {
		if !slices.ContainsFunc(w.Steps, func(s message.StepPlan) bool { return s.Name == name }) {
			c.add(fmt.Sprintf("%s.steps[%d]", key, i), quoted(name), "be a step of the workflow", "name one that is declared")
		}
	}
}
