package story_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
	"hyperscale/netsim"
	"hyperscale/sim"
	"hyperscale/sim/story"
)

// stage plays what an observer sees, one millisecond per step.
type stage struct {
	*story.Recorder
	at time.Duration
}

func (s *stage) tick() time.Duration {
	s.at += time.Millisecond
	return s.at
}

func (s *stage) fault(f sim.Fault)             { s.Fault(s.tick(), f) }
func (s *stage) start(id node.ID)              { s.Input(s.tick(), id, &node.Input{Kind: node.InputStart}) }
func (s *stage) emit(id node.ID, e node.Event) { s.Event(s.tick(), id, 1, e) }
func (s *stage) answer(id node.ID, m node.Message) {
	s.Effect(s.tick(), id, &sim.Effect{Kind: sim.EffectAnswer, Message: m})
}

func (s *stage) command(id node.ID, m node.Message) {
	s.Input(s.tick(), id, &node.Input{Kind: node.InputCommand, Message: m})
}

// open connects two nodes by the n-th stream, opened by the first.
func (s *stage) open(n uint64, from, to node.ID) {
	a := netsim.ConnID(n).Of(0)
	s.Effect(s.tick(), from, &sim.Effect{Kind: sim.EffectOpen, Stream: a, To: node.Addr(to + ":1")})
	s.Input(s.tick(), from, &node.Input{Kind: node.InputStreamOpened, Stream: a, From: node.Peer{ID: to, Addr: node.Addr(to + ":1")}})
}

// send sends on a stream; side 0 opened it.
func (s *stage) send(n uint64, side uint8, id node.ID, m node.Message) {
	s.Effect(s.tick(), id, &sim.Effect{Kind: sim.EffectSend, Stream: netsim.ConnID(n).Of(side), Message: m})
}

// pass sends a message and delivers it.
func (s *stage) pass(n uint64, side uint8, from, to node.ID, m node.Message) {
	s.send(n, side, from, m)
	s.Input(s.tick(), to, &node.Input{Kind: node.InputMessage, Stream: netsim.ConnID(n).Of(1 - side), Message: m, From: node.Peer{ID: from}})
}

var (
	jobA  = message.JobID{1, 2, 3}
	jobB  = message.JobID{9}
	part  = message.Fence{JobEpoch: 1, SubjobEpoch: 1}
	first = message.Fence{JobEpoch: 1, SubjobEpoch: 1, Attempt: 1}
	next  = message.Fence{JobEpoch: 1, SubjobEpoch: 1, Attempt: 2}
	whole = message.ShardID{Job: jobA, Ordinal: 1}
)

// submit plays a job up to its dispatch to a worker.
func submit(s *stage) {
	for _, id := range []node.ID{"client", "gate", "manager", "w1", "w2"} {
		s.start(id)
	}
	s.open(1, "client", "gate")
	s.open(2, "manager", "gate")
	s.open(3, "w1", "manager")
	s.open(4, "w2", "manager")
	request := message.RequestID{Incarnation: 1, Counter: 1}
	s.command("client", &message.JobSubmit{Key: "k"})
	s.pass(1, 0, "client", "gate", &message.JobSubmit{Key: "k", Request: request})
	s.emit("gate", event.JobChanged{Job: jobA, To: message.JobSubmitted})
	s.pass(1, 1, "gate", "client", &message.JobAck{Job: jobA, Request: request})
	s.answer("client", &message.JobAck{Job: jobA, Request: request})
	s.emit("gate", event.SubjobDispatched{Job: jobA, Fence: part, Datacenter: "dc-a", Manager: "manager"})
	s.pass(2, 1, "gate", "manager", &message.JobDispatch{Job: jobA, Fence: part})
	s.emit("manager", event.Acted{Shard: message.ShardID{Job: jobA}, Subjob: true, Fence: part, What: "dispatch"})
	s.emit("manager", event.SubjobChanged{Job: jobA, Fence: part, To: message.JobQueued, Reason: "no free cores"})
	s.emit("manager", event.WorkflowChanged{Job: jobA, Fence: part, To: message.WorkflowAssigned, From: message.WorkflowPending})
	s.emit("manager", event.ShardDispatched{Shard: whole, Fence: first, Worker: "w1", Cores: 3, VUs: 64})
}

// finish plays what follows a shard's result.
func finish(s *stage) {
	s.emit("manager", event.ShardCounted{Shard: whole, Fence: next, Subjob: part, State: message.WorkflowCompleted, Started: 500})
	s.emit("gate", event.SubjobCounted{Job: jobA, Fence: part, Datacenter: "dc-a", Manager: "manager", State: message.JobCompleted, Started: 500})
	s.emit("gate", event.JobChanged{Job: jobA, From: message.JobCompleting, To: message.JobCompleted})
	done := &message.JobResult{Result: message.Result{Job: jobA, State: message.JobCompleted}}
	s.pass(1, 1, "gate", "client", done)
	s.answer("client", done)
}

// stories are what testdata tells.
func stories() map[string]func(*stage) {
	return map[string]func(*stage){
		"lost-worker": func(s *stage) {
			submit(s)
			s.pass(3, 1, "manager", "w1", &message.ShardDispatch{Shard: whole, Fence: first, VUs: 64, Cores: 3})
			s.emit("w1", event.ShardStarted{Shard: whole, Fence: first, Cores: []int{0, 1, 3}, Total: 4})
			s.Effect(s.tick(), "w1", &sim.Effect{Kind: sim.EffectExecStart, Core: 3, Message: &message.ExecStart{Shard: whole, VUs: 21}})
			s.pass(3, 0, "w1", "manager", &message.ShardProgress{Shard: whole, Fence: first, Sequence: 1})
			s.pass(3, 0, "w1", "manager", &message.WorkerHeartbeat{Sequence: 4})
			s.fault(sim.Fault{Kind: sim.FaultCrash, For: 30 * time.Second, Nodes: []string{"w1"}})
			s.fault(sim.Fault{Kind: sim.FaultCrash, Nodes: []string{"somebody-else"}})
			s.emit("manager", event.ShardLost{Shard: whole, Fence: first, Worker: "w1", Reason: "silent for 3s"})
			s.emit("manager", event.ShardDispatched{Shard: whole, Fence: next, Worker: "w2", Cores: 3, VUs: 64})
			s.pass(4, 1, "manager", "w2", &message.ShardDispatch{Shard: whole, Fence: next, VUs: 64, Cores: 3})
			s.start("w1")
			s.pass(3, 0, "w1", "manager", &message.ShardResult{Shard: whole, Fence: first, State: message.WorkflowFailed})
			s.emit("manager", event.FenceRefused{Shard: whole, Got: first, Current: next, What: "result"})
			s.pass(3, 1, "manager", "w1", &message.ShardResultAck{Shard: whole, Fence: first, Stale: true})
			s.emit("w2", event.ShardEnded{Shard: whole, Fence: next, Cores: []int{0, 1, 2}, State: message.WorkflowCompleted})
			s.pass(4, 0, "w2", "manager", &message.ShardResult{Shard: whole, Fence: next, State: message.WorkflowCompleted})
			finish(s)
		},
		"cut-off": func(s *stage) {
			submit(s)
			s.fault(sim.Fault{Kind: sim.FaultPartition, Nodes: []string{"w1"}, Peers: []string{"manager"}, For: time.Second})
			s.fault(sim.Fault{Kind: sim.FaultLoss, Value: 12_500})
			s.send(3, 1, "manager", &message.ShardDispatch{Shard: whole, Fence: first, VUs: 64, Cores: 3})
			s.send(3, 1, "manager", &message.ShardDispatch{Shard: whole, Fence: first, VUs: 64, Cores: 3})
			s.at += 5 * time.Second
			s.emit("manager", event.ExecutorGone{Shard: whole, Fence: first, Core: 2, Reason: "signal: killed"})
			s.Effect(s.tick(), "w1", &sim.Effect{Kind: sim.EffectHalt, Reason: "another run of this node is known"})
			finish(s)
			s.send(4, 1, "manager", &message.ShardCancel{Shard: whole, Fence: next, State: message.WorkflowCancelled})
		},
		"two-jobs": func(s *stage) {
			submit(s)
			s.emit("gate", event.JobChanged{Job: jobB, To: message.JobSubmitted})
			s.fault(sim.Fault{Kind: sim.FaultPause, Nodes: []string{"w1"}})
			s.emit("gate", event.JobChanged{Job: jobB, From: message.JobSubmitted, To: message.JobFailed, Reason: "no cores"})
			finish(s)
		},
		"nothing": func(*stage) {},
	}
}

// TestStories rewrites with -rewrite. One command:
//
//	tell story=NAME choice=WHICH
func TestStories(t *testing.T) {
	nodetest.Stories(t, func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var name, choice string
			d.ScanArgs(t, "story", &name)
			d.ScanArgs(t, "choice", &choice)
			s := &stage{Recorder: story.NewRecorder()}
			stories()[name](s)
			var b strings.Builder
			if err := s.Tell(&b, choice); err != nil {
				if !errors.Is(err, story.ErrNoJob) {
					t.Fatal(err)
				}
				return fmt.Sprintln(err)
			}
			return b.String()
		})
	})
}

// STORY-2: each event about a job that core can emit has its own words.
func TestEveryJobEventHasWords(t *testing.T) {
	s := &stage{Recorder: story.NewRecorder()}
	submit(s)
	for _, e := range []node.Event{
		event.JobChanged{Job: jobA}, event.SubjobChanged{Job: jobA}, event.WorkflowChanged{Job: jobA}, event.SubjobCounted{Job: jobA},
		event.SubjobDispatched{Job: jobA}, event.Acted{Shard: whole}, event.FenceRefused{Shard: whole}, event.ShardStarted{Shard: whole},
		event.ShardEnded{Shard: whole}, event.ShardCounted{Shard: whole}, event.ShardDispatched{Shard: whole}, event.ShardLost{Shard: whole},
		event.ExecutorGone{Shard: whole},
	} {
		s.emit("node-of-"+node.ID(e.EventName()), e)
		var b strings.Builder
		if err := s.Tell(&b, "first"); err != nil {
			t.Fatal(err)
		}
		_, told, ok := strings.Cut(b.String(), "node-of-"+e.EventName())
		if told = strings.TrimSpace(told); !ok || told == "" || told == e.EventName() {
			t.Errorf("%s is told as %q", e.EventName(), told)
		}
	}
}

func TestEveryFaultHasWords(t *testing.T) {
	for _, kind := range []string{
		sim.FaultCrash, sim.FaultPause, sim.FaultStop, sim.FaultPartition, sim.FaultOneWay, sim.FaultFlap, sim.FaultLoss, sim.FaultLossOneWay, sim.FaultDuplicate,
		sim.FaultReorder, sim.FaultLate, sim.FaultLatency, sim.FaultHalfOpen, sim.FaultBreakStreams, sim.FaultRefuseAccept, sim.FaultSlowCPU,
		sim.FaultClockDrift, sim.FaultDiskSlow, sim.FaultDiskFull, sim.FaultDiskLostWrites, sim.FaultDiskTorn, sim.FaultExecCrash,
		sim.FaultExecHang, sim.FaultExecSlow, sim.FaultHeal, sim.FaultSuspend, sim.FaultLatencyOneWay, sim.FaultSwizzle, sim.FaultIsolate, sim.FaultSlowLink, sim.FaultTight,
		sim.FaultBurst, sim.FaultPrograms, sim.FaultQueries,
	} {
		if got := story.Fault(&sim.Fault{Kind: kind, Value: 2}); got == kind || !strings.Contains(got, " ") && kind != sim.FaultCrash {
			t.Errorf("%s is told as %q", kind, got)
		}
	}
}
