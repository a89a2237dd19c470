package gate_test

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"hyperscale/core/gate"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
	"hyperscale/core/stats"
)

// Stories use nodetest's commands and four of their own:
//
//	submit <client> key=k [in=a,b] [vus=n] [cores=n] [layer=2] [files=n] [timeout=d] [threshold=expr] [abort=<percent of errors>] [unique]
//	beat <manager> in=a [free=n] [total=n] [workers=n] [draining] [parts=<job>:<fence>,...]
//	progress <manager> <job> in=a fence=1.1.0 seq=n [ok=n] [failed=n] [ended]
//	result <manager> <job> in=a fence=1.1.0 [state=COMPLETED] [n=10] [error=text]
func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			s := newStory(gate.Default())
			for _, name := range []string{
				"put", "reached", "GateSet", "voted", "elected", "leader-known", "group-joined", "acceptor-wrote",
				"lease-granted", "lease-extended", "lease-called", "lease-returned", "lease-ended",
			} {
				s.world.Hidden[name] = true
			}
			s.world.WatchEvent = func(e node.Event) { seen[e.EventName()] = true }
			datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string { return s.run(t, d) })
		})
	}
	for _, name := range []string{
		"job-changed", "subjob-dispatched", "subjob-counted", "workflow-aborted", "fence-refused", "peer-registered", "peer-lost", "shed", "store-failed", "ignored",
	} {
		if !seen[name] {
			t.Errorf("no story produces the event %s", name)
		}
	}
}

type story struct {
	world   *nodetest.Env
	config  gate.Config
	jobs    map[string]message.JobID
	request uint64
	beats   uint64
}

func newStory(c gate.Config) *story { return newStoryOf("g1", c) }

func newStoryOf(name string, c gate.Config) *story {
	s := &story{config: c, jobs: map[string]message.JobID{}}
	s.world = nodetest.New(nodetest.Config{
		Self: node.Peer{ID: node.ID(name), Incarnation: 1, Role: node.RoleGate, Addr: node.Addr(name + ":1")}, Seed: 1,
		New: func() node.Machine { return gate.New(s.config) },
	})
	s.world.WatchSend = func(_ node.StreamID, m node.Message) {
		switch m := m.(type) {
		case *message.JobDispatch:
			s.jobs[m.Job.String()[:6]] = m.Job
		case *message.JobAck:
			s.jobs[m.Job.String()[:6]] = m.Job
		}
	}
	return s
}

func (s *story) run(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "config":
		s.configure(t, d)
		return "ok\n"
	case "submit":
		m := s.submission(arg(d, "key", "k"), list(arg(d, "in", "")), number(t, arg(d, "vus", "4")))
		m.Program.Files[0].Data = make([]byte, number(t, arg(d, "files", "8")))
		m.RunTimeout = span(t, arg(d, "timeout", "0s"))
		m.Plan.Workflows[0].Duration = span(t, arg(d, "duration", "10s"))
		if arg(d, "layer", "") != "" {
			m.Plan.Workflows[0].Layer = uint32(number(t, arg(d, "layer", "")))
		}
		m.Plan.Workflows[0].Cores = uint32(number(t, arg(d, "cores", "0")))
		if e := arg(d, "threshold", ""); e != "" {
			m.Plan.Workflows[0].Thresholds = []message.Threshold{{Expr: e, Of: message.OfErrors, Op: message.OpBelow, Bound: 10_000}}
		}
		if p := arg(d, "abort", ""); p != "" {
			m.Plan.Workflows[0].AbortWhen = []message.AbortPlan{{For: 3 * time.Second, When: message.Threshold{
				Expr: "get.errors > " + p + "%", Step: "get", Of: message.OfErrors, Op: message.OpAbove, Bound: int64(number(t, p)) * 10_000,
			}}}
		}
		if d.HasArg("unique") {
			m.Plan.Workflows[0].Feed = message.FeedPlan{Name: "people.csv", Rows: 100, Unique: true, AtEnd: message.RowsStop}
		}
		s.deliver(d.CmdArgs[0].Key, m)
	case "progress":
		s.deliver(d.CmdArgs[0].Key, s.progress(t, d))
	case "beat":
		s.deliver(d.CmdArgs[0].Key, s.beat(t, d))
	case "result":
		s.deliver(d.CmdArgs[0].Key, s.result(t, d))
	default:
		return s.world.Run(t, d)
	}
	if out := s.world.Take(); out != "" {
		return out
	}
	return "ok\n"
}

func (s *story) configure(t *testing.T, d *datadriven.TestData) {
	for _, a := range d.CmdArgs {
		n := int(number(t, a.Vals[0]))
		switch a.Key {
		case "queue":
			s.config.QueueMax = n
		case "watchers":
			s.config.WatchersMax = n
		case "waiters":
			s.config.WaitersMax = n
		case "results":
			s.config.ResultsMax = n
		case "age":
			s.config.QueueAgeMax = time.Duration(n) * time.Second
		case "jobs":
			s.config.JobsMax = n
		default:
			t.Fatalf("no such bound: %s", a.Key)
		}
	}
}

func (s *story) deliver(peer string, m node.Message) {
	streams := s.world.StreamsOf(node.ID(peer))
	s.world.Receive(streams[len(streams)-1], m)
}

func (s *story) submission(key string, in []string, vus uint64) *message.JobSubmit {
	s.request++
	return &message.JobSubmit{
		Request: message.RequestID{Incarnation: 1, Counter: s.request}, Key: key, Name: "test", Datacenters: in,
		Program: message.Program{Main: "test.star", Files: []message.File{{Name: "test.star", Data: []byte("pass")}}},
		Plan: message.Plan{Source: "test.star", Workflows: []message.WorkflowPlan{{
			Name: "load", Test: true, VUs: vus, Duration: 10 * time.Second, Timeout: 5 * time.Second,
			Steps: []message.StepPlan{{Name: "get", Kind: message.StepRequest}},
		}}},
	}
}

func (s *story) beat(t *testing.T, d *datadriven.TestData) *message.ManagerHeartbeat {
	s.beats++
	h := &message.ManagerHeartbeat{
		Datacenter: arg(d, "in", ""), Sequence: number(t, arg(d, "sequence", strconv.FormatUint(s.beats, 10))), Draining: d.HasArg("draining"),
		CoresTotal: uint32(number(t, arg(d, "total", "8"))), CoresFree: uint32(number(t, arg(d, "free", "8"))),
		WorkerSum: uint32(number(t, arg(d, "workers", "2"))),
	}
	for i := range min(h.WorkerSum, 4) {
		h.Workers = append(h.Workers, message.WorkerInfo{Node: fmt.Sprintf("%s-w%d", h.Datacenter, i+1), CoresTotal: 4, CoresFree: 4})
	}
	for _, p := range list(arg(d, "subjobs", "")) {
		id, fence, _ := strings.Cut(p, ":")
		h.Subjobs = append(h.Subjobs, message.SubjobRef{Job: s.job(t, id), Fence: fenceOf(t, fence), State: message.JobRunning})
	}
	return h
}

func (s *story) progress(t *testing.T, d *datadriven.TestData) *message.JobProgress {
	ok, failed := number(t, arg(d, "ok", "0")), number(t, arg(d, "failed", "0"))
	w := message.WorkflowResult{Name: "load", State: message.WorkflowRunning, VUs: 4, Stats: message.Stats{
		Steps: []message.StepStats{{Name: "get", Kind: message.StepRequest, Started: ok + failed, OK: ok, Failed: failed}},
	}}
	if d.HasArg("ended") {
		w.State = message.WorkflowFailed
	}
	return &message.JobProgress{
		Job: s.job(t, d.CmdArgs[1].Key), Fence: fenceOf(t, arg(d, "fence", "257.257.0")), Sequence: number(t, arg(d, "seq", "0")),
		Subjob: message.DatacenterResult{Name: arg(d, "in", ""), State: message.JobRunning, Workflows: []message.WorkflowResult{w}},
	}
}

func (s *story) result(t *testing.T, d *datadriven.TestData) *message.SubjobResult {
	state := map[string]message.JobState{
		"COMPLETED": message.JobCompleted, "FAILED": message.JobFailed, "PARTIAL": message.JobPartial,
		"CANCELLED": message.JobCancelled, "TIMED_OUT": message.JobTimedOut, "RUNNING": message.JobRunning,
	}[arg(d, "state", "COMPLETED")]
	return subjobResult(s.job(t, d.CmdArgs[1].Key), fenceOf(t, arg(d, "fence", "257.257.0")), arg(d, "in", ""), state, number(t, arg(d, "n", "10")), arg(d, "error", ""))
}

// partResult says that n requests were made, each taking 1 ms, all answered.
func subjobResult(id message.JobID, fence message.Fence, in string, state message.JobState, n uint64, text string) *message.SubjobResult {
	var h stats.Histogram
	h.RecordN(1_000_000, n)
	workflow := map[message.JobState]message.WorkflowState{
		message.JobCompleted: message.WorkflowCompleted, message.JobCancelled: message.WorkflowCancelled, message.JobTimedOut: message.WorkflowTimedOut,
	}[state]
	if workflow == message.WorkflowNone {
		workflow = message.WorkflowFailed
	}
	return &message.SubjobResult{Job: id, Fence: fence, Subjob: message.DatacenterResult{
		Name: in, State: state, Error: text, Duration: 10 * time.Second,
		Workflows: []message.WorkflowResult{{Name: "load", State: workflow, VUs: 4, Cores: 2, Duration: 10 * time.Second, Stats: message.Stats{
			Steps: []message.StepStats{{Name: "get", Kind: message.StepRequest, Started: n, OK: n, Latency: h.Wire()}},
		}}},
		Workers: []message.WorkerShare{{Node: in + "-w1", State: message.WorkerDone, Started: n, OK: n}},
	}}
}

func (s *story) job(t *testing.T, name string) message.JobID {
	if id, ok := s.jobs[name]; ok {
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
