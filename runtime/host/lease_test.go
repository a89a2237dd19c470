package host

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"hyperscale/core/lease"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/uplink"
	"hyperscale/runtime/certs"
	"hyperscale/runtime/seal"
)

// keeper is a member of a group of registers and nothing else: a command acquires
// a job, and is answered when it is owned. What falls vacant it takes.
type keeper struct {
	registers *lease.Registers
	links     *uplink.Links
	asked     map[message.JobID]node.CommandID
	held      *atomic.Int64
	written   node.CommandID // the command that waits for a write of the store alone
}

func newKeeper(self node.Addr, set []node.Addr, length time.Duration, held *atomic.Int64) *keeper {
	others := slices.DeleteFunc(slices.Clone(set), func(a node.Addr) bool { return a == self })
	u := uplink.Default()
	u.Group, u.Role, u.Beats = 1, node.RoleGate, true
	k := &keeper{links: uplink.New(u, others), asked: map[message.JobID]node.CommandID{}, held: held}
	c := lease.Default()
	c.Group, c.Self, c.Members, c.Lease = "gates", self, set, length
	k.registers = lease.New(c, k.links)
	return k
}

// Step implements node.Machine.
func (k *keeper) Step(env node.Env, in *node.Input) {
	switch in.Kind {
	case node.InputStart:
		k.links.Start(env)
		k.registers.Start(env)
	case node.InputMessage:
		if !k.links.Receive(env, in) {
			k.registers.Receive(env, in.From, in.Message)
		}
	case node.InputStreamOpened:
		k.links.Opened(env, in)
	case node.InputStreamBroken:
		k.links.Broken(env, in)
	case node.InputTimer:
		if in.Timer.Part == node.PartLease {
			k.registers.Fire(env, in.Timer)
		} else {
			k.links.Fire(env, in.Timer)
		}
	case node.InputStored:
		if in.WriteID.Part() == node.PartLease {
			k.registers.Stored(env, in)
		} else {
			env.Answer(k.written, &message.BeatAck{})
		}
	case node.InputCommand:
		k.onCommand(env, in)
	case node.InputStop:
		env.Halt("")
	}
	k.heed(env)
	k.registers.Flush(env)
}

func (k *keeper) onCommand(env node.Env, in *node.Input) {
	if o, ok := in.Message.(*message.JobCancel); ok {
		k.asked[o.Job] = in.Command
		k.registers.Acquire(env, o.Job, []byte("a record of a job, as long as one usually is at its beginning: sixty-odd bytes"))
		return
	}
	k.written = in.Command
	env.Store().Put([]node.Record{{Key: "probe", Value: make([]byte, 200)}}, node.WriteIDOf(node.PartGate, 1))
}

func (k *keeper) heed(env node.Env) {
	for _, o := range k.registers.Take() {
		switch o.Kind {
		case lease.Ready: // repeat questions that came too early
			for id := range k.asked {
				k.registers.Acquire(env, id, nil)
			}
		case lease.Lost:
			k.held.Add(-1)
		case lease.Granted:
			if !o.Again {
				k.held.Add(1)
			}
			if id, ok := k.asked[o.Job]; ok {
				delete(k.asked, o.Job)
				env.Answer(id, &message.BeatAck{})
			}
		case lease.Vacant:
			k.registers.Acquire(env, o.Job, nil)
		}
	}
}

// keepers is a group of three keepers on loopback, each with a disk.
type keepers struct {
	nodes []*Node
	held  [3]atomic.Int64
}

func startKeepers(t testing.TB, length time.Duration, guard guard) *keepers {
	var set []node.Addr
	for range 3 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		set = append(set, node.Addr(l.Addr().String()))
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(set)
	g := &keepers{}
	for i, addr := range set {
		o := Options{
			Role: node.RoleGate, ID: node.ID(fmt.Sprintf("gate-%d", i+1)), Cluster: "leases", Environment: "test",
			Listen: string(addr), DataDir: t.TempDir(), Machine: newKeeper(addr, set, length, &g.held[i]),
		}
		guard(t, &o)
		n, err := Start(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(n.Kill)
		g.nodes = append(g.nodes, n)
	}
	return g
}

// ask sends a command to a member and waits for its answer.
func (g *keepers) ask(t testing.TB, member int, m node.Message) time.Duration {
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s, err := g.nodes[member].Command(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, ok := <-s.Answers(); !ok {
		t.Fatal(s.Err())
	}
	return time.Since(began)
}

func job(n int) *message.JobCancel {
	return &message.JobCancel{Job: message.JobOf(fmt.Sprint("job ", n))}
}

// guard sets what the streams of a group are protected by.
type guard func(testing.TB, *Options)

func plain(testing.TB, *Options) {}

// sealed returns a guard by one new secret.
func sealed(t testing.TB) guard {
	t.Helper()
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(seal.New()), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(_ testing.TB, o *Options) { o.SecretFile = file }
}

// certified returns a guard by a certificate for each member, of one new authority.
func certified(t testing.TB) guard {
	t.Helper()
	issuer := issuerOf(t)
	return func(t testing.TB, o *Options) {
		o.Certs = issue(t, issuer, t.TempDir(), &certs.Request{
			Name: string(o.ID), Role: o.Role.String(), Cluster: o.Cluster, Environment: o.Environment,
			From: time.Now().Add(-time.Hour), Until: time.Now().Add(time.Hour),
		})
	}
}

// BenchmarkAcquire measures how long an acquisition takes: two rounds, so two commits of a
// majority, without a protection, with a secret, and with certificates. For comparison it measures a commit of one member alone
// and of all at once. In production the members are three processes: here they share as many
// threads.
func BenchmarkAcquire(b *testing.B) {
	threads := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(3 * threads)
	defer runtime.GOMAXPROCS(threads)
	b.Run("plain", func(b *testing.B) { acquires(b, plain) })
	b.Run("sealed", func(b *testing.B) { acquires(b, sealed(b)) })
	b.Run("certified", func(b *testing.B) { acquires(b, certified(b)) })
}

func acquires(b *testing.B, guard guard) {
	g := startKeepers(b, 30*time.Second, guard)
	g.ask(b, 0, job(-1)) // the group is founded
	var acquires, commits, rounds []time.Duration
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		acquires = append(acquires, g.ask(b, 0, job(n)))
		commits = append(commits, g.ask(b, 0, &message.Beat{}))
		rounds = append(rounds, g.round(b))
	}
	a, c, r := median(acquires), median(commits), median(rounds)
	b.ReportMetric(float64(a.Microseconds()), "us-p50/acquire")
	b.ReportMetric(float64(c.Microseconds()), "us-p50/commit")
	b.ReportMetric(float64(a)/float64(c), "commits/acquire")
	b.ReportMetric(float64(r.Microseconds()), "us-p50/commit-at-once")
	b.ReportMetric(float64(a)/float64(r), "commits-at-once/acquire")
}

// round is how long a majority takes to commit when all members begin at once: here they
// have one disk between them, which a lone commit has for itself.
func (g *keepers) round(t testing.TB) time.Duration {
	ended := make(chan time.Duration, len(g.nodes))
	for i := range g.nodes {
		go func() { ended <- g.ask(t, i, &message.Beat{}) }()
	}
	var took []time.Duration
	for range g.nodes {
		took = append(took, <-ended)
	}
	return median(took)
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// TestTenThousandLeases measures what it says, for as long as HYPERSCALE_BENCH_LEASES says, without
// a protection, with a secret, and with certificates. It takes minutes, so it runs only on request.
func TestTenThousandLeases(t *testing.T) {
	asked := os.Getenv("HYPERSCALE_BENCH_LEASES")
	if asked == "" {
		t.Skip("HYPERSCALE_BENCH_LEASES=30s measures for so long")
	}
	span, err := time.ParseDuration(asked)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("plain", func(t *testing.T) { tenThousand(t, span, plain) })
	t.Run("sealed", func(t *testing.T) { tenThousand(t, span, sealed(t)) })
	t.Run("certified", func(t *testing.T) { tenThousand(t, span, certified(t)) })
}

func tenThousand(t *testing.T, span time.Duration, guard guard) {
	const leases = 10_000
	const length = 30 * time.Second
	g := startKeepers(t, length, guard)
	g.ask(t, 0, job(-1))
	gate := make(chan struct{}, 64)
	done := make(chan struct{})
	for n := range leases - 1 {
		gate <- struct{}{}
		go func() {
			g.ask(t, 0, job(n))
			<-gate
			done <- struct{}{}
		}()
		if n >= 64 {
			<-done
		}
	}
	for range 64 {
		<-done
	}
	before, mallocs := cpu(t), allocations()
	time.Sleep(span)
	used, made := cpu(t)-before, allocations()-mallocs
	if held := g.held[0].Load(); held != leases {
		t.Errorf("%d leases are held after %v, want %d", held, span, leases)
	}
	t.Logf("%d leases held: all three members together use %.1f %% of one core, and allocate %.1f times a renewal",
		leases, 100*used.Seconds()/span.Seconds(), float64(made)/(leases*span.Seconds()/(length/3).Seconds()))
	killed := time.Now()
	g.nodes[0].Kill()
	for g.held[1].Load()+g.held[2].Load() < leases {
		if time.Since(killed) > 2*length {
			t.Fatalf("%d and %d leases are owned again after %v", g.held[1].Load(), g.held[2].Load(), time.Since(killed))
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Logf("all owned again %v after their owner was killed, leases are %v", time.Since(killed).Round(time.Millisecond), length)
}

// allocations counts those of the process so far.
func allocations() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

func cpu(t *testing.T) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
