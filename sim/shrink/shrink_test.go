package shrink_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hyperscale/sim"
	"hyperscale/sim/shrink"
)

// crashes returns n different faults.
func crashes(n int) []sim.Fault {
	var all []sim.Fault
	for i := range n {
		all = append(all, sim.Fault{At: time.Duration(i+1) * time.Second, Kind: sim.FaultCrash, Nodes: []string{fmt.Sprint("n", i)}})
	}
	return all
}

// Of many faults exactly those remain that the failure needs.
func TestOnlyTheCauseIsLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := crashes(rapid.IntRange(0, 60).Draw(t, "faults"))
		var cause []sim.Fault
		for _, f := range all {
			if rapid.IntRange(0, 20).Draw(t, "needed") == 0 {
				cause = append(cause, f)
			}
		}
		seen := map[string]bool{}
		got, plays := shrink.Shrink(shrink.Run{Faults: all}, shrink.Options{Fails: func(faults []sim.Fault) (time.Duration, bool) {
			key := fmt.Sprint(faults)
			if seen[key] {
				t.Fatalf("played twice: %s", key)
			}
			seen[key] = true
			return 0, !slices.ContainsFunc(cause, func(f sim.Fault) bool {
				return !slices.ContainsFunc(faults, func(g sim.Fault) bool { return cmp.Equal(f, g) })
			})
		}})
		if len(got.Faults) != len(cause) || len(cause) > 0 && !cmp.Equal(got.Faults, cause) {
			t.Fatalf("got %v, want %v", got.Faults, cause)
		}
		if most := 20 + 20*(len(cause)+1)*10; plays != len(seen) || plays > most {
			t.Fatalf("%d plays, %d told, want at most %d", len(seen), plays, most)
		}
	})
}

// drawn returns any fault.
func drawn(t *rapid.T) sim.Fault {
	d := func(name string) time.Duration {
		return time.Duration(rapid.Int64Range(0, int64(5*time.Minute)).Draw(t, name))
	}
	names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"}), 0, 6, rapid.ID)
	return sim.Fault{At: d("at"), For: d("for"), Hold: d("hold"), Value: rapid.Int64Range(-1_000_000, 1_000_000).Draw(t, "value"),
		Kind: rapid.SampledFrom([]string{sim.FaultCrash, sim.FaultPartition, sim.FaultLate, sim.FaultSwizzle}).Draw(t, "kind"),
		Aim:  rapid.SampledFrom([]string{"", "stored"}).Draw(t, "aim"), Nodes: names.Draw(t, "nodes"), Peers: names.Draw(t, "peers")}
}

// Whatever a failure depends on: the result fails, the search ends, and Stop can end it at any
// play.
func TestTheResultFailsAndTheSearchEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run := shrink.Run{Faults: rapid.SliceOfN(rapid.Custom(drawn), 1, 12).Draw(t, "faults"), Broken: time.Duration(rapid.Int64Range(0, int64(5*time.Minute)).Draw(t, "broken"))}
		salt := rapid.Uint64().Draw(t, "salt")
		fails := func(faults []sim.Fault) bool { // a hash: as irregular as a failure may be
			h := salt
			for _, f := range faults {
				h = h*31 + uint64(f.At/time.Second) + uint64(len(f.Nodes))<<20 + uint64(f.For/time.Second)<<40
			}
			return h%3 != 0
		}
		failed := []shrink.Run{run}
		stop := rapid.IntRange(1, 300).Draw(t, "stop")
		plays := 0
		got, told := shrink.Shrink(run, shrink.Options{
			Stop: func() bool { return plays >= stop },
			Fails: func(faults []sim.Fault) (time.Duration, bool) {
				plays++
				if !fails(faults) {
					return 0, false
				}
				broken := run.Broken / time.Duration(1+len(faults))
				failed = append(failed, shrink.Run{Faults: faults, Broken: broken})
				return broken, true
			},
		})
		if plays > stop || told != plays || !cmp.Equal(got, failed[len(failed)-1]) {
			t.Fatalf("%d plays, stopped at %d; got %v, the last that failed is %v", plays, stop, got, failed[len(failed)-1])
		}
		if len(got.Faults) > len(run.Faults) {
			t.Fatalf("%d faults of %d", len(got.Faults), len(run.Faults))
		}
	})
}

// Times, nodes and values become round.
func TestFaultsBecomeSimple(t *testing.T) {
	long := sim.Fault{At: 83_123_456_789, For: 47_111_222_333, Kind: sim.FaultPartition, Nodes: []string{"a", "b", "c", "d", "e"}, Peers: []string{"x", "y", "z"}, Aim: "stored", Value: 87_654}
	got, _ := shrink.Shrink(shrink.Run{Faults: append(crashes(40), long), Broken: 100 * time.Second}, shrink.Options{
		Fails: func(faults []sim.Fault) (time.Duration, bool) {
			for _, f := range faults {
				if f.Kind == sim.FaultPartition && slices.Contains(f.Nodes, "d") && slices.Contains(f.Peers, "y") && f.For >= 10*time.Second && f.At >= 82*time.Second && f.Value >= 1000 {
					return 92 * time.Second, true
				}
			}
			return 0, false
		},
	})
	want := shrink.Run{Broken: 92 * time.Second, Faults: []sim.Fault{{At: 83 * time.Second, For: 10 * time.Second, Kind: sim.FaultPartition, Nodes: []string{"d"}, Peers: []string{"y"}, Value: 1000}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// The search drops faults after the failure at once, and needs one play for a failure without
// any fault.
func TestTheEndCuts(t *testing.T) {
	plays := 0
	got, _ := shrink.Shrink(shrink.Run{Faults: crashes(1000), Broken: 3500 * time.Millisecond}, shrink.Options{Fails: func(faults []sim.Fault) (time.Duration, bool) {
		plays++
		return 0, true
	}})
	if len(got.Faults) != 0 || plays != 2 {
		t.Errorf("%d faults after %d plays, want none after 2", len(got.Faults), plays)
	}
}
