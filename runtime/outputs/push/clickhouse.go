package push

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"hyperscale/runtime/outputs"
)

// clickHouseMax bounds the body of one INSERT: below the 1 MiB in which the server reads, and far below its block.
const clickHouseMax = 8 << 20

// ClickHouse is the kind `clickhouse`: rows in one table, over HTTP. One batch is one INSERT, so it is there whole or not at
// all; rows of one key replace each other.
func ClickHouse() outputs.Kind {
	return outputs.Kind{
		Name: "clickhouse", Engine: "push", About: "ClickHouse, over HTTP: every row in one table, with its distribution, during the run and at its end",
		Place: "URL", Example: "http://127.0.0.1:8123,database=load",
		Options: []outputs.Option{
			{Name: "database", Default: "default", Help: "which must exist"},
			{Name: "table", Default: "hyperscale_rows", Help: "letters, digits and _"},
			{Name: "user", Help: "of ClickHouse; default without one"},
			{Name: "password", Type: outputs.OptionSecret, Help: "of that user"},
			{Name: "create", Type: outputs.OptionBool, Default: "true", Help: "create the table if it is not there; false: `hyperscale outputs schema clickhouse` prints it"},
		},
		Delivery: outputs.Exact,
		Limits:   outputs.Limits{Rows: 5000, Bytes: 2 << 20, Age: 5 * time.Second, Parallel: 1},
		Tested:   "ClickHouse 18.16.1, of 2018; no newer one",
		Schema:   clickHouseTable("hyperscale_rows"),
		Open:     openClickHouse,
		ReadBack: readClickHouse,
	}
}

// clickHouseTable is its definition. Fence numbers do not fit the version that the engine compares: version has them whole, and the
// engine takes revision, which alone differs in rows that a command sends. It replaces rows within a partition: that is the month of
// the job's start, and the end of a result is no part of its key.
func clickHouseTable(name string) string {
	return "CREATE TABLE IF NOT EXISTS " + name + ` (
  kind String, job String, test String, datacenter String, workflow String, step String, step_kind String,
  from_ms UInt64, to_ms UInt64, started_ms UInt64, at DateTime, version FixedString(64), revision UInt64, rebased UInt8, blunt UInt8,
  begun UInt64, ok UInt64, failed UInt64, timed_out UInt64, cancelled UInt64, dropped UInt64, skipped UInt64,
  bytes_in UInt64, bytes_out UInt64, active_users UInt64,
  p50_ns UInt64, p90_ns UInt64, p95_ns UInt64, p99_ns UInt64, p999_ns UInt64, min_ns UInt64, max_ns UInt64, sum_ns UInt64,
  bucket Nested(ns UInt64, count UInt64), status Nested(name String, count UInt64), error Nested(name String, count UInt64), tag Nested(name String, value String),
  expression String, value Float64, of String, met UInt8, unmeasured UInt8,
  sequence UInt64, event String, subject String, detail String,
  ended_ms UInt64, outcome String, program_digest String, hyperscale_version String, saturated UInt8, thresholds_ok UInt8, requests UInt64, lost_requests UInt64
) ENGINE = ReplacingMergeTree(revision) PARTITION BY toYYYYMM(toDateTime(intDiv(started_ms, 1000)))
ORDER BY (job, kind, datacenter, workflow, step, step_kind, from_ms, to_ms * (kind = 'window' OR kind = 'lost'), expression, sequence)
`
}

type clickHouse struct {
	base     url.URL
	table    string
	user     string
	password outputs.Secret
	create   bool
}

func openClickHouse(s *outputs.Settings) (outputs.Sink, error) {
	c, err := newClickHouse(s)
	if err != nil {
		return nil, err
	}
	return newSink(c), nil
}

func newClickHouse(s *outputs.Settings) (*clickHouse, error) {
	u, err := addressOf(s, "/")
	if err != nil {
		return nil, err
	}
	c := &clickHouse{base: *u, table: s.Text("table"), user: s.Text("user"), password: s.Secret("password"), create: s.Bool("create")}
	if strings.Trim(c.table, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" || c.table == "" {
		return nil, fmt.Errorf("table = %q: write letters, digits and _; the database has an option of its own", c.table)
	}
	if c.user == "" && c.password.Given() {
		return nil, errors.New("password without user: give user=NAME too")
	}
	q := c.base.Query()
	q.Set("database", s.Text("database"))
	c.base.RawQuery = q.Encode()
	return c, nil
}

// probes creates the table, and names each column that rows have.
func (c *clickHouse) probes() (all []*call, err error) {
	if c.create {
		all = append(all, c.call("", []byte(clickHouseTable(c.table))))
	}
	return append(all, c.call("INSERT INTO "+c.table+" FORMAT JSONEachRow", nil), c.call("", []byte("SELECT version, revision, bucket.ns, status.name, error.name, tag.name, unmeasured, lost_requests FROM "+c.table+" LIMIT 0"))), nil
}

func (c *clickHouse) encode(b outputs.Batch) (*call, error) {
	var body []byte
	for i := range b.Rows {
		line, err := json.Marshal(clickHouseRow(&b.Rows[i]))
		if err != nil {
			return nil, fmt.Errorf("row %s: %w", b.Rows[i].Key(), err)
		}
		body = append(append(body, line...), '\n')
	}
	return c.call("INSERT INTO "+c.table+" FORMAT JSONEachRow", body), nil
}

func (c *clickHouse) call(query string, body []byte) *call {
	u := c.base
	if query != "" {
		q := u.Query()
		q.Set("query", query)
		u.RawQuery = q.Encode()
	}
	return &call{method: http.MethodPost, url: u.String(), body: body, most: clickHouseMax, sign: c.sign, header: http.Header{"Content-Type": {"application/x-ndjson"}}}
}

func (c *clickHouse) sign(r *http.Request, _ []byte) ([]string, error) {
	if c.user == "" {
		return nil, nil
	}
	r.Header.Set("X-ClickHouse-User", c.user)
	if !c.password.Given() {
		return nil, nil
	}
	password, err := readHead(c.password)
	if err != nil {
		return nil, err
	}
	r.Header.Set("X-ClickHouse-Key", password)
	return []string{password}, nil
}

// clickHouseRow has the columns of a row that are not their defaults.
func clickHouseRow(r *outputs.Row) map[string]any {
	m := map[string]any{
		"kind": r.Kind.String(), "job": outputs.Text(r.Job), "test": outputs.Text(r.Test), "datacenter": outputs.Text(r.Datacenter), "workflow": outputs.Text(r.Workflow), "step": outputs.Text(r.Step), "step_kind": outputs.StepKindName(r.StepKind),
		"from_ms": r.From.Milliseconds(), "to_ms": r.To.Milliseconds(), "started_ms": r.Started.UnixMilli(), "at": r.At().Unix(),
		"version": hex.EncodeToString(r.Version[:]), "revision": revisionOf(r), "rebased": bit(r.Rebased),
	}
	for _, t := range r.Tags {
		push(m, "tag.name", outputs.Text(t.Name))
		push(m, "tag.value", outputs.Text(t.Value))
	}
	if f := r.Figures; f != nil {
		clickHouseFigures(m, f)
	}
	if t := r.Threshold; t != nil {
		m["expression"], m["of"], m["met"], m["unmeasured"] = outputs.Text(t.Expression), t.Of, bit(t.Met), bit(t.Unmeasured)
		if !t.Unmeasured {
			m["value"] = t.Value
		}
	}
	if e := r.Event; e != nil {
		m["sequence"], m["event"], m["subject"], m["detail"] = e.Sequence, e.Kind, e.Subject, e.Detail
	}
	if u := r.Run; u != nil {
		m["outcome"], m["program_digest"], m["hyperscale_version"], m["requests"], m["lost_requests"] = u.Outcome, u.ProgramDigest, u.Version, u.Requests, u.LostRequests
		m["saturated"], m["thresholds_ok"] = bit(u.Saturated), bit(u.ThresholdsOK)
		if !u.Ended.IsZero() {
			m["ended_ms"] = u.Ended.UnixMilli()
		}
	}
	return m
}

func clickHouseFigures(m map[string]any, f *outputs.Figures) {
	for name, n := range map[string]uint64{
		"begun": f.Begun, "ok": f.OK, "failed": f.Failed, "timed_out": f.TimedOut, "cancelled": f.Cancelled, "dropped": f.Dropped, "skipped": f.Skipped,
		"bytes_in": f.BytesIn, "bytes_out": f.BytesOut, "active_users": f.ActiveUsers, "min_ns": f.Latency.Min, "max_ns": f.Latency.Max, "sum_ns": f.Latency.Sum, "blunt": uint64(bit(f.Blunt)),
	} { //lint:orderfree it fills a map
		m[name] = n
	}
	q := f.Quantiles()
	m["p50_ns"], m["p90_ns"], m["p95_ns"], m["p99_ns"], m["p999_ns"] = q[0], q[1], q[2], q[3], q[4]
	if bounds, counts := f.Buckets(); len(bounds) > 0 {
		m["bucket.ns"], m["bucket.count"] = bounds, counts
	}
	for _, s := range f.Statuses {
		push(m, "status.name", outputs.StatusName(s.Status))
		push(m, "status.count", s.Count)
	}
	for _, e := range f.Errors {
		push(m, "error.name", outputs.Text(e.Kind))
		push(m, "error.count", e.Count)
	}
}

func push(m map[string]any, name string, v any) {
	all, _ := m[name].([]any) // nil at first
	m[name] = append(all, v)
}

func bit(v bool) uint8 {
	if v {
		return 1
	}
	return 0
}

// revisionOf is the last part of a version.
func revisionOf(r *outputs.Row) uint64 {
	n, _ := strconv.ParseUint(hex.EncodeToString(r.Version[24:]), 16, 64) // it has 16 digits
	return n
}

// codes of ClickHouse's errors, which older versions answer with 500 alike.
const (
	chCannotParse = 27
	chNoColumn    = 16
	chNoTable     = 60
	chNoDatabase  = 81
	chNoField     = 117
	chNoName      = 47
)

// judge: an INSERT is there whole, or not at all.
func (c *clickHouse) judge(b outputs.Batch, a *answer) outputs.Outcome {
	if a.status/100 == 2 {
		return outputs.Delivered()
	}
	switch code := clickHouseCode(a); code {
	case 159, 202, 209, 210, 241, 242, 252, 319, 999, 1002: // timeouts, full, read-only, too many parts, keepers
		return outputs.Again(a.after(time.Now()), a.text())
	case 192, 193, 194, 497, 516:
		return outputs.Denied(a.text() + ": correct user=, the password, or the user's grants")
	case chNoTable, chNoDatabase:
		return outputs.Rejected(nil, a.text()+": create the database, and the table, which create=true does")
	case chNoColumn, chNoField, chNoName:
		return outputs.Rejected(nil, a.text()+": the table is an older one: give table=NAME, or add the columns that `hyperscale outputs schema clickhouse` prints")
	case chCannotParse, 26, 6, 41, 69, 72, 130:
		return alone(b, outputs.Rejected(nil, a.text()))
	case 0:
		return standard(b, a)
	}
	return outputs.Rejected(nil, a.text())
}

func clickHouseCode(a *answer) int {
	text := a.header.Get("X-ClickHouse-Exception-Code")
	if text == "" {
		_, rest, _ := strings.Cut(string(a.body[:min(len(a.body), 200)]), "Code: ")
		text, _, _ = strings.Cut(rest, ",")
		text, _, _ = strings.Cut(text, ".")
	}
	code, _ := strconv.Atoi(strings.TrimSpace(text)) // 0: it names none
	return code
}
