package history

import "database/sql"

// bound removes the oldest runs without a tag while the history is beyond its bounds, but never the
// one that was just kept.
func (s *Store) bound(tx *sql.Tx, kept string) error {
	for {
		var runs int
		var pages, free, size int64
		for _, ask := range []struct {
			query string
			to    any
		}{{"SELECT count(*) FROM hyperscale_run", &runs}, {"PRAGMA page_count", &pages}, {"PRAGMA freelist_count", &free}, {"PRAGMA page_size", &size}} {
			if err := tx.QueryRow(ask.query).Scan(ask.to); err != nil {
				return err
			}
		}
		if runs <= s.bounds.Runs && (pages-free)*size <= s.bounds.Bytes {
			return nil
		}
		gone, err := tx.Exec(`DELETE FROM hyperscale_run WHERE job = (
			SELECT job FROM hyperscale_run WHERE tag IS NULL AND job <> ? ORDER BY started, number LIMIT 1)`, kept)
		if err != nil {
			return err
		}
		if n, err := gone.RowsAffected(); err != nil || n == 0 {
			return err // what is left has a tag, or is the newest
		}
	}
}
