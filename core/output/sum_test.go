package output

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/output/outputtest"
)

// ofStep are the sums of one step of forward additions, without its distribution if that is blunt.
func (l *sums) ofStep(key string, blunt bool) map[string]int64 {
	out := map[string]int64{}
	//lint:orderfree each is copied by itself
	for name, n := range l.counts {
		if what, is := strings.CutPrefix(name, key+" "); is && n != 0 && !(blunt && (what == "count" || strings.HasPrefix(what, "bucket"))) {
			out[what] = n
		}
	}
	return out
}

// sumOf is what a row says itself, in the same words.
func sumOf(t *rapid.T, r *Row, blunt bool) map[string]int64 {
	one, key := newSums(), r.Datacenter+"/"+r.Workflow+"/"+r.Step
	one.add(t, []Row{{Kind: RowWindow, Datacenter: r.Datacenter, Workflow: r.Workflow, Step: r.Step, To: 1, Figures: r.Sum}})
	return one.ofStep(key, blunt)
}

// OUTPUT-8: whatever is lost, forgotten and skipped, and however many windows a batch has, a row's sum is that of all rows
// of its step before it and of itself, and the last one is the result.
func TestSumsAreThoseOfAllRowsBefore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{t: t, lost: map[string][]message.LostAttempt{}}
		for _, d := range []string{"east", "east", "east", "west"} {
			w.shards = append(w.shards, &shard{datacenter: d, steps: map[string]*sum{}})
		}
		f, all, last := New(message.JobOf("a"), "t.star", 10*time.Second, time.Unix(1000, 0)), newSums(), map[string]*Row{}
		var batch []Row
		judge := func() {
			f.Sum(batch)
			for i := range batch {
				r := &batch[i]
				if r.Kind != RowWindow && r.Kind != RowLost {
					continue
				}
				key := r.Datacenter + "/" + r.Workflow + "/" + r.Step
				all.add(t, []Row{*r})
				// A sum goes back from the newest one: behind a row without a distribution it has none, either.
				blunt := all.blunt[key] || slices.ContainsFunc(batch[i:], func(o Row) bool {
					return o.Figures != nil && o.Figures.Blunt && key == o.Datacenter+"/"+o.Workflow+"/"+o.Step
				})
				if d := cmp.Diff(all.ofStep(key, blunt), sumOf(t, r, blunt)); d != "" || r.Sum.Blunt && !blunt {
					t.Fatalf("the sum of %s: %s", line(r), d)
				}
				last[key] = r
			}
			batch = nil
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				w.lose()
			case 1, 2, 3:
				w.now += time.Duration(rapid.IntRange(1, 25).Draw(t, "seconds")) * time.Second
				s := &message.JobStatus{Job: message.JobOf("a"), State: message.JobRunning, Elapsed: w.now, Datacenters: w.datacenters(rapid.IntRange(-3, 3).Draw(t, "forgets"))}
				batch = append(batch, f.Apply(s)...)
				if rapid.Bool().Draw(t, "the batch ends") {
					judge()
				}
			default:
				w.load()
			}
		}
		end := f.Finish(w.result(), Run{})
		batch = append(batch, end...)
		judge()
		for i := range end {
			r := &end[i]
			key := r.Datacenter + "/" + r.Workflow + "/" + r.Step
			if r.Kind == RowResult && last[key] != nil && last[key].Sum.Begun != r.Figures.Begun {
				t.Fatalf("the last sum of %s is %d, and the result %d", key, last[key].Sum.Begun, r.Figures.Begun)
			}
		}
	})
}

// OUTPUT-8: the next owner gives the rows of a file the same sums, and takes nothing from the ledger by that.
func TestSumsFollowFromAFile(t *testing.T) {
	b, l := sample()
	file := b.Append(nil, l)
	l.Sum(b.Rows)
	got, ledger, err := Read(file)
	require.NoError(t, err)
	ledger.Sum(got.Rows)
	if d := cmp.Diff(b.Rows, got.Rows, cmpopts.EquateEmpty()); d != "" {
		t.Fatal(d)
	}
	var told []string
	for i := range got.Rows {
		if r := &got.Rows[i]; r.Datacenter == "east" && r.Sum != nil {
			told = append(told, fmt.Sprintf("%s %v: %d begun, %d in", r.Kind, r.To, r.Sum.Begun, r.Sum.Latency.Count))
		}
	}
	require.Equal(t, []string{"window 10s: 100 begun, 100 in", "lost 20s: 80 begun, 80 in", "window 25s: 95 begun, 95 in"}, told)
	ledger.Own(7)
	require.Equal(t, file, got.Append(nil, ledger))
}

// TestSumsOfBluntRows: a distribution that no report tells is in no sum, and counts are.
func TestSumsOfBluntRows(t *testing.T) {
	l := New(message.JobOf("a"), "t.star", 10*time.Second, time.Unix(1000, 0))
	rows := l.Apply(outputtest.Status(10*time.Second, nil, 100))
	l.Blunt()
	rows = append(rows, l.Apply(outputtest.Status(20*time.Second, nil, 130))...)
	l.Sum(rows)
	begun := map[uint64]bool{}
	for i := range rows {
		if s := rows[i].Sum; s != nil {
			begun[s.Begun] = true
			require.True(t, s.Blunt, line(&rows[i]))
			require.Zero(t, s.Latency.Count)
		}
	}
	require.Equal(t, map[uint64]bool{100: true, 130: true}, begun)
}
