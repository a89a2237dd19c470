package google

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/outputstest"
)

// loads is a service whose jobs end as a test says.
type loads struct {
	mu    sync.Mutex
	jobs  map[string]string // id: reason of its failure
	next  []string          // reasons of the next jobs; "": it loads
	asked []string
	held  context.CancelFunc // no job ends, and a look at one ends the try; nil: they do
}

func (l *loads) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	id := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	if r.Method == http.MethodPost {
		_, rest, _ := strings.Cut(r.Header.Get("Content-Type"), "boundary=rows_")
		id = rest
	}
	l.asked = append(l.asked, r.Method+" "+strings.TrimPrefix(id, "hyperscale_"))
	reason, there := l.jobs[id]
	switch {
	case r.Method == http.MethodGet && !there:
		w.WriteHeader(http.StatusNotFound)
		return
	case r.Method == http.MethodPost && there:
		w.WriteHeader(http.StatusConflict)
		return
	case r.Method == http.MethodPost:
		if len(l.next) > 0 {
			reason, l.next = l.next[0], l.next[1:]
		}
		l.jobs[id] = reason
	}
	switch {
	case l.held != nil:
		if r.Method == http.MethodGet {
			l.held()
		}
		_, _ = w.Write([]byte(`{"status":{"state":"RUNNING"}}`))
	case reason == "":
		_, _ = w.Write([]byte(`{"status":{"state":"DONE"}}`))
	default:
		_, _ = fmt.Fprintf(w, `{"status":{"state":"DONE","errorResult":{"reason":%q,"message":"it is so"}}}`, reason)
	}
}

func newLoads(t *testing.T) (*loads, outputs.Sink) {
	l := &loads{jobs: map[string]string{}}
	m := newMachine(t, l.ServeHTTP)
	return l, open(t, BigQuery(), "shop.load,endpoint="+m.URL)
}

// said are the requests, with the digest of a batch as D.
func (l *loads) said() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := ""
	for _, a := range l.asked {
		method, id, _ := strings.Cut(a, " ")
		_, attempt, _ := strings.Cut(id, "_")
		text += fmt.Sprintf("%s D%s, ", method, attempt)
	}
	l.asked = nil
	return text
}

// A job that failed never runs again, so the batch goes on under another id, and another process finds that one.
func TestFailedJobsAreFollowedByOthers(t *testing.T) {
	l, s := newLoads(t)
	b := batch(0)
	l.next = []string{"backendError", "quotaExceeded", "accessDenied"}
	for i, want := range []outputs.Verdict{outputs.VerdictAgain, outputs.VerdictAgain, outputs.VerdictDenied, outputs.VerdictDelivered} {
		b.Try = i + 1
		out := s.Deliver(t.Context(), b)
		if out.Verdict != want || (i == 1) != (out.After == time.Minute) || want != outputs.VerdictDelivered && !strings.Contains(out.Why, "it is so") {
			t.Fatalf("try %d: %+v", b.Try, out)
		}
	}
	if got := l.said(); got != "POST D, GET D1, POST D1, GET D2, POST D2, GET D3, POST D3, " {
		t.Fatal(got)
	}
	again := open(t, BigQuery(), "shop.load,endpoint="+s.(*bigQuery).base.String())
	b.Try = 1
	if out := again.Deliver(t.Context(), b); out.Verdict != outputs.VerdictDelivered {
		t.Fatalf("another process does not get behind jobs that failed: %+v", out)
	}
	if got := l.said(); len(l.jobs) != 4 || got != "POST D, GET D, POST D1, GET D1, POST D2, GET D2, POST D3, GET D3, " {
		t.Fatalf("another process started a job of its own, %d in all: %s", len(l.jobs), got)
	}
}

// The next try of a batch whose job still runs looks at that job, and sends no rows.
func TestRunningJobIsAwaited(t *testing.T) {
	l, s := newLoads(t)
	b := batch(0)
	ctx, cancel := context.WithCancel(t.Context())
	l.held = cancel
	if out := s.Deliver(ctx, b); out.Verdict != outputs.VerdictUnclear {
		t.Fatalf("%+v", out)
	}
	l.mu.Lock()
	l.held = nil
	l.mu.Unlock()
	l.said()
	b.Try = 2
	if out := s.Deliver(t.Context(), b); out.Verdict != outputs.VerdictDelivered {
		t.Fatal(out)
	}
	if got := l.said(); got != "GET D, " {
		t.Fatalf("the rows were sent again: %s", got)
	}
}

func TestRowsThatNoTableTakesAreFound(t *testing.T) {
	l, s := newLoads(t)
	l.next = []string{"invalid", "invalid"}
	b := batch(0)
	if out := s.Deliver(t.Context(), b); out.Verdict != outputs.VerdictSmaller {
		t.Fatalf("%+v", out)
	}
	b.Rows = b.Rows[:1]
	if out := s.Deliver(t.Context(), b); out.Verdict != outputs.VerdictRejected || !strings.Contains(out.Why, "invalid: it is so") {
		t.Fatalf("%+v", out)
	}
}

// No project may start more than 1,500 load jobs of a table a day.
func TestLoadsOfADay(t *testing.T) {
	k := BigQuery()
	s, err := outputs.Parse(&k, "shop.load,window=1s")
	if err != nil {
		t.Fatal(err)
	}
	if l := k.Limits.Filled(); s.Window() < time.Minute || l.Age < time.Minute || 24*time.Hour/l.Age > 1500 {
		t.Fatalf("a window of %v, a batch each %v", s.Window(), l.Age)
	}
}

func TestTableLacksAColumn(t *testing.T) {
	want := columns()
	if name := missing(want, want); name != "" {
		t.Fatal(name)
	}
	sql := strings.NewReplacer("INTEGER", "INT64", "FLOAT", "float64", "BOOLEAN", "bool", "RECORD", "STRUCT")
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var have []column
	if err := json.Unmarshal([]byte(sql.Replace(string(b))), &have); err != nil || missing(have, want) != "" {
		t.Fatal(missing(have, want), err)
	}
	for i := range want {
		others := append(append([]column{}, want[:i]...), want[i+1:]...)
		if name := missing(others, want); name != want[i].Name {
			t.Errorf("without %s: %q", want[i].Name, name)
		}
	}
	have[0].Mode = "REPEATED"
	have[1].Type = "INT64"
	if name := missing(have, want); name != want[0].Name {
		t.Fatal(name)
	}
	if have[0].Mode = ""; missing(have, want) != want[1].Name {
		t.Fatal(missing(have, want))
	}
}

// A line has what jsonl has of the row, and no field that is no column.
func TestLinesFitTheTable(t *testing.T) {
	known := map[string]column{}
	for _, c := range columns() {
		known[c.Name] = c
	}
	rows := outputstest.Rows("lines")
	for i := range rows {
		line, err := appendLine(nil, &rows[i])
		if err != nil {
			t.Fatal(err)
		}
		var got, want map[string]any
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(outputs.AppendJSON(nil, &rows[i]), &want); err != nil {
			t.Fatal(err)
		}
		for name, v := range got {
			if _, ok := known[name]; !ok {
				t.Fatalf("%s is no column", name)
			}
			if records, ok := v.([]any); ok && known[name].Type == "RECORD" {
				for _, r := range records {
					pair := r.(map[string]any)
					if of := want[name].(map[string]any); of[pair["name"].(string)] != pair["count"] || len(of) != len(records) {
						t.Fatalf("%s: %v and %v", name, records, of)
					}
				}
			} else if name != "key" && fmt.Sprint(v) != fmt.Sprint(want[name]) {
				t.Fatalf("%s: %v and %v", name, v, want[name])
			}
		}
		if got["key"] != rows[i].Key() || len(got) != len(want)+1 {
			t.Fatalf("%d fields of %d", len(got), len(want))
		}
	}
}

// FuzzJob: what a service says of a job is a job, or unclear.
func FuzzJob(f *testing.F) {
	f.Add([]byte(`{"status":{"state":"DONE","errorResult":{"reason":"invalid","message":"x"}}}`))
	f.Add([]byte(`{"status":{"state":"LATER"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		j, out := parseJob(b)
		if (j == nil) == (out.Verdict == outputs.VerdictNone) {
			t.Fatalf("%v %+v", j, out)
		}
		if j != nil {
			if end := j.outcome(batch(0)); end.Verdict == outputs.VerdictNone || len(end.Why) > 500 || strings.ContainsAny(end.Why, "\r\n") {
				t.Fatalf("%+v", end)
			}
		}
	})
}
