package seats

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"hyperscale/core/lease/level"
	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/node"
)

// Set says which address has which seat.
type Set struct {
	Version  uint64   // how many seats were given to other addresses
	Members  []string // by seat
	Ordinals []uint64 // by seat, in tokens: no two addresses that ever had a seat share one
	Retired  []string // addresses that had seats before, the last ones
}

// retiredMax bounds the addresses that a set remembers.
const retiredMax = 64

// VersionMax is the last version of a set of n seats: from the next one on ordinals would repeat, and a
// member could take the lease of the address that had its seat before. A restored group's first tokens
// have the ordinal OrdinalMax, which no seat gets.
func VersionMax(n int) uint64 { return uint64((message.OrdinalMax-1)/n - 1) }

// ordinal returns the ordinal that a seat gets in the set of a version, if the member at seat by gives it away.
// Two members that give seats away at once give out different ones.
func ordinal(n int, version uint64, by int) uint64 { return version*uint64(n) + uint64(by) + 1 }

// OnDisk returns the set of a member's mark; false without a mark, or if no seat was ever given away.
func OnDisk(store node.Store, group string) (Set, bool) {
	var m record.Member
	for _, rec := range store.Load("lease/" + group + "/member") {
		if record.Read(rec.Value, &m) != nil {
			return Set{}, false // the registers report it
		}
	}
	level.Unguard(&m)
	return Set{m.Version, m.Members, m.Ordinals, m.Retired}, m.Version > 0
}

// Founded returns the set as it was configured.
func Founded(members []string) Set {
	s := Set{Members: members, Ordinals: make([]uint64, len(members))}
	for i := range s.Ordinals {
		s.Ordinals[i] = ordinal(len(members), 0, i)
	}
	return s
}

// Replaced returns the set with one seat given away by the member of another.
func (s Set) Replaced(seat, by int, to string) Set {
	next := Set{Version: s.Version + 1, Members: slices.Clone(s.Members), Ordinals: slices.Clone(s.Ordinals), Retired: append(slices.Clone(s.Retired), s.Members[seat])}
	next.Members[seat], next.Ordinals[seat] = to, ordinal(len(s.Members), next.Version, by)
	next.Retired = next.Retired[max(0, len(next.Retired)-retiredMax):]
	return next
}

// Compare orders sets by version. Two sets of one version come from two leaders that gave a seat away
// at once: all members choose the same one.
func (s Set) Compare(t Set) int {
	if c := cmp.Compare(s.Version, t.Version); c != 0 {
		return c
	}
	return cmp.Or(slices.Compare(s.Members, t.Members), slices.Compare(s.Ordinals, t.Ordinals))
}

// Is says that two sets are one, with what they remember.
func (s Set) Is(t Set) bool { return s.Compare(t) == 0 && slices.Equal(s.Retired, t.Retired) }

// Follows says that a set is this one after a single change that a member of it can make, and which address
// lost its seat.
func (s Set) Follows(t Set) (left string, follows bool) {
	n := len(t.Members)
	if s.Version != t.Version+1 || s.Valid(n) != nil {
		return "", false
	}
	for seat, was := range t.Members {
		if to := s.Members[seat]; to != was {
			by := s.Ordinals[seat] - ordinal(n, s.Version, 0) // far above n if the ordinal is lower
			return was, by < uint64(n) && int(by) != seat && !slices.Contains(t.Retired, to) && s.Is(t.Replaced(seat, int(by), to))
		}
	}
	return "", false
}

// Had says that addresses are those of this set, or of one before it, in any order.
func (s Set) Had(addresses []string) bool {
	if len(addresses) != len(s.Members) {
		return false
	}
	for i, a := range addresses {
		if slices.Contains(addresses[:i], a) || !slices.Contains(s.Members, a) && !slices.Contains(s.Retired, a) {
			return false
		}
	}
	return true
}

// Told returns what peers outside of the group learn: nothing while the set is as configured.
func (s Set) Told() (members []string, version uint64) {
	if s.Version == 0 {
		return nil, 0
	}
	return s.Members, s.Version
}

// Valid says why a set is none for n members.
func (s Set) Valid(n int) error {
	sorted, ordinals := slices.Sorted(slices.Values(s.Members)), slices.Sorted(slices.Values(s.Ordinals))
	switch {
	case len(s.Members) != n || len(s.Ordinals) != n:
		return fmt.Errorf("it has %d seats with %d ordinals, this one %d", len(s.Members), len(s.Ordinals), n)
	case s.Version == 0 || s.Version > VersionMax(n):
		return fmt.Errorf("version %d is out of range", s.Version)
	case len(slices.Compact(sorted)) != n || sorted[0] == "":
		return errors.New("an address is empty or has two seats")
	case len(slices.Compact(ordinals)) != n || ordinals[0] < 1 || ordinals[n-1] > ordinal(n, s.Version, n-1):
		return errors.New("an ordinal is out of range, or two seats have it")
	case len(s.Retired) > retiredMax:
		return errors.New("too many addresses are retired")
	}
	return nil
}
