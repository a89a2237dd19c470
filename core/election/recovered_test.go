package election

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/node"
)

// recoveries models the registers of a group: the founder's disk begins an epoch, and the
// others learn of it at some later time.
type recoveries struct {
	*group
	n       int
	epoch   uint64
	founder int
	lost    int // disks since all last knew a leader, never the founder's
}

// tell makes a voter's registers know the epoch and its founder.
func (r *recoveries) tell(i int) {
	x := r.toys[i]
	x.epoch, x.mute, x.first = r.epoch, false, ""
	if r.epoch > 0 {
		x.first = addr(r.founder + 1)
	}
}

// restart keeps what the registers have on disk. A member on a lost disk, and a founder in its
// guard, do not answer.
func (r *recoveries) restart(i int, disk string) {
	epoch, first, mute := r.toys[i].epoch, r.toys[i].first, r.toys[i].mute
	if disk == "lost" {
		epoch, first, mute = 0, "", true
	}
	r.register(i, epoch, first, mute)
	r.group.restart(i, disk)
}

func (r *recoveries) register(i int, epoch uint64, first node.Addr, mute bool) {
	r.opened[i] = func(x *toy) { x.epoch, x.first, x.mute = epoch, first, mute }
}

// recover loses at least a majority of the disks, and recovers the group from one of the
// others. The founder's registers are silent for a while, and know the epoch then.
func (r *recoveries) recover(draw func(string, int) int) {
	founder := draw("founder", r.n)
	if x := r.toys[founder]; x.mute || x.epoch != r.epoch {
		return // no disk of the epoch is left
	}
	r.founder = founder
	keeps := draw("keeps", (r.n+1)/2) // beside the founder
	for k := 1; k < r.n; k++ {
		i := (r.founder + k) % r.n
		if k > keeps {
			r.restart(i, "lost")
		}
	}
	r.restart(r.founder, "")
	x := r.toys[r.founder]
	x.mute = true
	r.advance(time.Duration(draw("guard", 6000))*time.Millisecond, nil)
	r.epoch++
	r.lost = 0
	r.tell(r.founder)
}

// An operator recovers groups from one disk, again and again, while disks are lost, voters
// restart and messages arrive late. No term has two leaders. Once all registers know the epoch,
// all know a leader.
func TestOneLeaderATermThroughRecoveries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{2, 3, 3, 3, 5}).Draw(t, "voters")
		r := &recoveries{group: newGroup(t, n), n: n, founder: -1}
		r.settle(5 * time.Second)
		draw := func(name string, n int) int { return rapid.IntRange(0, n-1).Draw(t, name) }
		late, posted := draw("late", 3) == 0, uint64(0)
		r.delay = func() time.Duration { // not drawn: there are thousands of messages
			posted++
			mixed := posted * 0x9e3779b97f4a7c15 >> 40
			if late && mixed%12 == 0 {
				return time.Duration(mixed%4000) * time.Millisecond
			}
			return time.Duration(1+mixed%10) * time.Millisecond
		}
		for range rapid.IntRange(1, 20).Draw(t, "faults") {
			i := draw("node", n)
			switch rapid.SampledFrom([]string{"recover", "tell", "tell", "tell", "crash", "founder", "wipe", "wipe", "cut", "mend", "held", "settle"}).Draw(t, "fault") {
			case "recover":
				if r.epoch < 4 {
					r.recover(draw)
				}
			case "tell":
				r.tell(i)
			case "crash":
				r.restart(i, "")
			case "founder": // with "recover" still set, its registers wait a guard again
				if r.founder >= 0 {
					r.restart(r.founder, "")
					x := r.toys[r.founder]
					x.mute = true
					r.advance(time.Duration(draw("guard", 6000))*time.Millisecond, nil)
					r.tell(r.founder)
				}
			case "wipe":
				if r.founder >= 0 && i != r.founder && r.lost < (n-1)/2 {
					r.lost++
					r.restart(i, "lost")
				}
			case "cut":
				r.cut[[2]int{i, draw("peer", n)}] = true
			case "mend":
				clear(r.cut)
			case "held":
				r.envs[i].Held = true
			case "settle":
				r.settled()
			}
			r.advance(time.Duration(draw("ms", 4000))*time.Millisecond, nil)
			for i, x := range r.toys { // others may have elected beyond the earlier terms
				if epoch, _ := EpochOf(x.Term()); epoch < x.member {
					t.Fatalf("g%d is a voter of epoch %d, and its term is of epoch %d", i+1, x.member, epoch)
				}
			}
		}
		r.settled()
	})
}

// joined waits until each voter remembers: until then its disk counts as lost, and with another
// one a majority may be.
func (r *recoveries) joined(bound time.Duration) {
	blank := func(x *toy) bool { return x.blank() }
	for began := r.now; slices.ContainsFunc(r.toys, blank); r.advance(50*time.Millisecond, nil) {
		if r.now-began > bound {
			r.t.Fatalf("%v after a leader was known: g%d is blank", bound, 1+slices.IndexFunc(r.toys, blank))
		}
	}
}

// settled heals, tells all registers the epoch, and waits for a leader that all know.
func (r *recoveries) settled() {
	delay := r.delay
	r.heal()
	for i := range r.toys {
		r.tell(i)
	}
	r.advance(time.Second, nil) // the election asks the registers only when an input arrives
	r.settle(20 * time.Second)
	r.delay = delay
	for i, x := range r.toys {
		if epoch, _ := EpochOf(x.Term()); epoch != r.epoch {
			r.t.Fatalf("g%d is in %s, and the group was recovered %d times", i+1, fmt.Sprintf("epoch %d", epoch), r.epoch)
		}
	}
	r.joined(20 * time.Second)
	r.lost = 0
}
