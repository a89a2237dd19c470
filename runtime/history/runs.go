package history

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"hyperscale/core/message"
)

// Run is one run of a history.
type Run struct {
	Job, Name string
	Number    int // of the name's runs, from 1
	Started   time.Time
	Duration  time.Duration
	Outcome   string
	Verdict
	Change
	Load, LoadDigest string
	Tag              string // empty: none
	Requests, Failed uint64
	P50, P99         uint64 // ns, of all requests; 0 if none was answered
}

// Verdict says whether a run is ground for a judgement.
type Verdict struct {
	Saturated    bool // its generator was, or other programs starved it
	ThresholdsOK bool
	Good         bool // it completed, met its thresholds, and was not saturated
}

// Change is what may differ between two runs of one load.
type Change struct {
	Program string // digest of its files
	Params  string // digest of what --set gave
	Version string // of hyperscale
	Machine string // of the generator
}

// completed is the outcome of a run that ended by itself.
var completed = message.JobCompleted.String()

// Title names a run as people do.
func (r *Run) Title() string { return fmt.Sprintf("run %d of %s", r.Number, r.Name) }

// Since lists what changed from one run to a later one.
func (c *Change) Since(was *Change) (all []string) {
	for _, f := range []struct{ name, is, was string }{
		{"the program", c.Program, was.Program}, {"parameters", c.Params, was.Params}, {"hyperscale's version", c.Version, was.Version}, {"the machine", c.Machine, was.Machine},
	} {
		if f.is != f.was {
			all = append(all, f.name)
		}
	}
	return all
}

const runColumns = `r.job, r.name, r.number, r.started, coalesce(r.ended, r.started), coalesce(r.outcome, ''), coalesce(r.program_digest, ''), coalesce(r.load_digest, ''),
	coalesce(r.params_digest, ''), coalesce(r.load, ''), coalesce(r.hyperscale_version, ''), coalesce(r.machine, ''), coalesce(r.saturated, false), coalesce(r.tag, ''),
	coalesce(r.thresholds_ok, false), coalesce(r.requests, 0), coalesce(r.failed, 0), coalesce(r.p50_ns, 0), coalesce(r.p99_ns, 0)`

// Runs lists the newest runs of a name, or of all if it is empty, the newest first.
func (s *Store) Runs(name string, most int) ([]Run, error) {
	return s.query(s.db, "WHERE ? IN ('', name) ORDER BY started DESC, number DESC LIMIT ?", name, most)
}

// ErrNone is of a run that is not in the history.
var ErrNone = errors.New("no such run")

// Find finds a run of a name by its number, or the newest one for 0. An empty name is that of the
// newest run of all.
func (s *Store) Find(name string, number int) (*Run, error) {
	if name == "" {
		newest, err := s.one("ORDER BY started DESC, number DESC LIMIT 1")
		if err != nil || number == 0 {
			return newest, err
		}
		name = newest.Name
	}
	if number == 0 {
		return s.one("WHERE name = ? ORDER BY number DESC LIMIT 1", name)
	}
	return s.one("WHERE name = ? AND number = ?", name, number)
}

// Tagged finds the run of a name that has a tag.
func (s *Store) Tagged(name, tag string) (*Run, error) {
	return s.one("WHERE name = ? AND tag = ?", name, tag)
}

// LastGood finds the newest good run before one, of the same name and load.
func (s *Store) LastGood(of *Run) (*Run, error) {
	runs, err := s.Good(of, 1)
	if err != nil {
		return nil, err
	}
	if len(runs) == 0 {
		return nil, s.failed("read", fmt.Errorf("%w: no good run of %s under this load is before run %d", ErrNone, of.Name, of.Number))
	}
	return &runs[0], nil
}

// Good lists the newest good runs before one, of the same name and load, the newest first.
func (s *Store) Good(of *Run, most int) ([]Run, error) {
	return s.query(s.db, "WHERE name = ? AND load_digest = ? AND number < ? AND outcome = ? AND thresholds_ok AND NOT saturated ORDER BY number DESC LIMIT ?",
		of.Name, of.LoadDigest, of.Number, completed, most)
}

func (s *Store) one(where string, args ...any) (*Run, error) {
	runs, err := s.query(s.db, where, args...)
	if err != nil {
		return nil, err
	}
	if len(runs) == 0 {
		return nil, s.failed("read", ErrNone)
	}
	return &runs[0], nil
}

func (s *Store) query(from source, where string, args ...any) (runs []Run, err error) {
	err = s.each(from, func(rows *sql.Rows) error {
		r, err := scan(rows)
		if err == nil {
			runs = append(runs, *r)
		}
		return err
	}, "SELECT "+runColumns+" FROM hyperscale_run r "+where, args...)
	return runs, err
}

// source answers a query: a database, or a transaction.
type source interface {
	Query(query string, args ...any) (*sql.Rows, error)
}

// each passes the rows of a query.
func (s *Store) each(from source, do func(*sql.Rows) error, query string, args ...any) error {
	rows, err := from.Query(query, args...)
	if err != nil {
		return s.failed("read", err)
	}
	defer func() { _ = rows.Close() }() // Err says how the reading ended
	for rows.Next() {
		if err := do(rows); err != nil {
			return s.failed("read", err)
		}
	}
	if err := rows.Err(); err != nil {
		return s.failed("read", err)
	}
	return nil
}

// scan reads runColumns, and what stands behind them.
func scan(rows *sql.Rows, more ...any) (*Run, error) {
	var r Run
	var began, ended string
	var requests, failed, p50, p99 int64
	err := rows.Scan(append([]any{&r.Job, &r.Name, &r.Number, &began, &ended, &r.Outcome, &r.Program, &r.LoadDigest, &r.Params, &r.Load, &r.Version, &r.Machine, &r.Saturated, &r.Tag, &r.ThresholdsOK,
		&requests, &failed, &p50, &p99}, more...)...)
	if err != nil {
		return nil, err
	}
	if r.Started, err = time.Parse(timeLayout, began); err != nil {
		return nil, err
	}
	end, err := time.Parse(timeLayout, ended)
	if err != nil {
		return nil, err
	}
	r.Duration, r.Requests, r.Failed, r.P50, r.P99 = end.Sub(r.Started), uint64(requests), uint64(failed), uint64(p50), uint64(p99)
	r.Good = r.Outcome == completed && r.ThresholdsOK && !r.Saturated
	return &r, nil
}
