package snowflake

import (
	"encoding/json"
	"strings"

	"hyperscale/runtime/outputs"
)

// column is one of the table, and where a row as jsonl has it.
type column struct{ name, kind string }

// columns are those of all rows. The column body has the row whole, with its buckets, statuses, errors and tags.
func columns() (all []column) {
	add := func(kind string, names ...string) {
		for _, name := range names {
			all = append(all, column{name, kind})
		}
	}
	add("VARCHAR", "row_key", "version", "kind", "job", "test", "datacenter", "workflow", "step", "step_kind")
	add("TIMESTAMP_TZ", "started")
	add("NUMBER(38,0)", "from_ms", "to_ms", "begun", "ok", "failed", "timed_out", "cancelled", "dropped", "skipped", "bytes_in", "bytes_out", "active_users",
		"p50_ns", "p90_ns", "p95_ns", "p99_ns", "p999_ns", "min_ns", "max_ns", "sum_ns")
	return all
}

// tableSQL creates the table.
func tableSQL(name string) string {
	var b strings.Builder
	b.WriteString("CREATE TABLE IF NOT EXISTS " + name + " (\n")
	for _, c := range columns() {
		b.WriteString("  " + c.name + " " + c.kind + ",\n")
	}
	b.WriteString("  body VARIANT,\n  PRIMARY KEY (row_key)\n)")
	return b.String()
}

// mergeSQL merges an array of JSON, its one binding, into the table: arrays of bindings are for INSERT alone. Of rows with
// one key the greatest version counts, as Snowflake merges no row twice. FLATTEN has a column key of its own, so ours has another name.
func mergeSQL(name string) string {
	var from, set, into, values []string
	for _, c := range columns() {
		from = append(from, "value:"+c.name+"::"+c.kind+" AS "+c.name)
		set = append(set, "t."+c.name+" = s."+c.name)
		into, values = append(into, c.name), append(values, "s."+c.name)
	}
	from, set, into, values = append(from, "value AS body"), append(set, "t.body = s.body"), append(into, "body"), append(values, "s.body")
	return "MERGE INTO " + name + " t USING (SELECT " + strings.Join(from, ", ") + " FROM TABLE(FLATTEN(INPUT => PARSE_JSON(?)))" +
		" QUALIFY ROW_NUMBER() OVER (PARTITION BY value:row_key::VARCHAR ORDER BY value:version::VARCHAR DESC) = 1) s ON t.row_key = s.row_key" +
		" WHEN MATCHED AND s.version > t.version THEN UPDATE SET " + strings.Join(set, ", ") +
		" WHEN NOT MATCHED THEN INSERT (" + strings.Join(into, ", ") + ") VALUES (" + strings.Join(values, ", ") + ")"
}

// arrayOf are rows as an array of JSON, each as jsonl has it, with its key.
func arrayOf(rows []outputs.Row) []byte {
	b := []byte{'['}
	for i := range rows {
		if i > 0 {
			b = append(b, ',')
		}
		key, _ := json.Marshal(rows[i].Key()) // of a text it never fails
		b = append(append(append(b, `{"row_key":`...), key...), ',')
		b = append(b, outputs.AppendJSON(nil, &rows[i])[1:]...)
	}
	return append(b, ']')
}
