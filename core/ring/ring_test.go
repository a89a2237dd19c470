package ring

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

func drawSet(t *rapid.T) []node.Addr {
	return rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) node.Addr {
		return node.Addr(rapid.StringMatching(`[a-z]{1,8}[0-9]{0,2}:[1-9][0-9]{0,3}`).Draw(t, "addr"))
	}), 1, 12, rapid.ID[node.Addr]).Draw(t, "members")
}

func drawJob(t *rapid.T) message.JobID {
	return message.JobOf(rapid.String().Draw(t, "key"))
}

func TestOrderNamesEachMemberOnceHoweverTheSetIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members, job := drawSet(t), drawJob(t)
		order := New(members).Order(job)
		if diff := cmp.Diff(slices.Sorted(slices.Values(members)), slices.Sorted(slices.Values(order))); diff != "" {
			t.Fatalf("members against the order (-want +got):\n%s", diff)
		}
		other := New(rapid.Permutation(append(members, members[0])).Draw(t, "as written elsewhere"))
		if diff := cmp.Diff(order, other.Order(job)); diff != "" {
			t.Fatalf("another node has another order:\n%s", diff)
		}
		if got := other.First(job); got != order[0] {
			t.Fatalf("first: got %s, want %s", got, order[0])
		}
	})
}

// A set may be too large for a few words of bits: its order names each member once, too.
func TestLargeSetsAreWalkedOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var members []node.Addr
		for i := range rapid.IntRange(60, 300).Draw(t, "members") {
			members = append(members, node.Addr(fmt.Sprintf("m%d:1", i)))
		}
		r, job := New(members), drawJob(t)
		order := r.Order(job)
		if diff := cmp.Diff(slices.Sorted(slices.Values(members)), slices.Sorted(slices.Values(order))); diff != "" {
			t.Fatalf("members against the order (-want +got):\n%s", diff)
		}
		at := rapid.IntRange(0, len(order)-1).Draw(t, "at")
		if got := r.Rank(job, order[at], nil); got != at {
			t.Fatalf("rank of %s: got %d, want %d", order[at], got, at)
		}
	})
}

func TestWithoutOneMemberTheOthersKeepTheirOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members, job := drawSet(t), drawJob(t)
		gone := rapid.SampledFrom(members).Draw(t, "gone")
		isGone := func(a node.Addr) bool { return a == gone }
		want := slices.DeleteFunc(New(members).Order(job), isGone)
		got := New(slices.DeleteFunc(slices.Clone(members), isGone)).Order(job)
		if diff := cmp.Diff(want, got); len(want) != len(got) || len(want) > 0 && diff != "" {
			t.Fatalf("order without %s (-want +got):\n%s", gone, diff)
		}
	})
}

func TestRankSkipsTheDead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members, job := drawSet(t), drawJob(t)
		r := New(members)
		dead := map[node.Addr]bool{}
		for _, a := range members {
			dead[a] = rapid.Bool().Draw(t, "dead")
		}
		want := 0
		for i, a := range r.Order(job) {
			if got := r.Rank(job, a, nil); got != i {
				t.Fatalf("rank of %s: got %d, want %d", a, got, i)
			}
			if got := r.Rank(job, a, func(a node.Addr) bool { return !dead[a] }); got != want {
				t.Fatalf("rank of %s among the living: got %d, want %d", a, got, want)
			}
			if !dead[a] {
				want++
			}
		}
		if got := r.Rank(job, "nobody:0", nil); got != len(members) {
			t.Fatalf("rank of a stranger: got %d, want %d", got, len(members))
		}
	})
}

// Text and hash never change: other processes, versions and languages must agree.
func TestTheOrderIsTheSameForEver(t *testing.T) {
	r := New([]node.Addr{"gate-1:9000", "gate-2:9000", "gate-3:9000"})
	for _, x := range []struct{ key, want string }{
		{"a", "[gate-2:9000 gate-1:9000 gate-3:9000]"},
		{"b", "[gate-3:9000 gate-2:9000 gate-1:9000]"},
		{"c", "[gate-2:9000 gate-3:9000 gate-1:9000]"},
	} {
		if got := fmt.Sprint(r.Order(message.JobOf(x.key))); got != x.want {
			t.Errorf("job %q: got %s, want %s", x.key, got, x.want)
		}
	}
}

// All points count, and so do all members of a set beyond one word of bits.
func TestTheOrderOfManyIsTheSameForEver(t *testing.T) {
	for _, x := range []struct {
		members int
		want    string
	}{{3, "6b7796fcf6f05ae7"}, {200, "85cb9f0bf3d19784"}} {
		var set []node.Addr
		for i := range x.members {
			set = append(set, node.Addr(fmt.Sprintf("gate-%d:9000", i)))
		}
		r, sum := New(set), sha256.New()
		for n := range 2000 {
			order := r.Order(job(n))
			if len(order) != x.members || len(slices.Compact(slices.Sorted(slices.Values(order)))) != x.members {
				t.Fatalf("job %d: %d members, not each of %d once", n, len(order), x.members)
			}
			fmt.Fprintln(sum, order)
		}
		if got := fmt.Sprintf("%.8x", sum.Sum(nil)); got != x.want {
			t.Errorf("orders of 2000 jobs among %d: got digest %s, want %s", x.members, got, x.want)
		}
	}
}

func job(n int) (id message.JobID) {
	binary.BigEndian.PutUint64(id[:], uint64(n)*0x9e3779b97f4a7c15)
	return id
}

// The spread is the standard deviation of a member's share, relative to the mean: within 10 %
// at every size. Single members of single sets are further off, which 150 points cannot
// prevent: the log says how far.
func TestSpread(t *testing.T) {
	const sets = 100
	for n := 3; n <= 9; n++ {
		var squares, most float64
		for set := range sets {
			for _, share := range shares(New(named(n, set))) {
				off := share*float64(n) - 1
				squares += off * off
				most = max(most, off, -off)
			}
		}
		spread := math.Sqrt(squares / float64(sets*n))
		t.Logf("%d members: spread %.1f %%; of %d sets, the member furthest off is so by %.1f %%", n, 100*spread, sets, 100*most)
		if spread > 0.10 {
			t.Errorf("%d members: the spread is %.1f %%, want at most 10 %%", n, 100*spread)
		}
	}
}

func named(n, set int) (members []node.Addr) {
	for i := range n {
		members = append(members, node.Addr(fmt.Sprintf("gate-%d.set%d:9000", i, set)))
	}
	return members
}

// shares returns the fraction of all jobs for which each member is first: the arcs that end at
// its points.
func shares(r *Ring) []float64 {
	s := make([]float64, len(r.members))
	for i, p := range r.points {
		arc := p.at - r.points[(i+len(r.points)-1)%len(r.points)].at
		s[p.member] += float64(arc) / (1 << 32) / (1 << 32)
	}
	return s
}

func BenchmarkOrder(b *testing.B) {
	for _, n := range []int{3, 9, 255} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := New(named(n, 0))
			list := make([]node.Addr, 0, n)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				list = r.Append(list[:0], job(i))
			}
		})
	}
}
