package gate

import (
	"errors"
	"fmt"
	"slices"

	"hyperscale/core/message"
)

// Bounds of what a plan may say of its data.
const (
	rowsMax     = 1 << 48
	feedsMax    = 64
	columnsMax  = 256
	columnMax   = 128 // bytes of a name
	feedSizeMax = 1 << 40
)

// checkFeed refuses data that nobody could hand out as it says.
func checkFeed(f *message.FeedPlan) error {
	switch {
	case f.Rows == 0 && *f != (message.FeedPlan{}):
		return errors.New("feed: it has no rows")
	case f.Rows == 0:
		return nil
	case f.Rows > rowsMax:
		return fmt.Errorf("feed: rows = %d must be at most %d", f.Rows, uint64(rowsMax))
	case f.Order > message.RowsRandom || f.AtEnd > message.RowsFail:
		return fmt.Errorf("feed: order = %d, at_end = %d are not known", f.Order, f.AtEnd)
	case f.Unique && (f.Order == message.RowsRandom || f.AtEnd == message.RowsCycle):
		return errors.New("feed: rows that are taken once are neither drawn again nor begun again")
	}
	return checkName("feed.name", f.Name, pathMax)
}

// checkFeeds looks at the files that do not travel with a program.
func checkFeeds(files []message.FeedFile) error {
	if n := len(files); n > feedsMax {
		return fmt.Errorf("program.feeds: %d are declared, the bound is %d", n, feedsMax)
	}
	for i := range files {
		f := &files[i]
		if err := checkName(fmt.Sprintf("program.feeds[%d].name", i), f.Name, pathMax); err != nil {
			return err
		}
		if f.Bytes == 0 || f.Bytes > feedSizeMax || f.Rows == 0 || f.Rows > rowsMax || len(f.Columns) == 0 || len(f.Columns) > columnsMax {
			return fmt.Errorf("program.feeds[%d]: %d bytes, %d rows, %d columns are out of bounds", i, f.Bytes, f.Rows, len(f.Columns))
		}
		for _, c := range f.Columns {
			if err := checkName(fmt.Sprintf("program.feeds[%d].columns", i), c, columnMax); err != nil {
				return err
			}
		}
	}
	return nil
}

// hasUnique says that a plan has rows that must not be taken twice.
func hasUnique(p *message.Plan) bool {
	return slices.ContainsFunc(p.Workflows, func(w message.WorkflowPlan) bool { return w.Feed.Unique && w.Feed.Rows > 0 })
}
