package sim_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/message/toy"
	"hyperscale/core/node"
	"hyperscale/netsim"
	"hyperscale/sim"
)

// busybody draws at random among all that a machine can do.
type busybody struct {
	peers   []node.Addr
	streams []node.StreamID
	exec    node.ExecID
	core    bool
	puts    node.WriteID
	count   uint64
}

func (b *busybody) Step(env node.Env, in *node.Input) {
	r := env.Rand(node.PurposeToy)
	b.count += uint64(in.Kind)
	switch in.Kind {
	case node.InputStart:
		for _, record := range env.Store().Load("") {
			b.count = node.MixBytes(b.count, record.Value)
		}
		env.SetTimer(node.Key(node.PartPing, 1), r.Duration(0, time.Second))
	case node.InputTimer:
		if in.Timer.Kind == 1 {
			env.SetTimer(node.Key(node.PartPing, 1), r.Duration(0, 100*time.Millisecond))
		}
		b.act(env, r)
	case node.InputMessage:
		b.count += in.Message.Digest()
		if r.Chance(1, 2) && in.Stream != 0 {
			env.Send(in.Stream, &toy.Ack{Counter: b.count, From: 1})
		}
	case node.InputStreamOpened:
		b.streams = append(b.streams, in.Stream)
	case node.InputExec:
		if in.Exec.Kind == node.ExecGone {
			b.core = false
		}
	case node.InputCommand:
		env.Answer(in.Command, &toy.Ack{Counter: b.count})
	case node.InputStop:
		env.Halt("asked")
	}
	env.Emit(event.PeerLost{Peer: env.Self().ID, Reason: fmt.Sprint(b.count)})
}

func (b *busybody) act(env node.Env, r *node.Rand) {
	to := b.peers[r.Int(len(b.peers))]
	switch r.Int(9) {
	case 0:
		env.Datagram(to, ping(b.count))
	case 1:
		b.streams = append(b.streams, env.Open(to))
	case 2, 3, 4:
		if n := len(b.streams); n > 0 {
			env.Send(b.streams[r.Int(n)], &toy.Gossip{Updates: [8]toy.GossipUpdate{{Node: uint32(b.count)}}})
		}
	case 5:
		if n := len(b.streams); n > 5 {
			env.Close(b.streams[0])
			b.streams = b.streams[1:]
		}
	case 6:
		b.puts++
		env.Store().Put([]node.Record{{Key: fmt.Sprint(r.Int(5)), Value: []byte(fmt.Sprint(b.count))}}, b.puts)
	case 7:
		k := node.KeyN(node.PartPing, 2, r.N(4))
		env.CancelTimer(k)
		env.SetTimer(k, r.Duration(0, time.Second))
	case 8:
		if !b.core {
			b.core = true
			b.exec++
			env.Exec().Start(b.exec, 0, &message.ExecStart{Shard: message.ShardID{Job: message.JobID{1}}, Workflow: "w",
				Program: message.Program{Main: "m"}, PlanDigest: 1, VUs: 3, Duration: time.Second})
		} else if r.Chance(1, 2) {
			env.Exec().Cancel(b.exec)
		} else {
			env.Exec().Kill(b.exec)
		}
	}
}

// allFaults plays every kind of fault, one after the other and overlapping.
func allFaults() []sim.Fault {
	var all []sim.Fault
	for i, f := range []sim.Fault{
		{Kind: sim.FaultCrash}, {Kind: sim.FaultPause}, {Kind: sim.FaultStop}, {Kind: sim.FaultPartition}, {Kind: sim.FaultOneWay},
		{Kind: sim.FaultFlap, Value: 300}, {Kind: sim.FaultLoss, Value: 300_000}, {Kind: sim.FaultDuplicate, Value: 500_000},
		{Kind: sim.FaultReorder, Value: 500_000}, {Kind: sim.FaultLate, Value: 100_000}, {Kind: sim.FaultLatency, Value: 500},
		{Kind: sim.FaultHalfOpen}, {Kind: sim.FaultHalfOpen, Value: 1}, {Kind: sim.FaultBreakStreams}, {Kind: sim.FaultRefuseAccept},
		{Kind: sim.FaultSlowCPU, Value: 50}, {Kind: sim.FaultClockDrift, Value: 50_000, Beyond: true}, {Kind: sim.FaultDiskSlow, Value: 100},
		{Kind: sim.FaultDiskFull}, {Kind: sim.FaultDiskLostWrites}, {Kind: sim.FaultDiskTorn}, {Kind: sim.FaultExecCrash},
		{Kind: sim.FaultExecHang}, {Kind: sim.FaultExecSlow, Value: 10}, {Kind: sim.FaultCrash, Value: 1}, {Kind: sim.FaultSuspend},
		{Kind: sim.FaultLatencyOneWay, Value: 300}, {Kind: sim.FaultSlowLink, Value: 2}, {Kind: sim.FaultSwizzle, Value: 7}, {Kind: sim.FaultIsolate}, {Kind: sim.FaultCrash, Aim: "timer:*-1ns"},
		{Kind: sim.FaultPause, Aim: "stored"}, {Kind: sim.FaultLate, Value: 500_000, Hold: time.Second, Aim: "timer:*+1ns"}, {Kind: sim.FaultHeal},
	} {
		f.At, f.For = time.Duration(i)*time.Second, 1500*time.Millisecond
		f.Nodes = []string{fmt.Sprintf("n%d", i%5), fmt.Sprintf("n%d", (i+1)%5)}
		all = append(all, f)
	}
	return all
}

// chaos builds a world of busybodies and plays it.
func chaos(t *testing.T, seed uint64, wire bool, o sim.Observer) *sim.World {
	w := sim.New(sim.Config{Seed: seed, Wire: wire, Network: netsim.Default(), Observer: o, Beyond: true})
	model := sim.DefaultModel()
	model.Fail, model.Crash, model.Hang, model.IgnoreCancel, model.SlowBoot = 100_000, 100_000, 100_000, 100_000, 100_000
	var peers []node.Addr
	for i := range 5 {
		id := node.ID(fmt.Sprintf("n%d", i))
		w.Add(sim.Spec{ID: id, Role: node.RoleToy, Place: fmt.Sprintf("dc%d", i%2), Cores: 1, Model: model, DriftPPM: int64(i) * 100,
			Costs: sim.Costs{Default: 100 * time.Microsecond, ByKind: map[node.Kind]time.Duration{toy.KindGossip: time.Millisecond}},
			New:   func() node.Machine { return &busybody{peers: peers} }})
		peers = append(peers, w.Addr(id))
		w.Start(id)
	}
	if err := w.Schedule(allFaults()); err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		w.At(time.Duration(i)*time.Second, func() { w.Command("n0", ping(uint64(i)), func(node.Message) {}) })
	}
	w.RunUntil(40 * time.Second)
	return w
}

func TestNothingButTheSeedDecidesTheHash(t *testing.T) {
	for seed := range uint64(5) {
		base := chaos(t, seed, false, nil)
		if base.Events() < 3000 {
			t.Fatalf("only %d events", base.Events())
		}
		var trace, wireTrace bytes.Buffer
		//lint:orderfree every world is compared with the same one
		for name, other := range map[string]*sim.World{
			"again":           chaos(t, seed, false, nil),
			"traced":          chaos(t, seed, false, sim.NewTracer(&trace)),
			"encoded":         chaos(t, seed, true, nil),
			"encoded, traced": chaos(t, seed, true, sim.NewTracer(&wireTrace)),
		} {
			if other.Hash() != base.Hash() || other.Events() != base.Events() {
				t.Errorf("seed %d, %s: hash %x after %d events, want %x after %d", seed, name, other.Hash(), other.Events(), base.Hash(), base.Events())
			}
		}
		if !bytes.Equal(trace.Bytes(), wireTrace.Bytes()) {
			t.Errorf("seed %d: the traces differ", seed)
		}
		if other := chaos(t, seed+100, false, nil); other.Hash() == base.Hash() {
			t.Errorf("seeds %d and %d have one hash", seed, seed+100)
		}
	}
}

// The world above must contain every kind of fault, input and effect, or it proves nothing.
func TestChaosReachesEverything(t *testing.T) {
	var trace bytes.Buffer
	tracer := sim.NewTracer(&trace)
	chaos(t, 1, false, tracer)
	if tracer.Err() != nil {
		t.Fatal(tracer.Err())
	}
	seen := map[string]bool{}
	for line := range strings.Lines(trace.String()) {
		var l struct {
			In, Out, Event, Reason string
			Fault                  *sim.Fault
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		seen["in "+l.In], seen["out "+l.Out], seen["event "+l.Event], seen["reason "+l.Reason] = true, true, true, true
		if l.Fault != nil {
			seen["fault "+l.Fault.Kind] = true
		}
	}
	want := []string{"event peer-lost", "reason killed", "reason " + sim.ErrDiskFull.Error()}
	for k := node.InputStart; k <= node.InputStop; k++ {
		want = append(want, "in "+k.String())
	}
	for k := sim.EffectDatagram; k <= sim.EffectHalt; k++ {
		want = append(want, "out "+k.String())
	}
	for _, f := range allFaults() {
		want = append(want, "fault "+f.Kind)
	}
	for _, what := range want {
		if !seen[what] {
			t.Errorf("never seen: %s", what)
		}
	}
}

func TestFaultsSurviveJSON(t *testing.T) {
	b, err := json.Marshal(allFaults())
	if err != nil {
		t.Fatal(err)
	}
	var back []sim.Fault
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(back), fmt.Sprint(allFaults()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
