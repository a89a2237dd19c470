package push

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/runtime/outputs"
)

// readMax bounds how long a job is read back.
const readMax = time.Minute

// clickHouseBack are the columns of a row that is read back.
type clickHouseBack struct {
	clickHouseKey
	clickHouseCounts
	clickHouseLists
	clickHouseRun
}

// clickHouseKey says whose figures a row has.
type clickHouseKey struct {
	Kind, Job, Test, Datacenter, Workflow, Step, Version string

	StepKind string `json:"step_kind"`
	From     whole  `json:"from_ms"`
	To       whole  `json:"to_ms"`
	Started  whole  `json:"started_ms"`
	Rebased  whole
}

// clickHouseCounts are the figures that have a column each.
type clickHouseCounts struct {
	Blunt     whole
	Begun     whole
	OK        whole
	Failed    whole
	TimedOut  whole `json:"timed_out"`
	Cancelled whole
	Dropped   whole
	Skipped   whole
	BytesIn   whole `json:"bytes_in"`
	BytesOut  whole `json:"bytes_out"`
	Active    whole `json:"active_users"`
	Min       whole `json:"min_ns"`
	Max       whole `json:"max_ns"`
	Sum       whole `json:"sum_ns"`
}

// clickHouseLists are the columns of several values; each pair has the same length.
type clickHouseLists struct {
	Bounds   []whole  `json:"bucket.ns"`
	Counts   []whole  `json:"bucket.count"`
	Statuses []string `json:"status.name"`
	StatusOf []whole  `json:"status.count"`
	Errors   []string `json:"error.name"`
	ErrorOf  []whole  `json:"error.count"`
	Tags     []string `json:"tag.name"`
	TagOf    []string `json:"tag.value"`
}

// clickHouseRun is the job as a whole, of rows of kind run.
type clickHouseRun struct {
	Ended        whole `json:"ended_ms"`
	Outcome      string
	Program      string `json:"program_digest"`
	By           string `json:"hyperscale_version"`
	Saturated    whole
	ThresholdsOK whole `json:"thresholds_ok"`
	Requests     whole
	Lost         whole `json:"lost_requests"`
}

func (in *clickHouseRun) run() *outputs.Run {
	r := &outputs.Run{
		Outcome: in.Outcome, ProgramDigest: in.Program, Version: in.By, Saturated: in.Saturated > 0, ThresholdsOK: in.ThresholdsOK > 0,
		Requests: uint64(in.Requests), LostRequests: uint64(in.Lost),
	}
	if in.Ended > 0 {
		r.Ended = time.UnixMilli(int64(in.Ended)).UTC()
	}
	return r
}

// clickHouseColumns are their names in the table.
const clickHouseColumns = "kind, job, test, datacenter, workflow, step, version, step_kind, from_ms, to_ms, started_ms, rebased, blunt, begun, ok, failed, timed_out, " +
	"cancelled, dropped, skipped, bytes_in, bytes_out, active_users, min_ns, max_ns, sum_ns, bucket.ns, bucket.count, status.name, status.count, error.name, error.count, tag.name, tag.value, " +
	"ended_ms, outcome, program_digest, hyperscale_version, saturated, thresholds_ok, requests, lost_requests"

// whole is a number of 64 bits, which some versions write as a text.
type whole uint64

// UnmarshalJSON implements json.Unmarshaler.
func (n *whole) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseUint(strings.Trim(string(b), `"`), 10, 64)
	if err != nil {
		return fmt.Errorf("%.40q is no count", b)
	}
	*n = whole(v)
	return nil
}

// readClickHouse reads the windows, results, lost rows and the run row of a job as users read them, with FINAL. The server finishes
// the answer before it begins to send it, so that a query that fails half-way has a status.
func readClickHouse(s *outputs.Settings, job string) (rows []outputs.Row, err error) {
	c, err := newClickHouse(s)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), readMax)
	defer cancel()
	client := newClient()
	defer client.http.CloseIdleConnections()
	what := c.call("", []byte("SELECT "+clickHouseColumns+" FROM "+c.table+" FINAL WHERE job = "+clickHouseText(job)+" AND kind IN ('window', 'lost', 'result', 'run') FORMAT JSONEachRow"))
	u, err := url.Parse(what.url)
	if err != nil {
		return nil, fmt.Errorf("the address: %w", err)
	}
	q := u.Query()
	q.Set("wait_end_of_query", "1")
	u.RawQuery = q.Encode()
	what.url = u.String()
	err = client.lines(ctx, what, c.judge, func(line []byte) error {
		r, err := parseClickHouse(line)
		rows = append(rows, r)
		return err
	})
	return rows, err
}

// clickHouseText is a text as SQL has it there: backslashes escape.
func clickHouseText(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

// parseClickHouse reads a row of an answer.
func parseClickHouse(line []byte) (outputs.Row, error) {
	var in clickHouseBack
	if err := json.Unmarshal(line, &in); err != nil {
		return outputs.Row{}, fmt.Errorf("a row of the table: %w", err)
	}
	kinds := []outputs.RowKind{outputs.RowWindow, outputs.RowLost, outputs.RowResult, outputs.RowRun}
	kind := slices.IndexFunc(kinds, func(k outputs.RowKind) bool { return k.String() == in.Kind })
	version, err := hex.DecodeString(in.Version)
	r := outputs.Row{
		Job: in.Job, Test: in.Test, Datacenter: in.Datacenter, Workflow: in.Workflow, Step: in.Step, StepKind: outputs.StepKindOf(in.StepKind), Rebased: in.Rebased > 0,
		Started: time.UnixMilli(int64(in.Started)).UTC(), From: time.Duration(in.From) * time.Millisecond, To: time.Duration(in.To) * time.Millisecond,
	}
	if kind < 0 || err != nil || len(version) != len(r.Version) {
		return r, fmt.Errorf("a row of the table has kind %.20q and version %.80q: name the table that this output made", in.Kind, in.Version)
	}
	r.Kind = kinds[kind]
	copy(r.Version[:], version)
	if len(in.Statuses) != len(in.StatusOf) || len(in.Errors) != len(in.ErrorOf) || len(in.Tags) != len(in.TagOf) {
		return r, fmt.Errorf("row %s has names without counts: name the table that this output made", r.Key())
	}
	for i, name := range in.Tags {
		r.Tags = append(r.Tags, message.Tag{Name: name, Value: in.TagOf[i]})
	}
	if r.Kind == outputs.RowRun {
		r.Run = in.run()
		return r, nil
	}
	r.Figures, err = in.figures()
	return r, err
}

func (in *clickHouseBack) figures() (*outputs.Figures, error) {
	f := &outputs.Figures{
		Begun: uint64(in.Begun), OK: uint64(in.OK), Failed: uint64(in.Failed), TimedOut: uint64(in.TimedOut), Cancelled: uint64(in.Cancelled), Dropped: uint64(in.Dropped),
		Skipped: uint64(in.Skipped), BytesIn: uint64(in.BytesIn), BytesOut: uint64(in.BytesOut), ActiveUsers: uint64(in.Active), Blunt: in.Blunt > 0,
	}
	var err error
	f.Latency, err = outputs.LatencyOf(plain(in.Bounds), plain(in.Counts), [3]uint64{uint64(in.Min), uint64(in.Max), uint64(in.Sum)})
	for i, name := range in.Statuses {
		status, _ := strconv.ParseUint(name, 10, 32) // other is 0
		f.Statuses = stats.AddStatus(f.Statuses, message.StatusCount{Status: uint32(status), Count: uint64(in.StatusOf[i])})
	}
	for i, kind := range in.Errors {
		f.Errors = stats.AddError(f.Errors, message.ErrorCount{Kind: kind, Count: uint64(in.ErrorOf[i])})
	}
	return f, err
}

func plain(all []whole) (out []uint64) {
	for _, n := range all {
		out = append(out, uint64(n))
	}
	return out
}
