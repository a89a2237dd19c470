package push

import (
	"net/http"
	"strings"
	"testing"

	"hyperscale/runtime/outputs"
)

// FuzzHoneycombAnswer: any answer is a verdict about this batch, in one line.
func FuzzHoneycombAnswer(f *testing.F) {
	f.Add(200, []byte(`[{"status":202},{"status":400,"error":"no\nlines"},{"status":202}]`))
	f.Add(200, []byte(`[{"status":429},{"status":429},{"status":503}]`))
	f.Add(200, []byte(`[{"status":202}]`))
	f.Add(202, []byte(nil))
	h := &honeycomb{}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		b := outputs.Batch{Rows: make([]outputs.Row, 3)}
		out := h.judge(b, &answer{status: status, header: http.Header{}, body: body})
		last := -1
		for _, i := range out.Rows {
			if i <= last || i >= len(b.Rows) {
				t.Fatalf("rows %v", out.Rows)
			}
			last = i
		}
		if strings.ContainsAny(out.Why, "\n\r\x1b") || out.Verdict == outputs.VerdictNone || out.Verdict == outputs.VerdictDelivered && out.Why != "" {
			t.Fatalf("%+v", out)
		}
	})
}

// What an answer of Honeycomb means: one event that it limits for now is a dead letter, all of them are tried again.
func TestHoneycombAnswers(t *testing.T) {
	h := &honeycomb{}
	for body, want := range map[string]outputs.Verdict{
		``: outputs.VerdictDelivered, `[{"status":202},{"status":202}]`: outputs.VerdictDelivered,
		`[{"status":202},{"status":429}]`: outputs.VerdictRejected, `[{"status":503},{"status":429}]`: outputs.VerdictAgain,
		`[{"status":202}]`: outputs.VerdictUnclear, `[{"status":202},{"status":202},{"status":202}]`: outputs.VerdictUnclear, `<html>`: outputs.VerdictUnclear,
	} {
		out := h.judge(outputs.Batch{Rows: make([]outputs.Row, 2)}, &answer{status: 200, header: http.Header{}, body: []byte(body)})
		if out.Verdict != want || want == outputs.VerdictRejected && (len(out.Rows) != 1 || out.Rows[0] != 1) {
			t.Errorf("%s: %+v", body, out)
		}
	}
}

// A count of New Relic begins with its window, and a gauge has its end.
func TestNewRelicTimes(t *testing.T) {
	r := windows("j", "s", 2)[1]
	all, err := newRelicRow(&r)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		want := r.At().UnixMilli()
		if m.Type != "gauge" {
			want = r.Started.Add(r.From).UnixMilli()
		}
		if m.Timestamp != want || m.Type == "gauge" != (m.Interval == 0) || m.Interval > 0 && m.Interval != (r.To-r.From).Milliseconds() {
			t.Errorf("%s, a %s, is of %d for %d ms, want %d", m.Name, m.Type, m.Timestamp, m.Interval, want)
		}
	}
	if len(all) < 10 {
		t.Fatalf("%d metrics", len(all))
	}
}
