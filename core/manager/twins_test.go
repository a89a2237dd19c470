package manager

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/plan/plantest"
	"hyperscale/core/uplink"
)

// drawConfig draws a configuration within its legal range.
func drawConfig(t *rapid.T) Config {
	c := Default()
	ms := func(name string, least, most time.Duration) time.Duration {
		return time.Duration(rapid.Int64Range(int64(least/time.Millisecond), int64(most/time.Millisecond)).Draw(t, name)) * time.Millisecond
	}
	c.Datacenter = strings.Repeat("d", rapid.SampledFrom([]int{1, 7, 64}).Draw(t, "datacenter"))
	for i := range rapid.SampledFrom([]int{1, 2, 100}).Draw(t, "gates") {
		c.Gates = append(c.Gates, node.Addr(fmt.Sprintf("g%d:1", i)))
	}
	for i := range rapid.SampledFrom([]int{0, 1, 28}).Draw(t, "seeds") {
		c.Seeds = append(c.Seeds, node.Addr(fmt.Sprintf("s%d:1", i)))
	}
	for i := range rapid.SampledFrom([]int{0, 1, 3, message.OrdinalMax}).Draw(t, "managers") {
		c.Managers = append(c.Managers, node.Addr(fmt.Sprintf("m%d:1", i)))
	}
	c.DriftPPM = rapid.Int64Range(1, 100_000).Draw(t, "drift")
	c.Heartbeat = ms("heartbeat", time.Millisecond, 2*time.Second)
	c.Silence = ms("silence", 2*c.Heartbeat, 2*c.Heartbeat+time.Minute)
	c.QuorumTimeout = ms("quorum", time.Millisecond, 2*time.Second)
	c.SubjobLease = ms("subjob lease", c.QuorumTimeout*10/8+10*time.Millisecond, c.QuorumTimeout*10/8+10*time.Second)
	c.RenewalTimeout = ms("renewal", c.SubjobLease*2+c.Heartbeat, c.SubjobLease*2+c.Heartbeat+time.Minute)
	c.DatacenterLease = ms("datacenter lease", c.Silence*2, c.Silence*2+time.Hour)
	c.SweepInterval = ms("sweep", time.Millisecond, time.Minute)
	c.FileAge = 40*(c.SubjobLease+c.QuorumTimeout+c.SweepInterval) + ms("file age", 0, time.Hour)
	c.ReconnectMin = ms("reconnect", time.Millisecond, time.Second)
	c.ReconnectMax = ms("reconnect max", c.ReconnectMin, time.Minute)
	for _, d := range []*time.Duration{&c.ProgressInterval, &c.Retry, &c.DenialAge, &c.DispatchTimeout, &c.DrainTimeout, &c.Retention, &c.ResultAge} {
		*d = ms("duration", time.Millisecond, 24*time.Hour)
	}
	for _, n := range []struct {
		value *int
		most  int
	}{{&c.SpillAt, spillMax}, {&c.RerunMax, 100}, {&c.DispatchMax, 100}, {&c.SubjobsMax, 4000}, {&c.FinishedMax, 100_000}, {&c.WorkersMax, 100_000}} {
		*n.value = rapid.OneOf(rapid.Just(1), rapid.Just(n.most), rapid.IntRange(1, n.most)).Draw(t, "number")
	}
	return c
}

// pushedOut is one value out of its range, with the key and remedy that its fault must name.
type pushedOut struct {
	key, remedy string
	push        func(c *Config)
}

func durations(c *Config) map[string]*time.Duration {
	return map[string]*time.Duration{
		"progress_interval": &c.ProgressInterval, "retry": &c.Retry, "denial_age": &c.DenialAge, "dispatch_timeout": &c.DispatchTimeout,
		"drain_timeout": &c.DrainTimeout, "retention": &c.Retention, "result_age": &c.ResultAge,
	}
}

func drawPushedOut(t *rapid.T) pushedOut {
	zero := rapid.SampledFrom([]string{"progress_interval", "retry", "denial_age", "dispatch_timeout", "drain_timeout", "retention", "result_age"}).Draw(t, "which duration")
	value := time.Duration(rapid.Int64Range(math.MinInt64, int64(time.Millisecond)-1).Draw(t, "too short"))
	all := []pushedOut{
		{"datacenter", "name the datacenter", func(c *Config) { c.Datacenter = "" }},
		{"datacenter", "name the datacenter", func(c *Config) { c.Datacenter = strings.Repeat("d", 65) }},
		{"gates", "list all gates", func(c *Config) { c.Gates, c.Seeds = nil, nil }},
		{"gates", "list all gates", func(c *Config) { c.Gates = make([]node.Addr, 129) }},
		{zero, "leave it out", func(c *Config) { *durations(c)[zero] = value }},
		{"silence", "one lost heartbeat", func(c *Config) { c.Silence = max(time.Millisecond, 2*c.Heartbeat-1) }},
		{"reconnect_max", "raise it", func(c *Config) { c.ReconnectMin = c.ReconnectMax + time.Millisecond }},
		{"managers", "split the datacenter", func(c *Config) {
			for i := range message.OrdinalMax + 1 {
				c.Managers = append(c.Managers, node.Addr(fmt.Sprintf("n%d:1", i)))
			}
		}},
		{"managers", "list each manager", func(c *Config) { c.Managers = []node.Addr{"b", "a", "b"} }},
		{"drift_ppm", "one part in a hundred", func(c *Config) { c.DriftPPM = 0 }},
		{"drift_ppm", "one part in a hundred", func(c *Config) { c.DriftPPM = 100_001 }},
		{"subjob_lease", "lengthen the lease", func(c *Config) { c.SubjobLease = max(c.QuorumTimeout, time.Millisecond) }},
		{"file_age", "lengthen it", func(c *Config) { c.FileAge = 4*(c.SubjobLease+c.QuorumTimeout) - time.Millisecond }},
		{"renewal_timeout", "before another manager", func(c *Config) { c.RenewalTimeout = c.SubjobLease + c.Heartbeat }},
		{"datacenter_lease", "no cut", func(c *Config) { c.DatacenterLease = c.Silence }},
	}
	for _, n := range []struct {
		key  string
		most int
		of   func(c *Config) *int
	}{
		{"spill_at", spillMax, func(c *Config) *int { return &c.SpillAt }}, {"rerun_max", 100, func(c *Config) *int { return &c.RerunMax }},
		{"dispatch_max", 100, func(c *Config) *int { return &c.DispatchMax }}, {"subjobs_max", 4000, func(c *Config) *int { return &c.SubjobsMax }},
		{"finished_max", 100_000, func(c *Config) *int { return &c.FinishedMax }}, {"workers_max", 100_000, func(c *Config) *int { return &c.WorkersMax }},
	} {
		all = append(all,
			pushedOut{n.key, "leave it out", func(c *Config) { *n.of(c) = 0 }},
			pushedOut{n.key, "leave it out", func(c *Config) { *n.of(c) = n.most + 1 }})
	}
	return rapid.SampledFrom(all).Draw(t, "pushed out")
}

// A configuration within its range is valid. With one value pushed out it reports one fault,
// which names that value's key and the remedy.
func TestOneFaultIsNamedAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawConfig(t)
		if err := c.Validate(); err != nil {
			t.Fatalf("within its range, and yet: %v", err)
		}
		m := New(c)
		if err := m.quorumConfig("m1:1", []node.Addr{"m1:1"}, uplink.Default()).Validate(); err != nil {
			t.Fatalf("a manager's range is none of its registers: %v", err)
		}
		for range 4 {
			spoiled, out := c, drawPushedOut(t)
			out.push(&spoiled)
			err := spoiled.Validate()
			if err == nil {
				t.Fatalf("manager.%s is out of its range, and nothing is reported", out.key)
			}
			faults := strings.Split(err.Error(), "\n")
			if len(faults) != 1 || !strings.HasPrefix(faults[0], "manager."+out.key) || !strings.Contains(faults[0], out.remedy) {
				t.Fatalf("manager.%s is out of its range; want one fault that says %q, got:\n%v", out.key, out.remedy, err)
			}
		}
	})
}

// However many workers there are, at most 64 have their own share, those in trouble first, in
// their order. The last share sums up the others, so that nothing is lost.
func TestFewerSharesSumUpTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []*tally
		n := rapid.SampledFrom([]int{0, 3, workersTold, workersTold + 1, 120}).Draw(t, "workers")
		bad := rapid.SampledFrom([]int{0, 3, 100}).Draw(t, "in trouble of a hundred")
		var whole message.WorkerShare
		troubles := 0
		for i := range n {
			w := message.WorkerShare{
				Node: fmt.Sprintf("w%03d", i), State: message.WorkerState(rapid.IntRange(1, 3).Draw(t, "state")), CoresTotal: 4, Cores: uint32(i), VUs: uint64(i),
				Active: 1, Started: uint64(i), BusyMax: uint32(rapid.IntRange(0, 1000).Draw(t, "busy")), Elapsed: time.Duration(i),
			}
			w.State = rapid.SampledFrom([]message.WorkerState{message.WorkerAssigned, message.WorkerRunning, message.WorkerDone}).Draw(t, "well")
			if rapid.IntRange(0, 99).Draw(t, "trouble") < bad {
				switch rapid.IntRange(0, 2).Draw(t, "which trouble") {
				case 0:
					w.State = rapid.SampledFrom([]message.WorkerState{message.WorkerAway, message.WorkerSuspect, message.WorkerDraining, message.WorkerLost}).Draw(t, "ill")
				case 1:
					w.Saturated = true
				default:
					w.Lost = 2
				}
				troubles++
			}
			sumShare(&whole, &w)
			all = append(all, &tally{share: w})
		}
		told := fewer(all)
		var sum message.WorkerShare
		named, ill := 0, 0
		for i := range told {
			if told[i].Others == 0 {
				named++
				if i > 0 && told[i-1].Node >= told[i].Node {
					t.Fatalf("%s is told behind %s", told[i].Node, told[i-1].Node)
				}
				if troubled(&told[i]) {
					ill++
				}
			} else if i != len(told)-1 || int(told[i].Others) != n-named {
				t.Fatalf("share %d of %d stands for %d others, %d of %d are named", i, len(told), told[i].Others, named, n)
			}
			sumShare(&sum, &told[i])
		}
		if named != min(n, workersTold) || ill != min(troubles, workersTold) {
			t.Fatalf("%d of %d are named, %d of %d in trouble", named, n, ill, troubles)
		}
		if diff := cmp.Diff(whole, sum); diff != "" {
			t.Fatalf("of %d workers (-all +told):\n%s", n, diff)
		}
	})
}

// sumShare is a naive sum: counts add up, the worst state wins, and each worker counts once.
func sumShare(to, w *message.WorkerShare) {
	to.Others += max(w.Others, 1)
	to.CoresTotal, to.Cores, to.VUs = to.CoresTotal+w.CoresTotal, to.Cores+w.Cores, to.VUs+w.VUs
	to.Active, to.Started, to.Lost = to.Active+w.Active, to.Started+w.Started, to.Lost+w.Lost
	to.BusyMax, to.Elapsed, to.Saturated = max(to.BusyMax, w.BusyMax), max(to.Elapsed, w.Elapsed), to.Saturated || w.Saturated
}

// TestDispatchesWithinTheirBoundsAreAccepted: a manager accepts a dispatch whose values are all
// within their bounds. It rejects the same dispatch with one bound broken, and names the key.
// Of plans it rejects exactly those that plan.Check rejects.
func TestDispatchesWithinTheirBoundsAreAccepted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		legal := plantest.Legal(t)
		dispatch := func(p *message.Plan) *message.JobDispatch {
			return &message.JobDispatch{Fence: message.Fence{JobEpoch: 1}, RunTimeout: time.Second, Plan: *p}
		}
		if why := badPlan(dispatch(legal)); why != "" {
			t.Fatalf("within its bounds, and yet: %s", why)
		}
		for _, b := range plantest.Breaches() {
			p := plantest.Copy(t, legal)
			key := b.Set(t, p, &p.Workflows[rapid.IntRange(0, len(p.Workflows)-1).Draw(t, "workflow")])
			if why := badPlan(dispatch(p)); key != "" && !strings.Contains(why, key+" = ") && !strings.Contains(why, " more") {
				t.Fatalf("%s: %q is out of its bounds: %q", b.Name, key, why)
			}
		}
		for _, bad := range []struct {
			want  string
			spoil func(d *message.JobDispatch)
		}{
			{"fence = 0.0.0", func(d *message.JobDispatch) { d.Fence.JobEpoch = 0 }},
			{"fence = 1.0.1", func(d *message.JobDispatch) { d.Fence.Attempt = 1 }},
			{"run_timeout = 0s", func(d *message.JobDispatch) { d.RunTimeout = 0 }},
		} {
			d := dispatch(legal)
			if bad.spoil(d); !strings.Contains(badPlan(d), bad.want) {
				t.Fatalf("%s: %q", bad.want, badPlan(d))
			}
		}
	})
}
