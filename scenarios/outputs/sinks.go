package outputs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/output"
	"hyperscale/scenarios/cluster"
)

// Sinks of this world. One replaces rows by their keys, the other one adds up.
const (
	exact  = "lake"
	adding = "meter"
)

// place is what one sink has of one job.
type place struct {
	job  string
	sink string
}

// sinks keep what gates deliver.
type sinks struct {
	s     *cluster.Cluster
	rand  *node.Rand
	rows  map[place]map[string]output.Row
	seen  map[place]map[string]bool // rows that came again
	twice map[place]uint64          // their number
	never map[place]uint64          // rows that the sink never takes
	ended map[place]event.SinkEnded
	again int // deliveries of a batch that a former owner may have delivered
}

// Take implements sim.Sinks: a batch arrives whether its gate lives on or not.
func (k *sinks) Take(_ node.ID, d *node.Delivery) (time.Duration, node.Delivered) {
	b, _, err := output.Read(d.Batch)
	if err != nil || b.Sink != d.Sink {
		node.Bug("scenarios/outputs: a gate delivers what is no batch for %s: %v", d.Sink, err)
	}
	out := node.Delivered{Verdict: node.DeliveryDone}
	if d.Again {
		k.again++
	}
	if d.Again && d.Sink == adding {
		out.Twice = uint64(len(b.Rows))
	}
	for i := range b.Rows {
		if refused(&b.Rows[i]) {
			out.Rejected, out.RejectedRequests = out.Rejected+1, out.RejectedRequests+output.Requests(&b.Rows[i])
		}
	}
	arrive := func(after time.Duration) { k.s.World.At(k.s.World.Now()+after, func() { k.arrives(d.Sink, b) }) }
	quick := k.rand.Duration(10*time.Millisecond, 400*time.Millisecond)
	switch k.rand.Int(12) {
	case 0: // it is slow
		slow := k.rand.Duration(2*time.Second, 15*time.Second)
		arrive(slow)
		return slow + quick, out
	case 1, 2: // it loses its answer, and its host tries again
		arrive(quick)
		late := k.rand.Duration(time.Second, 8*time.Second)
		arrive(late)
		if d.Sink == adding {
			out.Twice = uint64(len(b.Rows))
		}
		return late + quick, out
	case 3: // its host is silent: the gate hears nothing for so long
		arrive(quick)
		return k.rand.Duration(5*time.Second, 12*time.Second), out
	}
	arrive(quick)
	return 2 * quick, out
}

// refused says that the sink never takes a row.
func refused(r *output.Row) bool {
	return node.MixString(1, r.Key())%40 == 0 && r.Kind == output.RowWindow
}

func (k *sinks) arrives(sink string, b *output.Batch) {
	p := place{b.Job.String(), sink}
	if k.rows[p] == nil {
		k.rows[p] = map[string]output.Row{}
	}
	for _, r := range b.Rows {
		key := r.Key()
		if r.Kind == output.RowRun && r.Run.Outcome != "" {
			key += "/ended"
		}
		was, has := k.rows[p][key]
		if has && text(&was) != text(&r) {
			k.violate("%s of job %s has row %s as %s, and then as %s", sink, p.job, key, text(&was), text(&r))
		}
		k.rows[p][key] = r
		switch {
		case has && !refused(&r) && !k.seen[p][key]:
			if k.seen[p] == nil {
				k.seen[p] = map[string]bool{}
			}
			k.seen[p][key] = true
			k.twice[p]++
		case !has && refused(&r):
			k.never[p]++
		}
	}
}

// text is what two rows of one key must agree on.
func text(r *output.Row) string {
	if f := r.Figures; f != nil {
		return fmt.Sprintf("%v %v %+v", r.From, r.To, *f)
	}
	return fmt.Sprintf("%v %v %+v %+v", r.From, r.To, r.Run, r.Threshold)
}

func (k *sinks) violate(format string, args ...any) {
	k.s.Checker.Violate("O", checker.Record{At: k.s.World.Now()}, format, args...)
}

// see takes what gates report.
func (k *sinks) see(r checker.Record) {
	if e, ok := r.Event.(event.SinkEnded); ok {
		k.ended[place{e.Job.String(), e.Sink}] = e
	}
}

// judge judges O of each job whose end its client knows.
func (k *sinks) judge() {
	for _, o := range k.s.Orders {
		if !o.Acked || !o.Shown.Terminal() || o.At > k.s.World.Now()-k.s.Within {
			continue
		}
		for _, sink := range []string{exact, adding} {
			p := place{o.Job.String(), sink}
			e, ended := k.ended[p]
			switch {
			case !ended:
				k.violate("job %v has ended, and its sink %s has neither all rows nor a report that it never will", o.Job, sink)
			case e.Failed != "":
				k.lacks(p, e)
			default:
				k.whole(p, e)
			}
		}
	}
}

// lacks judges a sink that was given up: what it has and what is reported as lost is at least what happened.
func (k *sinks) lacks(p place, e event.SinkEnded) {
	var has, result uint64
	for _, key := range slices.Sorted(maps.Keys(k.rows[p])) {
		r := k.rows[p][key]
		if has += output.Requests(&r); r.Kind == output.RowResult && r.Datacenter == "" && r.StepKind.Requests() {
			result += r.Figures.Begun
		}
	}
	if has+e.LostRequests < result {
		k.violate("%s of job %s was given up, has windows of %d requests, lacks at most %d, and the result has %d", p.sink, p.job, has, e.LostRequests, result)
	}
}

// whole judges a sink that has all.
func (k *sinks) whole(p place, e event.SinkEnded) {
	if k.twice[p] > e.Twice && p.sink == adding {
		k.violate("%s of job %s has %d rows twice, of which the gates report %d", p.sink, p.job, k.twice[p], e.Twice)
	}
	if k.never[p] != e.Rejected {
		k.violate("%s of job %s never takes %d rows, of which the gates report %d", p.sink, p.job, k.never[p], e.Rejected)
	}
	type series struct {
		datacenter, workflow, step string
		kind                       message.StepKind
	}
	sums, last := map[series][3]int64{}, map[series]time.Duration{}
	rows := slices.SortedFunc(maps.Values(k.rows[p]), func(a, b output.Row) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Key(), b.Key())) })
	results := 0
	for i := range rows {
		r := &rows[i]
		sign := map[output.RowKind]int64{output.RowWindow: 1, output.RowLost: -1, output.RowResult: -1}[r.Kind]
		if sign == 0 {
			continue
		}
		of := series{r.Datacenter, r.Workflow, r.Step, r.StepKind}
		if r.Kind == output.RowWindow {
			if r.From < last[of] {
				k.violate("%s of job %s has a window of %v from %v on, and one before to %v", p.sink, p.job, of, r.From, last[of])
			}
			last[of] = r.To
		} else if r.Kind == output.RowResult {
			results++
		}
		f, sum := r.Figures, sums[of]
		for n, count := range []uint64{f.Begun, f.OK, f.Failed + f.TimedOut + f.Cancelled} {
			sum[n] += sign * int64(count)
		}
		sums[of] = sum
	}
	for _, of := range slices.SortedFunc(maps.Keys(sums), func(a, b series) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) }) {
		if sums[of] != [3]int64{} {
			k.violate("%s of job %s: windows - lost - result of %v are %v", p.sink, p.job, of, sums[of])
		}
	}
}
