package talk

import (
	"strings"
	"testing"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/runtime/protocol/redis"
)

// TALK-3: operations share a connection if they greet alike, and only then. Where they go is shown
// without a password.
func TestRedisTargets(t *testing.T) {
	same := `redis.client("redis://h", user = "app", password = "geheim", protocol = 3, database = 1)`
	targets := []string{
		same, strings.Replace(same, "//h", "//h:7000", 1), strings.Replace(same, "redis:", "rediss:", 1), strings.Replace(same, "app", "other", 1),
		strings.Replace(same, "geheim", "other", 1), strings.Replace(same, "= 3", "= 2", 1), strings.Replace(same, "= 1", "= 2", 1),
	}
	keys, memory := map[string]string{}, &Memory{}
	protocols := map[*redis.Protocol]bool{}
	for _, target := range targets {
		text := `workflow(name = "test", steps = [step("a", redis.command(` + target + `, "GET", "k")), step("b", redis.pipeline(` + target + `, [["PING"]]))])`
		p, err := workflow.Load(message.Program{Main: "test.star", Files: []message.File{{Name: "test.star", Data: []byte(text)}}})
		if err != nil {
			t.Fatal(err)
		}
		w, key := p.Workflow("test"), ""
		for i := range w.Steps {
			plan, upgrade, err := NewPlan(w.Steps[i].Request, w, memory)
			if err != nil || upgrade != nil {
				t.Fatal(upgrade, err)
			}
			if i == 1 && plan.Host.Key != key {
				t.Errorf("%s: two steps have the keys %q and %q", target, key, plan.Host.Key)
			}
			key = plan.Host.Key
			protocols[plan.verb.(*ask).greets] = true
			if plan.Host.Secure != strings.Contains(target, "rediss") || plan.Host.Offer != nil || strings.Contains(plan.Shown.Scheme+plan.Shown.Address()+plan.Shown.Path, "geheim") {
				t.Errorf("%s: %+v, shown as %+v", target, plan.Host, plan.Shown)
			}
		}
		if before := keys[key]; before != "" {
			t.Errorf("%s and %s share connections", before, target)
		}
		keys[key] = target
	}
	if len(protocols) != len(targets) {
		t.Errorf("%d targets have %d greetings", len(targets), len(protocols))
	}
}

// Memory forgets targets that functions make up.
func TestRedisTargetsAreBounded(t *testing.T) {
	m := &Memory{}
	for i := range 3 * protocolsMax {
		m.protocol(strings.Repeat("x", i), redis.Config{})
	}
	if len(m.protocols) > protocolsMax {
		t.Errorf("%d are remembered", len(m.protocols))
	}
}
