package history

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/gzip"

	"hyperscale/core/stats"
	"hyperscale/runtime/report"
)

// ErrKept is of a run that is in the history already.
var ErrKept = errors.New("it is kept already")

// Keep keeps a run. Beyond the bounds it removes the oldest runs without a tag.
func (s *Store) Keep(r *report.Result) (*Run, error) {
	run, kept := s.rowOf(r)
	file, err := pack(kept)
	if err != nil {
		return nil, s.failed("write to", err)
	}
	err = s.within(func(tx *sql.Tx) error {
		if err := s.insert(tx, run, kept, file); err != nil {
			return err
		}
		return s.base.bound(s, tx, run.Job)
	})
	if errors.Is(err, ErrKept) {
		return run, s.failed("write to", err)
	}
	if err != nil {
		return nil, s.failed("write to", err)
	}
	return run, nil
}

// rowOf makes a run's row, and its result as the history has it.
func (s *Store) rowOf(r *report.Result) (*Run, *report.Result) {
	kept := *r
	var params []string
	version := ""
	if r.Run != nil {
		origin := *r.Run
		origin.Command, params = s.withoutValues(r.Run)
		origin.Given = nil
		kept.Run, version = &origin, origin.Version
	}
	latency, totals := new(stats.Histogram), &r.Requested
	for i := range r.Workflows {
		for _, step := range r.Workflows[i].Leaves() {
			if h, err := step.Buckets.Histogram(); err == nil { // Decode has refused others, and Build writes none
				latency.Merge(h)
			}
		}
	}
	run := &Run{
		Job: r.Job, Name: r.Name, Started: started(r), Outcome: r.Outcome, LoadDigest: s.loadDigest(r, params), Load: loadText(asked(r)),
		Change:   Change{Program: programDigest(r), Params: s.digest(params...), Version: version, Machine: machineOf(r)},
		Verdict:  Verdict{Saturated: r.Generator.Saturated || r.Generator.Starved, ThresholdsOK: true},
		Requests: totals.Started, Failed: totals.Failed + totals.TimedOut, P50: latency.Quantile(500_000), P99: latency.Quantile(990_000),
		Duration: time.Duration(r.DurationNS),
	}
	for _, t := range r.Thresholds {
		run.ThresholdsOK = run.ThresholdsOK && t.OK
	}
	run.Good = run.Outcome == completed && run.ThresholdsOK && !run.Saturated
	return run, &kept
}

// started is when a run began; the zero time if its file does not say.
func started(r *report.Result) time.Time {
	t, err := time.Parse(time.RFC3339Nano, r.StartedAt)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// timeLayout sorts as text.
const timeLayout = "2006-01-02T15:04:05.000Z"

// insert writes a run's rows, and gives it the next number of its name.
func (s *Store) insert(tx *sql.Tx, run *Run, r *report.Result, file []byte) error {
	switch err := tx.QueryRow("SELECT number FROM hyperscale_run WHERE job = ?", run.Job).Scan(&run.Number); {
	case err == nil:
		return ErrKept
	case !errors.Is(err, sql.ErrNoRows):
		return err
	}
	if err := tx.QueryRow("SELECT coalesce(max(number), 0) + 1 FROM hyperscale_run WHERE name = ?", run.Name).Scan(&run.Number); err != nil {
		return err
	}
	tags, lost := map[string]map[string]string{}, uint64(0)
	for i := range r.Workflows {
		w := &r.Workflows[i]
		if len(w.Tags) > 0 {
			tags[w.Name] = w.Tags
		}
		for k := range w.Lost {
			if !w.Lost[k].Counted {
				lost += w.Lost[k].Started
			}
		}
	}
	if _, err := tx.Exec(`INSERT INTO hyperscale_run (job, name, number, started, ended, outcome, program_digest, load_digest, params_digest, load, hyperscale_version, machine,
		saturated, tags, thresholds_ok, requests, lost_requests, failed, p50_ns, p99_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		run.Job, run.Name, run.Number, run.Started.Format(timeLayout), run.Started.Add(run.Duration).Format(timeLayout), run.Outcome, run.Program, run.LoadDigest, run.Params, run.Load,
		run.Version, run.Machine, run.Saturated, text(tags), run.ThresholdsOK, whole(run.Requests), whole(lost), whole(run.Failed), whole(run.P50), whole(run.P99)); err != nil {
		return err
	}
	if err := insertSteps(tx, run.Job, r); err != nil {
		return err
	}
	for _, t := range r.Thresholds {
		if _, err := tx.Exec(`INSERT INTO hyperscale_threshold VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (job, workflow, expression) DO UPDATE SET value = excluded.value, wanted = excluded.wanted, met = excluded.met`, run.Job, t.Workflow, t.Expr, t.Value, t.Of, t.OK); err != nil {
			return err
		}
	}
	_, err := tx.Exec("INSERT INTO hyperscale_file VALUES (?, ?)", run.Job, file)
	return err
}

// insertSteps writes a row for each step and each request of a function; of two with one name the first.
func insertSteps(tx *sql.Tx, job string, r *report.Result) error {
	for i := range r.Workflows {
		w := &r.Workflows[i]
		for _, list := range [][]report.Step{w.Steps, w.Requests} {
			for k := range list {
				t := &list[k]
				l := &t.LatencyNS
				if _, err := tx.Exec(`INSERT INTO hyperscale_result VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
					ON CONFLICT DO NOTHING`, job, w.Name, t.Name,
					whole(t.Started), whole(t.OK), whole(t.Failed), whole(t.TimedOut), whole(t.Cancelled), whole(t.Dropped), whole(t.Skipped), whole(t.BytesIn), whole(t.BytesOut),
					whole(t.RateMilli), whole(l.P50), whole(l.P90), whole(l.P95), whole(l.P99), whole(l.P999), whole(l.Min), whole(l.Mean), whole(l.Max), text(t.Statuses), text(t.Errors)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// whole is a count as SQLite has it: signed.
func whole(n uint64) int64 { return int64(min(n, 1<<63-1)) }

// text is a value as JSON.
func text(v any) string {
	b, _ := json.Marshal(v) // maps and structs of texts and numbers always can be
	return string(b)
}

// pack writes a result file, compressed.
func pack(r *report.Result) ([]byte, error) {
	b, err := r.Encode()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(b); err != nil {
		return nil, err
	}
	err = z.Close()
	return out.Bytes(), err
}

// unpackedMax bounds a result file that is read back.
const unpackedMax = 256 << 20

// unpack reads it back.
func unpack(b []byte) (*report.Result, error) {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(z, unpackedMax+1))
	if err != nil {
		return nil, err
	}
	return report.Decode(out)
}

// Result reads the result file of a run.
func (s *Store) Result(job string) (*report.Result, error) {
	var b []byte
	err := s.db.QueryRow("SELECT result FROM hyperscale_file WHERE job = ?", job).Scan(&b)
	if err != nil {
		return nil, s.failed("read", err)
	}
	if b, err = s.base.bytes(b); err != nil {
		return nil, s.failed("read", err)
	}
	r, err := unpack(b)
	if err != nil {
		return nil, s.failed("read", fmt.Errorf("job %s: %w: %w", job, ErrDamaged, err))
	}
	return r, nil
}
