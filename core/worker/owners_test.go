package worker

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

func TestCoresAndFencesHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t)
		t.Repeat(map[string]func(*rapid.T){
			"dispatch":  m.dispatch,
			"dispatch2": m.dispatch,
			"cancel": func(*rapid.T) {
				m.receive(&message.ShardCancel{Shard: m.shard(), Fence: m.fence(), State: message.WorkflowCancelled})
			},
			"gone": func(t *rapid.T) { m.exec(t, func(id node.ExecID) { m.world.ExecGone(id, "killed", "") }) },
			"result": func(t *rapid.T) {
				state := rapid.SampledFrom([]message.WorkflowState{message.WorkflowCompleted, message.WorkflowFailed}).Draw(t, "state")
				m.exec(t, func(id node.ExecID) {
					m.world.ExecSays(id, &message.ExecResult{State: state})
					m.world.ExecGone(id, "", "")
				})
			},
			"answer":  m.answer,
			"answer2": m.answer,
			"lapse":   func(t *rapid.T) { m.exec(t, m.world.ExecLapsed) },
			"ack":     func(*rapid.T) { m.receive(&message.ShardResultAck{Shard: m.shard(), Fence: m.fence()}) },
			"advance": func(t *rapid.T) {
				m.world.Advance(time.Duration(rapid.IntRange(0, 6000).Draw(t, "ms")) * time.Millisecond)
				m.connect()
			},
			"hold":     func(*rapid.T) { m.world.Held = true },
			"complete": func(*rapid.T) { m.world.Complete(1, nil) },
			"fail":     func(*rapid.T) { m.world.Complete(1, errors.New("full")) },
			"release": func(*rapid.T) {
				m.world.Held = false
				for m.world.Pending() > 0 {
					m.world.Complete(1, nil)
				}
			},
			"restart": func(*rapid.T) { m.restart() },
			"": func(*rapid.T) {
				m.world.Take()
				m.quiet()
			},
		})
		m.settles()
	})
}

// One shard gets dispatches under rising fences while a slow disk takes some and refuses
// others, and executors end in any way. One attempt runs at a time, none below the fence on
// disk, and all cores become free.
func TestOneShardUnderManyFences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t)
		attempt := uint64(0)
		shard := message.ShardID{Job: message.JobID{1}}
		fence := func() message.Fence { return message.Fence{JobEpoch: 1, SubjobEpoch: 1, Attempt: max(1, attempt)} }
		alive := func() {
			for i, s := range m.world.StreamsOf("m1") {
				if sent := m.beats[s]; i == 0 && len(sent) > 0 {
					m.heard = max(m.heard, sent[len(sent)-1])
					m.world.Receive(s, &message.HeartbeatAck{Sequence: uint64(len(sent)), Shards: []message.ShardRef{{Shard: shard, Fence: fence()}}})
				}
			}
		}
		dispatch := func(t *rapid.T) {
			alive()
			attempt++
			m.receive(&message.ShardDispatch{
				Shard: shard, Fence: fence(), Workflow: "w", Program: message.Program{Main: "f"}, PlanDigest: 1, VUs: 4, Cores: rapid.Uint32Range(1, 3).Draw(t, "cores"),
				RunTimeout: time.Duration(rapid.IntRange(0, 3).Draw(t, "timeout")) * time.Second,
			})
		}
		gone := func(t *rapid.T) {
			m.exec(t, func(id node.ExecID) {
				switch rapid.IntRange(0, 4).Draw(t, "end") {
				case 0:
					m.world.ExecSays(id, &message.ExecResult{State: message.WorkflowCancelled})
				case 1, 2:
					m.world.ExecSays(id, &message.ExecResult{State: message.WorkflowCompleted})
				}
				m.world.ExecGone(id, rapid.SampledFrom([]string{"", "killed"}).Draw(t, "reason"), strings.Repeat("line\n", rapid.SampledFrom([]int{0, 5, 9000}).Draw(t, "tail")))
			})
		}
		t.Repeat(map[string]func(*rapid.T){
			"dispatch": dispatch, "dispatch2": dispatch, "dispatch3": dispatch, "gone": gone, "gone2": gone,
			"again": func(*rapid.T) {
				m.receive(&message.ShardDispatch{Shard: shard, Fence: fence(), Workflow: "w", Program: message.Program{Main: "f"}, PlanDigest: 1, VUs: 4, Cores: 1})
			},
			"hold":     func(*rapid.T) { m.world.Held = true },
			"complete": func(*rapid.T) { m.world.Complete(1, nil) },
			"fail":     func(*rapid.T) { m.world.Complete(1, errors.New("full")) },
			"release": func(*rapid.T) {
				m.world.Held = false
				for m.world.Pending() > 0 {
					m.world.Complete(1, nil)
				}
			},
			"cancel": func(*rapid.T) {
				m.receive(&message.ShardCancel{Shard: shard, Fence: fence(), State: message.WorkflowCancelled})
			},
			"alive": func(*rapid.T) { alive() },
			"advance": func(t *rapid.T) {
				m.world.Advance(time.Duration(rapid.IntRange(0, 4000).Draw(t, "ms")) * time.Millisecond)
				m.connect()
			},
			"": func(*rapid.T) {
				m.world.Take()
				m.quiet()
				m.rests()
			},
		})
		m.settles()
	})
}
