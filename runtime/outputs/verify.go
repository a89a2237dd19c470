package outputs

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
)

// Verdicts of Verify.
const (
	windowsAreWhole = "windows are the result and what was lost"
	noResult        = "has no result row: the job runs, or its end was not delivered"
)

// Verified is what a place has of one step.
type Verified struct {
	Datacenter, Workflow, Step string
	Windows                    int
	Begun, Lost                uint64 // requests in windows, and those that no result counts
	Whole                      bool
	Why                        string // in words
}

// sums add up rows of one step.
type sums struct {
	Verified
	counts  map[string]int64
	blunt   bool
	results int
}

// Verify compares rows that were read back: windows = result + lost, for each step, by count, status, kind of error and
// bucket. Of rows with one key the greatest version counts.
func Verify(rows []Row) []Verified {
	newest := map[string]*Row{}
	for i := range rows {
		r := &rows[i]
		if old := newest[r.Key()]; old == nil || bytes.Compare(old.Version[:], r.Version[:]) < 0 {
			newest[r.Key()] = r
		}
	}
	type step struct{ datacenter, workflow, step, kind string }
	all := map[step]*sums{}
	for i := range rows {
		r := &rows[i]
		if r.Step == "" || r.Figures == nil || r.Kind == RowCheck || newest[r.Key()] != r {
			continue
		}
		k := step{r.Datacenter, r.Workflow, r.Step, StepKindName(r.StepKind)}
		if all[k] == nil {
			all[k] = &sums{Verified: Verified{Datacenter: r.Datacenter, Workflow: r.Workflow, Step: r.Step}, counts: map[string]int64{}}
		}
		all[k].add(r)
	}
	var out []Verified
	//lint:orderfree they are sorted
	for _, s := range all {
		out = append(out, s.judge())
	}
	slices.SortFunc(out, func(a, b Verified) int {
		return cmp.Or(cmp.Compare(a.Datacenter, b.Datacenter), cmp.Compare(a.Workflow, b.Workflow), cmp.Compare(a.Step, b.Step))
	})
	return out
}

func (s *sums) add(r *Row) {
	f, sign := r.Figures, int64(1)
	switch r.Kind {
	case RowWindow:
		s.Windows, s.Begun = s.Windows+1, s.Begun+f.Begun
	case RowLost:
		sign, s.Lost = -1, s.Lost+f.Begun
	default:
		sign, s.results = -1, s.results+1
	}
	s.blunt = s.blunt || f.Blunt
	for _, c := range []struct {
		name string
		n    uint64
	}{{"begun", f.Begun}, {"ok", f.OK}, {"failed", f.Failed}, {"timed_out", f.TimedOut}, {"cancelled", f.Cancelled}, {"dropped", f.Dropped},
		{"skipped", f.Skipped}, {"bytes_in", f.BytesIn}, {"bytes_out", f.BytesOut}} {
		s.counts[c.name] += sign * int64(c.n)
	}
	for _, c := range f.Statuses {
		s.counts["status "+StatusName(c.Status)] += sign * int64(c.Count)
	}
	for _, c := range f.Errors {
		s.counts["error "+c.Kind] += sign * int64(c.Count)
	}
	bounds, counts := f.Buckets()
	for i := range bounds {
		s.counts[fmt.Sprint(bucketPrefix, bounds[i])] += sign * int64(counts[i])
	}
}

const bucketPrefix = "bucket_ns "

func (s *sums) judge() Verified {
	s.Why, s.Whole = windowsAreWhole, true
	if s.results == 0 {
		s.Why, s.Whole = noResult, false
		return s.Verified
	}
	var wrong []string
	//lint:orderfree they are sorted
	for name, n := range s.counts {
		if n != 0 && !(s.blunt && len(name) > len(bucketPrefix) && name[:len(bucketPrefix)] == bucketPrefix) {
			wrong = append(wrong, fmt.Sprintf("%s %+d", name, n))
		}
	}
	if len(wrong) > 0 {
		slices.Sort(wrong)
		s.Why, s.Whole = fmt.Sprintf("windows less result and lost: %s%s", wrong[0], more(len(wrong)-1)), false
	}
	return s.Verified
}

func more(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}
