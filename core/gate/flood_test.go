package gate_test

import (
	"fmt"
	"strings"
	"testing"

	"hyperscale/core/gate"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Ten thousand clients submit at once before the disk has answered one write. The bound also
// covers submissions that wait for the disk, and each refused client learns when to try again.
func TestFloodOfSubmissionsIsBounded(t *testing.T) {
	s := newMember(gate.Default())
	var refused, acked int
	early, late := s.config.RetryAfter, 2*s.config.RetryAfter
	s.world.Discard = true
	s.world.WatchSend = func(_ node.StreamID, m node.Message) {
		switch m := m.(type) {
		case *message.JobAck:
			acked++
		case *message.Refused:
			refused++
			if m.Code != message.CodeQueueFull || m.RetryAfter < early || m.RetryAfter > late {
				t.Fatalf("refused with %v, to return after %v: want a full queue and %v to %v", m.Code, m.RetryAfter, early, late)
			}
		}
	}
	s.world.Start()
	s.world.Accept(node.Peer{ID: "c1", Incarnation: 1, Role: node.RoleClient})
	s.world.Accept(node.Peer{ID: "m1", Incarnation: 1, Role: node.RoleManager})
	s.deliver("m1", &message.ManagerHeartbeat{Datacenter: "a", Sequence: 1, CoresTotal: 8, WorkerSum: 2})
	s.world.Held = true
	for i := range 10_000 {
		s.deliver("c1", s.submission(fmt.Sprintf("k%d", i), nil, 2))
	}
	if got, want := s.world.Pending(), s.config.QueueMax; got != want {
		t.Errorf("%d writes wait, want %d", got, want)
	}
	for s.world.Pending() > 0 { // one write leads to another
		s.world.Complete(1, nil)
	}
	if acked != s.config.QueueMax || refused != 10_000-acked {
		t.Errorf("acknowledged %d, refused %d: want %d and the rest", acked, refused, s.config.QueueMax)
	}
}

func TestProgramsOfUnfinishedJobsAreBounded(t *testing.T) {
	c := gate.Default()
	c.SpecBytesMax = 1 << 20
	s := newMember(c)
	acked := 0
	s.world.Discard = true
	s.world.WatchSend = func(_ node.StreamID, m node.Message) {
		if _, ok := m.(*message.JobAck); ok {
			acked++
		}
	}
	s.world.Start()
	s.world.Accept(node.Peer{ID: "c1", Incarnation: 1, Role: node.RoleClient})
	s.world.Accept(node.Peer{ID: "m1", Incarnation: 1, Role: node.RoleManager})
	s.deliver("m1", &message.ManagerHeartbeat{Datacenter: "a", Sequence: 1, CoresTotal: 8, WorkerSum: 2})
	for i := range 5 {
		m := s.submission(fmt.Sprintf("k%d", i), nil, 2)
		m.Program.Files[0].Data = make([]byte, 400<<10)
		s.deliver("c1", m)
	}
	if acked != 2 {
		t.Errorf("%d jobs of 400 KiB were taken, 2 fit the bound of 1 MiB", acked)
	}
}

// A gate takes programs only while its archive has room for results besides: without a result
// no job ends, and the gate can free nothing.
func TestProgramsLeaveRoomForResults(t *testing.T) {
	for _, byBytes := range []bool{false, true} {
		c := gate.Default()
		c.ResultsMax, c.FilesMax = 4, 7
		if byBytes {
			c.ResultsMax, c.FilesMax = 4, 100
			c.ResultBytesMax, c.FileBytesMax = 1<<20, 1<<20+1200<<10
		}
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		s := newMember(c)
		acked, refused := 0, 0
		s.world.Discard = true
		s.world.WatchSend = func(_ node.StreamID, m node.Message) {
			switch m := m.(type) {
			case *message.JobAck:
				acked++
			case *message.Refused:
				if m.Code == message.CodeQueueFull {
					refused++
				}
			}
		}
		s.world.Start()
		s.world.Accept(node.Peer{ID: "c1", Incarnation: 1, Role: node.RoleClient})
		s.world.Accept(node.Peer{ID: "m1", Incarnation: 1, Role: node.RoleManager})
		s.deliver("m1", &message.ManagerHeartbeat{Datacenter: "a", Sequence: 1, CoresTotal: 8, WorkerSum: 2})
		for i := range 6 {
			m := s.submission(fmt.Sprintf("k%d", i), nil, 2)
			m.Program.Files[0].Data = append(make([]byte, 400<<10), byte(i))
			s.deliver("c1", m)
		}
		if acked < 2 || acked > 3 || refused != 6-acked {
			t.Errorf("by bytes %v: of 6 programs %d were taken and %d refused, want 2 or 3 and the rest", byBytes, acked, refused)
		}
	}
}

func TestConfigNamesEveryFault(t *testing.T) {
	if err := gate.Default().Validate(); err != nil {
		t.Errorf("the default is not valid: %v", err)
	}
	c := gate.Default()
	c.QueueMax, c.PushMin, c.ManagerSilence, c.ProgramBytesMax = 20_000, 2*c.PushInterval, 0, 1<<20
	err := c.Validate()
	for _, want := range []string{"gate.queue_max = 20000", "gate.push_min = 1s", "gate.manager_silence = 0s", "gate.program_bytes_max"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
}

// A result that is larger than a frame loses details, but no sums.
func TestLargeResultsFit(t *testing.T) {
	s := newMember(gate.Default())
	var result *message.JobResult
	s.world.Discard = true
	s.world.Start()
	s.world.Accept(node.Peer{ID: "c1", Incarnation: 1, Role: node.RoleClient})
	places := []string{"a", "b", "c"}
	for _, in := range places {
		s.world.Accept(node.Peer{ID: node.ID("m" + in), Incarnation: 1, Role: node.RoleManager})
		s.deliver("m"+in, &message.ManagerHeartbeat{Datacenter: in, Sequence: 1, CoresTotal: 8, CoresFree: 8, WorkerSum: 2})
	}
	var job message.JobID
	s.world.WatchSend = func(_ node.StreamID, m node.Message) {
		switch m := m.(type) {
		case *message.JobDispatch:
			job = m.Job
		case *message.JobResult:
			result = m
		}
	}
	s.deliver("c1", s.submission("k", places, 2))
	for _, in := range places {
		r := subjobResult(job, message.Fence{JobEpoch: 257, SubjobEpoch: 257}, in, message.JobCompleted, 10, "")
		steps := &r.Subjob.Workflows[0].Stats.Steps
		for i := range 500 {
			step := (*steps)[0]
			step.Name = fmt.Sprintf("%0100d", i)
			step.Errors = []message.ErrorCount{{Kind: "status 500", Count: 1, Example: fmt.Sprintf("%0900d", i)}}
			*steps = append(*steps, step)
		}
		r.Subjob.Workers = shares(900)
		s.deliver("m"+in, r)
	}
	s.deliver("c1", &message.JobWatch{Request: message.RequestID{Counter: 9}, Job: job})
	if result == nil || result.Size() > message.FrameMax {
		t.Fatal("there is no result that fits a frame")
	}
	if result.Result.Error == "" {
		t.Error("the result does not say that details are left out")
	}
	if got := result.Result.Datacenters; len(got) != 3 || len(got[0].Workers) > 0 {
		t.Errorf("%d datacenters are left, workers of them too: they go before sums do", len(got))
	}
	got := result.Result.Workflows[0].Stats.Steps
	if len(got) != 501 || got[500].Started != 30 {
		t.Errorf("%d steps are left: want 501, each with 30 starts", len(got))
	}
}

func shares(n int) (out []message.WorkerShare) {
	for i := range n {
		out = append(out, message.WorkerShare{Node: fmt.Sprintf("%0100d", i), State: message.WorkerRunning})
	}
	return out
}

// A gate sends a status that is larger than a frame without workers.
func TestLargeStatusesFit(t *testing.T) {
	s := newMember(gate.Default())
	s.world.Discard = true
	s.world.Start()
	s.world.Accept(node.Peer{ID: "c1", Incarnation: 1, Role: node.RoleClient})
	places := []string{"a", "b", "c"}
	for _, in := range places {
		s.world.Accept(node.Peer{ID: node.ID("m" + in), Incarnation: 1, Role: node.RoleManager})
		s.deliver("m"+in, &message.ManagerHeartbeat{Datacenter: in, Sequence: 1, CoresTotal: 8, CoresFree: 8, WorkerSum: 2})
	}
	var job message.JobID
	var status *message.JobStatus
	s.world.WatchSend = func(_ node.StreamID, m node.Message) {
		switch m := m.(type) {
		case *message.JobDispatch:
			job = m.Job
		case *message.JobStatus:
			status = m
		}
	}
	s.deliver("c1", s.submission("k", places, 2))
	for i, workers := range []int{64, 2000} {
		for _, in := range places {
			s.deliver("m"+in, &message.JobProgress{Job: job, Fence: message.Fence{JobEpoch: 257, SubjobEpoch: 257}, Sequence: uint64(i + 1), Subjob: message.DatacenterResult{
				Name: in, Workflows: []message.WorkflowResult{{Name: "load", VUs: 4}}, Workers: shares(workers),
			}})
		}
		s.deliver("c1", &message.JobQuery{Request: message.RequestID{Counter: uint64(i + 5)}, Job: job})
		if status == nil || status.Request.Counter != uint64(i+5) || status.Size() > message.FrameMax || len(status.Datacenters) != 3 {
			t.Fatalf("no status of %d workers that fits a frame, with its datacenters", workers)
		}
		if got := len(status.Datacenters[0].Workers); got != 64*(1-i) {
			t.Errorf("of %d workers %d are told", workers, got)
		}
	}
}

// A gate refuses a submission that no majority persists, and keeps nothing of it: no sum, no
// queue position, no watcher.
func TestRefusedSubmissionsLeaveNothing(t *testing.T) {
	m := newListener(gate.Default(), client("c1"), managerPeer("m1"))
	m.says("m1")
	m.world.Held = true
	m.deliver("c1", m.submission("k", nil, 2))
	m.deliver("c1", &message.JobWatch{Request: m.ask(), Job: message.JobOf("k")})
	m.world.Advance(m.config.QuorumTimeout + m.config.StoreRetry)
	if r, n := last[*message.Refused](m, "c1"); n != 2 || r.Code != message.CodeQuorumUnavailable && r.Code != message.CodeQuorumTimeout {
		t.Fatalf("%d refusals, the last is %+v: want one of the submission and one of the watch", n, r)
	}
	m.world.Machine().(*gate.Machine).Rests(func(what string, n, rest int) {
		switch what {
		case "gate/jobs that have not ended", "gate/accepting", "gate/programs", "gate/queue", "gate/watchers", "gate/waiters", "gate/registers", "gate/records on their way":
			if n > rest {
				t.Errorf("%s is %d", what, n)
			}
		}
	})
}
