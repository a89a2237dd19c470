package measure

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/load/schedule"
	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/runtime/redact"
)

// slot has the times of an engine's slot.
type slot struct {
	Instants
	due int64
}

// accounted is the loop's work for the figures of one request on an open connection, between
// its two readings of the clock.
func accounted(a *Account, c *slot, now int64) {
	c.due, c.Dialled, c.Wrote, c.Written, c.Heard = now, 0, 0, 0, 0
	a.Start(time.Duration(now))
	c.Wrote, c.Written = now+1000, now+1000
	a.BytesOut += 120
	a.BytesIn += 157
	c.Heard = now + 50_000
	var t Times
	t.Begin(c.due)
	c.AddTo(&t, now+50_000)
	a.Answered(200, &t)
}

// BenchmarkAccount is the cost of the figures of one request: at most 150 ns, 0 allocations.
func BenchmarkAccount(b *testing.B) {
	b.ReportAllocs()
	a, c := NewAccount(&message.StepPlan{}, nil, false, nil), slot{}
	now := int64(0)
	for b.Loop() {
		accounted(&a, &c, now)
		now += 5000
	}
}

// TestAccountingAllocatesNothing: in a run of any length, once all kinds of errors occurred.
func TestAccountingAllocatesNothing(t *testing.T) {
	a, c := NewAccount(&message.StepPlan{}, nil, false, nil), slot{}
	now := int64(0)
	for ; now < int64(stats.WindowsMax*stats.WindowWidth); now += int64(stats.WindowWidth) {
		accounted(&a, &c, now)
	}
	if n := testing.AllocsPerRun(10_000, func() { now += 50_000_000; accounted(&a, &c, now) }); n != 0 {
		t.Errorf("%v allocations a request, want 0", n)
	}
}

// TestPhasesAddUp: for any order of events, the phases make up the latency without a gap.
func TestPhasesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var x Times
		due := rapid.Int64Range(0, 1<<40).Draw(t, "due")
		x.Begin(due)
		now, wrote := due, int64(0)
		for _, p := range rapid.SliceOfN(rapid.Uint8Range(1, uint8(phases)), 0, 20).Draw(t, "phases") {
			now = max(now, now+rapid.Int64Range(-10, 1<<30).Draw(t, "took"))
			if message.Phase(p) == message.PhaseSend && wrote == 0 {
				wrote = max(now, 1)
			}
			x.Enter(message.Phase(p), now)
		}
		x.end(now)
		var sum int64
		for i, d := range x.spent {
			sum += d
			if d < 0 || d > 0 && x.took&(1<<i) == 0 {
				t.Fatalf("phase %d took %d and happened: %v", i+1, d, x.took&(1<<i) != 0)
			}
		}
		if sum != now-due || x.Latency() != now-due {
			t.Fatalf("phases take %d, the latency is %d, want %d", sum, x.Latency(), now-due)
		}
		if want := now - wrote; wrote != 0 && x.service() != want || wrote == 0 && x.service() != 0 {
			t.Fatalf("service is %d, want %d", x.service(), want)
		}
	})
}

// TestBusyNeedsTime: a run of a millisecond that never waits is not saturated, one of a
// few hundred is.
func TestBusyNeedsTime(t *testing.T) {
	for took, want := range map[time.Duration]bool{time.Millisecond: false, 300 * time.Millisecond: true} {
		var g Generator
		g.Finish(took)
		if got := g.Message(schedule.Figures{}); got.Saturated != want {
			t.Errorf("busy for all of %v: %d ppm, saturated %v, want %v", took, got.BusyMax, got.Saturated, want)
		}
	}
}

// TestWhatHeldTheGenerator: own work, others on its core, the machine's host, and late starts
// of its own are different findings.
func TestWhatHeldTheGenerator(t *testing.T) {
	type says struct{ Saturated, Starved, Late bool }
	for _, tc := range []struct {
		name         string
		idle, waited time.Duration // of each second
		stolen       uint64        // of 1,000 ticks
		starts, late int
		want         says
	}{
		{name: "rests, and is in time", idle: 890 * time.Millisecond, starts: 5000, want: says{}},
		{name: "its own work fills its core", starts: 5000, want: says{Saturated: true}},
		{name: "others had half of its core", waited: 500 * time.Millisecond, starts: 5000, want: says{Starved: true}},
		{name: "the host had a part of the machine", stolen: 200, starts: 5000, want: says{Saturated: true, Starved: true}},
		{name: "16 starts, the latest of them late", idle: 900 * time.Millisecond, starts: 15, late: 1, want: says{}},
		{name: "50 starts, 9 late", idle: 900 * time.Millisecond, starts: 41, late: 9, want: says{}},
		{name: "50 starts, 12 late", idle: 900 * time.Millisecond, starts: 38, late: 12, want: says{Late: true}},
		{name: "10,000 starts, 50 late", idle: 900 * time.Millisecond, starts: 9950, late: 50, want: says{}},
		{name: "10,000 starts, 200 late, by its own bursts", idle: 900 * time.Millisecond, starts: 9800, late: 200, want: says{Late: true}},
		{name: "late, as others had its core", idle: 700 * time.Millisecond, waited: 100 * time.Millisecond, starts: 900, late: 100, want: says{Starved: true, Late: true}},
		{name: "late, as the host had the machine", idle: 700 * time.Millisecond, stolen: 100, starts: 900, late: 100, want: says{Starved: true, Late: true}},
	} {
		var loop usage
		var all ticks
		g := Generator{machine: machine{
			usages: func() map[string]usage { return map[string]usage{"loop": loop, "other": {loop.ran / 20, 9 * loop.ran}} },
			ticks:  func() ticks { return all },
		}}
		for now := time.Second; now <= 3*time.Second; now += time.Second {
			loop.ran, loop.waited = loop.ran+time.Second-tc.idle-tc.waited, loop.waited+tc.waited
			all.all, all.stolen = all.all+1000, all.stolen+tc.stolen
			g.Idle = tc.idle
			g.Turn(now)
		}
		g.Lag.RecordN(uint64(time.Millisecond), uint64(tc.starts))
		g.Lag.RecordN(uint64(30*time.Millisecond), uint64(tc.late))
		g.Finish(3 * time.Second)
		m := g.Message(schedule.Figures{})
		if got := (says{m.Saturated, m.Starved, m.Late}); got != tc.want {
			t.Errorf("%s: %+v, want %+v; busy %d, waited %d, steal %d ppm", tc.name, got, tc.want, m.BusyMax, m.WaitMax, m.StealMax)
		}
	}
}

// TestMachineIsRead: the thread's waits and the processors' ticks are in /proc.
func TestMachineIsRead(t *testing.T) {
	if c := processorTicks(); c.all == 0 || c.stolen > c.all {
		t.Errorf("the processors have %d ticks, %d stolen", c.all, c.stolen)
	}
	m := watchMachine()
	for id, u := range m.threads {
		m.threads[id] = usage{u.ran - time.Hour, u.waited - time.Hour}
	}
	if got := m.waited(time.Second); len(m.threads) > 0 && got != time.Second {
		t.Errorf("an hour's wait in a second is %v", got)
	}
}

func BenchmarkReadMachine(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		threadUsages()
	}
}

// A server names the kinds of its failures: 32 of them count apart.
func TestServersMakeUpFewKinds(t *testing.T) {
	a := NewAccount(&message.StepPlan{Name: "a"}, nil, false, nil)
	a.Broken("closed", "", 0)
	for code := range 200 {
		a.Broken(fmt.Sprintf("server %d", 3000+code), "", 0)
		a.Broken("server 3000", "", 0)
	}
	kinds, other := 0, uint64(0)
	for _, e := range a.errors {
		if e.Kind == "server other" {
			other = e.Count
		} else if strings.HasPrefix(e.Kind, "server ") {
			kinds++
		}
	}
	if kinds != 32 || other != 168 {
		t.Errorf("%d kinds, and %d failures of others", kinds, other)
	}
}

// What a server says is cut to an example, behind the mask: no part of a value is left at the edge.
func TestExamplesHideBeforeTheyClip(t *testing.T) {
	const value = "QXZJKVWY"
	for before := exampleMax - len(value) - 2; before <= exampleMax; before++ {
		a := NewAccount(&message.StepPlan{Name: "a"}, nil, false, nil)
		a.Hide(redact.New([]string{value}))
		text := strings.Repeat("-", before) + value + strings.Repeat("-", 100)
		a.Broken("server "+text, text, 0)
		e := a.errors[0]
		if both := e.Kind + e.Example; strings.Contains(both, value[:1]) || len(e.Example) > exampleMax {
			t.Errorf("%d bytes before the value: %q", before, both)
		}
	}
}
