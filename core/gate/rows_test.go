package gate_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hyperscale/core/event"
	"hyperscale/core/gate"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/output"
	"hyperscale/core/stats"
)

// shop is a group of gates that run one job, and a sink that keeps rows by their keys.
type shop struct {
	*cluster
	t        *testing.T
	job      message.JobID
	fence    message.Fence
	sequence uint64
	rows     map[string]output.Row
	batches  map[uint64]string // by number: what went out under it
	ended    []event.SinkEnded
}

func newShop(t *testing.T, outputs ...string) *shop {
	c := shortLease()
	c.Sinks = []output.Sink{{Name: "lake", Window: 10 * time.Second, Default: true}, {Name: "audit", Window: time.Minute}}
	c.OutputTimeout = time.Minute
	s := &shop{cluster: newCluster(t, 3, c), t: t, rows: map[string]output.Row{}, batches: map[uint64]string{}}
	for _, m := range s.gates {
		m.listen(managerPeer("m1"))
		seen := m.world.WatchEvent
		m.world.WatchEvent = func(e node.Event) {
			seen(e)
			if e, ok := e.(event.SinkEnded); ok {
				s.ended = append(s.ended, e)
			}
		}
	}
	s.time(2*time.Second, nil)
	submit := s.gates[0].submission("k", []string{"a"}, 2)
	submit.Sent, submit.Outputs.List = 1_700_000_000_000, outputs
	submit.Plan.Workflows[0].Duration = time.Hour
	s.gates[0].deliver("c1", submit)
	s.pump()
	s.job = message.JobOf("k")
	return s
}

// run makes the manager take the job up.
func (s *shop) run() *member {
	m := s.owner()
	d, n := last[*message.JobDispatch](m, "m1")
	require.Positive(s.t, n)
	s.fence = d.Fence
	s.fence.SubjobEpoch = 1
	m.deliver("m1", &message.JobAccepted{Job: s.job, Fence: s.fence})
	s.pump()
	return m
}

func (s *shop) owner() *member {
	for _, m := range s.gates {
		if m.name == s.holder[s.job] {
			return m
		}
	}
	s.t.Fatal("no gate owns the job")
	return nil
}

func (s *shop) listed() []message.SubjobRef { return []message.SubjobRef{{Job: s.job, Fence: s.fence}} }

// after lets time pass, then reports so many requests to the owner.
func (s *shop) after(d time.Duration, requests uint64) {
	s.time(d, s.listed())
	var h stats.Histogram
	h.RecordN(1_000_000, requests)
	s.sequence++
	s.owner().deliver("m1", &message.JobProgress{Job: s.job, Fence: s.fence, Sequence: s.sequence, Subjob: message.DatacenterResult{
		Name: "a", State: message.JobRunning, Workflows: []message.WorkflowResult{{Name: "load", State: message.WorkflowRunning, Stats: message.Stats{
			Steps: []message.StepStats{{Name: "get", Kind: message.StepRequest, Started: requests, OK: requests, Latency: h.Wire()}},
		}}},
	}})
	s.pump()
	s.time(time.Second, s.listed())
}

// take lets the sink take what the owner's host has, and answers if it shall.
func (s *shop) take(answers string) (n int) {
	m := s.owner()
	for _, d := range m.world.Deliveries() {
		b, _, err := output.Read(d.Batch)
		require.NoError(s.t, err)
		text := fmt.Sprintf("%s %x", d.Sink, d.Batch)
		if was := s.batches[b.Number]; was != "" {
			require.Equal(s.t, was, text, "batch %d", b.Number)
			require.True(s.t, d.Again)
		}
		s.batches[b.Number] = text
		for _, r := range b.Rows {
			s.rows[r.Key()] = r
		}
		n++
		switch answers {
		case "done":
			m.world.Delivered(node.Delivered{ID: d.ID, Verdict: node.DeliveryDone})
		case "failed":
			m.world.Delivered(node.Delivered{ID: d.ID, Verdict: node.DeliveryFailed, Why: "no space"})
		case "unconfigured":
			m.world.Delivered(node.Delivered{ID: d.ID, Verdict: node.DeliveryUnconfigured, Why: "sink lake is not configured on " + m.name})
		}
		s.pump()
	}
	s.time(time.Second, s.listed())
	return n
}

func (s *shop) requests() (windows, lost, result uint64) {
	//lint:orderfree sums
	for _, r := range s.rows {
		switch n := output.Requests(&r); {
		case r.Kind == output.RowWindow:
			windows += n
		case r.Kind == output.RowLost && r.Datacenter == "":
			lost += r.Figures.Begun
		case r.Kind == output.RowResult && r.Datacenter == "":
			result += r.Figures.Begun
		}
	}
	return windows, lost, result
}

func (s *shop) end(requests uint64) {
	s.owner().deliver("m1", subjobResult(s.job, s.fence, "a", message.JobCompleted, requests, ""))
	s.pump()
	s.time(time.Second, nil)
}

// status asks a gate for the job.
func (s *shop) status(m *member) *message.JobStatus {
	m.deliver("c1", &message.JobQuery{Request: m.ask(), Job: s.job})
	s.pump()
	got, n := last[*message.JobStatus](m, "c1")
	require.Positive(s.t, n)
	return got
}

// GATE-15: an owner dies while its sink takes a batch, and another one while the last rows are on their way. Each row is
// there once, and what the windows count is what the result does.
func TestOwnersDieWhileTheyDeliver(t *testing.T) {
	s := newShop(t)
	m := s.run()
	s.after(11*time.Second, 100)
	require.Equal(t, 1, s.take("done"))
	s.after(10*time.Second, 250)
	require.Equal(t, 1, s.take("nothing"))
	m.world.Crash()
	s.depart(m)
	s.time(20*time.Second, s.listed())
	next := s.owner()
	require.NotEqual(t, m.name, next.name)
	require.Equal(t, 1, s.take("done"), "the batch of the former owner")
	s.run()
	s.after(10*time.Second, 400)
	require.Equal(t, 1, s.take("done"))
	s.end(500)
	status := s.status(next)
	require.Equal(t, message.JobCompleted, status.State, "the end is reported at once")
	require.False(t, status.Sinks.List[0].Done)
	require.Equal(t, uint64(1), status.Sinks.List[0].Behind)
	require.Equal(t, 1, s.take("nothing"))
	m.world.Start()
	m.world.Accept(client("c1"))
	s.time(10*time.Second, nil)
	next.world.Crash()
	s.depart(next)
	s.time(30*time.Second, nil)
	third := s.owner()
	require.NotEqual(t, next.name, third.name)
	require.Equal(t, 1, s.take("done"), "the last batch")
	require.Len(t, s.ended, 1)
	windows, lost, result := s.requests()
	require.Equal(t, [3]uint64{500, 0, 500}, [3]uint64{windows, lost, result})
	if got := s.status(third).Sinks.List[0]; !got.Done || got.Failed != "" || got.Lost > 0 || got.Behind > 0 {
		t.Fatalf("at the end: %+v", got)
	}
	require.Zero(t, s.take("done"), "nothing follows")
}

// A sink that is given up, by its host or because its time is over, holds the register no longer, and its report says
// what it lacks.
func TestSinksAreGivenUp(t *testing.T) {
	for _, c := range []struct{ answers, why string }{{"failed", "no space"}, {"nothing", "gate.output_timeout"}} {
		s := newShop(t)
		m := s.run()
		s.after(11*time.Second, 100)
		s.take("done")
		s.after(10*time.Second, 250)
		s.take(c.answers)
		s.end(500)
		s.time(70*time.Second, nil)
		require.Len(t, s.ended, 1, c.why)
		require.Contains(t, s.ended[0].Failed, c.why)
		require.Equal(t, uint64(400), s.ended[0].LostRequests)
		require.Empty(t, m.world.Deliveries())
		got := s.status(m).Sinks.List[0]
		require.True(t, got.Done && got.LostRequests == 400, "%+v", got)
	}
}

// A host without the sink is asked again.
func TestASinkThatOneGateLacks(t *testing.T) {
	s := newShop(t, "lake")
	s.run()
	s.after(11*time.Second, 100)
	require.Equal(t, 1, s.take("unconfigured"))
	require.Contains(t, s.status(s.owner()).Sinks.List[0].Why, "is not configured on")
	s.time(6*time.Second, s.listed())
	for _, d := range s.owner().world.Deliveries() {
		require.False(t, d.Again, "no sink has had it")
		s.batches = map[uint64]string{}
	}
	require.Equal(t, 1, s.take("done"))
}

// A job gets the default sinks, those that it names, or none.
func TestTheSinksOfAJob(t *testing.T) {
	for _, c := range []struct {
		outputs []string
		want    []string
	}{{nil, []string{"lake"}}, {[]string{"audit", "lake"}, []string{"audit", "lake"}}, {[]string{"none"}, nil}} {
		s := newShop(t, c.outputs...)
		var names []string
		for _, r := range s.status(s.owner()).Sinks.List {
			names = append(names, r.Name)
		}
		require.Equal(t, c.want, names)
	}
	s := newShop(t, "pond")
	got, n := last[*message.Refused](s.gates[0], "c1")
	require.Equal(t, 1, n)
	require.Equal(t, message.CodeUnknownSink, got.Code)
	require.Contains(t, got.Detail, `sink "pond" is not configured: known are lake audit`)
	c := gate.Default()
	c.Sinks = []output.Sink{{Name: "Lake", Window: time.Second}}
	require.ErrorContains(t, c.Validate(), `sink "Lake"`)
}

// A gate that adopts a job reports again the end of a sink that a former owner has seen, and says so.
func TestASuccessorReportsEndsAgain(t *testing.T) {
	s := newShop(t, "audit", "lake")
	deliver := func(sinks ...string) {
		for range 3 {
			m := s.owner()
			for _, d := range m.world.Deliveries() {
				if slices.Contains(sinks, d.Sink) {
					m.world.Delivered(node.Delivered{ID: d.ID, Verdict: node.DeliveryDone})
				}
			}
			s.pump()
			s.time(time.Second, nil)
		}
	}
	m := s.run()
	s.after(11*time.Second, 100)
	s.end(500)
	deliver("lake")
	m.world.Crash()
	s.depart(m)
	s.time(20*time.Second, nil)
	require.NotEqual(t, m.name, s.owner().name)
	deliver("audit", "lake")
	var got []string
	for _, e := range s.ended {
		got = append(got, fmt.Sprintf("%s %v", e.Sink, e.Again))
	}
	require.Equal(t, []string{"lake false", "lake true", "audit false"}, got)
}

// A gate that drains persists first that the sink has the newest batch: the next owner sends nothing again.
func TestADrainSendsNoRowsAgain(t *testing.T) {
	s := newShop(t)
	m := s.run()
	s.after(11*time.Second, 100)
	require.Equal(t, 1, s.take("done"))
	s.drain(m, false)
	s.time(2*time.Second, s.listed())
	next := s.owner()
	require.NotEqual(t, m.name, next.name)
	require.Zero(t, s.take("done"), "the sink has that batch")
	s.run()
	s.after(10*time.Second, 250)
	require.Equal(t, 1, s.take("done"))
	s.end(500)
	require.Equal(t, 1, s.take("done"))
	windows, lost, result := s.requests()
	require.Equal(t, [3]uint64{500, 0, 500}, [3]uint64{windows, lost, result})
}

// alone leaves the sink to one gate: the others start again without it.
func (s *shop) alone(m *member) {
	for _, o := range s.gates {
		if o != m {
			s.depart(o)
			o.world.Crash()
			o.config.Sinks = o.config.Sinks[1:]
			o.world.Start()
			o.world.Accept(client("c1"))
			s.time(10*time.Second, s.listed())
		}
	}
}

// A gate without the sink makes the first batch of a job. It tells the gate that has the sink that none had the batch: for that
// one it is new.
func TestABatchThatNoSinkHadIsNew(t *testing.T) {
	s := newShop(t, "lake")
	m := s.run()
	s.alone(m)
	s.depart(m)
	m.world.Crash()
	s.time(20*time.Second, s.listed())
	other := s.run()
	require.NotEqual(t, m.name, other.name)
	s.after(11*time.Second, 100)
	require.Equal(t, 1, s.take("unconfigured"))
	m.world.Start()
	m.world.Accept(client("c1"))
	for range 5 {
		if clear(s.batches); s.owner() == other {
			s.take("unconfigured")
		}
		s.time(4*time.Second, s.listed())
	}
	require.Equal(t, m.name, s.owner().name)
	d := m.world.Deliveries()
	require.Len(t, d, 1)
	require.False(t, d[0].Again, "no sink had it")
}

// A gate that drains takes no job for its sinks.
func TestADrainingGateGetsNoJobForItsSinks(t *testing.T) {
	s := newShop(t, "lake")
	m := s.run()
	s.after(11*time.Second, 100)
	require.Equal(t, 1, s.take("nothing"))
	s.alone(m)
	s.depart(m)
	m.world.Crash()
	s.time(20*time.Second, s.listed())
	other := s.owner()
	m.world.Start()
	m.world.Accept(client("c1"))
	s.drain(m, false)
	grants := maps.Clone(s.grants)
	pass := func() {
		for range 4 {
			if s.owner() == other {
				s.take("unconfigured")
			}
			s.time(4*time.Second, s.listed())
		}
	}
	pass()
	require.Equal(t, grants, s.grants, "the job stays where it is")
	s.drain(m, true)
	pass()
	require.Equal(t, m.name, s.owner().name)
}

// GATE-16: a gate keeps a job if it lacks only sinks that get no more rows: they have all, or are given up.
func TestAGateKeepsAJobWhoseOtherSinksItHas(t *testing.T) {
	for _, verdict := range []node.DeliveryVerdict{node.DeliveryDone, node.DeliveryFailed} {
		s := newShop(t, "audit", "lake")
		m := s.run()
		s.alone(m)
		s.after(11*time.Second, 100)
		if verdict == node.DeliveryDone {
			s.end(500)
		}
		answer := func(sink string, v node.DeliveryVerdict) {
			for range 3 {
				m := s.owner()
				for _, d := range m.world.Deliveries() {
					if d.Sink == sink {
						m.world.Delivered(node.Delivered{ID: d.ID, Verdict: v, Why: "full"})
					}
				}
				s.pump()
				s.time(time.Second, s.listed())
			}
		}
		answer("lake", verdict)
		s.depart(m)
		m.world.Crash()
		s.time(20*time.Second, s.listed())
		other := s.owner()
		require.NotEqual(t, m.name, other.name)
		m.world.Start()
		m.world.Accept(client("c1"))
		if verdict == node.DeliveryFailed {
			s.run()
			s.after(61*time.Second, 250)
		}
		for range 3 {
			answer("audit", node.DeliveryUnconfigured)
			s.time(4*time.Second, s.listed())
			require.Equal(t, other.name, s.owner().name, verdict)
		}
	}
}

// GATE-16: a gate without a job's sink keeps the rows while no other gate has that sink, and hands the job over once one does.
func TestAJobGoesToAGateThatHasItsSinks(t *testing.T) {
	s := newShop(t, "lake")
	m := s.run()
	s.after(11*time.Second, 100)
	require.Equal(t, 1, s.take("nothing"))
	s.alone(m)
	s.depart(m)
	m.world.Crash()
	s.time(20*time.Second, s.listed())
	other := s.owner()
	require.NotEqual(t, m.name, other.name)
	for range 3 {
		require.LessOrEqual(t, s.take("unconfigured"), 1)
		s.time(4*time.Second, s.listed())
		require.Equal(t, other.name, s.owner().name, "no gate that lives has the sink")
	}
	m.world.Start()
	m.world.Accept(client("c1"))
	for range 4 {
		if s.owner() == other {
			s.take("unconfigured")
		}
		s.time(4*time.Second, s.listed())
	}
	require.Equal(t, m.name, s.owner().name)
	require.Equal(t, 1, s.take("done"))
	s.run()
	s.end(500)
	s.take("done")
	windows, lost, result := s.requests()
	require.Equal(t, [3]uint64{500, 0, 500}, [3]uint64{windows, lost, result})
	require.Empty(t, s.ended[len(s.ended)-1].Failed)
}

// The last rows of a job of many steps do not fit into a batch: the sink is given up, its report counts what it lacks, and the
// job's register is held no longer.
func TestTheLastRowsAreTooMany(t *testing.T) {
	s := newShop(t)
	m := s.run()
	s.after(11*time.Second, 100)
	require.Equal(t, 1, s.take("done"))
	r := subjobResult(s.job, s.fence, "a", message.JobCompleted, 500, "")
	steps := &r.Subjob.Workflows[0].Stats.Steps
	for i := range 1000 {
		*steps = append(*steps, message.StepStats{Name: fmt.Sprint(strings.Repeat("x", 730), i), Kind: message.StepRequest, Started: 2, OK: 2})
	}
	m.deliver("m1", r)
	s.pump()
	s.time(5*time.Second, nil)
	require.Len(t, s.ended, 1)
	require.Contains(t, s.ended[0].Failed, "declare fewer steps")
	require.Equal(t, uint64(400+2000), s.ended[0].LostRequests, "%+v", s.ended[0])
	require.Empty(t, m.world.Deliveries())
	s.time(70*time.Second, nil)
	require.Contains(t, s.status(m).Sinks.List[0].Failed, "declare fewer steps")
}
