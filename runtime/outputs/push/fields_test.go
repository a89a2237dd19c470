package push

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/runtime/outputs"
)

// apart are figures each of which has a value of its own.
func apart() *outputs.Figures {
	var h stats.Histogram
	for ms := uint64(1); ms <= 2000; ms++ {
		h.Record(ms * 1_000_000)
	}
	return &outputs.Figures{
		Begun: 2000, OK: 1, Failed: 2, TimedOut: 3, Cancelled: 4, Dropped: 5, Skipped: 6, BytesIn: 7, BytesOut: 8, ActiveUsers: 9, Latency: h.Wire(),
		Statuses: []message.StatusCount{{Status: 200, Count: 10}, {Status: 404, Count: 11}, {Status: 500, Count: 12}, {Status: 503, Count: 13}},
		Errors:   []message.ErrorCount{{Kind: "connect", Count: 14}, {Kind: "read", Count: 15}, {Kind: "tls", Count: 16}},
	}
}

// wanted are the fields of these figures, but for quantiles.
var wanted = map[string]uint64{
	"begun": 2000, "ok": 1, "failed": 2, "timed_out": 3, "cancelled": 4, "dropped": 5, "skipped": 6, "bytes_in": 7, "bytes_out": 8, "active_users": 9,
	"status_200": 10, "status_404": 11, "status_rest": 25, "error_connect": 14, "error_read": 15, "error_rest": 16,
}

// Each field is the figure of its name, and what has no field of its own is in the rest.
func TestEachFieldIsTheFigureOfItsName(t *testing.T) {
	m := map[string]any{}
	figureFields(m, apart(), 2)
	for name, ms := range map[string]uint64{"min_ns": 1, "p50_ns": 1000, "p90_ns": 1800, "p95_ns": 1900, "p99_ns": 1980, "p999_ns": 1998, "max_ns": 2000} {
		if got := m[name].(uint64); got < ms*1_000_000 || got > ms*1_004_000 {
			t.Errorf("%s is %d ns, want %d ms", name, got, ms)
		}
		delete(m, name)
	}
	delete(m, "mean_ns")
	for name, n := range wanted {
		if m[name] != n {
			t.Errorf("%s is %v, want %d", name, m[name], n)
		}
		delete(m, name)
	}
	if len(m) > 0 {
		t.Errorf("and there are %v", m)
	}
}

// A record of Timestream has each figure as a measure of its name and its type, and the labels as dimensions.
func TestTimestreamRecord(t *testing.T) {
	r := windows("job", "pay", 2)[1]
	r.Figures, r.Datacenter = apart(), "east"
	r.Figures.Statuses, r.Figures.Errors = r.Figures.Statuses[:2], r.Figures.Errors[:2]
	r.Version.Set(0, 7)
	record := timestreamRow(&r)
	measures := map[string]string{}
	for _, m := range record.MeasureValues {
		if measures[m.Name] = m.Value; m.Type != "BIGINT" {
			t.Errorf("%s is a %s", m.Name, m.Type)
		}
	}
	for name, n := range wanted {
		if !strings.HasSuffix(name, "_rest") && measures[name] != fmt.Sprint(n) {
			t.Errorf("%s is %q, want %d", name, measures[name], n)
		}
	}
	if record.MeasureName != "window" || record.Version != 7 || record.Time != fmt.Sprint(r.At().UnixMilli()) || measures["from_ms"] != "10000" || measures["to_ms"] != "20000" {
		t.Errorf("%+v", record)
	}
	dimensions := map[string]string{}
	for _, d := range record.Dimensions {
		dimensions[d.Name] = d.Value
	}
	if dimensions["run"] != "job" || dimensions["step"] != "pay" || dimensions["datacenter"] != "east" || dimensions["workflow"] != r.Workflow || r.Workflow == "" {
		t.Errorf("dimensions %v", dimensions)
	}
	run := outputs.Row{Kind: outputs.RowRun, Job: "job", Started: time.UnixMilli(5), Run: &outputs.Run{Outcome: "COMPLETED", Saturated: true, Requests: 40, LostRequests: 7}}
	got := map[timestreamMeasure]bool{}
	for _, m := range timestreamRow(&run).MeasureValues {
		got[m] = true
	}
	for _, want := range []timestreamMeasure{{"outcome", "COMPLETED", "VARCHAR"}, {"saturated", "true", "BOOLEAN"}, {"thresholds_ok", "false", "BOOLEAN"}, {"requests", "40", "BIGINT"}, {"lost_requests", "7", "BIGINT"}} {
		if !got[want] {
			t.Errorf("%v is not among %v", want, got)
		}
	}
}

// An event of Honeycomb has the threshold that a row judges, and the job's end.
func TestHoneycombData(t *testing.T) {
	r := outputs.Row{Kind: outputs.RowThreshold, Job: "job", Workflow: "buy", Threshold: &outputs.Threshold{Expression: "p99 < 1s", Value: 2.5, Of: "latency", Met: true}}
	if m := honeycombData(&r); m["row"] != "threshold" || m["run"] != "job" || m["workflow"] != "buy" || m["threshold"] != "p99 < 1s" || m["value"] != 2.5 || m["of"] != "latency" || m["met"] != true {
		t.Errorf("%v", m)
	}
	r.Threshold.Unmeasured = true
	if m := honeycombData(&r); m["value"] != nil {
		t.Errorf("a threshold without a figure has %v", m["value"])
	}
	r = outputs.Row{Kind: outputs.RowRun, Run: &outputs.Run{Outcome: "FAILED", Version: "v1", ProgramDigest: "d", ThresholdsOK: true, Requests: 40, LostRequests: 7}}
	if m := honeycombData(&r); m["outcome"] != "FAILED" || m["hyperscale_version"] != "v1" || m["program_digest"] != "d" || m["saturated"] != false || m["thresholds_ok"] != true || m["requests"] != uint64(40) || m["lost_requests"] != uint64(7) {
		t.Errorf("%v", m)
	}
}

// Tags of the user that have the name of a field replace none, and no dimension of Timestream is there twice.
func TestTagsReplaceNoField(t *testing.T) {
	tags := []message.Tag{{Name: "row", Value: "mine"}, {Name: "from_ms", Value: "mine"}, {Name: "to_ms", Value: "mine"}, {Name: "revision", Value: "mine"}, {Name: "threshold", Value: "mine"}, {Name: "sequence", Value: "mine"}}
	for _, r := range []outputs.Row{
		{Kind: outputs.RowThreshold, Job: "job", Threshold: &outputs.Threshold{Expression: "p99 < 1s"}, Tags: tags},
		{Kind: outputs.RowEvent, Job: "job", Event: &outputs.Event{Sequence: 7, Kind: "k"}, Tags: tags},
	} {
		m, plain := honeycombData(&r), r
		plain.Tags = nil
		for name, want := range honeycombData(&plain) {
			if m[name] != want {
				t.Errorf("%s is %v, want %v", name, m[name], want)
			}
		}
		seen := map[string]bool{}
		for _, d := range timestreamRow(&r).Dimensions {
			if seen[d.Name] || d.Value == "mine" && (d.Name == "threshold" && r.Threshold != nil || d.Name == "sequence" && r.Event != nil) {
				t.Errorf("the dimension %s is there twice, or is the tag of the user", d.Name)
			}
			seen[d.Name] = true
		}
	}
}
