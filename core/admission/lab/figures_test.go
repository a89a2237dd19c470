package lab

import (
	"time"

	"hyperscale/core/node"
)

// Figures is all that docs/overload.md shows.
type Figures struct {
	Columns  []Row
	Shedding []Cell    // ours with classes shed by level, by load
	Costs    [][]Cell  // ours by the cost of a refusal, at 2x and 10x
	Bare     []Cell    // surges of DAGOR without a drop of late requests, by chain
	Machine  [2]Urgent // likewise as Spikes, of a machine
	Spikes   [3]Urgent // ours over many seeds: beside 0.5x NORMAL, after a jump to 10x NORMAL, to 12x LOW
}

// Row is one algorithm.
type Row struct {
	Name     string
	Steady   []Cell   // by load
	Chains   [][]Cell // by chain and load
	Surges   []Cell   // by chain
	Others   [3]Cell  // half the capacity lost at 2x; a machine at 2x and 10x
	Step     Step
	Critical [3]Urgent // beside 0.5x NORMAL, 10x NORMAL, 12x LOW
	Fair     []Fair    // by number of elephants, one deadline
	Mixed    []Fair    // the same, deadlines from 100 to 500 ms
}

const (
	tableSeeds   = 3
	chainSeeds   = 2
	stepSeeds    = 200
	spikeSeeds   = 1000
	machineSeeds = 100
	oneSource    = 300 * time.Millisecond // the deadline where all have the same
)

func loads() []int64      { return []int64{5, 10, 14, 20, 40, 100} } // tenths
func chainLoads() []int64 { return []int64{20, 40} }
func herds() []int64      { return []int64{1, 4, 16} }
func costs() []int64      { return []int64{1, 10, 50} } // thousandths of a request

// mean plays several seeds.
func mean(seeds uint64, play func(seed uint64) Cell) Cell {
	var sum Cell
	for seed := range seeds {
		c := play(seed + 1)
		sum.Good, sum.Wasted, sum.P99 = sum.Good+c.Good, sum.Wasted+c.Wasted, sum.P99+c.P99
	}
	n := int64(seeds)
	return Cell{Good: (sum.Good + n/2) / n, Wasted: (sum.Wasted + n/2) / n, P99: sum.P99 / time.Duration(n)}
}

func steadyCell(c *Column, load, cost int64) Cell {
	return mean(tableSeeds, func(seed uint64) Cell { return Steady(c, seed, load, cost) })
}

func chainCell(c *Column, h *Chain, load int64) Cell {
	return mean(chainSeeds, func(seed uint64) Cell { return h.Play(c, seed, load) })
}

func row(c *Column) Row {
	r := Row{Name: c.Name, Step: Jump(c, stepSeeds)}
	for _, load := range loads() {
		r.Steady = append(r.Steady, steadyCell(c, load, 10))
	}
	r.Others = [3]Cell{
		mean(chainSeeds, func(seed uint64) Cell { return Halved(c, seed) }),
		mean(chainSeeds, func(seed uint64) Cell { return Machine(c, seed, 20) }),
		mean(chainSeeds, func(seed uint64) Cell { return Machine(c, seed, 100) }),
	}
	for _, h := range Chains() {
		var cells []Cell
		for _, load := range chainLoads() {
			cells = append(cells, chainCell(c, &h, load))
		}
		r.Chains = append(r.Chains, cells)
		r.Surges = append(r.Surges, mean(chainSeeds, func(seed uint64) Cell { return h.Surge(c, seed, 20) }))
	}
	r.Critical = [3]Urgent{Critical(c, 1, node.Normal, 5), Critical(c, 1, node.Normal, 100), Critical(c, 1, node.Low, 120)}
	for _, n := range herds() {
		r.Fair = append(r.Fair, Divide(c, chainSeeds, n, oneSource, oneSource))
		r.Mixed = append(r.Mixed, Divide(c, chainSeeds, n, deadlineMin, deadlineMax))
	}
	return r
}

// Measure plays everything. It takes some minutes.
func Measure() Figures {
	var f Figures
	columns := Columns()
	for i := range columns {
		f.Columns = append(f.Columns, row(&columns[i]))
	}
	ours, shedding := &columns[len(columns)-1], sheddingByLevel()
	for _, load := range loads() {
		f.Shedding = append(f.Shedding, steadyCell(&shedding, load, 10))
	}
	for _, cost := range costs() {
		f.Costs = append(f.Costs, []Cell{steadyCell(ours, 20, cost), steadyCell(ours, 100, cost)})
	}
	bare := bareDAGOR()
	for _, h := range Chains() {
		f.Bare = append(f.Bare, mean(chainSeeds, func(seed uint64) Cell { return h.Surge(&bare, seed, 20) }))
	}
	server := func() *world { return newWorld(ours, []int{pool}, []int{0}) }
	machine := func() *world { return newMachine(ours) }
	f.Spikes = [3]Urgent{Spike(spikeSeeds, node.Normal, 5, server), Spike(spikeSeeds, node.Normal, 100, server), Spike(spikeSeeds, node.Low, 120, server)}
	f.Machine = [2]Urgent{Spike(machineSeeds, node.Normal, 5, machine), Spike(machineSeeds, node.Normal, 100, machine)}
	return f
}

// ceiling returns the most that a server can answer, in tenths of a percent: what it refuses
// costs, too.
func ceiling(load, cost int64) int64 {
	if load <= 10 {
		return load * 100
	}
	return (10_000 - cost*load) * 100 / (1000 - cost)
}
