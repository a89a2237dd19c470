package plan

import (
	"fmt"
	"slices"
	"strings"

	"hyperscale/core/message"
)

func (c *check) steps(w *message.WorkflowPlan) {
	if len(w.Steps) == 0 {
		c.add("steps", "0", fmt.Sprintf("be 1 to %d", StepsMax), "declare a step")
	}
	c.most("steps", uint64(len(w.Steps)), StepsMax, "declare fewer, or spread them over several workflows")
	seen := map[string]bool{}
	weighted := false
	steps := w.Steps[:min(len(w.Steps), StepsMax)]
	for i := range steps {
		s := &steps[i]
		c.at.Step = ""
		c.name(fmt.Sprintf("steps[%d].name", i), s.Name)
		if seen[s.Name] {
			c.add(fmt.Sprintf("steps[%d].name", i), quoted(s.Name), "differ from the other steps'", "give one of them another name")
		}
		seen[s.Name] = true
		weighted = weighted || s.Weight > 0
		c.at.Step = s.Name
		c.step(steps, i)
	}
	c.at.Step = ""
	if len(steps) == len(w.Steps) && weighted != w.Weighted {
		c.add("weighted", fmt.Sprint(w.Weighted), fmt.Sprintf("be %v by its steps", weighted), "use the same version of hyperscale at both ends")
	}
	c.tags(w.Tags)
}

func (c *check) step(steps []message.StepPlan, i int) {
	s := &steps[i]
	c.known("kind", uint64(s.Kind), uint64(message.StepRequest), uint64(message.StepAction))
	if s.Protocol != "" && !slices.Contains(Protocols(), s.Protocol) {
		c.add("protocol", quoted(s.Protocol), "be empty or one of "+strings.Join(Protocols(), ", "), "use the same version of hyperscale at both ends")
	}
	layer := func(k uint32) uint32 { return steps[k].Layer }
	if above := max(c.after("after", s.After, i, layer), c.after("behind", s.Behind, i, layer)); above != s.Layer {
		c.add("layer", fmt.Sprint(s.Layer), fmt.Sprintf("be %d by after and behind", above), "use the same version of hyperscale at both ends")
	}
	for _, k := range s.Behind {
		if _, both := slices.BinarySearch(s.After, k); both {
			c.add("behind", fmt.Sprintf("[%d]", k), "name no step that after names", "use the same version of hyperscale at both ends")
			break
		}
	}
	c.most("weight", uint64(s.Weight), WeightMax, "weights are shares: divide all of them")
	for _, k := range s.After {
		if int64(k) < int64(i) && steps[k].Weight > 0 {
			c.add("after", quoted(steps[k].Name), "name steps that every iteration takes", "take its weight out: what has one is not always there")
		}
	}
	switch s.Unit {
	case "", "counter", "rate", "distribution":
	default:
		c.add("unit", quoted(s.Unit), "be counter, rate or distribution", "use the same version of hyperscale at both ends")
	}
	c.tags(s.Tags)
}

func (c *check) tags(tags []message.Tag) {
	c.most("tags", uint64(len(tags)), TagsMax, "declare fewer")
	for i, t := range tags[:min(len(tags), TagsMax)] {
		c.name(fmt.Sprintf("tags[%d].name", i), t.Name)
		if i > 0 && tags[i-1].Name >= t.Name {
			c.add(fmt.Sprintf("tags[%d].name", i), quoted(t.Name), "be above the one before", "give each tag one value, sorted by name")
		}
		c.text(fmt.Sprintf("tags[%d].value", i), t.Value, 0, TagMax, "shorten it")
	}
}
