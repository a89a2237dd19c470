package netsim

import (
	"slices"
	"time"
)

// Set is a set of hosts.
type Set struct{ words []uint64 }

// SetOf returns the set of these hosts.
func SetOf(hosts ...Host) (s Set) {
	for _, h := range hosts {
		for int(h>>6) >= len(s.words) {
			s.words = append(s.words, 0)
		}
		s.words[h>>6] |= 1 << (h & 63)
	}
	return s
}

// Has says whether h is in the set.
func (s Set) Has(h Host) bool {
	return int(h>>6) < len(s.words) && s.words[h>>6]&(1<<(h&63)) != 0
}

// Rule changes the links from some hosts to others while it is in force. Rules add up.
type Rule struct {
	From, To Set
	Both     bool // also the links back

	Cut bool
	// If Flap is positive, Cut alternates: in force for this long, then not, and so on.
	Flap  time.Duration
	Since time.Duration // when the first cut of a flapping rule begins

	Loss, Duplicate, Reorder, Late uint32 // added, in parts per million
	Latency                        time.Duration
	Bandwidth                      uint64 // bytes a second at most; zero: no bound of this rule

	// Twice is the chance that a late datagram arrives twice.
	Twice uint32
	// LateMin and LateMax bound how long late datagrams wait, instead of the network's bounds.
	// The last rule that makes any datagram late decides.
	LateMin, LateMax time.Duration
}

// Impose puts a rule in force. The caller must not change it any more.
func (n *Network) Impose(r *Rule) { n.rules = append(n.rules, r) }

// Lift ends a rule; it ignores a rule that is not in force.
func (n *Network) Lift(r *Rule) {
	n.rules = slices.DeleteFunc(n.rules, func(o *Rule) bool { return o == r })
}

// Matches says whether the rule applies to the link between two hosts.
func (r *Rule) Matches(from, to Host) bool {
	return r.From.Has(from) && r.To.Has(to) || r.Both && r.From.Has(to) && r.To.Has(from)
}

func (r *Rule) cuts(now time.Duration) bool {
	return r.Cut && (r.Flap <= 0 || (now-r.Since)/r.Flap%2 == 0)
}

// bend applies all rules to a copy of a link. It returns false if one cuts the link.
func (n *Network) bend(w *way, now time.Duration, from, to Host) bool {
	for _, r := range n.rules {
		if !r.Matches(from, to) {
			continue
		}
		if r.cuts(now) {
			return false
		}
		w.Loss = add(w.Loss, r.Loss)
		w.Duplicate = add(w.Duplicate, r.Duplicate)
		w.Reorder = add(w.Reorder, r.Reorder)
		w.Late = add(w.Late, r.Late)
		if r.Late > 0 {
			w.late = r
		}
		w.Latency += r.Latency
		if r.Bandwidth > 0 {
			w.picos = max(w.picos, picosOf(r.Bandwidth))
		}
	}
	return true
}

func add(a, b uint32) uint32 { return min(a+b, Million) }
