package source

import (
	"fmt"
	"path/filepath"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/runtime/rows"
)

// ReadFeeds looks at the rows that are too many to travel: the process that runs the
// program must find the same.
func ReadFeeds(folder string, large []workflow.Large) ([]message.FeedFile, error) {
	var feeds []message.FeedFile
	for _, l := range large {
		sheet, err := rows.Read(filepath.Join(folder, filepath.FromSlash(l.Name)), l.JSON)
		if err != nil {
			return nil, fmt.Errorf("feed: %w", err)
		}
		feeds = append(feeds, sheet.Name(l.Name))
		if err := sheet.Close(); err != nil {
			return nil, fmt.Errorf("feed: %w", err)
		}
	}
	return feeds, nil
}
