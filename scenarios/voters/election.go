package voters

import (
	"fmt"
	"slices"
	"time"

	"hyperscale/checker"
	"hyperscale/core/election"
	"hyperscale/core/event"
	"hyperscale/core/node"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// Worlds returns worlds of voters that only choose a leader, which acts every few milliseconds.
func Worlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "vote-amnesia", Virtual: 4 * time.Minute, Build: buildVoteAmnesia,
			Doc: "Leaders are killed, and voters that cannot hear each other contend for the votes of two others. These are killed while they write their vote, or between write and answer, and return within the term. Disks lose what was not synced, or a part of it; messages are doubled and reordered. No voter votes twice in a term, and no term has two leaders."},
		{Name: "forgotten-vote", Virtual: 4 * time.Minute, Build: buildForgottenVote,
			Doc: "One of three voters is cut off while the other two elect leaders. Then one of these loses its disk and hears only the first one, which knows nothing of that. The two elect no leader until they hear the third, because they could elect a second leader of a term."},
		{Name: "leader-lost", Virtual: 4 * time.Minute, Build: buildLeaderLost,
			Doc: "The leader is killed, again and again. Another leads within three seconds, ninety-nine times in a hundred."},
		{Name: "leader-drained", Virtual: 4 * time.Minute, Build: buildLeaderDrained,
			Doc: "The leader is stopped gracefully, again and again. It hands over, and another leads within half a second."},
		{Name: "lone-voter", Virtual: 4 * time.Minute, Build: buildLoneVoter,
			Doc: "Each voter in turn is cut off from all others. Alone it does not lead, and when it returns it deposes no leader: it found no majority, and raised no term."},
		{Name: "shrinking-quorum", Virtual: 4 * time.Minute, Build: buildShrinkingQuorum,
			Doc: "Of five voters one after the other dies. Three elect a leader. Two and one do not, although no others are left: a majority counts the configured voters."},
		{Name: "even-split", Virtual: 4 * time.Minute, Build: buildEvenSplit,
			Doc: "Four voters fall into two halves, one way and the other. Neither half has a leader; once they meet again there is one."},
		{Name: "partial-partition", Virtual: 4 * time.Minute, Build: buildPartialPartition,
			Doc: "Two of three voters cannot reach each other, and both reach the third. The one that does not hear the leader finds no majority, because the third one hears it: the leader stays."},
		{Name: "symmetric-start", Virtual: 4 * time.Minute, Build: buildSymmetricStart,
			Doc: "All voters start at one instant, the first time without any memory, then after power cuts with their disks. They do not split their votes for ever: within five seconds there is a leader."},
		{Name: "paused-leader", Virtual: 4 * time.Minute, Build: buildPausedLeader,
			Doc: "The leader pauses for seconds, and wakes up with its timers overdue and its clock advanced. Others are slow or restart, two do not hear each other, clocks run at the drift bound. Once another voter acts as the leader, the old one does not, not even in its first step."},
		{Name: "flapping-leader", Virtual: 4 * time.Minute, Build: buildFlappingLeader,
			Doc: "Whenever one of two of five voters leads, it is cut off from all others for two seconds; now and then a leader among the others is killed. A voter that lost the lead twice does not stand for half a minute. In the end one of the other voters leads, and stays the leader."},
		{Name: "unwell-leader", Virtual: 4 * time.Minute, Build: buildUnwellLeader,
			Doc: "The leader becomes unhealthy, or is killed while some of the others are. As long as a majority lives and one of them is healthy, a healthy voter leads within five seconds. If no voter is healthy, one leads nevertheless."},
		{Name: "isolated-majorities", Virtual: 4 * time.Minute, Build: buildIsolatedMajorities,
			Doc: "Each majority of three or five voters in turn is cut off from all others. Each has a leader within five seconds, and no voter outside acts as one."},
		{Name: "election-storm", Virtual: 5 * time.Minute, Build: buildElectionStorm,
			Doc: "One to seven voters, and every fault that the simulator knows, now and then a lost disk included. One leader a term, one vote a term, one that acts; once healed, all know a leader within five seconds."},
	}
}

// buildVoteAmnesia makes three voters that do not hear each other lead with the votes of two
// others. One of the three leads. When it dies the other two contend, on links so slow that
// neither is first everywhere. The links are so bad that a returned voter gets the other's
// request only when it no longer believes in a leader that it may have heard.
func buildVoteAmnesia(s *stage.Stage) {
	w := electors(s, 5, 1)
	s.Fault(sim.Fault{At: time.Second, Kind: []string{sim.FaultDiskTorn, sim.FaultDiskLostWrites}[s.Rand.Int(2)]})
	s.Fault(sim.Fault{At: time.Second, Kind: sim.FaultDiskSlow, Value: int64(2 + s.Rand.Int(200))})
	s.Fault(sim.Fault{At: time.Second, Kind: sim.FaultDuplicate, Value: 200_000})
	s.Fault(sim.Fault{At: time.Second, Kind: sim.FaultReorder, Value: 200_000})
	s.Fault(sim.Fault{At: time.Second, Kind: sim.FaultLatency, Value: int64(50 + s.Rand.Int(150))})
	s.Fault(sim.Fault{At: time.Second, Kind: sim.FaultLossOneWay, Nodes: stage.Names(w.ids[:3]), Peers: stage.Names(w.ids[3:]), Value: 550_000})
	for i := range 2 {
		s.Fault(sim.Fault{At: time.Second, Kind: sim.FaultPartition, Nodes: stage.Names(w.ids[i : i+1]), Peers: stage.Names(w.ids[i+1 : 3])})
	}
	for at := 5 * time.Second; at < s.Heal; at += s.Rand.Duration(4*time.Second, 7*time.Second).Truncate(time.Millisecond) {
		w.befall(w.ids, at, sim.FaultCrash, s.Rand.Duration(2*time.Second, 3*time.Second).Truncate(time.Millisecond))
		for range 1 + s.Rand.Int(3) {
			f := sim.Fault{At: at + 500*time.Millisecond, For: s.Brief(200 * time.Millisecond), Kind: sim.FaultCrash, Nodes: stage.Names(w.ids[3:])}
			switch s.Rand.Int(3) {
			case 0:
				f.Aim = "storing:election/"
			case 1:
				f.Aim = "stored:election/"
			case 2: // once the first candidates have their answers
				f.At = at + s.Rand.Duration(1200*time.Millisecond, 2400*time.Millisecond).Truncate(time.Millisecond)
				f.Nodes = stage.Names(s.Choose(w.ids[3:], 1))
			}
			s.Fault(f)
		}
	}
}

// buildForgottenVote cuts the second voter off while the first and the third elect leaders.
// Then the third loses its disk, and the first is cut off instead.
func buildForgottenVote(s *stage.Stage) {
	w := electors(s, 3, 1)
	first, second, third := stage.Names(w.ids[:1]), stage.Names(w.ids[1:2]), stage.Names(w.ids[2:])
	for at := 10 * time.Second; at < s.Heal-45*time.Second; at += 45 * time.Second {
		s.Fault(sim.Fault{At: at, For: 20 * time.Second, Kind: sim.FaultPartition, Nodes: second})
		for n := range 3 {
			w.befall(w.ids, at+time.Duration(5+4*n)*time.Second, sim.FaultCrash, s.Brief(time.Second))
		}
		swap := at + 20*time.Second
		s.Fault(sim.Fault{At: swap - time.Millisecond, For: 15 * time.Second, Kind: sim.FaultPartition, Nodes: first})
		s.Fault(sim.Fault{At: swap - time.Millisecond, For: s.Brief(time.Second), Kind: sim.FaultCrash, Nodes: third, Value: 1})
		for wait := 3 * time.Second; wait < 15*time.Second; wait += time.Second {
			w.holds(swap+wait, "who forgot its votes elects no leader with one other", w.noneLeads(w.ids...))
		}
		w.holds(swap+15*time.Second+electionBound, "all know a leader", w.agreed)
	}
}

func buildLeaderLost(s *stage.Stage) {
	w := electors(s, 3+2*s.Rand.Int(3), 1+s.Rand.Int(3))
	for at := 10 * time.Second; at < s.Heal-electionBound; at += s.Rand.Duration(8*time.Second, 12*time.Second).Truncate(time.Millisecond) {
		w.befall(w.ids, at, sim.FaultCrash, 4*time.Second)
		w.follows(at, electionBound)
	}
	s.World.At(s.Heal, func() {
		late := 0
		for _, t := range w.times {
			if t > ElectionNext {
				late++
			}
		}
		s.Draw("%d leaders were lost, the next came within %v", len(w.times), w.times)
		if late > 1 {
			w.violate("T11", "", "of %d leaders that were lost, %d were followed after more than %v", len(w.times), late, ElectionNext)
		}
	})
}

func buildLeaderDrained(s *stage.Stage) {
	w := electors(s, 3+2*s.Rand.Int(2), 1+s.Rand.Int(3))
	for at := 10 * time.Second; at < s.Heal-electionBound; at += s.Rand.Duration(8*time.Second, 12*time.Second).Truncate(time.Millisecond) {
		w.befall(w.ids, at, sim.FaultStop, 3*time.Second)
		w.follows(at, election.Default().Heartbeat+electionHand)
	}
}

func buildLoneVoter(s *stage.Stage) {
	w := electors(s, 3+2*s.Rand.Int(2), 1)
	at := 10 * time.Second
	for at < s.Heal-20*time.Second {
		for _, id := range w.ids {
			s.Fault(sim.Fault{At: at, For: 12 * time.Second, Kind: sim.FaultPartition, Nodes: []string{string(id)}})
			w.holds(at+2*time.Second, string(id)+", alone, leads no more", w.noneLeads(id))
			w.holds(at+electionBound, "the others have a leader", w.oneLeads)
			var term uint64
			w.holds(at+11*time.Second, "", func() bool { term = w.term; return true })
			w.holds(at+17*time.Second, string(id)+" is back and has deposed no leader", func() bool { return w.term == term && w.agreed() })
			at += 18 * time.Second
		}
	}
}

func buildShrinkingQuorum(s *stage.Stage) {
	w := electors(s, 5, 1)
	order := s.Choose(w.ids, 5)
	for i, id := range order[:4] {
		at := 10*time.Second + time.Duration(i)*20*time.Second
		s.Fault(sim.Fault{At: at, For: s.Heal - at, Kind: sim.FaultCrash, Nodes: []string{string(id)}})
		if i < 2 {
			w.holds(at+electionBound, "a majority has a leader", w.oneLeads)
		} else {
			for wait := 2 * time.Second; wait < 18*time.Second; wait += time.Second {
				w.holds(at+wait, "a minority has none", w.noneLeads(w.ids...))
			}
		}
	}
}

func buildEvenSplit(s *stage.Stage) {
	w := electors(s, 4, 1)
	for at := 10 * time.Second; at < s.Heal-30*time.Second; at += 30 * time.Second {
		half := s.Choose(w.ids, 2)
		s.Fault(sim.Fault{At: at, For: 20 * time.Second, Kind: sim.FaultPartition, Nodes: stage.Names(half)})
		for wait := 2 * time.Second; wait < 20*time.Second; wait += time.Second {
			w.holds(at+wait, "no half has a leader", w.noneLeads(w.ids...))
		}
		w.holds(at+20*time.Second+electionBound, "all know one", w.agreed)
	}
}

func buildPartialPartition(s *stage.Stage) {
	w := electors(s, 3, 1)
	var term uint64
	w.holds(9*time.Second, "", func() bool { term = w.term; return true })
	at := 10 * time.Second
	for i := 0; at < s.Heal-22*time.Second; i++ {
		s.Fault(sim.Fault{At: at, For: 20 * time.Second, Kind: sim.FaultPartition, Nodes: []string{string(w.ids[i%3])}, Peers: []string{string(w.ids[(i+1)%3])}})
		w.holds(at+19*time.Second, "no leader was deposed", func() bool { return w.oneLeads() && w.term == term })
		at += 21 * time.Second
	}
}

func buildSymmetricStart(s *stage.Stage) {
	w := electors(s, 3+2*s.Rand.Int(3), 1)
	w.holds(electionBound, "all know a leader", w.agreed)
	for at := 10 * time.Second; at < s.Heal-10*time.Second; at += 8 * time.Second {
		s.Fault(sim.Fault{At: at, For: time.Second, Kind: sim.FaultCrash, Nodes: stage.Names(w.ids)})
		w.holds(at+time.Second+electionBound, "all know a leader", w.agreed)
	}
}

func buildPausedLeader(s *stage.Stage) {
	w := electors(s, 3+2*s.Rand.Int(2), 1)
	for i, id := range w.ids {
		s.Fault(sim.Fault{At: time.Second, Kind: sim.FaultClockDrift, Nodes: []string{string(id)}, Value: int64(sim.DriftBound) * int64(1-2*(i%2))})
	}
	// Two voters do not hear each other. Only the others' memory, or after a restart their
	// assumption, of a leader prevents one from leading beside the other.
	s.Fault(sim.Fault{At: time.Second, Kind: sim.FaultPartition, Nodes: stage.Names(w.ids[:1]), Peers: stage.Names(w.ids[1:2])})
	for at := 8 * time.Second; at < s.Heal; at += s.Rand.Duration(1*time.Second, 4*time.Second).Truncate(time.Millisecond) {
		s.Fault(sim.Fault{At: at, For: s.Brief(100 * time.Millisecond), Kind: sim.FaultCrash, Nodes: stage.Names(s.Choose(w.ids, 1))})
	}
	for at := 8 * time.Second; at < s.Heal; at += s.Rand.Duration(4*time.Second, 9*time.Second).Truncate(time.Millisecond) {
		kind := []string{sim.FaultPause, sim.FaultPause, sim.FaultSuspend, sim.FaultOneWay, sim.FaultPartition}[s.Rand.Int(5)]
		w.befall(w.ids, at, kind, s.Rand.Duration(500*time.Millisecond, 6*time.Second).Truncate(time.Millisecond))
		if s.Rand.Chance(1, 3) {
			s.Fault(sim.Fault{At: at, For: 3 * time.Second, Kind: sim.FaultSlowCPU, Nodes: stage.Names(s.Choose(w.ids, 1)), Value: 1000})
		}
	}
}

func buildFlappingLeader(s *stage.Stage) {
	w := electors(s, 5, 1)
	bad := w.ids[:2] // they are first in rank, so that they win again and again
	if s.Rand.Chance(1, 2) {
		bad = s.Choose(w.ids, 2)
	}
	good := slices.DeleteFunc(slices.Clone(w.ids), func(id node.ID) bool { return slices.Contains(bad, id) })
	for at := 5 * time.Second; at < s.Heal-10*time.Second; at += 3 * time.Second {
		w.befall(bad, at, sim.FaultPartition, 2*time.Second)
	}
	for at := 25 * time.Second; at < s.Heal-40*time.Second; at += 20 * time.Second {
		w.befall(good, at, sim.FaultCrash, 3*time.Second)
	}
	// Two lost leaderships are four changes: a voter with as many within a minute rests for
	// half a minute.
	led := map[node.ID][]time.Duration{}
	s.Witness = append(s.Witness, func(r checker.Record) {
		if _, ok := r.Event.(event.Elected); !ok || s.Options.Faults != nil {
			return
		}
		times := append(led[r.Node], r.At)
		led[r.Node] = times
		if n := len(times); n > 2 && r.At-times[n-3] < 25*time.Second {
			w.violate("T11", r.Node, "it leads for the third time within 25 s, and has lost the lead each time")
		}
	})
	w.holds(s.Heal-time.Second, "one of the others leads", func() bool {
		return w.oneLeads() && w.leader() != bad[0] && w.leader() != bad[1]
	})
}

// buildUnwellLeader: from health 5 on, of 8, a voter does not stand; from 6 on it hands over.
func buildUnwellLeader(s *stage.Stage) {
	w := electors(s, 5, 1)
	for at := 10 * time.Second; at < s.Heal-30*time.Second; at += 25 * time.Second {
		w.holds(at+electionBound, "one who is well leads", func() bool { return w.leader() != "" && w.unwell[w.leader()] == 0 })
		switch s.Rand.Int(3) {
		case 0: // the leader becomes unhealthy, after two others became so a little
			s.World.At(at-time.Second, func() {
				for _, id := range s.Choose(w.ids, 2) {
					w.unwell[id] = 5
				}
			})
			s.World.At(at, func() {
				if id := w.leader(); id != "" {
					w.unwell[id] = 6 + s.Rand.Int(3)
				}
			})
		case 1: // most are unhealthy already when the leader is lost
			s.World.At(at-100*time.Millisecond, func() {
				for _, id := range s.Choose(slices.DeleteFunc(slices.Clone(w.ids), func(id node.ID) bool { return id == w.leader() }), 3) {
					w.unwell[id] = 5 + s.Rand.Int(4)
				}
			})
			w.befall(w.ids, at, sim.FaultCrash, 15*time.Second)
		case 2: // all are unhealthy, and then it is lost
			s.World.At(at+electionBound+time.Second, func() {
				for _, id := range w.ids {
					w.unwell[id] = 6
				}
			})
			w.befall(w.ids, at+electionBound+2*time.Second, sim.FaultCrash, 15*time.Second)
			w.holds(at+electionBound+14*time.Second, "one who is unwell leads, where no voter is well", w.oneLeads)
		}
		s.World.At(at+20*time.Second, func() { clear(w.unwell) })
	}
}

func buildIsolatedMajorities(s *stage.Stage) {
	n := 3 + 2*s.Rand.Int(2)
	w := electors(s, n, 1)
	sets := map[int]int{3: 3, 5: 10}[n]
	each := (s.Heal - 15*time.Second) / time.Duration(sets)
	s.Fault(sim.Fault{At: 10 * time.Second, For: time.Duration(sets) * each, Kind: sim.FaultIsolate, Nodes: stage.Names(w.ids)})
	for i := range sets {
		w.holds(10*time.Second+time.Duration(i+1)*each-10*time.Millisecond, "the majority that is left has a leader", w.oneLeads)
		w.holds(10*time.Second+time.Duration(i)*each+electionBound, "it has one in time", w.oneLeads)
	}
}

func buildElectionStorm(s *stage.Stage) {
	w := electors(s, []int{1, 2, 3, 3, 3, 4, 5, 5, 7}[s.Rand.Int(9)], 1+s.Rand.Int(3))
	s.Draw("%d voters", len(w.ids))
	for _, k := range electionKinds() {
		if !s.Rand.Chance(1, 2) {
			continue
		}
		n := 1 + s.Rand.Int(k.Most)
		s.Draw("%d x %s", n, k.Kind)
		for range n {
			f := s.DrawFault(k)
			if f.Kind == sim.FaultCrash && s.Rand.Chance(1, 2) {
				f.Aim = []string{"storing:election/", "stored:election/", fmt.Sprintf("timer:%d.*", node.PartElection)}[s.Rand.Int(3)]
			}
			s.Fault(f)
		}
	}
	if len(w.ids) > 2 && s.Rand.Chance(1, 2) { // a minority's disks, the last one long before the end
		for i, id := range s.Choose(w.ids, 1+s.Rand.Int((len(w.ids)-1)/2)) {
			at := s.Rand.Duration(s.Heal/10, s.Heal/2) + time.Duration(i)*time.Millisecond
			s.Fault(sim.Fault{At: at.Truncate(time.Millisecond), For: s.Brief(10 * time.Second), Kind: sim.FaultCrash, Nodes: []string{string(id)}, Value: 1})
			s.Draw("%s loses its disk", id)
		}
	}
}

// electionKinds are the faults of the storm; their lengths are about the timeouts.
func electionKinds() []stage.FaultKind {
	const long = 20 * time.Second
	return []stage.FaultKind{
		{Kind: sim.FaultCrash, Most: 20, Longest: 5 * time.Second},
		{Kind: sim.FaultStop, Most: 6, Longest: 3 * time.Second},
		{Kind: sim.FaultPause, Most: 12, Longest: 5 * time.Second},
		{Kind: sim.FaultSuspend, Most: 6, Longest: 5 * time.Second},
		{Kind: sim.FaultPartition, Most: 8, Longest: long, Peers: true},
		{Kind: sim.FaultOneWay, Most: 8, Longest: long, Peers: true},
		{Kind: sim.FaultFlap, Most: 3, Longest: long, Low: 100, High: 3000, Peers: true},
		{Kind: sim.FaultLoss, Most: 2, Longest: long, Low: 10_000, High: 400_000, Everywhere: true},
		{Kind: sim.FaultDuplicate, Most: 2, Longest: time.Minute, Low: 10_000, High: 500_000, Everywhere: true},
		{Kind: sim.FaultReorder, Most: 2, Longest: time.Minute, Low: 10_000, High: 500_000, Everywhere: true},
		{Kind: sim.FaultLate, Most: 4, Longest: time.Minute, Low: 10_000, High: 300_000, Everywhere: true},
		{Kind: sim.FaultLatency, Most: 3, Longest: long, Low: 10, High: 2_000, Everywhere: true},
		{Kind: sim.FaultSlowCPU, Most: 3, Longest: long, Low: 2, High: 2_000},
		{Kind: sim.FaultClockDrift, Most: 4, Longest: time.Minute, Low: -sim.DriftBound, High: sim.DriftBound},
		{Kind: sim.FaultDiskSlow, Most: 3, Longest: time.Minute, Low: 2, High: 5_000},
		{Kind: sim.FaultDiskFull, Most: 2, Longest: long},
		{Kind: sim.FaultDiskLostWrites, Most: 2, Longest: time.Minute, Everywhere: true},
		{Kind: sim.FaultDiskTorn, Most: 2, Longest: time.Minute, Everywhere: true},
	}
}
