package output

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/node"
	"hyperscale/core/output/outputtest"
	"hyperscale/core/stats"
)

func sample() (*Batch, *Ledger) {
	l := New(message.JobOf("a"), "t.star", 10*time.Second, time.UnixMilli(1_700_000_000_123))
	l.Own(7)
	b := &Batch{Job: message.JobOf("a"), Sink: "lake", Number: 3, Final: true}
	b.Rows = append(b.Rows, l.Apply(outputtest.Status(11*time.Second, nil, 100))...)
	b.Rows = append(b.Rows, l.Apply(outputtest.Status(21*time.Second, []message.LostAttempt{{Started: 30}}, 80))...)
	r := outputtest.Result(25*time.Second, []message.LostAttempt{{Started: 30}}, 95)
	r.Thresholds = []message.ThresholdResult{{Workflow: "shop", Expr: "errors < 1%", Of: message.OfErrors, Value: 20_000}}
	check := message.StepStats{Name: "is ok", Kind: message.StepCheck, OK: 5, Failed: 1}
	r.Workflows[0].Stats.Steps = append(r.Workflows[0].Stats.Steps, check)
	b.Rows = append(b.Rows, l.Finish(r, Run{})...)
	return b, l
}

// OUTPUT-7: what Append wrote, Read reads, and the ledger in it makes the same rows and the same file.
func TestBatchesAreReadAsTheyWereWritten(t *testing.T) {
	b, l := sample()
	file := b.Append(nil, l)
	got, ledger, err := Read(file)
	require.NoError(t, err)
	if d := cmp.Diff(b, got, cmpopts.EquateEmpty()); d != "" {
		t.Fatal(d)
	}
	ledger.Own(7)
	require.Equal(t, file, got.Append(nil, ledger))
	more := outputtest.Status(35*time.Second, []message.LostAttempt{{Started: 30}}, 120)
	if d := cmp.Diff(l.Apply(more), ledger.Apply(more), cmpopts.EquateEmpty()); d != "" {
		t.Fatal(d)
	}
	kinds := map[RowKind]bool{}
	for i := range b.Rows {
		kinds[b.Rows[i].Kind] = true
	}
	for k := RowRun; k < RowEvent; k++ {
		require.True(t, kinds[k], "%s", k)
	}
	for cut := range len(file) {
		if _, _, err := Read(file[:cut]); !errors.Is(err, ErrBatch) {
			t.Fatalf("the first %d bytes: %v", cut, err)
		}
	}
	_, _, err = Read(append(bytes.Clone(file), 1))
	require.ErrorIs(t, err, ErrBatch)
	_, _, err = Read(make([]byte, BatchMax+1))
	require.ErrorIs(t, err, ErrBatch)
}

func FuzzBatch(f *testing.F) {
	b, l := sample()
	f.Add(b.Append(nil, l))
	f.Fuzz(func(t *testing.T, file []byte) {
		got, ledger, err := Read(file)
		if err != nil {
			return
		}
		again, same, err := Read(got.Append(nil, ledger))
		if err != nil || !bytes.Equal(got.Append(nil, ledger), again.Append(nil, same)) {
			t.Fatalf("a batch that was read cannot be read again: %v", err)
		}
	})
}

// A version is greater if its owner is, then if its revision is: as bytes.
func TestVersionsCompareAsBytes(t *testing.T) {
	order := [][2]uint64{{0, 1}, {0, 9}, {0, 10}, {0, 256}, {9, 1}, {10, 0}, {256, 3}}
	for i := 1; i < len(order); i++ {
		var a, b Version
		a.Set(order[i-1][0], order[i-1][1])
		b.Set(order[i][0], order[i][1])
		if bytes.Compare(a[:], b[:]) >= 0 {
			t.Fatalf("%v does not come before %v", order[i-1], order[i])
		}
		epoch, revision := b.Parts()
		require.Equal(t, order[i], [2]uint64{epoch, revision})
	}
}

// OUTPUT-6: wherever a sink is given up, and whether its owner dies after it or not.
func TestGivenUp(t *testing.T) {
	result := outputtest.Result(60*time.Second, nil, 600)
	for _, at := range []string{"before any batch", "while its file is on its way", "while the archive is full", "while its record is on its way", "while the sink tries", "between two batches", "at the end", "while the last one is on its way"} {
		for _, dies := range []bool{false, true} {
			s := NewStream(message.JobOf("a"), "t.star", Sink{Name: "lake", Window: 10 * time.Second}, sentAt)
			delivered, file, keep := uint64(0), []byte(nil), true
			step := func(name string) bool { // it says that the sink is given up there
				if name == at {
					keep = false
				}
				return !keep
			}
			batch := func(mark func(string) bool) {
				if !keep {
					return
				}
				next, ok := s.Next()
				require.True(t, ok, at)
				if mark("while its file is on its way") {
					return
				}
				if mark("while the archive is full") {
					s.Refused()
					return
				}
				s.Kept(message.FileDigest{byte(s.number)})
				if file = next; mark("while its record is on its way") {
					return
				}
				s.Saved()
				if mark("while the sink tries") {
					return
				}
				b, _, err := Read(next)
				require.NoError(t, err)
				for i := range b.Rows {
					delivered += Requests(&b.Rows[i])
				}
				s.Delivered(&node.Delivered{Verdict: node.DeliveryDone}, nil)
			}
			s.Cut(outputtest.Status(11*time.Second, nil, 100))
			if !step("before any batch") {
				batch(func(string) bool { return false })
			}
			s.Cut(outputtest.Status(21*time.Second, nil, 250))
			batch(step)
			if keep {
				s.Cut(outputtest.Status(31*time.Second, nil, 300))
				step("between two batches")
			}
			var r *message.Result
			if strings.Contains(at, "end") || strings.Contains(at, "last") {
				s.Finish(result)
				if r = result; at == "while the last one is on its way" {
					batch(func(name string) bool { return name == "while the sink tries" })
				}
			}
			s.GiveUp(r, "no space")
			if record := s.Record(); dies && !record.Done {
				s = FromRecord(message.JobOf("a"), "t.star", record, sentAt)
				if s.Stage() == Loading {
					require.True(t, s.Load(file, 2), at)
				}
			}
			s.Cut(outputtest.Status(41*time.Second, nil, 400))
			s.Finish(result)
			s.Finish(result)
			require.Equal(t, Recording, s.Stage(), at)
			s.Saved()
			got := s.Report(60 * time.Second)
			require.Equal(t, uint64(600), delivered+got.LostRequests, "%s, dies %v: %+v", at, dies, got)
			require.True(t, got.Done && got.Failed == "no space" && got.Lost > 0 && got.Behind == 0, "%s: %+v", at, got)
		}
	}
}

// A new owner tells no lag before it has the file that knows how far the sink is: it would be that of the whole job.
func TestANewOwnerDoesNotKnowTheLag(t *testing.T) {
	told := record.Sink{Name: "lake", Window: time.Second, Number: 3, File: message.FileDigest{1}, Delivered: 7}
	got := FromRecord(message.JobOf("a"), "t.star", told, sentAt).Report(time.Hour)
	require.Equal(t, message.SinkReport{Name: "lake", Delivered: 7}, got)
}

// OUTPUT-5: a sink that takes nothing makes rows wider, and holds no more than its bounds.
func TestASinkThatFallsBehind(t *testing.T) {
	s := NewStream(message.JobOf("a"), "t.star", Sink{Name: "lake", Window: time.Second}, sentAt)
	for i := range 100 {
		s.Cut(outputtest.Status(time.Duration(i)*time.Second, nil, uint64(10*i)))
		if i == 1 {
			_, ok := s.Next()
			require.True(t, ok)
		}
	}
	require.Equal(t, pendingWindows, s.windows)
	require.Equal(t, uint64(99), s.Report(99*time.Second).Behind)
	require.Equal(t, 98*time.Second, s.Report(99*time.Second).Since)
	s.Finish(outputtest.Result(100*time.Second, nil, 1000))
	total := s.tally.requests
	for i := range s.pending {
		total += Requests(&s.pending[i])
	}
	require.Equal(t, uint64(1000), total)
}

// A job of so many steps that distributions fit no file has counts alone, from then on. Beyond that its sink is given up.
func TestJobsOfManySteps(t *testing.T) {
	wide := func(steps, buckets int) *Stream {
		var h stats.Histogram
		for i := range buckets {
			h.Record(uint64(1000 + i*i*i))
		}
		s := NewStream(message.JobOf("a"), "t.star", Sink{Name: "lake", Window: time.Second}, sentAt)
		status := outputtest.Status(time.Second, nil, 100)
		list := &status.Datacenters[0].Workflows[0].Stats.Steps
		one := (*list)[0]
		one.Latency = h.Wire()
		for i := range steps {
			one.Name = fmt.Sprintf("step %d", i)
			*list = append(*list, one)
		}
		s.Cut(status)
		return s
	}
	s := wide(1000, 1000)
	file, ok := s.Next()
	require.True(t, ok)
	b, _, err := Read(file)
	require.NoError(t, err)
	for i := range b.Rows {
		if f := b.Rows[i].Figures; f != nil && (f.Begun != 100 || !f.Blunt || f.Latency.Count > 0) {
			t.Fatalf("%+v", b.Rows[i])
		}
	}
	s.Cut(outputtest.Status(2*time.Second, nil, 130))
	require.Len(t, s.pending, 2)
	require.True(t, s.pending[0].Figures.Blunt)
	s = wide(4000, 10)
	_, ok = s.Next()
	require.False(t, ok)
	require.True(t, s.Failed())
	require.Contains(t, s.Record().Failed, "declare fewer steps")
}

func TestSinks(t *testing.T) {
	good := []Sink{{Name: "warehouse", Window: 10 * time.Second, Default: true}, {Name: "lake", Window: time.Minute}, {Name: "audit", Window: time.Second, Default: true}}
	require.NoError(t, CheckSinks(good))
	for _, bad := range []struct {
		with Sink
		want string
	}{
		{Sink{Name: "none", Window: time.Second}, `sink "none"`},
		{Sink{Name: "", Window: time.Second}, `sink ""`},
		{Sink{Name: "Lake", Window: time.Second}, `sink "Lake"`},
		{Sink{Name: strings.Repeat("a", 65), Window: time.Second}, "must be 1 to 64"},
		{Sink{Name: "lake", Window: time.Second}, `"lake" is configured twice`},
		{Sink{Name: "x", Window: 2 * time.Second}, "window = 2s"},
	} {
		require.ErrorContains(t, CheckSinks(append(good[:3:3], bad.with)), bad.want)
	}
	require.ErrorContains(t, CheckSinks(make([]Sink, SinksMax+1)), "17 sinks")
	for _, c := range []struct {
		names []string
		sent  uint64
		want  []string
		err   string
	}{
		{nil, 1, []string{"audit", "warehouse"}, ""},
		{nil, 0, nil, ""},
		{[]string{"none"}, 1, nil, ""},
		{[]string{"none"}, 0, nil, ""},
		{[]string{"lake"}, 1, []string{"lake"}, ""},
		{[]string{"warehouse", "lake"}, 1, []string{"lake", "warehouse"}, ""},
		{[]string{"lake"}, 0, nil, "sent = 0"},
		{[]string{"lake", "lake"}, 1, nil, "named twice"},
		{[]string{"lake", "pond"}, 1, nil, `sink "pond" is not configured: known are warehouse lake audit`},
	} {
		got, err := Chosen(good, c.names, c.sent)
		var names []string
		for _, s := range got {
			names = append(names, s.Name)
		}
		require.Equal(t, c.want, names, "%v", c.names)
		if c.err == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, c.err)
		}
	}
}
