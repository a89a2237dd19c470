package seats

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Members give seats away in any order: no two addresses that ever had a seat have one ordinal, also
// where two members give seats away at once, and all members choose the same one of two sets.
func TestSetsThatChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 7).Draw(t, "seats")
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf("m%d", i))
		}
		set, owners := Founded(names), map[uint64]string{}
		for i, a := range set.Members {
			owners[set.Ordinals[i]] = a
		}
		give := func(of Set, by int) Set {
			seat := (by + rapid.IntRange(1, n-1).Draw(t, "seat")) % n
			next := of.Replaced(seat, by, fmt.Sprintf("m%d", len(owners)))
			if was, used := owners[next.Ordinals[seat]]; used && was != next.Members[seat] {
				t.Fatalf("%s and %s have ordinal %d", was, next.Members[seat], next.Ordinals[seat])
			}
			owners[next.Ordinals[seat]] = next.Members[seat]
			if err := next.Valid(n); err != nil {
				t.Fatalf("%+v: %v", next, err)
			}
			if next.Compare(of) <= 0 || of.Compare(next) >= 0 || next.Compare(next) != 0 {
				t.Fatalf("%+v is not after %+v", next, of)
			}
			if !next.Had(of.Members) || !next.Had(names) || next.Had(append(slices.Clone(names[1:]), "stranger")) || next.Had(append(slices.Clone(names[1:]), names[1])) {
				t.Fatalf("%+v does not know what it was", next)
			}
			return next
		}
		for range rapid.IntRange(1, min(12, int(VersionMax(n)))).Draw(t, "changes") {
			by := rapid.IntRange(0, n-1).Draw(t, "by")
			next := give(set, by)
			if rapid.Bool().Draw(t, "at once") {
				other := give(set, (by+1)%n)
				if c := next.Compare(other); c != -other.Compare(next) || c == 0 && !slices.Equal(next.Members, other.Members) {
					t.Fatalf("%+v and %+v compare as %d", next, other, c)
				}
			}
			set = next
		}
	})
}

// A peer's word does not make a set that no group can have.
func TestSetsThatCannotBe(t *testing.T) {
	good := Founded([]string{"a", "b", "c"}).Replaced(2, 0, "d")
	//lint:orderfree each case stands alone
	for what, spoil := range map[string]func(*Set){
		"no version":          func(s *Set) { s.Version = 0 },
		"a version too far":   func(s *Set) { s.Version = VersionMax(3) + 1 },
		"a seat less":         func(s *Set) { s.Members = s.Members[:2] },
		"no address":          func(s *Set) { s.Members = []string{"a", "", "d"} },
		"two seats":           func(s *Set) { s.Members = []string{"a", "a", "d"} },
		"no ordinals":         func(s *Set) { s.Ordinals = nil },
		"an ordinal twice":    func(s *Set) { s.Ordinals = []uint64{1, 1, 4} },
		"no ordinal":          func(s *Set) { s.Ordinals = []uint64{0, 2, 4} },
		"an ordinal too high": func(s *Set) { s.Ordinals = []uint64{1, 2, 7} },
		"too many retired":    func(s *Set) { s.Retired = make([]string, retiredMax+1) },
	} {
		bad := good
		spoil(&bad)
		if bad.Valid(3) == nil {
			t.Errorf("%s: %+v is taken", what, bad)
		}
	}
	if err := good.Valid(3); err != nil {
		t.Error(err)
	}
}

// Only what a member can make of a set by one change follows it: a peer that tells anything else could give
// another member's ordinal away, or two seats at once.
func TestOneChangeFollows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 7).Draw(t, "seats")
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf("m%d", i))
		}
		set := Founded(names)
		for i := range rapid.IntRange(0, 3).Draw(t, "changes") {
			set = set.Replaced(i%n, (i+1)%n, fmt.Sprintf("n%d", i))
		}
		by := rapid.IntRange(0, n-1).Draw(t, "by")
		seat := (by + rapid.IntRange(1, n-1).Draw(t, "seat")) % n
		next := set.Replaced(seat, by, "new")
		if left, follows := next.Follows(set); !follows || left != set.Members[seat] {
			t.Fatalf("%+v does not follow %+v: %q left", next, set, left)
		}
		forged := next
		forged.Members, forged.Ordinals = slices.Clone(next.Members), slices.Clone(next.Ordinals)
		other := (seat + 1) % n
		switch what := rapid.SampledFrom([]string{"same", "later", "its own", "two", "swapped", "taken", "back", "forgets"}).Draw(t, "forged"); what {
		case "same":
			forged = set
		case "later":
			forged = next.Replaced(other, seat, "newer")
		case "its own":
			forged = set.Replaced(seat, seat, "new")
		case "two":
			forged.Members[other] = "other"
		case "swapped":
			a, b := (seat+1)%n, (seat+2)%n
			forged.Ordinals[a], forged.Ordinals[b] = forged.Ordinals[b], forged.Ordinals[a]
		case "taken":
			forged.Ordinals[seat] = set.Ordinals[seat]
		case "back":
			if len(set.Retired) == 0 {
				return
			}
			forged.Members[seat] = set.Retired[0]
		case "forgets":
			forged.Retired = nil
		}
		if left, follows := forged.Follows(set); follows {
			t.Fatalf("%+v follows %+v, and %s leaves", forged, set, left)
		}
	})
}
