package execution

import (
	"testing"
	"time"

	"hyperscale/checker/history"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

var shard = message.ShardID{Job: message.JobID{1}}

func fence(attempt uint64) message.Fence {
	return message.Fence{JobEpoch: 1, SubjobEpoch: 1, Attempt: attempt}
}

// watched is a judge whose events are a second apart.
type watched struct {
	*Judge
	at   time.Duration
	once bool
}

func (w *watched) on(id node.ID, e node.Event) *watched {
	w.at += time.Second
	r := history.Record{At: w.at, Node: id, Incarnation: 1, Local: node.Instant(w.at), Event: e}
	w.nodes.Observe(r)
	switch e := e.(type) {
	case event.ShardStarted:
		w.Started(r, e, w.once)
	case event.ShardRenewed:
		w.Renewed(r, e)
	case event.ShardEnded:
		w.Ended(r, e)
	case event.FenceStored:
		w.FenceStored(r, e)
	}
	return w
}

func TestAttemptsAndCores(t *testing.T) {
	start := func(attempt uint64, cores ...int) event.ShardStarted {
		return event.ShardStarted{Datacenter: "dc", Shard: shard, Fence: fence(attempt), Cores: cores, Total: 2}
	}
	end := func(attempt uint64, cores ...int) event.ShardEnded {
		return event.ShardEnded{Shard: shard, Fence: fence(attempt), Cores: cores}
	}
	for _, tc := range []struct {
		name, want string
		do         func(w *watched)
	}{
		{"one after the other", "", func(w *watched) { w.on("w1", start(1, 0)).on("w1", end(1, 0)).on("w1", start(2, 0)) }},
		{"one fence twice", "T6", func(w *watched) { w.on("w1", start(1, 0)).on("w1", end(1, 0)).on("w1", start(1, 0)) }},
		{"two attempts on one worker", "T6", func(w *watched) { w.on("w1", start(1, 0)).on("w1", start(2, 1)) }},
		{"no core", "T9", func(w *watched) { w.on("w1", start(1)) }},
		{"a core that is not there", "T9", func(w *watched) { w.on("w1", start(1, 2)) }},
		{"another core comes free", "T9", func(w *watched) { w.on("w1", start(1, 0)).on("w1", end(1, 1)) }},
		{"a fence on disk after the start", "T3", func(w *watched) {
			w.on("w1", start(1, 0)).on("w1", event.FenceStored{Shard: shard, Fence: fence(1)})
		}},
		{"an end beside another start", "T13", func(w *watched) {
			w.on("w1", start(1, 0)).on("w2", start(2, 0)).on("w1", end(1, 0))
		}},
		{"an attempt that stopped by its own clock", "", func(w *watched) {
			w.on("w1", start(1, 0)).on("w1", event.ShardRenewed{Shard: shard, Fence: fence(1), Until: node.Instant(3 * time.Second)})
			w.at = 10 * time.Second
			w.on("w2", start(2, 0)).on("w1", end(1, 0))
		}},
		{"run again where no node is lost", "P", func(w *watched) {
			w.once = true
			w.on("w1", start(1, 0)).on("w1", end(1, 0)).on("w1", start(2, 0))
		}},
		{"a core long after the job's end", "T9", func(w *watched) {
			w.on("w1", start(1, 0)).on("w1", event.Shed{})
			w.KeepsNoCore(time.Hour, time.Minute, func(message.JobID) (time.Duration, bool) { return time.Second, true })
		}},
		{"a core of a worker that runs no more", "", func(w *watched) {
			w.on("w1", start(1, 0)).on("w1", event.Shed{})
			w.nodes.Assume.Clock = func(node.ID, uint64) (node.Instant, bool) { return 0, false }
			w.KeepsNoCore(time.Hour, time.Minute, func(message.JobID) (time.Duration, bool) { return time.Second, true })
		}},
		{"a core of an incarnation that is over", "", func(w *watched) {
			w.on("w1", start(1, 0)).on("w1", event.Shed{})
			w.Over("w1")
			w.KeepsNoCore(time.Hour, time.Minute, func(message.JobID) (time.Duration, bool) { return time.Second, true })
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			log := &history.Log{}
			w := &watched{Judge: New(history.NewNodes(), log)}
			tc.do(w)
			got := log.First()
			if tc.want == "" && len(got) != 0 || tc.want != "" && (len(got) != 1 || got[0].Invariant != tc.want) {
				t.Fatalf("want %q, got %v", tc.want, got)
			}
		})
	}
}
