package outputs

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"hyperscale/core/message"
)

// Verdicts of Verify.
const (
	windowsAreWhole = "windows are the result and what was lost"
	noResult        = "has no result row: the job runs, or its end was not delivered"
)

// Verified is what a place has of one step.
type Verified struct {
	Datacenter, Workflow, Step string
	Kind                       string // of the step, as formats write it: a step and a request of a function may share a name
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
	ended   uint64 // requests of the result
}

// Verification is what a place has of a job.
type Verification struct {
	Steps    []Verified
	Ended    bool   // it has the job's end
	Requests uint64 // of the job, as its end says
	Wrong    []string
}

// Whole says that nothing is missing.
func (v *Verification) Whole() bool {
	return len(v.Wrong) == 0 && !slices.ContainsFunc(v.Steps, func(s Verified) bool { return !s.Whole })
}

// stepOf names a step in a datacenter; the whole job has no datacenter.
type stepOf struct {
	datacenter, workflow, step string
	kind                       message.StepKind
}

// Verify compares rows that were read back: windows = result + lost, for each step, by count, status, kind of error and
// bucket; the results with the requests that the job's end counts; and the datacenters' results with the whole job's. Of
// rows with one key the greatest version counts.
func Verify(rows []Row) (out Verification) {
	newest := map[string]*Row{}
	for i := range rows {
		r := &rows[i]
		if old := newest[r.Key()]; old == nil || bytes.Compare(old.Version[:], r.Version[:]) < 0 {
			newest[r.Key()] = r
		}
	}
	all := map[stepOf]*sums{}
	for i := range rows {
		r := &rows[i]
		if newest[r.Key()] != r {
			continue
		}
		if r.Run != nil && !r.Run.Ended.IsZero() {
			out.Ended, out.Requests = true, r.Run.Requests
		}
		if r.Step == "" || r.Figures == nil || r.Kind == RowCheck {
			continue
		}
		k := stepOf{r.Datacenter, r.Workflow, r.Step, r.StepKind}
		if all[k] == nil {
			all[k] = &sums{Verified: Verified{Datacenter: r.Datacenter, Workflow: r.Workflow, Step: r.Step, Kind: StepKindName(r.StepKind)}, counts: map[string]int64{}}
		}
		all[k].add(r)
	}
	//lint:orderfree they are sorted
	for _, s := range all {
		out.Steps = append(out.Steps, s.judge())
	}
	slices.SortFunc(out.Steps, func(a, b Verified) int {
		return cmp.Or(cmp.Compare(a.Datacenter, b.Datacenter), cmp.Compare(a.Workflow, b.Workflow), cmp.Compare(a.Step, b.Step), cmp.Compare(a.Kind, b.Kind))
	})
	out.Wrong = append(wholeJob(all, &out), datacenters(all)...)
	return out
}

// wholeJob compares the whole job's results with the requests that its end counts.
func wholeJob(all map[stepOf]*sums, v *Verification) []string {
	if !v.Ended {
		return []string{"it has no run row of the job's end: the job runs, or its end was not delivered"}
	}
	flows := map[string]*message.Stats{}
	//lint:orderfree a sum does not depend on order
	for k, s := range all {
		if k.datacenter == "" {
			if flows[k.workflow] == nil {
				flows[k.workflow] = &message.Stats{}
			}
			flow := flows[k.workflow]
			flow.Steps = append(flow.Steps, message.StepStats{Name: k.step, Kind: k.kind, Started: s.ended})
		}
	}
	sum := uint64(0)
	//lint:orderfree a sum does not depend on order
	for _, flow := range flows {
		started, _, _ := flow.Requests()
		sum += started
	}
	if sum != v.Requests {
		return []string{fmt.Sprintf("the results of steps have %d requests, the end of the job says %d", sum, v.Requests)}
	}
	return nil
}

// datacenters compares their results with the whole job's.
func datacenters(all map[stepOf]*sums) (wrong []string) {
	parts, wholes := map[stepOf]uint64{}, map[stepOf]uint64{}
	any := false
	//lint:orderfree a sum does not depend on order
	for k, s := range all {
		to := wholes
		if k.datacenter != "" {
			any, to, k.datacenter = true, parts, ""
		}
		to[k] += s.ended
	}
	//lint:orderfree they are sorted
	for k := range wholes {
		if any && parts[k] != wholes[k] {
			wrong = append(wrong, fmt.Sprintf("%s/%s: the results of datacenters have %d requests, the whole job's has %d", k.workflow, k.step, parts[k], wholes[k]))
		}
		delete(parts, k)
	}
	//lint:orderfree they are sorted
	for k := range parts {
		wrong = append(wrong, fmt.Sprintf("%s/%s: datacenters have it, the whole job has not", k.workflow, k.step))
	}
	slices.Sort(wrong)
	return wrong
}

func (s *sums) add(r *Row) {
	f, sign := r.Figures, int64(1)
	switch r.Kind {
	case RowWindow:
		s.Windows, s.Begun = s.Windows+1, s.Begun+f.Begun
	case RowLost:
		sign, s.Lost = -1, s.Lost+f.Begun
	default:
		sign, s.results, s.ended = -1, s.results+1, s.ended+f.Begun
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
