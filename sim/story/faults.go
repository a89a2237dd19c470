package story

import (
	"fmt"
	"strings"
	"time"

	"hyperscale/core/node"
	"hyperscale/sim"
)

// hits says whether a fault hits one of the nodes, or all.
func hits(f *sim.Fault, involved map[node.ID]bool) bool {
	if len(f.Nodes) == 0 {
		return true
	}
	for _, id := range f.Nodes {
		if involved[node.ID(id)] {
			return true
		}
	}
	for _, id := range f.Peers {
		if involved[node.ID(id)] {
			return true
		}
	}
	return false
}

// whom names the node that a fault hits; of many only the involved ones.
func whom(f *sim.Fault, involved map[node.ID]bool) string {
	var hit []string
	for _, id := range f.Nodes {
		if involved[node.ID(id)] {
			hit = append(hit, id)
		}
	}
	switch {
	case len(hit) == 0 && len(f.Nodes) == 1:
		return f.Nodes[0]
	case len(hit) == 0:
		return "everybody"
	case len(hit) <= 2:
		return strings.Join(hit, ", ")
	}
	return fmt.Sprintf("%s and %d more", hit[0], len(hit)-1)
}

// fault describes a fault that begins.
func fault(f *sim.Fault) string {
	text := Fault(f)
	switch {
	case f.For > 0 && f.Kind == sim.FaultSwizzle || f.Kind == sim.FaultIsolate:
		text += " within " + short(f.For)
	case f.For > 0:
		text += " for " + short(f.For)
	case !instant(f.Kind):
		text += " until everything is healed"
	}
	return text
}

// instant says that a fault has no duration.
func instant(kind string) bool {
	return kind == sim.FaultBreakStreams || kind == sim.FaultHalfOpen || kind == sim.FaultHeal
}

// Fault describes a fault in a few words, without its time and its nodes.
func Fault(f *sim.Fault) string {
	text := what(f)
	if f.Hold > 0 {
		text += fmt.Sprintf(", held %s to %s", short(f.Hold), short(3*f.Hold))
	}
	if f.Aim != "" {
		text += ", aimed at " + f.Aim
	}
	return text
}

func what(f *sim.Fault) string {
	peers := peers(f)
	switch f.Kind {
	case sim.FaultCrash:
		if f.Value == 1 {
			return "crashes and loses its disk"
		}
		return "crashes"
	case sim.FaultPause:
		return "is paused"
	case sim.FaultSuspend:
		return "is suspended with its host"
	case sim.FaultStop:
		return "is asked to stop"
	case sim.FaultPartition:
		return "is cut off from " + peers
	case sim.FaultOneWay:
		return "is not heard by " + peers
	case sim.FaultFlap:
		return fmt.Sprintf("is cut off from %s every %d ms", peers, f.Value)
	case sim.FaultLoss, sim.FaultDuplicate, sim.FaultReorder, sim.FaultLate:
		return fmt.Sprintf("%s of %s with %s", messages(f.Kind), share(f.Value), peers)
	case sim.FaultLossOneWay:
		return fmt.Sprintf("loses %s of what it sends to %s", share(f.Value), peers)
	case sim.FaultLatency:
		return fmt.Sprintf("%d ms more delay with %s", f.Value, peers)
	case sim.FaultLatencyOneWay:
		return fmt.Sprintf("%d ms more delay to %s", f.Value, peers)
	case sim.FaultSwizzle:
		return "are cut off from " + peers + " one by one, and come back in another order"
	case sim.FaultIsolate:
		return "each majority in turn is cut off from " + peers
	case sim.FaultHalfOpen:
		return "streams with " + peers + " break on one side only"
	case sim.FaultBreakStreams:
		return "streams with " + peers + " break"
	case sim.FaultRefuseAccept:
		return "accepts no new streams"
	case sim.FaultSlowLink:
		return fmt.Sprintf("at most %d kB a second with %s", f.Value, peers)
	case sim.FaultTight:
		return "all nodes have small bounds"
	case sim.FaultBurst:
		return fmt.Sprintf("submits %d jobs", f.Value)
	case sim.FaultPrograms:
		return fmt.Sprintf("submits programs of %d KiB", f.Value)
	case sim.FaultQueries:
		return fmt.Sprintf("asks and watches %d times", f.Value)
	}
	return local(f)
}

// peers names the other side of a network fault.
func peers(f *sim.Fault) string {
	switch n := len(f.Peers); {
	case n > 3:
		return fmt.Sprintf("%s and %d more", strings.Join(f.Peers[:2], ", "), n-2)
	case n > 0:
		return strings.Join(f.Peers, ", ")
	case len(f.Nodes) == 0:
		return "one another"
	}
	return "everybody else"
}

// local describes the faults that stay within a node.
func local(f *sim.Fault) string {
	switch f.Kind {
	case sim.FaultSlowCPU:
		return fmt.Sprintf("computes %d times slower", f.Value)
	case sim.FaultClockDrift:
		return fmt.Sprintf("its clock drifts by %d ppm", f.Value)
	case sim.FaultDiskSlow:
		return fmt.Sprintf("its disk is %d times slower", f.Value)
	case sim.FaultDiskFull:
		return "its disk is full"
	case sim.FaultDiskLostWrites:
		return "a crash would lose its unsynced writes"
	case sim.FaultDiskTorn:
		return "a crash would tear its unsynced writes"
	case sim.FaultExecCrash:
		return "its executors crash"
	case sim.FaultExecHang:
		return "its executors hang"
	case sim.FaultExecSlow:
		return fmt.Sprintf("its executors start %d times slower", f.Value)
	case sim.FaultHeal:
		return "everything is healed"
	}
	return f.Kind
}

func messages(kind string) string {
	switch kind {
	case sim.FaultLoss:
		return "loss"
	case sim.FaultDuplicate:
		return "duplication"
	case sim.FaultReorder:
		return "reordering"
	}
	return "late delivery"
}

// share writes parts per million as a percentage.
func share(ppm int64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%d.%04d", ppm/10_000, ppm%10_000), "0"), ".") + " %"
}

// short writes a duration to the millisecond.
func short(d time.Duration) string {
	if d >= time.Millisecond {
		d = d.Round(time.Millisecond)
	}
	return d.String()
}
