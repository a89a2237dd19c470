package fleet

import (
	"context"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/transport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestTurnsAreSpread: each worker has two turns a second, and no twentieth of it has many more than another.
func TestTurnsAreSpread(t *testing.T) {
	const workers, parts = 10_000, 20
	var beats, reports [parts]int
	seen := map[turn]bool{}
	for i, at := range turns(&Config{Workers: workers, Seed: 1}) {
		who := turn{worker: at.worker, reports: at.reports}
		if seen[who] || at.at < 0 || at.at >= second {
			t.Fatalf("turn %d is %+v", i, at)
		}
		seen[who] = true
		if at.reports {
			reports[at.at*parts/second]++
		} else {
			beats[at.at*parts/second]++
		}
	}
	for i := range parts {
		for _, n := range [...]int{beats[i], reports[i]} {
			if n < workers/parts*3/4 || n > workers/parts*5/4 {
				t.Errorf("part %d has %d turns, want about %d", i, n, workers/parts)
			}
		}
	}
	if len(seen) != 2*workers {
		t.Errorf("%d turns, want two of each worker", len(seen))
	}
}

// manager answers heartbeats, and gives each worker the shard of its stream's number.
type manager struct {
	*transport.Transport
	mu        sync.Mutex
	listed    map[node.StreamID]message.ShardRef
	accepted  int
	reports   int
	heartbeat message.WorkerHeartbeat
}

func (m *manager) StreamOpened(node.StreamID, node.Peer)               {}
func (m *manager) StreamBroken(node.StreamID, node.Peer, string, bool) {}
func (m *manager) Resolved(node.Names)                                 {}

func (m *manager) Message(_ node.Peer, s node.StreamID, in node.Message) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	shard := message.ShardID{Job: message.JobID{1}, Ordinal: uint32(s)}
	switch in := in.(type) {
	case *message.WorkerHeartbeat:
		m.heartbeat = *in
		ack := &message.HeartbeatAck{Sequence: in.Sequence, Shards: in.Running, Every: time.Millisecond}
		if len(in.Running) > 0 {
			m.listed[s] = in.Running[0]
		}
		m.Send(s, ack)
		if in.Sequence == 1 {
			m.Send(s, &message.ShardDispatch{Shard: shard, Fence: message.Fence{JobEpoch: 1, SubjobEpoch: 2, Attempt: 3}, Workflow: "w", Program: message.Program{Main: "w"}, PlanDigest: 1, VUs: 1, Cores: 1})
		}
	case *message.ShardAccepted:
		m.accepted++
	case *message.ShardProgress:
		m.reports++
	}
	return true
}

// TestAFleetLives: all workers register, accept what they get, list it, and report figures.
func TestAFleetLives(t *testing.T) {
	const workers = 5
	sockets, err := transport.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &manager{listed: map[node.StreamID]message.ShardRef{}}
	m.Transport = transport.New(transport.Config{Self: node.Peer{ID: "m", Role: node.RoleManager, Incarnation: 1}, Cluster: "c", Environment: "default", Datacenter: "dc"}, sockets)
	m.Serve(m)
	defer m.Kill()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var last Tally
	err = Run(ctx, Config{Manager: string(m.Addr()), Cluster: "c", Datacenter: "dc", Workers: workers, Cores: 2, Seed: 1}, func(now Tally) {
		if last = now; now.Named >= workers && now.Reports >= workers {
			cancel()
		}
	})
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil || last.Workers != workers || last.Running != workers || last.Ended != 0 || last.Heartbeats < last.Acks {
		t.Fatalf("%+v, %v", last, err)
	}
	if m.accepted != workers || len(m.listed) != workers || m.reports == 0 || m.heartbeat.CoresTotal != 2 || m.heartbeat.CoresFree != 0 {
		t.Errorf("the manager has %d acceptances, %d shards that are listed, %d reports, at last %+v", m.accepted, len(m.listed), m.reports, m.heartbeat)
	}
	for s, ref := range m.listed {
		if ref.Shard.Ordinal != uint32(s) || ref.Fence.Attempt != 3 {
			t.Errorf("stream %d lists %+v", s, ref)
		}
	}
}
