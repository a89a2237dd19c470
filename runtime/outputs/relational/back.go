package relational

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/runtime/outputs"
)

// readBack reads the windows, results, lost rows and the run row of a job.
func readBack(ctx context.Context, d *dialect, db database, job string) (rows []outputs.Row, err error) {
	for _, t := range tables() {
		if t.kind != outputs.RowWindow && t.kind != outputs.RowResult && t.kind != outputs.RowLost && t.kind != outputs.RowRun {
			continue
		}
		var names []string
		for _, c := range t.columns {
			names = append(names, c.name)
		}
		found, err := db.query(ctx, statement{fmt.Sprintf("SELECT %s FROM %s WHERE job = %s", strings.Join(names, ", "), t.name, d.argument(1)), []value{text(job)}})
		if err != nil {
			return nil, err
		}
		for _, cells := range found {
			of := rowOf
			if t.kind == outputs.RowRun {
				of = runOf
			}
			r, err := of(t.kind, cells)
			if err != nil {
				return nil, fmt.Errorf("table %s: %w", t.name, err)
			}
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// cells reads the columns of one row; the first error stays.
type cells struct {
	of  map[string]string
	err error
}

func (c *cells) whole(name string) uint64 {
	n, err := strconv.ParseUint(c.of[name], 10, 64)
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("column %s is %.40q", name, c.of[name])
	}
	return n
}

// list reads [1,2] and {1,2}.
func (c *cells) list(name string) (all []uint64) {
	text := strings.Trim(c.of[name], "[]{} ")
	if text == "" {
		return nil
	}
	for _, word := range strings.Split(text, ",") {
		n, err := strconv.ParseUint(strings.TrimSpace(word), 10, 64)
		if err != nil && c.err == nil {
			c.err = fmt.Errorf("column %s has %.40q", name, word)
		}
		all = append(all, n)
	}
	return all
}

func (c *cells) counts(name string) (all map[string]uint64) {
	if err := json.Unmarshal([]byte(c.of[name]), &all); err != nil && c.err == nil {
		c.err = fmt.Errorf("column %s: %w", name, err)
	}
	return all
}

func (c *cells) version() (v outputs.Version) {
	version, err := hex.DecodeString(strings.TrimPrefix(c.of["version"], `\x`))
	if (err != nil || len(version) != len(v)) && c.err == nil {
		c.err = fmt.Errorf("column version is %.80q", c.of["version"])
		return v
	}
	copy(v[:], version)
	return v
}

func (c *cells) truth(name string) bool {
	return c.of[name] == "1" || c.of[name] == "true" || c.of[name] == "t"
}

// moments are how databases write times: SQLite and JSON of PostgreSQL, its text, MySQL.
var moments = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999"}

// moment is the zero time for NULL.
func (c *cells) moment(name string) time.Time {
	text, given := c.of[name]
	for _, layout := range moments {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC()
		}
	}
	if given && c.err == nil {
		c.err = fmt.Errorf("column %s is %.40q", name, text)
	}
	return time.Time{}
}

// runOf is a row of the job.
func runOf(kind outputs.RowKind, of map[string]string) (outputs.Row, error) {
	c := &cells{of: of}
	return outputs.Row{Kind: kind, Job: of["job"], Version: c.version(), Run: &outputs.Run{
		Ended: c.moment("ended"), Outcome: of["outcome"], ProgramDigest: of["program_digest"], Version: of["hyperscale_version"],
		Saturated: c.truth("saturated"), ThresholdsOK: c.truth("thresholds_ok"), Requests: c.whole("requests"), LostRequests: c.whole("lost_requests"),
	}}, c.err
}

func rowOf(kind outputs.RowKind, of map[string]string) (outputs.Row, error) {
	c := &cells{of: of}
	r := outputs.Row{Kind: kind, Job: of["job"], Datacenter: of["datacenter"], Workflow: of["workflow"], Step: of["step"], StepKind: outputs.StepKindOf(of["step_kind"])}
	if kind != outputs.RowResult {
		r.From = time.Duration(c.whole("from_ms")) * time.Millisecond
	}
	r.To = time.Duration(c.whole("to_ms")) * time.Millisecond
	r.Version = c.version()
	var err error
	f := &outputs.Figures{
		Begun: c.whole("begun"), OK: c.whole("ok"), Failed: c.whole("failed"), TimedOut: c.whole("timed_out"), Cancelled: c.whole("cancelled"), Dropped: c.whole("dropped"),
		Skipped: c.whole("skipped"), BytesIn: c.whole("bytes_in"), BytesOut: c.whole("bytes_out"), ActiveUsers: c.whole("active_users"),
		Blunt: c.truth("blunt"),
	}
	f.Latency, err = outputs.LatencyOf(c.list("bucket_ns"), c.list("bucket_count"), [3]uint64{c.whole("min_ns"), c.whole("max_ns"), c.whole("sum_ns")})
	if err != nil {
		return r, err
	}
	//lint:orderfree AddStatus sorts them
	for name, n := range c.counts("statuses") {
		status, _ := strconv.ParseUint(name, 10, 32) // other is 0
		f.Statuses = stats.AddStatus(f.Statuses, message.StatusCount{Status: uint32(status), Count: n})
	}
	//lint:orderfree AddError sorts them
	for kind, n := range c.counts("errors") {
		f.Errors = stats.AddError(f.Errors, message.ErrorCount{Kind: kind, Count: n})
	}
	r.Figures = f
	return r, c.err
}
