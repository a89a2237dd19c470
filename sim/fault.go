package sim

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Fault is one fault as data, so that programs can draw schedules, write them to files, shrink
// them and play them again. It begins At and ends after For.
type Fault struct {
	At time.Duration `json:"at"`
	// For zero means until the world heals everything. Half-open, break-streams, exec-crash and
	// exec-hang then act on what exists at that time only.
	For time.Duration `json:"for,omitempty"`
	// Kind is one of the names below.
	Kind string `json:"kind"`
	// Nodes that the fault hits; empty means all.
	Nodes []string `json:"nodes,omitempty"`
	// Peers limits a network fault to the links between Nodes and Peers; empty means all other
	// nodes.
	Peers []string `json:"peers,omitempty"`
	// Value is in the unit of the kind.
	Value int64 `json:"value,omitempty"`
	// Aim makes the fault wait, from At on, for an event that aim.go names, and hit only the
	// node where it occurs first: "timer:9.8-1ms", "stored:lease/". For kind late it names the
	// receiver's event at which a held datagram arrives.
	Aim string `json:"aim,omitempty"`
	// Hold, for kind late only: the network holds datagrams from once to three times this long;
	// zero means the network's bounds.
	Hold time.Duration `json:"hold,omitempty"`
	// Beyond, for clock-drift only: the drift exceeds the bound that protocols rely on. A world
	// must allow it.
	Beyond bool `json:"beyond,omitempty"`
}

// Kinds of faults.
const (
	FaultCrash          = "crash"            // killed, started again after For; value 1: without its disk
	FaultPause          = "pause"            // stopped at once, its executors go on
	FaultSuspend        = "suspend"          // the whole host, including executors: it receives nothing; its clock goes on
	FaultStop           = "stop"             // asked to end, killed if it has not after For, then started again
	FaultPartition      = "partition"        // nothing passes between Nodes and Peers
	FaultOneWay         = "one-way"          // nothing passes from Nodes to Peers
	FaultFlap           = "flap"             // a partition that comes and goes; value: milliseconds of each
	FaultLoss           = "loss"             // value: parts per million of messages
	FaultLossOneWay     = "loss-one-way"     // the same, from Nodes to Peers only
	FaultDuplicate      = "duplicate"        // the same
	FaultReorder        = "reorder"          // the same
	FaultLate           = "late"             // the same: held for seconds, one in four arrives twice
	FaultLatency        = "latency"          // value: additional milliseconds
	FaultLatencyOneWay  = "latency-one-way"  // the same, from Nodes to Peers only
	FaultSwizzle        = "swizzle"          // Nodes are cut from Peers one by one, and return in an order that the value draws
	FaultIsolate        = "isolate"          // each majority of Nodes in turn is cut from all other nodes
	FaultHalfOpen       = "half-open"        // streams break on the side of Nodes only; value 1: Peers never learn of it
	FaultBreakStreams   = "break-streams"    // streams break, what is in flight is lost
	FaultRefuseAccept   = "refuse-accept"    // no new streams to Nodes
	FaultSlowCPU        = "slow-cpu"         // value: how many times slower
	FaultClockDrift     = "clock-drift"      // value: parts per million instead of the node's own
	FaultDiskSlow       = "disk-slow"        // value: how many times slower
	FaultDiskFull       = "disk-full"        // writes fail
	FaultDiskLostWrites = "disk-lost-writes" // a crash loses all that was not synced
	FaultDiskTorn       = "disk-torn"        // a crash keeps the first part of what was not synced
	FaultExecCrash      = "exec-crash"       // executors crash: those that run, and those that start meanwhile
	FaultExecHang       = "exec-hang"        // executors fall silent and ignore cancels, the same
	FaultExecSlow       = "exec-slow"        // executors start slowly; value: how many times
	FaultSlowLink       = "slow-link"        // value: thousands of bytes a second that a node can send on these links
	FaultTight          = "tight"            // the world gives its nodes small bounds, from the beginning to the end; value: the seed of these
	FaultBurst          = "burst"            // value: jobs that Nodes submit, evenly over For
	FaultPrograms       = "big-programs"     // value: KiB of the program of each of a few jobs that Nodes submit over For
	FaultQueries        = "queries"          // value: questions and watches of Nodes, evenly over For
	FaultHeal           = "heal"             // ends every fault
)

// unit says what Value means and how large it may be.
type unit struct {
	low, high int64
	what      string
}

// units lists all kinds.
func units() map[string]unit {
	none := unit{0, 0, "nothing: leave it out"}
	flag := unit{0, 1, "0 or 1"}
	ppm := unit{1, million, "parts per million"}
	factor := unit{2, 10_000, "how many times slower"}
	return map[string]unit{
		FaultCrash: flag, FaultPause: none, FaultSuspend: none, FaultStop: none,
		FaultPartition: none, FaultOneWay: none, FaultFlap: {1, 3_600_000, "milliseconds"},
		FaultLoss: ppm, FaultLossOneWay: ppm, FaultDuplicate: ppm, FaultReorder: ppm, FaultLate: ppm, FaultLatency: {1, 60_000, "milliseconds"},
		FaultLatencyOneWay: {1, 60_000, "milliseconds"}, FaultSwizzle: {0, math.MaxInt64, "the seed of an order"}, FaultIsolate: none,
		FaultHalfOpen: flag, FaultBreakStreams: none, FaultRefuseAccept: none,
		FaultSlowCPU: factor, FaultClockDrift: {-driftBound, driftBound, "parts per million"},
		FaultDiskSlow: factor, FaultDiskFull: none, FaultDiskLostWrites: none, FaultDiskTorn: none,
		FaultExecCrash: none, FaultExecHang: none, FaultExecSlow: factor, FaultHeal: none,
		FaultSlowLink: {1, 1_000_000, "thousands of bytes a second"}, FaultTight: {0, math.MaxInt64, "the seed of the bounds"},
		FaultBurst: {1, loadMax, "jobs"}, FaultPrograms: {1, programMax, "KiB"}, FaultQueries: {1, loadMax, "questions"},
	}
}

// ErrFault wraps each error about a fault that the world cannot play.
var ErrFault = errors.New("not a fault of this world")

// check says what is wrong with a fault, and what to change.
func (x *injector) check(f *Fault) error {
	w := x.w
	u, ok := units()[f.Kind]
	if !ok {
		kinds := make([]string, 0, len(units()))
		//lint:orderfree sorted below
		for k := range units() {
			kinds = append(kinds, k)
		}
		slices.Sort(kinds)
		return fmt.Errorf("kind %q is not known: choose one of %v: %w", f.Kind, kinds, ErrFault)
	}
	if f.At < 0 || f.For < 0 {
		return fmt.Errorf("%s: at %v and for %v must not be negative: %w", f.Kind, f.At, f.For, ErrFault)
	}
	if f.Value < u.low || f.Value > u.high {
		return fmt.Errorf("%s: value %d must be from %d to %d (%s): %w", f.Kind, f.Value, u.low, u.high, u.what, ErrFault)
	}
	if err := cmp.Or(x.checkShape(f), x.checkLoad(f)); err != nil {
		return err
	}
	for _, id := range slices.Concat(f.Nodes, f.Peers) {
		if !w.has(id) {
			return fmt.Errorf("%s: node %q is not in this world: choose one of %v: %w", f.Kind, id, w.Nodes(), ErrFault)
		}
	}
	return nil
}

// isolateMax bounds the sets whose majorities are isolated in turn: seven nodes have 35.
const isolateMax = 7

// Bounds of the faults that are load: of requests in one fault, and of one program in KiB.
const (
	loadMax    = 10_000
	programMax = 512
)

// asks says that a fault is load of the clients, which the world plays.
func asks(kind string) bool {
	return kind == FaultBurst || kind == FaultPrograms || kind == FaultQueries
}

// checkLoad checks the fields of faults that are load.
func (x *injector) checkLoad(f *Fault) error {
	switch {
	case f.Kind == FaultTight && (f.At > 0 || f.For > 0 || f.Aim != "" || len(f.Nodes) > 0):
		return fmt.Errorf("%s: bounds are those of all nodes of the world, for its whole time: leave at, for, aim and nodes out: %w", f.Kind, ErrFault)
	case asks(f.Kind) && x.load == nil:
		return fmt.Errorf("%s: this world has no clients that ask: play it in one that has, such as storm: %w", f.Kind, ErrFault)
	case asks(f.Kind) && f.For == 0:
		return fmt.Errorf("%s: the requests come evenly over a time: say how long it takes: %w", f.Kind, ErrFault)
	}
	return nil
}

// checkShape checks the fields that only few kinds have.
func (x *injector) checkShape(f *Fault) error {
	w := x.w
	if _, err := parseAim(f.Aim); err != nil {
		return fmt.Errorf("%s: %w: %w", f.Kind, err, ErrFault)
	}
	switch {
	case f.Hold < 0 || f.Hold > 0 && f.Kind != FaultLate:
		return fmt.Errorf("%s: hold %v: only datagrams that are late are held, for more than nothing: %w", f.Kind, f.Hold, ErrFault)
	case f.Beyond && f.Kind != FaultClockDrift || f.Aim != "" && f.Kind == FaultHeal:
		return fmt.Errorf("%s: beyond is of %s only, and nothing aims at %s: %w", f.Kind, FaultClockDrift, FaultHeal, ErrFault)
	case f.Beyond && !w.config.Beyond:
		return fmt.Errorf("%s: this world keeps its clocks within %d parts per million: leave beyond out: %w", f.Kind, DriftBound, ErrFault)
	case f.Kind == FaultClockDrift && !f.Beyond && max(f.Value, -f.Value) > DriftBound:
		return fmt.Errorf("%s: value %d is beyond %d parts per million: say so, in a world that allows it: %w", f.Kind, f.Value, DriftBound, ErrFault)
	case f.For == 0 && (f.Kind == FaultSwizzle || f.Kind == FaultIsolate):
		return fmt.Errorf("%s: it is a course of cuts: say how long it takes: %w", f.Kind, ErrFault)
	case f.Kind == FaultIsolate && (len(f.Nodes) < 2 || len(f.Nodes) > isolateMax):
		return fmt.Errorf("%s: %d nodes: name a set of 2 to %d: %w", f.Kind, len(f.Nodes), isolateMax, ErrFault)
	}
	return nil
}

// Loads names who plays the faults that are load: what clients ask for from the begin of the
// fault on. Without one, the world has no such faults.
func (w *World) Loads(play func(Fault)) { w.faults.load = play }

// Schedule schedules faults at their times, or none if one of them is impossible.
func (w *World) Schedule(faults []Fault) error {
	for i := range faults {
		if err := w.faults.check(&faults[i]); err != nil {
			return fmt.Errorf("fault %d of %d: %w", i+1, len(faults), err)
		}
	}
	for _, f := range faults {
		w.At(f.At, func() { w.faults.inject(f) })
	}
	return nil
}

// Apply makes a fault begin now, whatever its At says.
func (w *World) Apply(f Fault) error {
	f.At = w.now
	if err := w.faults.check(&f); err != nil {
		return err
	}
	w.faults.inject(f)
	return nil
}

// ErrDiskFull is the error of a write to a full disk.
var ErrDiskFull = errors.New("no space left on the device: free some, nothing was written")
