package history

import (
	"database/sql"
	"fmt"
	"regexp"
	"time"
)

// tagForm is what a tag may be: it is a word in flags and tables.
var tagForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$`)

// Tag gives a run a tag, which the name's other run with it loses; an empty one takes it away.
func (s *Store) Tag(run *Run, tag string) error {
	if tag != "" && !tagForm.MatchString(tag) {
		return fmt.Errorf("tag %q: begin with a letter or a digit, then letters, digits and . _ + -, at most 64", tag)
	}
	err := s.within(func(tx *sql.Tx) error {
		if _, err := tx.Exec("UPDATE hyperscale_run SET tag = NULL WHERE name = ? AND (tag = ? OR job = ?)", run.Name, tag, run.Job); err != nil || tag == "" {
			return err
		}
		_, err := tx.Exec("UPDATE hyperscale_run SET tag = ? WHERE job = ?", tag, run.Job)
		return err
	})
	if err != nil {
		return s.failed("write to", err)
	}
	return nil
}

// Pruning says which runs go: those without a tag that all conditions name.
type Pruning struct {
	Name   string    // empty: of all names
	Keep   int       // of each name, the newest ones; 0: no condition
	Before time.Time // they began before; zero: no condition
	DryRun bool      // only list them
}

// Prune removes runs, and returns them, the oldest first.
func (s *Store) Prune(p Pruning) (gone []Run, err error) {
	before := "9999"
	if !p.Before.IsZero() {
		before = p.Before.UTC().Format(timeLayout)
	}
	const which = `WHERE tag IS NULL AND ? IN ('', name) AND started < ?
		AND (SELECT count(*) FROM hyperscale_run n WHERE n.name = r.name AND n.number > r.number) >= ?`
	list := func(from source) (all []Run, err error) {
		return s.query(from, which+" ORDER BY started, number", p.Name, before, p.Keep)
	}
	if gone, err = list(s.db); err != nil || p.DryRun || len(gone) == 0 {
		return gone, err
	}
	err = s.within(func(tx *sql.Tx) error {
		all, err := list(tx)
		gone = nil
		for i := 0; i < len(all) && err == nil; i++ {
			left := 0 // another command may tag a run meanwhile
			if _, err = tx.Exec("DELETE FROM hyperscale_run WHERE tag IS NULL AND job = ?", all[i].Job); err == nil {
				err = tx.QueryRow("SELECT count(*) FROM hyperscale_run WHERE job = ?", all[i].Job).Scan(&left)
			}
			if err == nil && left == 0 {
				gone = append(gone, all[i])
			}
		}
		return err
	})
	if err == nil && s.base.vacuum != "" {
		_, err = s.db.Exec(s.base.vacuum)
	}
	if err != nil {
		return nil, s.failed("write to", err)
	}
	return gone, nil
}
