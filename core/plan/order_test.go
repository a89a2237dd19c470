package plan

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"hyperscale/core/message"
)

func TestOrder(t *testing.T) {
	step := func(name string, layer uint32, after ...uint32) message.StepPlan {
		return message.StepPlan{Name: name, Layer: layer, After: after}
	}
	weighted := func(s message.StepPlan, weight uint32) message.StepPlan { s.Weight = weight; return s }
	long := []message.StepPlan{step("a0", 0)}
	for i := range uint32(9) {
		long = append(long, step("a"+string('1'+rune(i)), i+1, i))
	}
	for _, c := range []struct {
		why   string
		steps []message.StepPlan
		want  string
	}{
		{"one", []message.StepPlan{step("a", 0)}, ""},
		{"a plain list", []message.StepPlan{step("a", 0), step("b", 1, 0), step("c", 2, 1)}, ""},
		{"a parallel", []message.StepPlan{step("page", 0), step("style", 1, 0), step("script", 1, 0), step("data", 2, 1, 2)}, "page → (style + script) → data"},
		{"all at once", []message.StepPlan{step("a", 0), step("b", 0)}, "(a + b)"},
		{"a mix", []message.StepPlan{step("home", 0), weighted(step("search", 1, 0), 3), weighted(step("buy", 1, 0), 1), step("news", 2, 1, 2)}, "home → (one of search 75%, buy 25%) → news"},
		{"two chains", []message.StepPlan{step("cart", 0), step("pay", 1, 0), step("search", 0), step("item", 1, 2), step("done", 2, 1, 3)}, "cart → pay\nsearch → item\npay + item → done"},
		{"an implied link", []message.StepPlan{step("a", 0), step("b", 1, 0), step("c", 2, 0, 1), step("d", 0)}, "a → b → c\nd"},
		{"a fork", []message.StepPlan{step("a", 0), step("b", 1, 0), step("c", 1, 0), step("d", 2, 2)}, "a → b\na → c → d"},
		{"a long list before a parallel", append(append([]message.StepPlan{}, long...), step("x", 10, 9), step("y", 10, 9)), "a0 → (8 steps) → a9 → (x + y)"},
	} {
		if got := strings.Join(Order(c.steps), "\n"); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.why, got, c.want)
		}
	}
}

func TestTurns(t *testing.T) {
	for _, c := range []struct {
		why  string
		all  []message.WorkflowPlan
		want string
	}{
		{"together", []message.WorkflowPlan{{Name: "a"}, {Name: "b"}}, ""},
		{"a chain", []message.WorkflowPlan{{Name: "warmup"}, {Name: "load", Depends: []uint32{0}}, {Name: "clean", StartAfter: []uint32{1}}}, "warmup → load ⇢ clean"},
		{"a delay", []message.WorkflowPlan{{Name: "a"}, {Name: "b", StartDelay: 90 * time.Second}}, "a\nb (1m30s later)"},
		{"both kinds", []message.WorkflowPlan{{Name: "a"}, {Name: "b"}, {Name: "c", Depends: []uint32{0}, StartAfter: []uint32{1}}}, "b ⇢ c\na → c"},
	} {
		if got := strings.Join(Turns(c.all), "\n"); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.why, got, c.want)
		}
	}
}

// TestOrdersAreWholeAndBounded: each link of a graph that no others imply is drawn once, unless the drawing says that it is cut.
func TestOrdersAreWholeAndBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "workflows")
		all := make([]message.WorkflowPlan, n)
		var path [60][60]int // the longest way
		for i := range all {
			all[i] = message.WorkflowPlan{Name: strings.Repeat("é", rapid.IntRange(1, 30).Draw(t, "name")), StartDelay: time.Second}
			for k := range i {
				if rapid.IntRange(0, 9).Draw(t, "link") == 0 {
					all[i].Depends = append(all[i].Depends, uint32(k))
					path[i][k] = max(path[i][k], 1)
					for j := range k {
						if path[k][j] > 0 {
							path[i][j] = max(path[i][j], path[k][j]+1)
						}
					}
				}
			}
		}
		links := 0 // that no longer way implies
		for i := range all {
			for _, k := range all[i].Depends {
				if path[i][k] == 1 {
					links++
				}
			}
		}
		lines := Turns(all)
		text := strings.Join(lines, "\n")
		cut := strings.Contains(text, "lines more")
		drawn := 0
		for _, line := range lines {
			parts := strings.Split(line, " → ")
			drawn += strings.Count(parts[0], " + ") + len(parts) - 1
		}
		if !utf8.ValidString(text) || len(text) > orderMax+200 || !cut && drawn != links || cut && drawn > links {
			t.Fatalf("%d of %d links in %d bytes:\n%s", drawn, links, len(text), text)
		}
	})
}
