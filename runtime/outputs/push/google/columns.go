package google

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hyperscale/runtime/outputs"
)

// column is one of a table of BigQuery, as its API has it.
type column struct {
	Name   string   `json:"name"`
	Type   string   `json:"type"`
	Mode   string   `json:"mode,omitempty"`
	Fields []column `json:"fields,omitempty"`
}

// columns are those of all rows: the fields of jsonl, whose maps are repeated records, and the key.
func columns() (all []column) {
	add := func(kind string, names ...string) {
		for _, name := range names {
			all = append(all, column{Name: name, Type: kind})
		}
	}
	add("STRING", "key", "kind", "job", "test", "datacenter", "workflow", "step", "step_kind", "version")
	add("TIMESTAMP", "started")
	add("INTEGER", "from_ms", "to_ms")
	add("BOOLEAN", "rebased", "blunt")
	add("INTEGER", "begun", "ok", "failed", "timed_out", "cancelled", "dropped", "skipped", "bytes_in", "bytes_out", "active_users")
	add("INTEGER", "p50_ns", "p90_ns", "p95_ns", "p99_ns", "p999_ns", "min_ns", "max_ns")
	add("NUMERIC", "sum_ns") // a sum exceeds 64 bits with a sign before all else does
	counts := []column{{Name: "name", Type: "STRING"}, {Name: "count", Type: "INTEGER"}}
	return append(all,
		column{Name: "bucket_ns", Type: "INTEGER", Mode: "REPEATED"}, column{Name: "bucket_count", Type: "INTEGER", Mode: "REPEATED"},
		column{Name: "statuses", Type: "RECORD", Mode: "REPEATED", Fields: counts}, column{Name: "errors", Type: "RECORD", Mode: "REPEATED", Fields: counts},
		column{Name: "tags", Type: "RECORD", Mode: "REPEATED", Fields: []column{{Name: "name", Type: "STRING"}, {Name: "value", Type: "STRING"}}},
		column{Name: "run", Type: "RECORD", Fields: []column{
			{Name: "ended", Type: "TIMESTAMP"}, {Name: "outcome", Type: "STRING"}, {Name: "program_digest", Type: "STRING"}, {Name: "hyperscale_version", Type: "STRING"},
			{Name: "saturated", Type: "BOOLEAN"}, {Name: "thresholds_ok", Type: "BOOLEAN"}, {Name: "requests", Type: "INTEGER"}, {Name: "lost_requests", Type: "INTEGER"},
		}},
		column{Name: "threshold", Type: "RECORD", Fields: []column{
			{Name: "expression", Type: "STRING"}, {Name: "value", Type: "FLOAT"}, {Name: "of", Type: "STRING"}, {Name: "met", Type: "BOOLEAN"}, {Name: "unmeasured", Type: "BOOLEAN"},
		}},
		column{Name: "event", Type: "RECORD", Fields: []column{
			{Name: "sequence", Type: "INTEGER"}, {Name: "kind", Type: "STRING"}, {Name: "subject", Type: "STRING"}, {Name: "detail", Type: "STRING"},
		}},
	)
}

// names of the API's types in SQL.
var sqlTypes = map[string]string{"INTEGER": "INT64", "FLOAT": "FLOAT64", "BOOLEAN": "BOOL"}

// sql is the column as a statement has it.
func (c *column) sql() string {
	kind := c.Type
	if name := sqlTypes[kind]; name != "" {
		kind = name
	}
	if c.Type == "RECORD" {
		inner := make([]string, len(c.Fields))
		for i := range c.Fields {
			inner[i] = "`" + c.Fields[i].Name + "` " + c.Fields[i].sql()
		}
		kind = "STRUCT<" + strings.Join(inner, ", ") + ">"
	}
	if c.Mode == "REPEATED" {
		kind = "ARRAY<" + kind + ">"
	}
	return kind
}

// tableSQL is what `outputs schema bigquery` prints: the table, and a view that has the newest row of each key.
func tableSQL() string {
	var b strings.Builder
	b.WriteString("CREATE TABLE IF NOT EXISTS DATASET.hyperscale_rows (\n")
	all := columns()
	for i := range all {
		end := ",\n"
		if i == len(all)-1 {
			end = "\n"
		}
		b.WriteString("  `" + all[i].Name + "` " + all[i].sql() + end)
	}
	b.WriteString(") PARTITION BY DATE(started) CLUSTER BY job, kind;\n")
	b.WriteString("CREATE VIEW IF NOT EXISTS DATASET.hyperscale_latest AS\n  SELECT * FROM DATASET.hyperscale_rows WHERE TRUE QUALIFY ROW_NUMBER() OVER (PARTITION BY `key` ORDER BY version DESC) = 1;\n")
	return b.String()
}

// missing is the first column that a table lacks, or has with another type; empty: none.
func missing(have []column, want []column) string {
	for _, w := range want {
		at := slices.IndexFunc(have, func(h column) bool { return strings.EqualFold(h.Name, w.Name) })
		if at < 0 || typeOf(have[at].Type) != typeOf(w.Type) || (have[at].Mode == "REPEATED") != (w.Mode == "REPEATED") {
			return w.Name
		}
		if inner := missing(have[at].Fields, w.Fields); inner != "" {
			return w.Name + "." + inner
		}
	}
	return ""
}

// typeOf is the one name of a type that has two.
func typeOf(name string) string {
	name = strings.ToUpper(name)
	for old, sql := range sqlTypes { //lint:orderfree one matches at most
		if name == sql {
			return old
		}
	}
	if name == "STRUCT" {
		return "RECORD"
	}
	return name
}

// appendLine appends a row as a line of JSON with those columns. The same row has the same bytes.
func appendLine(to []byte, r *outputs.Row) ([]byte, error) {
	in := json.NewDecoder(bytes.NewReader(outputs.AppendJSON(nil, r)))
	in.UseNumber()
	m := map[string]any{}
	if err := in.Decode(&m); err != nil {
		return to, fmt.Errorf("row %s: %w", r.Key(), err)
	}
	m["key"] = r.Key()
	for name, value := range map[string]string{"statuses": "count", "errors": "count", "tags": "value"} { //lint:orderfree it fills a map
		pairs, ok := m[name].(map[string]any)
		if !ok {
			continue
		}
		records := make([]any, 0, len(pairs))
		for _, key := range slices.Sorted(maps.Keys(pairs)) {
			records = append(records, map[string]any{"name": key, value: pairs[key]})
		}
		m[name] = records
	}
	b, err := json.Marshal(m)
	if err != nil {
		return to, fmt.Errorf("row %s: %w", r.Key(), err)
	}
	return append(append(to, b...), '\n'), nil
}
