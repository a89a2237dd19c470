package vendorstest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"testing"
	"time"

	"hyperscale/runtime/outputs"
)

// ParquetRow is a row as the reader of parquet-go has it: a value of JSON for each column.
type ParquetRow map[string]json.RawMessage

// Parquet reads files with that reader.
func Parquet(tb testing.TB, files ...string) (all []ParquetRow) {
	tb.Helper()
	if len(files) == 0 {
		return nil
	}
	out, err := exec.Command(Program(tb, "parquet"), files...).CombinedOutput()
	if err != nil {
		tb.Fatalf("%v: %s", err, out)
	}
	for line := range bytes.Lines(out) {
		var r ParquetRow
		if err := json.Unmarshal(line, &r); err != nil {
			tb.Fatalf("%s: %v", line, err)
		}
		all = append(all, r)
	}
	return all
}

// Row makes a row of the columns, but for quantiles.
func (p ParquetRow) Row(tb testing.TB) outputs.Row {
	tb.Helper()
	j := map[string]any{"started": p.time(tb, "started")}
	for name, value := range p {
		if name != "started" && name != "ended" {
			j[name] = value
		}
	}
	for to, lists := range map[string][2]string{"statuses": {"status_name", "status_count"}, "errors": {"error_name", "error_count"}, "tags": {"tag_name", "tag_value"}} {
		var names []string
		var values []json.RawMessage
		if json.Unmarshal(p[lists[0]], &names) != nil || json.Unmarshal(p[lists[1]], &values) != nil || len(names) != len(values) {
			tb.Fatalf("%s and %s", p[lists[0]], p[lists[1]])
		}
		object := map[string]json.RawMessage{}
		for i := range names {
			object[names[i]] = values[i]
		}
		j[to] = object
	}
	switch string(p["kind"]) {
	case `"run"`:
		u := map[string]any{}
		for _, name := range []string{"outcome", "program_digest", "hyperscale_version", "saturated", "thresholds_ok", "requests", "lost_requests"} {
			u[name] = p[name]
		}
		if string(p["ended"]) != "0" {
			u["ended"] = p.time(tb, "ended")
		}
		j["run"] = u
	case `"threshold"`:
		j["threshold"] = map[string]any{"expression": p["expression"], "of": p["of"], "value": p["value"], "met": p["met"], "unmeasured": string(p["value"]) == "null"}
	case `"event"`:
		j["event"] = map[string]any{"sequence": p["sequence"], "kind": p["event"], "subject": p["subject"], "detail": p["detail"]}
	}
	if string(p["kind"]) != `"event"` {
		delete(j, "event")
	}
	line, err := json.Marshal(j)
	if err != nil {
		tb.Fatal(err)
	}
	r, err := outputs.ParseJSON(line)
	if err != nil {
		tb.Fatalf("%s: %v", line, err)
	}
	return r
}

// time reads milliseconds since 1970, as rows write times.
func (p ParquetRow) time(tb testing.TB, name string) string {
	tb.Helper()
	var n int64
	if _, err := fmt.Sscan(string(p[name]), &n); err != nil {
		tb.Fatalf("%s: %s", name, p[name])
	}
	return time.UnixMilli(n).UTC().Format(outputs.TimeLayout)
}
