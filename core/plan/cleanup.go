package plan

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"hyperscale/core/message"
)

// CleanUp is how long a stopped job cleans up, from its stop; zero for one that does not.
func CleanUp(p *message.Plan) time.Duration {
	if p.AfterAll == 0 || int(p.AfterAll) > len(p.Workflows) {
		return 0
	}
	return cmp.Or(p.Workflows[p.AfterAll-1].GracefulStop, message.GracefulStopDefault)
}

// cleanUp checks the workflow that cleans up: nothing waits for it, as it runs when all others have
// been stopped.
func (c *check) cleanUp(p *message.Plan) {
	if p.AfterAll == 0 || len(p.Workflows) == 0 {
		return
	}
	if int(p.AfterAll) > len(p.Workflows) {
		c.add("after_all", fmt.Sprint(p.AfterAll), fmt.Sprintf("be 0 to %d, the number of workflows", len(p.Workflows)), "use the same version of hyperscale at both ends")
		return
	}
	for i := range p.Workflows {
		if w := &p.Workflows[i]; slices.Contains(w.Depends, p.AfterAll-1) || slices.Contains(w.StartAfter, p.AfterAll-1) {
			c.add("after_all", fmt.Sprint(p.AfterAll), fmt.Sprintf("be a workflow that none waits for, and %q does", w.Name), "use the same version of hyperscale at both ends")
			return
		}
	}
}
