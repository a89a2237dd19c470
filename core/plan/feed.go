package plan

import (
	"fmt"

	"hyperscale/core/message"
)

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
