package outputs_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/outputstest"
)

// fake is a sink that does what a test says.
type fake struct {
	mu     sync.Mutex
	does   func(b outputs.Batch) outputs.Outcome
	tries  []outputs.Batch
	closes chan bool // takes one value at the close; nil: a test that does not ask
}

func (f *fake) Check(context.Context) error { return nil }
func (f *fake) Close() {
	select {
	case f.closes <- true:
	default:
	}
}
func (f *fake) Deliver(ctx context.Context, b outputs.Batch) outputs.Outcome {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tries = append(f.tries, b)
	return f.does(b)
}

// verdicts plays outcomes in order, then delivers.
func verdicts(all ...outputs.Outcome) func(outputs.Batch) outputs.Outcome {
	return func(outputs.Batch) outputs.Outcome {
		if len(all) == 0 {
			return outputs.Delivered()
		}
		out := all[0]
		all = all[1:]
		return out
	}
}

func shellOf(t *testing.T, delivery outputs.Delivery, place string, sink outputs.Sink) *outputs.Shell {
	t.Helper()
	kind := &outputs.Kind{Name: "fake", Delivery: delivery, Limits: outputs.Limits{Age: time.Hour}}
	s, err := outputs.Parse(kind, place)
	if err != nil {
		t.Fatal(err)
	}
	h := outputs.NewShell("fake", s, sink, outputstest.Pace())
	t.Cleanup(h.Close)
	return h
}

func finish(h *outputs.Shell) outputs.Report {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return h.Finish(ctx)
}

func windows(n int, size uint64) (rows []outputs.Row) {
	var h stats.Histogram
	for i := range size {
		h.Record(i * i * 1000)
	}
	for k := range n {
		rows = append(rows, outputs.Row{Kind: outputs.RowWindow, Job: "j", Workflow: "w", Step: "s", StepKind: message.StepRequest,
			From: time.Duration(k) * time.Second, To: time.Duration(k+1) * time.Second, Figures: &outputs.Figures{Begun: 10, Latency: h.Wire()}})
	}
	return rows
}

// TestRowsHaveTheTagsOfTheirSink: those of the row have precedence, and no other sink sees them.
func TestRowsHaveTheTagsOfTheirSink(t *testing.T) {
	kind := &outputs.Kind{Name: "fake", Delivery: outputs.Exact}
	s, err := outputs.Placed(kind, "x")
	if err != nil {
		t.Fatal(err)
	}
	s.Tags = []message.Tag{{Name: "floor", Value: "7"}, {Name: "team", Value: "checkout"}}
	f := &fake{does: verdicts()}
	h := outputs.NewShell("fake", s, f, outputstest.Pace())
	defer h.Close()
	given := windows(2, 3)
	job := make([]message.Tag, 1, 4) // with room: an append in place would reach other sinks
	job[0] = message.Tag{Name: "floor", Value: "of the job"}
	given[0].Tags, given[1].Tags = job, job
	h.Offer(slices.Clone(given))
	finish(h)
	for _, r := range f.tries[0].Rows {
		if want := []message.Tag{job[0], s.Tags[1]}; !slices.Equal(r.Tags, want) {
			t.Errorf("got %v, want %v", r.Tags, want)
		}
	}
	if beyond := job[:2][1]; beyond != (message.Tag{}) || len(given[0].Tags) != 1 {
		t.Errorf("the job's tags have become %v", job[:2])
	}
}

func TestOutcomes(t *testing.T) {
	unclear := outputs.Unclear("no answer")
	for _, c := range []struct {
		what     string
		delivery outputs.Delivery
		does     []outputs.Outcome
		want     outputs.Report
		tries    int
	}{
		{"delivered", outputs.Exact, nil, outputs.Report{Delivered: 8}, 1},
		{"again and again", outputs.Exact, []outputs.Outcome{outputs.Again(0, "busy"), outputs.Again(time.Millisecond, "busy"), outputs.Again(0, "busy"), outputs.Again(0, "busy"), outputs.Again(0, "busy")}, outputs.Report{Delivered: 8, Tries: 5, Why: "busy"}, 6},
		{"unclear, exact", outputs.Exact, []outputs.Outcome{unclear, unclear}, outputs.Report{Delivered: 8, Tries: 2, Why: "no answer"}, 3},
		{"unclear, at least once", outputs.AtLeastOnce, []outputs.Outcome{unclear, outputs.Again(0, "busy"), unclear}, outputs.Report{Delivered: 8, Tries: 3, PerhapsTwice: 16, Why: "no answer"}, 4},
		{"a failure, at most once", outputs.AtMostOnce, []outputs.Outcome{outputs.Again(0, "no buffer")}, outputs.Report{Lost: 8, LostRequests: 80, Why: "no buffer"}, 1},
		{"some rejected", outputs.Exact, []outputs.Outcome{outputs.Rejected([]int{1, 7, 99}, "bad")}, outputs.Report{Delivered: 6, Rejected: 2, RejectedRequests: 20, RejectedWhy: "bad"}, 1},
		{"all rejected", outputs.Exact, []outputs.Outcome{outputs.Rejected(nil, "bad")}, outputs.Report{Rejected: 8, RejectedRequests: 80, RejectedWhy: "bad"}, 1},
		{"too large", outputs.Exact, []outputs.Outcome{outputs.Smaller("8 rows")}, outputs.Report{Delivered: 8}, 3},
		{"one row too large", outputs.Exact, []outputs.Outcome{outputs.Smaller("8"), outputs.Smaller("4"), outputs.Smaller("2"), outputs.Smaller("1 MiB")}, outputs.Report{Delivered: 7, Rejected: 1, RejectedRequests: 10, RejectedWhy: "one row is too large for it: 1 MiB"}, 7},
		{"credentials that rotate", outputs.Exact, []outputs.Outcome{outputs.Denied("401"), outputs.Denied("401")}, outputs.Report{Delivered: 8, Tries: 2, Why: "401"}, 3},
	} {
		t.Run(c.what, func(t *testing.T) {
			f := &fake{does: verdicts(c.does...)}
			h := shellOf(t, c.delivery, "x", f)
			h.Offer(windows(8, 3))
			got := finish(h)
			c.want.Name, c.want.Kind, c.want.Rows = "fake", "fake", 8
			if got != c.want || len(f.tries) != c.tries {
				t.Errorf("%d tries\n got %+v\nwant %+v", len(f.tries), got, c.want)
			}
		})
	}
}

// OUT-3: a repeated try has the number and the rows of the first one.
func TestRepeatedTries(t *testing.T) {
	f := &fake{does: verdicts(outputs.Again(0, "busy"), outputs.Unclear("cut"))}
	h := shellOf(t, outputs.Exact, "x", f)
	h.Offer(windows(2, 3))
	finish(h)
	for i, b := range f.tries {
		if b.Number != 1 || b.Try != i+1 || len(b.Rows) != 2 {
			t.Errorf("try %d is %d of batch %d with %d rows", i, b.Try, b.Number, len(b.Rows))
		}
	}
}

// Credentials that stay rejected end the sink; nothing tries again, and all rows are lost.
func TestCredentialsThatStayRejected(t *testing.T) {
	f := &fake{does: func(outputs.Batch) outputs.Outcome { return outputs.Denied("401: correct the token") }}
	h := shellOf(t, outputs.Exact, "x", f)
	h.Offer(windows(8, 3))
	if got := finish(h); got.Lost != 8 || got.LostRequests != 80 || got.Failed == "" || got.Behind != 0 {
		t.Errorf("%+v", got)
	}
	h.Offer(windows(1, 3))
	if got := h.Report(); got.Lost != 9 {
		t.Errorf("behind the end: %+v", got)
	}
}

// OUT-1: a sink that hangs stops neither Offer nor the end.
func TestASinkThatHangs(t *testing.T) {
	hangs := make(chan struct{})
	f := &fake{does: func(outputs.Batch) outputs.Outcome { <-hangs; return outputs.Delivered() }}
	h := shellOf(t, outputs.Exact, "x", f)
	defer close(hangs)
	rows := windows(3000, 2000)
	if total := rows[0].Size() * len(rows); total < 2*outputs.QueueMax {
		t.Fatalf("the rows have %d bytes", total)
	}
	for i := range rows {
		h.Offer(rows[i : i+1])
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	got := h.Finish(ctx)
	if got.Behind == 0 || got.Merged == 0 || got.Lost != 0 || got.Merged+got.Behind != 3000 {
		t.Errorf("%+v", got)
	}
}

// A full queue makes windows wider, and counts stay.
func TestWiderWindows(t *testing.T) {
	begin := make(chan struct{})
	var begun, count uint64
	var last time.Duration
	f := &fake{does: func(b outputs.Batch) outputs.Outcome {
		<-begin
		for _, r := range b.Rows {
			if r.From != last {
				t.Errorf("a row from %v behind one to %v", r.From, last)
			}
			begun, count, last = begun+r.Figures.Begun, count+r.Figures.Latency.Count, r.To
		}
		return outputs.Delivered()
	}}
	h := shellOf(t, outputs.Exact, "x", f)
	h.Offer(windows(3000, 2000))
	close(begin)
	got := finish(h)
	if begun != 30_000 || count != 6_000_000 || last != 3000*time.Second || got.Delivered+got.Merged != 3000 || !got.Whole() {
		t.Errorf("begun %d, %d values, to %v: %+v", begun, count, last, got)
	}
}

// A window that is not there had no requests: a wider one may span it, and no figure is lost.
func TestIdleWindowsDoNotKeepRowsApart(t *testing.T) {
	begin := make(chan struct{})
	var begun uint64
	var last time.Duration
	f := &fake{does: func(b outputs.Batch) outputs.Outcome {
		<-begin
		for _, r := range b.Rows {
			if r.From < last {
				t.Errorf("a row from %v behind one to %v", r.From, last)
			}
			begun, last = begun+r.Figures.Begun, r.To
		}
		return outputs.Delivered()
	}}
	h := shellOf(t, outputs.Exact, "x", f)
	for _, r := range windows(6000, 2000) {
		if r.From%(2*time.Second) == 0 { // each other one is missing
			h.Offer([]outputs.Row{r})
		}
	}
	close(begin)
	if got := finish(h); got.Merged == 0 || !got.Whole() || begun != 30_000 {
		t.Errorf("%d begun: %+v", begun, got)
	}
}

func TestDeadLetters(t *testing.T) {
	name := filepath.Join(t.TempDir(), "dead.jsonl")
	f := &fake{does: verdicts(outputs.Rejected([]int{1}, "no such column"))}
	h := shellOf(t, outputs.Exact, "x,dead_letters="+name, f)
	h.Offer(windows(3, 3))
	finish(h)
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := outputs.ParseJSON(b)
	if err != nil || r.From != time.Second || strings.Count(string(b), "\n") != 1 || !strings.Contains(string(b), "no such column") {
		t.Errorf("%s: %v", b, err)
	}
}

// OUT-1: dead letters that no write ends for hold up neither Offer nor the end, and no file but a regular one is opened.
func TestDeadLettersThatHang(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	h := shellOf(t, outputs.Exact, "x,dead_letters="+name, &fake{does: verdicts(outputs.Rejected([]int{1}, "no such column"))})
	if err := h.Check(); err == nil || !strings.Contains(err.Error(), "is no regular file") {
		t.Errorf("the check says %v", err)
	}
	h.Offer(windows(3, 3))
	if got := finish(h); got.Rejected != 1 || got.Delivered != 2 || !strings.Contains(got.Letters, "is no regular file") || !strings.Contains(got.Because(), "no such column; rejected rows are not kept: ") {
		t.Errorf("%+v", got)
	}
	carries := shellOf(t, outputs.Exact, "x,dead_letters="+name, &fake{does: verdicts(outputs.Rejected([]int{1}, "no such column"))})
	if got := carries.Carry(t.Context(), &outputs.Parcel{Rows: windows(3, 3)}); !strings.Contains(got.Because(), "is no regular file") {
		t.Errorf("a parcel: %+v", got)
	}
	reader, err := os.OpenFile(name, os.O_RDWR, 0) // something reads it
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	if err := h.Check(); err == nil || !strings.Contains(err.Error(), "is no regular file") {
		t.Errorf("the check of a pipe with a reader says %v", err)
	}
}

// A row that a process wrote half is cut before the next one, and a full file takes part in no run.
func TestDeadLettersBehindACrash(t *testing.T) {
	name := filepath.Join(t.TempDir(), "dead.jsonl")
	whole := string(outputs.AppendJSON(nil, &windows(1, 3)[0])) + "\n"
	for _, before := range []string{"", whole, whole + whole[:30], whole[:30]} {
		if err := os.WriteFile(name, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		h := shellOf(t, outputs.Exact, "x,dead_letters="+name, &fake{does: verdicts(outputs.Rejected([]int{0, 2}, "no such column"))})
		h.Offer(windows(3, 3))
		finish(h)
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
		for _, line := range lines {
			if _, err := outputs.ParseJSON([]byte(line)); err != nil {
				t.Errorf("behind %q: %q: %v", before, line, err)
			}
		}
		if want := strings.Count(before, "\n") + 2; len(lines) != want {
			t.Errorf("behind %q: %d rows, want %d", before, len(lines), want)
		}
	}
	if err := os.Truncate(name, 16<<20); err != nil {
		t.Fatal(err)
	}
	h := shellOf(t, outputs.Exact, "x,dead_letters="+name, &fake{does: verdicts(outputs.Rejected([]int{1}, "no such column"))})
	if err := h.Check(); err == nil || !strings.Contains(err.Error(), "move it away") {
		t.Errorf("the check of a full file says %v", err)
	}
	h.Offer(windows(3, 3))
	if got := finish(h); !strings.Contains(got.Because(), "move it away") {
		t.Errorf("%+v", got)
	}
}

// The sink is closed behind its last try, however long that takes.
func TestCloseFollowsTheLastTry(t *testing.T) {
	hangs, began := make(chan struct{}), make(chan struct{})
	f := &fake{does: func(outputs.Batch) outputs.Outcome { close(began); <-hangs; return outputs.Delivered() }, closes: make(chan bool, 1)}
	h := shellOf(t, outputs.Exact, "x", f)
	h.Offer(windows(500, 3)) // a whole batch
	<-began
	h.Close()
	select {
	case <-f.closes:
		t.Error("the sink was closed beside a try")
	default:
	}
	close(hangs)
	<-f.closes
}
