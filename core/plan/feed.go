package plan

import (
	"fmt"
	"slices"

	"hyperscale/core/message"
)

// counters checks that managers can lease values as the plan says.
func (c *check) counters(all []message.CounterPlan) {
	c.most("counters", uint64(len(all)), CountersMax, "declare fewer")
	for i := range all[:min(len(all), CountersMax)] {
		f := &all[i]
		key := func(name string) string { return fmt.Sprintf("counters[%d].%s", i, name) }
		c.name(key("name"), f.Name)
		if f.Most == 0 || f.Most > CounterMax {
			c.add(key("most"), fmt.Sprint(f.Most), fmt.Sprintf("be 1 to %d", uint64(CounterMax)), "write how many values it has at most")
		}
		c.most(key("start"), f.Start, CounterStart, "begin lower")
		c.known(key("at_end"), uint64(f.AtEnd), uint64(message.RowsStop), uint64(message.RowsFail))
		if slices.ContainsFunc(all[:i], func(o message.CounterPlan) bool { return o.Name == f.Name }) {
			c.add(key("name"), quoted(f.Name), "differ from the other counters'", "give one of them another name")
		}
	}
}

// barriers checks that managers can release users as the plan says.
func (c *check) barriers(all []message.BarrierPlan) {
	c.most("barriers", uint64(len(all)), BarriersMax, "declare fewer")
	for i := range all[:min(len(all), BarriersMax)] {
		f := &all[i]
		key := func(name string) string { return fmt.Sprintf("barriers[%d].%s", i, name) }
		c.name(key("name"), f.Name)
		if f.Users < 2 || f.Users > VUsMax {
			c.add(key("users"), fmt.Sprint(f.Users), fmt.Sprintf("be 2 to %d", VUsMax), "write how many virtual users wait for each other")
		}
		c.span(key("timeout"), f.Timeout, 1, WaitMax, "30s is the default")
		if slices.ContainsFunc(all[:i], func(o message.BarrierPlan) bool { return o.Name == f.Name }) {
			c.add(key("name"), quoted(f.Name), "differ from the other barriers'", "give one of them another name")
		}
	}
}

// feed checks that workers can hand out rows as the plan says.
func (c *check) feed(f *message.FeedPlan) {
	if f.Rows == 0 {
		if *f != (message.FeedPlan{}) {
			c.add("feed.rows", "0", fmt.Sprintf("be 1 to %d", uint64(RowsMax)), "give the file a row")
		}
		return
	}
	c.most("feed.rows", f.Rows, RowsMax, "use a smaller file")
	c.known("feed.order", uint64(f.Order), 0, uint64(message.RowsRandom))
	c.known("feed.at_end", uint64(f.AtEnd), 0, uint64(message.RowsFail))
	if f.Unique && (f.Order == message.RowsRandom || f.AtEnd == message.RowsCycle) {
		c.add("feed.unique", "True", "have order = \"sequential\" or \"shuffled\" and at_end = \"stop\" or \"fail\"", "rows that are taken once are neither drawn again nor begun again")
	}
	c.text("feed.name", f.Name, 1, PathMax, "give the file a shorter name")
}
