package lab

import (
	"fmt"
	"strings"
)

// page is docs/overload.md.
func (f *Figures) page() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Overload: which requests a node admits

Made by `+"`REWRITE=1 go test ./core/admission/lab`"+`, which takes some minutes. `+"`go test`"+` plays a sample of it again, and
`+"`OVERLOAD=full`"+` everything. The same seeds give the same figures.

core/admission decides at the entrance of a gate which requests of clients it admits. This page compares it
with published algorithms, in a simulation of servers whose capacity is known. *Goodput* counts answers within the
caller's deadline, as a share of the capacity. An answer that is late is work that the server wasted.

![Goodput by load, and after a step](overload.svg)

## One server

A server has %d workers. A request takes %s of one in the mean, exponentially distributed, so the capacity is %d
requests a second. %d callers draw deadlines from %s to %s, and do not retry. A refusal costs %d us, 1 %% of a request,
also at dequeue: the server has read the request, and answers. All algorithms face the same requests. The load rises for
%.0f s, stays, and counts from %.0f s to %.0f s.

`, pool, millis(handling), capacity, callers, millis(deadlineMin), millis(deadlineMax), (handling / 100).Microseconds(), ramp.Seconds(), warm.Seconds(), (warm + measure).Seconds())
	f.steadyTable(&b)
	f.algorithms(&b)
	f.costTable(&b)
	f.otherTable(&b)
	f.chainTable(&b)
	f.stepTable(&b)
	f.urgentTable(&b)
	f.fairTable(&b)
	f.barTable(&b)
	f.lessons(&b)
	b.WriteString(inside)
	return b.String()
}

// inside is what else keeps a cluster alive under load: worlds judge it, and no figure of this laboratory.
const inside = `
## Behind the entrance

The entrance is for requests of clients. Nodes among themselves have other means, which worlds of the simulator judge:

- **A crowd.** Of each worker one heartbeat and one report of figures wait at a manager: a newer one takes the place of the older. In
  ` + "`paused-manager-of-many`" + ` the only manager of hundreds of workers stops for up to two seconds. No stream breaks, no worker is lost, no
  shard runs again. Five seconds later a second has at most twice the events, and the inputs that wait, of one before the pause. In
  ` + "`submits-at-once`" + ` ten thousand submissions arrive within 50 ms. A gate accepts or rejects each within two seconds.
- **Pressure.** A manager asks its workers for 2,000 reports a second at most. Each second in which a report waited for more than 200 ms
  doubles the interval, up to 5 s; five calm seconds halve it. The answers to heartbeats carry it, and renewals and results
  wait for none of it: ` + "`overloaded-manager`" + `.
- **Mute managers.** What a manager asks for counts for three seconds. If it stops, or its answers are cut off, its workers
  report to its successor as often as before: ` + "`muted-worker`" + `.
- **Circuits.** There are two, each with one trial at a time. A gate rejects for 10 s what needs a majority after three failures within 30 s.
  A manager gives a worker no shard for 30 s after its machine has failed three within a minute, unless half of the workers
  have an open circuit: then the program is to blame. The alerts ` + "`circuit-open` and `worker-circuit-open`" + ` report them. Links need none, as
  their waits double, nor do gates before managers: a manager says in each heartbeat whether it takes work. A client bounds what it repeats.
`

func heads(b *strings.Builder, first string, rest ...string) {
	fmt.Fprintf(b, "| %s | %s |\n|---|%s\n", first, strings.Join(rest, " | "), strings.Repeat("---:|", len(rest)))
}

func (f *Figures) steadyTable(b *strings.Builder) {
	var names []string
	for _, l := range loads() {
		names = append(names, times(l))
	}
	b.WriteString("Goodput, then wasted work where there is some, then the p99 of answers in time:\n\n")
	heads(b, "load", names...)
	cells := func(name string, all []Cell) {
		fmt.Fprintf(b, "| %s |", name)
		for _, c := range all {
			fmt.Fprintf(b, " %s", percent(c.Good))
			if c.Wasted > 0 {
				fmt.Fprintf(b, ", %s wasted", percent(c.Wasted))
			}
			if c.P99 > 0 {
				fmt.Fprintf(b, ", %s", millis(c.P99))
			}
			b.WriteString(" |")
		}
		b.WriteString("\n")
	}
	b.WriteString("| the most that is possible |")
	for _, l := range loads() {
		fmt.Fprintf(b, " %s |", percent(ceiling(l, 10)))
	}
	b.WriteString("\n")
	for i := range f.Columns {
		cells(f.Columns[i].Name, f.Columns[i].Steady)
	}
	shedding := sheddingByLevel()
	cells(shedding.Name, f.Shedding)
	fmt.Fprintf(b, "\nFigures are means of %d seeds. They scatter by half a point: goodput a little above what is possible is luck of the draw.\n\n", tableSeeds)
}

func (f *Figures) algorithms(b *strings.Builder) {
	b.WriteString("| algorithm | what it does |\n|---|---|\n")
	for _, c := range append(Columns(), sheddingByLevel()) {
		fmt.Fprintf(b, "| %s | %s |\n", c.Name, c.What)
	}
	fmt.Fprintf(b, `
Parameters are those of folly/executors/Codel.cpp, of Netflix/concurrency-limits (Gradient2Limit, AIMDLimit, windows of
1 s), of Envoy's gradient controller with the example of its manual (p90, 100 ms, 60 s, 50 requests, buffer 25 %%), and of
the DAGOR paper (20 ms, 1 s or 2,000 requests, 5 %% and 1 %%, %d user levels). Three things differ. AIMD's timeout of 5 s would never
be reached: the least deadline takes its place. DAGOR's callers know each other's level without delay, and it
drops at dequeue what is late. No queue holds more
than %d requests. No other rival knows
deadlines, and none but DAGOR classes.

`, users, backlog)
}

func (f *Figures) costTable(b *strings.Builder) {
	b.WriteString("What a refusal costs decides what is possible. Goodput of ours, and the most that is possible:\n\n")
	heads(b, "a refusal costs", "at 2x", "possible", "at 10x", "possible")
	for i, cost := range costs() {
		fmt.Fprintf(b, "| %s of a request | %s | %s | %s | %s |\n", percent(cost), percent(f.Costs[i][0].Good), percent(ceiling(20, cost)), percent(f.Costs[i][1].Good), percent(ceiling(100, cost)))
	}
}

func (f *Figures) chainTable(b *strings.Builder) {
	b.WriteString(`
## Three hops

Each request visits three servers, 0.25 ms apart. Goodput is a share of what the chain can answer. The work of all servers
on requests that failed counts as wasted, as a share of the narrow server's capacity. The last column is the load that
jumps from 0.5x to 2x, in the 20 s behind the jump. Here, ours also has what answers of later servers say. No node of a cluster
needs that, since a gate answers a client itself: it is part of this comparison alone.

`)
	for i, h := range Chains() {
		heads(b, h.Name, "2x", "wasted", "p99", "4x", "wasted", "p99", "2x at once")
		for k := range f.Columns {
			c := &f.Columns[k]
			fmt.Fprintf(b, "| %s |", c.Name)
			for _, cell := range c.Chains[i] {
				fmt.Fprintf(b, " %s | %s | %s |", percent(cell.Good), percent(cell.Wasted), millis(cell.P99))
			}
			fmt.Fprintf(b, " %s |\n", percent(c.Surges[i].Good))
		}
		b.WriteString("\n")
	}
}

func (f *Figures) stepTable(b *strings.Builder) {
	fmt.Fprintf(b, `## Steps

The load jumps from 0.5x to 1.4x. Slices of %s are sums over %d seeds; a load is settled from the slice on after which none
has less than 90 %% of the capacity. In another run it jumps to 4x for 2 s and back to 0.5x: the last column says how many of
the requests fail that callers send from 1 s to 5 s after.

`, millis(stepSlice), stepSeeds)
	heads(b, "", "settled", "least slice", "fail after 4x")
	for i := range f.Columns {
		s := f.Columns[i].Step
		settled := fmt.Sprintf("%d ms", s.Settled.Milliseconds())
		if s.Settled == stepFor {
			settled = "not in 5 s"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", f.Columns[i].Name, settled, percent(s.Least), hundredths(s.Back))
	}
}

func (f *Figures) urgentTable(b *strings.Builder) {
	b.WriteString(`
## Critical requests

A twentieth of the capacity is critical. Share of critical requests that are answered in time, and their p99:

`)
	heads(b, "beside", "0.5x NORMAL", "10x NORMAL", "12x LOW")
	line := func(name string, all [3]Urgent) {
		fmt.Fprintf(b, "| %s |", name)
		for _, u := range all {
			good := (u.Asked - u.Shed - u.Late) * 1_000_000 / max(1, u.Asked)
			fmt.Fprintf(b, " %d.%04d %%, %s |", good/10_000, good%10_000, millis(u.P99))
		}
		b.WriteString("\n")
	}
	for i := range f.Columns {
		line(f.Columns[i].Name, f.Columns[i].Critical)
	}
	line(fmt.Sprintf("ours, %d seeds, the 2 s after a jump", spikeSeeds), f.Spikes)
}

func (f *Figures) fairTable(b *strings.Builder) {
	fmt.Fprintf(b, `
## Elephants and mice

Elephants ask for 10x together, the greediest for twice as much as the least greedy. Ten mice ask for half a percent each.
Share of the mice's requests that fail, then how far the furthest elephant is from its max-min share. All have a deadline
of %s; in the last columns deadlines are from %s to %s. Priority and fairness is the exact chance that a mouse shares all
its queues with elephants (hand 8 of 64), from the manual of Kubernetes.

`, millis(oneSource), millis(deadlineMin), millis(deadlineMax))
	heads(b, "elephants", "1", "4", "16", "1, mixed", "4, mixed", "16, mixed")
	b.WriteString("| priority and fairness | 0.00 % | 0.05 % | 36.00 % | | | |\n")
	for i := range f.Columns {
		c := &f.Columns[i]
		fmt.Fprintf(b, "| %s |", c.Name)
		for _, all := range [][]Fair{c.Fair, c.Mixed} {
			for _, x := range all {
				fmt.Fprintf(b, " %s, %s |", hundredths(x.Squeezed), percent(x.Apart))
			}
		}
		b.WriteString("\n")
	}
}

func (f *Figures) barTable(b *strings.Builder) {
	b.WriteString("\n## Bars\n\n| bar | ours | |\n|---|---|---|\n")
	for _, x := range f.bars() {
		verdict := "met"
		if !x.met {
			verdict = "**not met**"
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", x.name, x.got, verdict)
	}
}

func (f *Figures) lessons(b *strings.Builder) {
	ours, dagor := f.ours(), f.dagor()
	ratio := int64(f.Machine[1].P99) * 100 / int64(f.Machine[0].P99)
	whole, least, reached := 100_000/dagor.Chains[0][0].Good, dagor.Chains[0][0].Good, int64(0)
	for i := range Chains() {
		for k := range chainLoads() {
			if d := dagor.Chains[i][k].Good; d <= least {
				least, reached = d, ours.Chains[i][k].Good*100/d
			}
		}
	}
	most := 100_000 / least
	fmt.Fprintf(b, `
## What we learnt

- **The deadline decides.** A door that compares what waits with the caller's deadline wastes next to nothing at any load.
  The level only keeps waits short, and leaves room for what is urgent.
- **A level must not refuse a class as a whole.** The row "classes shed" does. Its server refuses all that is normal, idles
  until the level falls, and is overloaded at once again: %s at 2x.
- **At exactly the capacity a queue is worth something.** A queue that holds k requests refuses about 1 in k of them there.
  So tail drop leads at 1x, with twice the latency, and loses beyond. Shorter waits cost ours goodput at 1x alone.
- **One server is no contest.** Beyond the capacity CoDel and Gradient2 are as good as ours, with half the latency. So is
  Gradient2 in front of one narrow hop. Both fall behind at 1x and on equal servers, and fail what is critical: they know
  neither deadline, nor class, nor source.
- **1.8 times DAGOR is out of reach** where DAGOR has found its level: it answers %s on three equal servers at 2x, so
  that the whole capacity would be %d.%02d times as much. Its least on any chain is %s: there %d.%02d times is possible, and ours
  reaches %d.%02d, as figures scatter. In the 20 s behind a jump DAGOR answers %s on equal servers and ours %s. The bar is what the abstract of TopFull
  (SIGCOMM 2024) reports of microservices on machines. The DAGOR here is a stronger rival: its callers know levels without
  delay, and it drops late requests at dequeue. Without that drop it answers %s.
- **Later hops must speak to the first.** CoDel keeps a narrow last hop busy, and lets the hops before it work several times
  its capacity for nothing. DAGOR drops one hop before the narrow one. Ours drops at the first.
- **A hop that calls another twice adds both waits.** With one of them, ours answered a tenth less on that chain. It holds
  later waits to half of what is left of the deadline, also for sources that hold nothing here.
- **A machine that handles one request at a time** lets critical requests wait for the one that is being handled. Their p99
  rises from %s to %s, %d.%02d times. The nodes of a cluster are such machines, so their steps must be short.
- **Refuse early.** If a refusal costs 5 %% of a request, no algorithm passes %s at 10x. So the door stands before the
  mailbox.

Where the figures favour ours: its waits and shares were chosen with this laboratory, on these loads and seeds, while the
rivals have the parameters that their authors published for other servers. The bar
of 95 %% end to end counts the two chains with a narrow hop: on three equal servers at 4x ours answers %s.

Where the figures end: callers do not retry, work is exponentially distributed, and no message is lost. Costs of 1:100,
clocks that drift, and the ripple of refusals are not played. On sockets, a flooded gate spends 16 us of processor
time on a refused request, and rejects no cancellation; their p99 is not separable from the machine's: [performance](performance.md#a-flooded-gate).
`, percent(f.Shedding[3].Good), percent(dagor.Chains[0][0].Good), whole/100, whole%100, percent(least), most/100, most%100, reached/100, reached%100, percent(dagor.Surges[0].Good), percent(ours.Surges[0].Good), percent(f.Bare[0].Good),
		micros(f.Machine[0].P99), micros(f.Machine[1].P99), ratio/100, ratio%100, percent(ceiling(100, 50)), percent(ours.Chains[0][1].Good))
}

func (f *Figures) otherTable(b *strings.Builder) {
	b.WriteString(`
Two other servers. The first loses half of its workers at 2x, so that 4x of the rest is offered; figures count from 20 s
later, as shares of what is left. The second is a machine as the nodes of a cluster are: one worker, 1 ms a request.

`)
	heads(b, "", "half is lost", "wasted", "p99", "machine at 2x", "wasted", "p99", "machine at 10x", "wasted", "p99")
	for i := range f.Columns {
		fmt.Fprintf(b, "| %s |", f.Columns[i].Name)
		for _, c := range f.Columns[i].Others {
			fmt.Fprintf(b, " %s | %s | %s |", percent(c.Good), percent(c.Wasted), millis(c.P99))
		}
		b.WriteString("\n")
	}
}
