package gate_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"hyperscale/core/gate"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/output"
)

func (g *cluster) cutApart(_ *testing.T, d *datadriven.TestData) {
	for _, m := range g.gates {
		if d.HasArg(m.name) {
			m.cut = true
			g.depart(m)
		}
	}
}

func (g *cluster) heal(*testing.T, *datadriven.TestData) {
	for _, m := range g.gates {
		m.cut = false
	}
}

func (g *cluster) beats(t *testing.T, d *datadriven.TestData) {
	kept := *d // the test uses it again
	g.beating[d.CmdArgs[0].Key] = &kept
	g.beat(t)
}

// race submits to two gates before either has heard of the other's submission.
func (g *cluster) race(t *testing.T, d *datadriven.TestData) {
	for i, m := range g.gates[:2] {
		client := fmt.Sprintf("c%d", i+1)
		s := m.submission(arg(d, "key", "k"), list(arg(d, "in", "")), number(t, arg(d, client, "4")))
		s.Program.Files[0].Data = make([]byte, 8)
		m.deliver(client, s)
	}
}

func (g *cluster) hide(_ *testing.T, d *datadriven.TestData) {
	for _, m := range g.gates {
		hide(m, []string{d.CmdArgs[0].Key})
	}
}

// pass advances the clocks of all gates.
func (g *cluster) pass(t *testing.T, d time.Duration) {
	const step = 100 * time.Millisecond
	for ; d > 0; d -= step {
		for _, m := range g.gates {
			m.world.Advance(min(step, d))
			g.pump()
		}
		if g.since += step; g.since >= time.Second {
			g.since = 0
			g.beat(t)
		}
	}
}

// beat makes the managers send heartbeats to all running gates.
func (g *cluster) beat(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(g.beating)) {
		for _, m := range g.gates {
			if !m.world.Running() {
				continue
			}
			id := node.ID(name)
			if len(m.world.StreamsOf(id)) == 0 {
				m.world.Accept(node.Peer{ID: id, Incarnation: 1, Role: node.RoleManager, Addr: node.Addr(name + ":1")})
			}
			for _, o := range g.gates {
				maps.Copy(m.jobs, o.jobs)
			}
			m.deliver(name, m.beat(t, g.beating[name]))
			g.pump()
		}
	}
}

// known is each gate's list of all registers.
func (g *cluster) known() string {
	var b strings.Builder
	for _, m := range g.gates {
		if !m.world.Running() {
			continue
		}
		m.world.Discard = true
		client := m.world.Accept(node.Peer{ID: "operator", Incarnation: 1, Role: node.RoleClient})
		var status *message.ClusterStatus
		seen := m.world.WatchSend
		m.world.WatchSend = func(s node.StreamID, msg node.Message) {
			if c, ok := msg.(*message.ClusterStatus); ok {
				status = c
			}
			seen(s, msg)
		}
		m.world.Receive(client, &message.ClusterQuery{Request: message.RequestID{Counter: 1}})
		m.world.WatchSend, m.world.Discard = seen, false
		m.world.Take()
		for _, l := range status.Leases {
			unheard := map[bool]string{true: " unheard"}[l.Unheard]
			fmt.Fprintf(&b, "%s: %s %v holder=%s token=%v released=%v%s\n", m.name, l.Job.String()[:6], l.State, l.Holder, l.Token, l.Released, unheard)
		}
	}
	return b.String()
}

// tell connects a peer to a gate.
func (m *member) tell(t *testing.T, name, role string) {
	m.world.Run(t, &datadriven.TestData{Cmd: "peer", CmdArgs: []datadriven.CmdArg{
		{Key: name}, {Key: "role", Vals: []string{role}}, {Key: "addr", Vals: []string{name + ":1"}},
	}})
}

func configure(t *testing.T, c *gate.Config, d *datadriven.TestData) {
	for _, a := range d.CmdArgs {
		if a.Key == "sinks" {
			for _, name := range a.Vals {
				c.Sinks = append(c.Sinks, output.Sink{Name: name, Window: 10 * time.Second})
			}
			continue
		}
		n := int(number(t, a.Vals[0]))
		switch a.Key {
		case "queue":
			c.QueueMax = n
		case "watchers":
			c.WatchersMax = n
		case "waiters":
			c.WaitersMax = n
		case "results":
			c.ResultsMax = n
		case "age":
			c.QueueAgeMax = time.Duration(n) * time.Second
		case "jobs":
			c.JobsMax = n
		case "letters":
			c.LettersMax = n
		case "rate":
			c.DispatchRateMax = n
		case "target":
			c.DispatchTarget = time.Duration(n) * time.Second
		case "retain":
			c.LetterAge = time.Duration(n) * time.Second
		case "step":
			c.QueueStep = time.Duration(n) * time.Second
		default:
			t.Fatalf("no such bound: %s", a.Key)
		}
	}
}

func (m *member) submitted(t *testing.T, d *datadriven.TestData) *message.JobSubmit {
	s := m.submission(arg(d, "key", "k"), list(arg(d, "in", "")), number(t, arg(d, "vus", "4")))
	s.Program.Files[0].Data = make([]byte, number(t, arg(d, "files", "8")))
	s.RunTimeout = span(t, arg(d, "timeout", "0s"))
	s.Rank = message.Rank(slices.Index(message.Ranks(), arg(d, "importance", "medium")))
	s.Deadline = span(t, arg(d, "deadline", "0s"))
	s.Plan.Workflows[0].Duration = span(t, arg(d, "duration", "10s"))
	if arg(d, "layer", "") != "" {
		s.Plan.Workflows[0].Layer = uint32(number(t, arg(d, "layer", "")))
	}
	s.Plan.Workflows[0].Cores = uint32(number(t, arg(d, "cores", "0")))
	if e := arg(d, "threshold", ""); e != "" {
		s.Plan.Workflows[0].Thresholds = []message.Threshold{{Expr: e, Of: message.OfErrors, Op: message.OpBelow, Bound: 10_000}}
	}
	if p := arg(d, "abort", ""); p != "" {
		s.Plan.Workflows[0].AbortWhen = []message.AbortPlan{{For: 3 * time.Second, When: message.Threshold{
			Expr: "get.errors > " + p + "%", Step: "get", Of: message.OfErrors, Op: message.OpAbove, Bound: int64(number(t, p)) * 10_000,
		}}}
	}
	if d.HasArg("after") {
		s.Plan.AfterAll = 1
	}
	s.BestEffort = message.BestEffort{Least: uint32(number(t, arg(d, "least", "0"))), After: span(t, arg(d, "after-all-of", "0s"))}
	s.Count, s.Preferred = uint32(number(t, arg(d, "count", "0"))), list(arg(d, "prefer", ""))
	if d.HasArg("soak") { // a second workflow, which lasts longer
		soak := s.Plan.Workflows[0]
		soak.Name, soak.Duration = "soak", 30*time.Second
		s.Plan.Workflows = append(s.Plan.Workflows, soak)
	}
	if names := arg(d, "outputs", ""); names != "" {
		s.Sent, s.Outputs.List = 1_700_000_000_000, list(names)
	}
	if d.HasArg("unique") {
		s.Plan.Workflows[0].Feed = message.FeedPlan{Name: "people.csv", Rows: 100, Unique: true, AtEnd: message.RowsStop}
	}
	return s
}

// sinks answers all that is on its way to sinks.
func (m *member) sinks(t *testing.T, d *datadriven.TestData) {
	verdict, ok := map[string]node.DeliveryVerdict{"done": node.DeliveryDone, "failed": node.DeliveryFailed, "unconfigured": node.DeliveryUnconfigured}[d.CmdArgs[0].Key]
	if !ok {
		d.Fatalf(t, "no such verdict")
	}
	for _, of := range m.world.Deliveries() {
		m.world.Delivered(node.Delivered{ID: of.ID, Verdict: verdict, Why: arg(d, "why", ""), Rejected: number(t, arg(d, "rejected", "0"))})
	}
}

// codes are what a beat may say that its manager refuses dispatches for.
func codes() map[string]message.Code {
	return map[string]message.Code{"quorum": message.CodeQuorumUnavailable, "joining": message.CodeNotMember, "full": message.CodeQueueFull}
}

func (m *member) beat(t *testing.T, d *datadriven.TestData) *message.ManagerHeartbeat {
	m.beats++
	h := &message.ManagerHeartbeat{
		Datacenter: arg(d, "in", ""), Sequence: number(t, arg(d, "sequence", strconv.FormatUint(m.beats, 10))), Draining: d.HasArg("draining"),
		CoresTotal: uint32(number(t, arg(d, "total", "8"))), CoresFree: uint32(number(t, arg(d, "free", "8"))),
		WorkerSum: uint32(number(t, arg(d, "workers", "2"))), CoresMax: uint32(number(t, arg(d, "max", "0"))),
		Refuses: codes()[arg(d, "refuses", "")], Overdue: span(t, arg(d, "overdue", "0s")),
		Managers: uint32(number(t, arg(d, "managers", "0"))), Suspects: uint32(number(t, arg(d, "suspects", "0"))),
	}
	for i := range min(h.WorkerSum, 4) {
		h.Workers = append(h.Workers, message.WorkerInfo{Node: fmt.Sprintf("%s-w%d", h.Datacenter, i+1), CoresTotal: 4, CoresFree: 4})
	}
	for _, p := range list(arg(d, "subjobs", "")) {
		id, fence, _ := strings.Cut(p, ":")
		h.Subjobs = append(h.Subjobs, message.SubjobRef{Job: m.job(t, id), Fence: fenceOf(t, fence), State: message.JobRunning})
	}
	return h
}

func (m *member) progress(t *testing.T, d *datadriven.TestData) *message.JobProgress {
	ok, failed := number(t, arg(d, "ok", "0")), number(t, arg(d, "failed", "0"))
	w := message.WorkflowResult{Name: "load", State: message.WorkflowRunning, VUs: 4, Cores: uint32(number(t, arg(d, "cores", "0"))), Stats: message.Stats{
		Steps: []message.StepStats{{Name: "get", Kind: message.StepRequest, Started: ok + failed, OK: ok, Failed: failed}},
	}}
	if d.HasArg("ended") {
		w.State = message.WorkflowFailed
	}
	all := []message.WorkflowResult{w}
	if d.HasArg("soak") { // load has ended, soak has not
		all[0].State, all[0].Duration = message.WorkflowCompleted, 10*time.Second
		all = append(all, message.WorkflowResult{Name: "soak", State: message.WorkflowRunning, VUs: 4})
	}
	return &message.JobProgress{
		Job: m.job(t, d.CmdArgs[1].Key), Fence: fenceOf(t, arg(d, "fence", "257.257.0")), Sequence: number(t, arg(d, "seq", "0")),
		Subjob: message.DatacenterResult{Name: arg(d, "in", ""), State: message.JobRunning, Workflows: all},
	}
}

func (m *member) result(t *testing.T, d *datadriven.TestData) *message.SubjobResult {
	state := map[string]message.JobState{
		"COMPLETED": message.JobCompleted, "FAILED": message.JobFailed, "PARTIAL": message.JobPartial,
		"CANCELLED": message.JobCancelled, "TIMED_OUT": message.JobTimedOut, "RUNNING": message.JobRunning,
	}[arg(d, "state", "COMPLETED")]
	r := subjobResult(m.job(t, d.CmdArgs[1].Key), fenceOf(t, arg(d, "fence", "257.257.0")), arg(d, "in", ""), state, number(t, arg(d, "n", "10")), arg(d, "error", ""))
	if d.HasArg("soak") {
		soak := r.Subjob.Workflows[0]
		soak.Name, soak.Duration = "soak", 30*time.Second
		r.Subjob.Workflows = append(r.Subjob.Workflows, soak)
	}
	for f := message.FaultNone; f.String() != "fault("+strconv.Itoa(int(f))+")"; f++ {
		if f.String() == arg(d, "fault", "none") {
			r.Fault = f
		}
	}
	return r
}

func (m *member) job(t *testing.T, name string) message.JobID {
	if id, ok := m.jobs[name]; ok {
		return id
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(name, "j")); err == nil {
		return message.JobID{byte(n)}
	}
	t.Fatalf("no job %q was dispatched", name)
	return message.JobID{}
}

func arg(d *datadriven.TestData, key, missing string) string {
	for _, a := range d.CmdArgs {
		if a.Key == key && len(a.Vals) > 0 {
			return strings.Join(a.Vals, ",")
		}
	}
	return missing
}

func list(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.Trim(s, "()"), ",")
}

func number(t *testing.T, s string) uint64 {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func span(t *testing.T, s string) time.Duration {
	d, err := time.ParseDuration(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func fenceOf(t *testing.T, s string) (f message.Fence) {
	if _, err := fmt.Sscanf(s, "%d.%d.%d", &f.JobEpoch, &f.SubjobEpoch, &f.Attempt); err != nil {
		t.Fatalf("fence %q: %v", s, err)
	}
	return f
}
