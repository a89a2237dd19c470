package manager

import (
	"strings"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// TestExposedManagersRejectSecrets: a dispatch to workers in clear text has no secrets in it.
func TestExposedManagersRejectSecrets(t *testing.T) {
	for _, exposed := range []bool{false, true} {
		c := Default()
		c.Datacenter, c.Gates, c.Exposed = "dc1", []node.Addr{"g1:1"}, exposed
		m := New(c)
		code, why := m.unfit(&message.JobDispatch{
			Fence: message.Fence{JobEpoch: 1}, RunTimeout: time.Minute, Program: message.Program{Main: "f", Secrets: []message.Secret{{Name: "token", Value: "hunter2"}}},
			Plan: message.Plan{Source: "f", Workflows: []message.WorkflowPlan{{Name: "a", Test: true, VUs: 8, Timeout: time.Second, Steps: home()}}},
		})
		if rejected := code == message.CodeBadPlan && strings.Contains(why, "program.secrets = 1 must be 0"); rejected != exposed || strings.Contains(why, "hunter2") {
			t.Errorf("exposed: %v, got %v, %s", exposed, code, why)
		}
	}
}
