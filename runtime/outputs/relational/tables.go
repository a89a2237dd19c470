package relational

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"hyperscale/runtime/outputs"
)

// schemaVersion is of the tables below. Version 2 has step_kind in keys: a step and a request of a function may share a name. A
// later one adds columns and tables.
const schemaVersion = 2

// value is an argument of a statement, as a text; nil is NULL.
type value *string

// kindOf is the type of a column.
type kindOf uint8

const (
	ofText kindOf = iota
	ofWhole
	ofSum // a whole number that may exceed 2^63
	ofFloat
	ofTruth
	ofTime
	ofVersion
	ofJSON
	ofList // of whole numbers
)

type column struct {
	name string
	of   kindOf
	from func(*outputs.Row) value
}

type table struct {
	name    string
	kind    outputs.RowKind
	keys    int // of the columns, the first ones
	columns []column
}

func text(s string) value {
	s = outputs.TextWithoutNUL(s) // as databases take texts
	return &s
}

func whole(n uint64) value { s := strconv.FormatUint(min(n, math.MaxInt64), 10); return &s }

// total may exceed 2^63; a dialect whose whole numbers end there cuts it.
func total(n uint64) value { s := strconv.FormatUint(n, 10); return &s }

func truth(b bool) value {
	s := "0"
	if b {
		s = "1"
	}
	return &s
}

func moment(t time.Time) value {
	if t.IsZero() {
		return nil
	}
	return text(t.UTC().Format(outputs.TimeLayout))
}

// asJSON is a value whose texts are those of databases.
func asJSON(v any) value {
	b, _ := json.Marshal(v) // maps of texts and numbers always can be
	s := string(b)
	return &s
}

// key columns.
var (
	colJob        = column{"job", ofText, func(r *outputs.Row) value { return text(r.Job) }}
	colDatacenter = column{"datacenter", ofText, func(r *outputs.Row) value { return text(r.Datacenter) }}
	colWorkflow   = column{"workflow", ofText, func(r *outputs.Row) value { return text(r.Workflow) }}
	colStep       = column{"step", ofText, func(r *outputs.Row) value { return text(r.Step) }}
	colFrom       = column{"from_ms", ofWhole, func(r *outputs.Row) value { return whole(uint64(r.From.Milliseconds())) }}
	colTo         = column{"to_ms", ofWhole, func(r *outputs.Row) value { return whole(uint64(r.To.Milliseconds())) }}
	colStarted    = column{"started", ofTime, func(r *outputs.Row) value { return moment(r.Started) }}
	colVersion    = column{"version", ofVersion, func(r *outputs.Row) value { return text(hex.EncodeToString(r.Version[:])) }}
	colStepKind   = column{"step_kind", ofText, func(r *outputs.Row) value { return text(outputs.StepKindName(r.StepKind)) }}
)

// count is a column of figures.
func count(name string, of func(*outputs.Figures) uint64) column {
	return column{name, ofWhole, func(r *outputs.Row) value { return whole(of(r.Figures)) }}
}

// figures are the columns that windows, results and lost rows have behind their keys.
func figures() []column {
	all := []column{
		colStarted, colVersion,
		{"rebased", ofTruth, func(r *outputs.Row) value { return truth(r.Rebased) }},
		{"blunt", ofTruth, func(r *outputs.Row) value { return truth(r.Figures.Blunt) }},
		count("begun", func(f *outputs.Figures) uint64 { return f.Begun }), count("ok", func(f *outputs.Figures) uint64 { return f.OK }),
		count("failed", func(f *outputs.Figures) uint64 { return f.Failed }), count("timed_out", func(f *outputs.Figures) uint64 { return f.TimedOut }),
		count("cancelled", func(f *outputs.Figures) uint64 { return f.Cancelled }), count("dropped", func(f *outputs.Figures) uint64 { return f.Dropped }),
		count("skipped", func(f *outputs.Figures) uint64 { return f.Skipped }), count("bytes_in", func(f *outputs.Figures) uint64 { return f.BytesIn }),
		count("bytes_out", func(f *outputs.Figures) uint64 { return f.BytesOut }), count("active_users", func(f *outputs.Figures) uint64 { return f.ActiveUsers }),
	}
	for i, name := range []string{"p50_ns", "p90_ns", "p95_ns", "p99_ns", "p999_ns"} {
		all = append(all, count(name, func(f *outputs.Figures) uint64 { return f.Quantiles()[i] }))
	}
	return append(all,
		count("min_ns", func(f *outputs.Figures) uint64 { return f.Latency.Min }), count("max_ns", func(f *outputs.Figures) uint64 { return f.Latency.Max }),
		column{"sum_ns", ofSum, func(r *outputs.Row) value { return total(r.Figures.Latency.Sum) }},
		column{"bucket_ns", ofList, func(r *outputs.Row) value { b, _ := r.Figures.Buckets(); return list(b) }},
		column{"bucket_count", ofList, func(r *outputs.Row) value { _, c := r.Figures.Buckets(); return list(c) }},
		column{"statuses", ofJSON, func(r *outputs.Row) value {
			all := map[string]uint64{}
			for _, c := range r.Figures.Statuses {
				all[outputs.StatusName(c.Status)] = c.Count
			}
			return asJSON(all)
		}},
		column{"errors", ofJSON, func(r *outputs.Row) value {
			all := map[string]uint64{}
			for _, c := range r.Figures.Errors {
				all[*text(c.Kind)] += c.Count
			}
			return asJSON(all)
		}},
	)
}

// list is a list of numbers as JSON has it; a dialect may have another form.
func list(all []uint64) value {
	var b strings.Builder
	b.WriteByte('[')
	for i, n := range all {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatUint(min(n, math.MaxInt64), 10))
	}
	b.WriteByte(']')
	return text(b.String())
}

// tables are those of all dialects.
func tables() []table {
	step := []column{colJob, colDatacenter, colWorkflow, colStep}
	steps := append(step[:4:4], colStepKind)
	spans := append(slices.Clip(steps), colFrom, colTo)
	of := func(name string, from func(*outputs.Run) value) column {
		return column{name, ofText, func(r *outputs.Row) value { return from(r.Run) }}
	}
	typed := func(c column, of kindOf) column { c.of = of; return c }
	return []table{
		{"hyperscale_run", outputs.RowRun, 1, []column{
			colJob, {"name", ofText, func(r *outputs.Row) value { return text(r.Test) }}, colStarted,
			typed(of("ended", func(u *outputs.Run) value { return moment(u.Ended) }), ofTime),
			of("outcome", func(u *outputs.Run) value { return text(u.Outcome) }), of("program_digest", func(u *outputs.Run) value { return text(u.ProgramDigest) }),
			of("hyperscale_version", func(u *outputs.Run) value { return text(u.Version) }), typed(of("saturated", func(u *outputs.Run) value { return truth(u.Saturated) }), ofTruth),
			{"tags", ofJSON, func(r *outputs.Row) value {
				all := map[string]string{}
				for _, t := range r.Tags {
					all[*text(t.Name)] = *text(t.Value)
				}
				return asJSON(all)
			}},
			typed(of("thresholds_ok", func(u *outputs.Run) value { return truth(u.ThresholdsOK) }), ofTruth),
			typed(of("requests", func(u *outputs.Run) value { return whole(u.Requests) }), ofWhole),
			typed(of("lost_requests", func(u *outputs.Run) value { return whole(u.LostRequests) }), ofWhole), colVersion,
		}},
		{"hyperscale_window", outputs.RowWindow, len(spans), append(slices.Clip(spans), figures()...)},
		{"hyperscale_lost", outputs.RowLost, len(spans), append(slices.Clip(spans), figures()...)},
		{"hyperscale_result", outputs.RowResult, len(steps), append(append(slices.Clip(steps), colTo), figures()...)},
		{"hyperscale_threshold", outputs.RowThreshold, 3, []column{
			colJob, colWorkflow, {"expression", ofText, func(r *outputs.Row) value { return text(r.Threshold.Expression) }},
			{"value", ofFloat, func(r *outputs.Row) value {
				if r.Threshold.Unmeasured {
					return nil
				}
				return text(strconv.FormatFloat(r.Threshold.Value, 'g', -1, 64))
			}},
			{"wanted", ofText, func(r *outputs.Row) value { return text(r.Threshold.Of) }}, {"met", ofTruth, func(r *outputs.Row) value { return truth(r.Threshold.Met) }}, colVersion,
		}},
		{"hyperscale_check", outputs.RowCheck, 4, append(step[:4:4],
			count("passed", func(f *outputs.Figures) uint64 { return f.OK }), count("failed", func(f *outputs.Figures) uint64 { return f.Failed + f.TimedOut }),
			count("skipped", func(f *outputs.Figures) uint64 { return f.Skipped }), colVersion)},
		{"hyperscale_event", outputs.RowEvent, 2, []column{
			colJob, {"sequence", ofWhole, func(r *outputs.Row) value { return whole(r.Event.Sequence) }},
			{"at", ofTime, func(r *outputs.Row) value { return moment(r.At()) }}, {"kind", ofText, func(r *outputs.Row) value { return text(r.Event.Kind) }},
			{"subject", ofText, func(r *outputs.Row) value { return text(r.Event.Subject) }},
			{"detail", ofJSON, func(r *outputs.Row) value { return asJSON(*text(r.Event.Detail)) }}, colVersion,
		}},
	}
}

// dialect is how a database writes types and arguments.
type dialect struct {
	types    map[kindOf]string
	named    map[string]string                     // types of columns with these names, before types
	from     string                                // of a SELECT without a table
	replace  func(t *table, names []string) string // what ends an upsert; nil: as PostgreSQL
	argument func(n int) string                    // from 1
	forms    map[kindOf]func(string) string        // of arguments that it writes in another way
	hyper    string                                // the function that makes hypertables of those that grow; empty: there is none
	former   string                                // asks which of kindKeyed have keys of version 1, by name
	rekey    func(d *dialect, t *table) []string   // changes such a key, and keeps the rows
}

// kindKeyed are the tables whose keys have step_kind since version 2, as a list of SQL.
const kindKeyed = "'hyperscale_lost', 'hyperscale_result', 'hyperscale_window'"

// grows says that a job adds rows to a table as long as it runs.
func (t *table) grows() bool { return t.kind == outputs.RowWindow || t.kind == outputs.RowLost }

// keysOf are the columns of a table's key. That of a hypertable has its time.
func (d *dialect) keysOf(t *table) (names []string) {
	for _, c := range t.columns[:t.keys] {
		names = append(names, c.name)
	}
	if d.hyper != "" && t.grows() {
		names = append(names, colStarted.name)
	}
	return names
}

// schema makes the tables.
func (d *dialect) schema() (all []string) {
	for _, t := range tables() {
		all = append(all, d.creates(&t))
		if d.hyper != "" && t.grows() {
			all = append(all, fmt.Sprintf("SELECT %s('%s', '%s'::name, if_not_exists => true)", d.hyper, t.name, colStarted.name))
		}
	}
	return append(all, "CREATE TABLE IF NOT EXISTS hyperscale_schema (version "+d.types[ofWhole]+")",
		fmt.Sprintf("INSERT INTO hyperscale_schema SELECT %d%s WHERE NOT EXISTS (SELECT version FROM hyperscale_schema)", schemaVersion, d.from))
}

// creates makes one table.
func (d *dialect) creates(t *table) string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE IF NOT EXISTS %s (\n", t.name)
	keys := d.keysOf(t)
	for _, c := range t.columns {
		null := ""
		if slices.Contains(keys, c.name) {
			null = " NOT NULL"
		}
		fmt.Fprintf(&b, "  %s %s%s,\n", c.name, d.typeOf(c), null)
	}
	fmt.Fprintf(&b, "  PRIMARY KEY (%s))", strings.Join(keys, ", "))
	return b.String()
}

func (d *dialect) typeOf(c column) string {
	if name, own := d.named[c.name]; own && c.of == ofText {
		return name
	}
	return d.types[c.of]
}

// printed is the schema as people run it, and how they keep tables of version 1.
func (d *dialect) printed() string {
	var b strings.Builder
	b.WriteString(strings.Join(d.schema(), ";\n") + ";\n-- For tables of version 1, whose keys lack step_kind: run these lines once, without the dashes before them.\n")
	for _, line := range d.upgrade() {
		b.WriteString("-- " + strings.ReplaceAll(line, "\n", "") + ";\n")
	}
	return b.String()
}

// upgrade changes tables of version 1.
func (d *dialect) upgrade() (all []string) {
	for _, t := range tables() {
		if strings.Contains(kindKeyed, "'"+t.name+"'") {
			all = append(all, d.rekey(d, &t)...)
		}
	}
	return append(all, fmt.Sprintf("UPDATE hyperscale_schema SET version = %d", schemaVersion))
}

// upsert inserts a row, or replaces one of a version that is not greater.
func (d *dialect) upsert(t *table) string {
	var names, values, sets []string
	keys := d.keysOf(t)
	for i, c := range t.columns {
		names, values = append(names, c.name), append(values, d.argument(i+1))
		if slices.Contains(keys, c.name) {
			continue
		}
		sets = append(sets, c.name+" = excluded."+c.name)
	}
	insert := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s) ", t.name, strings.Join(names, ", "), strings.Join(values, ", "))
	if d.replace != nil {
		return insert + d.replace(t, names)
	}
	return insert + fmt.Sprintf("ON CONFLICT (%s) DO UPDATE SET %s WHERE %s.version <= excluded.version", strings.Join(keys, ", "), strings.Join(sets, ", "), t.name)
}

// arguments are those of a row's upsert.
func (d *dialect) arguments(t *table, r *outputs.Row) (all []value) {
	for _, c := range t.columns {
		v := c.from(r)
		if form := d.forms[c.of]; form != nil && v != nil {
			other := form(*v)
			v = &other
		}
		all = append(all, v)
	}
	return all
}
