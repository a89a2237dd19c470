package plan

import (
	"fmt"
	"time"

	"hyperscale/core/message"
)

// load checks how much load a workflow makes, and how it runs.
func (c *check) load(w *message.WorkflowPlan) {
	c.most("iterations", w.Iterations, IterationsMax, "write a duration instead")
	if w.UserIterations != 0 && (w.UserIterations > IterationsMax/max(w.VUs, 1) || w.UserIterations*w.VUs != w.Iterations) {
		c.add("vu_iterations", fmt.Sprint(w.UserIterations), fmt.Sprintf("be iterations = %d by vus = %d", w.Iterations, w.VUs), "use the same version of hyperscale at both ends")
	}
	c.most("connections", uint64(w.Connections), ConnectionsMax, "share fewer")
	c.known("priority", uint64(w.Priority), 0, uint64(message.PriorityExclusive))
	c.known("session", uint64(w.Session), 0, uint64(message.SessionNone))
	c.most("report", uint64(len(w.Report)), ReportsMax, "declare fewer")
	for i, r := range w.Report[:min(len(w.Report), ReportsMax)] {
		c.text(fmt.Sprintf("report[%d]", i), r, 1, ReportMax, "shorten the place")
	}
	switch w.RatePer {
	case 0, time.Second, time.Minute, time.Hour:
	default:
		c.add("rate_per", length(w.RatePer), "be 1s, 1m or 1h", "write rates as 500/s, 30/m or 1000/h")
		return
	}
	most := RateBound(w.RatePer)
	c.most("rate", w.Rate, most, rateRemedy)
	c.stages(w, most)
}

const rateRemedy = "lower it, or submit several jobs"

// RateBound returns the highest rate in a unit of time, in thousandths; no unit means a second.
func RateBound(per time.Duration) uint64 {
	return RateMax * 1000 * uint64(max(per, time.Second)/time.Second)
}

func (c *check) stages(w *message.WorkflowPlan, most uint64) {
	if len(w.Stages) == 0 {
		return
	}
	if len(w.Stages) > StagesMax {
		c.most("stages", uint64(len(w.Stages)), StagesMax, "join stages of the same slope")
		return
	}
	var long time.Duration
	vus, rates := false, w.Rate > 0
	for i, s := range w.Stages {
		key := func(name string) string { return fmt.Sprintf("stages[%d].%s", i, name) }
		if s.Duration < 0 || s.Duration > DurationMax-long {
			c.add(key("duration"), length(s.Duration), fmt.Sprintf("be 0s to %s", length(DurationMax-long)), "shorten the stages: all of them together take "+length(DurationMax)+" at most")
			return
		}
		c.most(key("vus"), s.VUs, w.VUs, "vus is the highest of all stages")
		c.most(key("rate"), s.Rate, most, rateRemedy)
		long += s.Duration
		vus, rates = vus || s.VUs > 0, rates || s.Rate > 0
	}
	if vus == rates {
		c.add("stages", fmt.Sprintf("vus: %v, rates: %v", vus, rates), "be of vus or of rates, and one of them above 0", "give all of them vus, or all of them a rate")
	}
	if long == 0 || long != w.Duration {
		c.add("duration", length(w.Duration), "be above 0s and that of all stages, "+length(long), "take the duration out: the stages have their own")
	}
}
