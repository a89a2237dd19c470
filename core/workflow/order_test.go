package workflow_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/workflow"
)

// TestOrder plays testdata/order.txt: the steps of a list, and what the plan makes of them.
func TestOrder(t *testing.T) {
	datadriven.RunTest(t, "testdata/order.txt", func(t *testing.T, d *datadriven.TestData) string {
		text := "def get(name, **more):\n    return step(name, http.get(\"http://h/\" + name), **more)\n" +
			"def value(name):\n    return {\"v\": header(name)}\n" +
			"workflow(name = \"w\", steps = [\n" + d.Input + "\n])\n"
		p, err := workflow.Load(program("test.star", text))
		if err != nil {
			return strings.SplitN(err.Error(), "\n", 2)[0] + "\n"
		}
		steps := p.Plan().Workflows[0].Steps
		var b strings.Builder
		names := func(word string, list []uint32) {
			for i, k := range list {
				if i > 0 {
					word = ""
				}
				fmt.Fprintf(&b, "%s %s", word, steps[k].Name)
			}
		}
		for _, s := range steps {
			fmt.Fprintf(&b, "%d %s", s.Layer, s.Name)
			names(", needs", s.After)
			names(", behind", s.Behind)
			fmt.Fprintln(&b)
		}
		if plan.Sequence(steps) == nil {
			b.WriteString("a graph\n")
		}
		if again := decoded(t, p.Plan()); plan.Digest(again) != p.Digest() {
			t.Error("the plan that arrives is another")
		}
		return b.String()
	})
}

// decoded is the plan as another process reads it.
func decoded(t *testing.T, p *message.Plan) *message.Plan {
	t.Helper()
	b, err := p.MarshalMsg(nil)
	if err != nil {
		t.Fatal(err)
	}
	out := &message.Plan{}
	if _, err := out.UnmarshalMsg(b); err != nil {
		t.Fatal(err)
	}
	return out
}
