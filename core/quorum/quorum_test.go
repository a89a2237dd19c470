package quorum

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hyperscale/core/archive"
	"hyperscale/core/event"
	"hyperscale/core/lease"
	"hyperscale/core/lease/seats"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
	"hyperscale/core/swim"
	"hyperscale/core/uplink"
)

// host is a role that only records what its member hands out.
type host struct {
	config Config
	member *Member
	act    func(env node.Env) // on the next command
	ready  []Ready
	others []node.InputKind // inputs that Step left to the role
}

func (h *host) Step(env node.Env, in *node.Input) {
	if h.member == nil {
		h.member = New(h.config)
		h.member.Start(env)
	} else if !h.member.Step(env, in) {
		h.others = append(h.others, in.Kind)
	}
	if in.Kind == node.InputCommand {
		h.act(env)
	}
	for again := true; again; {
		again = false
		for r, ok := h.member.Ready(env); ok; r, ok = h.member.Ready(env) {
			again = true
			h.ready = append(h.ready, copied(r))
		}
	}
}

// copied copies a Ready, whose slices are valid only during the step.
func copied(r Ready) Ready {
	if r.Lease != nil {
		o := *r.Lease
		r.Lease = &o
	}
	if r.File != nil {
		o := *r.File
		r.File = &o
	}
	return r
}

const self = node.Addr("m1:1")

func world(t *testing.T, open bool, members ...node.Addr) (*host, *nodetest.Env) {
	t.Helper()
	links := uplink.Default()
	links.Group, links.Role, links.Beats = 1, node.RoleManager, true
	h := &host{config: Config{
		Group: "dc1", Self: self, Members: members, Open: open, DriftPPM: 10_000,
		Links: links, Lease: lease.Default(), Files: archive.Default(),
	}}
	if err := h.config.Validate(); err != nil {
		t.Fatal(err)
	}
	env := nodetest.New(nodetest.Config{
		Self: node.Peer{ID: "m1", Incarnation: 1, Role: node.RoleManager, Addr: self},
		New:  func() node.Machine { return h },
	})
	env.Start()
	return h, env
}

func (h *host) command(env *nodetest.Env, act func(env node.Env)) {
	h.act = act
	env.Command(&message.ClientPing{})
}

// A grant makes the role store a file. Ready hands out the grant and then the file, each once.
func TestReadyHandsOutEachOutcomeOnce(t *testing.T) {
	h, env := world(t, true, self)
	job := message.JobID{1}
	env.Advance(5 * time.Second)
	h.ready = nil
	h.command(env, func(env node.Env) {
		h.member.Leases.Acquire(env, job, []byte("record"))
		h.member.Files.Keep(env, []byte("file"), 7)
	})
	env.Advance(5 * time.Second)
	var granted, kept []int
	for i, r := range h.ready {
		switch {
		case r.Lease != nil && r.Lease.Kind == lease.Granted && r.Lease.Job == job:
			granted = append(granted, i)
		case r.File != nil && r.File.Kind == archive.Kept && r.File.Ticket == 7:
			kept = append(kept, i)
		}
	}
	if len(granted) != 1 || len(kept) != 1 {
		t.Fatalf("granted at %v, kept at %v of %d outcomes, each must come once", granted, kept, len(h.ready))
	}
	if _, ok := h.member.Ready(env); ok {
		t.Error("a round after the last one has an outcome")
	}
}

// What a role does with a grant may have its outcome in the same round.
func TestAFileThatIsHereFollowsItsGrant(t *testing.T) {
	h, env := world(t, true, self)
	var file message.FileDigest
	h.command(env, func(env node.Env) { file = h.member.Files.Keep(env, []byte("file"), 1) })
	env.Advance(5 * time.Second)
	h.command(env, func(env node.Env) { h.member.Files.Fetch(env, file, 2) })
	last := h.ready[len(h.ready)-1]
	if last.File == nil || last.File.Kind != archive.Fetched || last.File.Ticket != 2 || string(last.File.Bytes) != "file" {
		t.Errorf("the last outcome of the step is %+v, want the file", last)
	}
}

// A closed group ignores files, membership messages and votes of a stranger of its own role,
// and reports it. An open group leaves that to its parts.
func TestAClosedGroupIgnoresStrangers(t *testing.T) {
	stranger := node.Peer{ID: "m9", Incarnation: 1, Role: node.RoleManager, Addr: "m9:1"}
	for _, open := range []bool{false, true} {
		h, env := world(t, open, self, "m2:1", "m3:1")
		var ignored []string
		env.WatchEvent = func(v node.Event) {
			if e, ok := v.(event.Ignored); ok && e.Peer == stranger.ID {
				ignored = append(ignored, e.Why)
			}
		}
		for _, m := range []node.Message{&message.VoteAsk{Group: "dc1", Term: 9, Nonce: 1}, &message.FileFetch{Group: "dc1", File: message.FileDigest{1}}} {
			env.ReceiveDatagram(stranger, m)
		}
		if got := slices.Contains(ignored, "its sender is not in the configured set"); got == open {
			t.Errorf("open = %v: ignored with %q", open, ignored)
		}
		if len(h.others) != 0 {
			t.Errorf("open = %v: the role was handed %v", open, h.others)
		}
	}
}

// Step leaves an input that belongs to no part of the group to the role.
func TestTheRoleTakesTheRest(t *testing.T) {
	h, env := world(t, true, self)
	gate := node.Peer{ID: "g1", Incarnation: 1, Role: node.RoleGate, Addr: "g1:1"}
	s := env.Accept(gate)
	env.Receive(s, &message.HeartbeatAck{Sequence: 1})
	if !slices.Equal(h.others, []node.InputKind{node.InputStreamOpened, node.InputMessage}) {
		t.Errorf("the role was handed %v", h.others)
	}
}

// A member ranks itself by its ring, without the members that the membership considers dead.
func TestRankFollowsTheRing(t *testing.T) {
	h, _ := world(t, false, self, "m2:1", "m3:1")
	for i := range 32 {
		job := message.JobID{byte(i)}
		if got, want := h.member.Rank(job), slices.Index(h.member.Ring.Order(job), self); got != want {
			t.Errorf("job %v: rank %d, its place in the order is %d", job, got, want)
		}
	}
}

// A loop that runs late makes this node's membership patient, before the membership notices by
// its own timer.
func TestTheMembershipKnowsHowLateTheLoopIs(t *testing.T) {
	h, env := world(t, true, self)
	before := h.member.Swim.Multiplier()
	env.Oversleep(5 * time.Second)
	h.member.Step(env, &node.Input{Kind: node.InputTimer, Timer: node.Key(node.PartHealth, node.HealthLag)})
	if after := h.member.Swim.Multiplier(); after <= before {
		t.Errorf("the loop overslept by 5s and the multiplier is %d, before it was %d", after, before)
	}
}

// The election learns this node's health within the step: its answer to a leader carries the
// multiplier that a late loop has raised.
func TestTheElectionKnowsHowWellTheNodeIs(t *testing.T) {
	h, env := world(t, true, self, "m2:1", "m3:1")
	env.Oversleep(5 * time.Second)
	env.Advance(time.Second)
	want := h.member.Swim.Multiplier()
	var acks []*message.LeaderBeatAck
	env.WatchDatagram = func(_ node.Addr, m node.Message) {
		if a, ok := m.(*message.LeaderBeatAck); ok {
			acks = append(acks, a)
		}
	}
	leader := node.Peer{ID: "m2", Incarnation: 1, Role: node.RoleManager, Addr: "m2:1"}
	env.ReceiveDatagram(leader, &message.LeaderBeat{Group: "dc1", Term: 9, Counter: 1})
	if want == 0 || len(acks) != 1 || int(acks[0].Fitness) != want {
		t.Errorf("the node's multiplier is %d, and it answers the leader with %+v", want, acks)
	}
}

// A member forgets the clock of one that was removed: after the next sample of that name it
// has nothing to compare, and finds no jump.
func TestTheClockOfARemovedMemberIsForgotten(t *testing.T) {
	for _, removed := range []bool{false, true} {
		h, env := world(t, true, self, "m2:1")
		var drifts []Drift
		h.command(env, func(env node.Env) {
			for n := range 2 {
				sample := swim.Sample{Sent: node.Instant(time.Hour), Received: node.Instant(time.Hour), Uptime: time.Duration(n) * time.Hour}
				r, _ := h.member.compares(env, &swim.Change{Kind: swim.ChangeSample, Member: swim.Member{ID: "m2"}, Sample: sample})
				if r.Drift != nil {
					drifts = append(drifts, *r.Drift)
				}
				if removed {
					h.member.compares(env, &swim.Change{Kind: swim.ChangeMember, Member: swim.Member{ID: "m2"}, To: swim.Removed})
				}
			}
		})
		if found := len(drifts) > 0; found == removed {
			t.Errorf("removed = %v: it finds %+v", removed, drifts)
		}
	}
}

// A member changes nothing while it is no member. A change that was asked for twice has ended in the set that it made,
// and in no other one with the same addresses: a new member is configured with the set that is to come.
func TestAChangeThatCannotBegin(t *testing.T) {
	changed := seats.Founded([]string{"m8:1", "m1:1", "m3:1"}).Replaced(0, 1, "m2:1")
	h, env := world(t, true, self, "m2:1", "m3:1")
	h.command(env, func(env node.Env) { h.member.Replace(env, "m3:1", "m4:1", 7) })
	env.Advance(3 * time.Second)
	h.command(env, func(env node.Env) { h.member.Replace(env, "m3:1", "m4:1", 8) })
	h.command(env, func(env node.Env) { h.member.Replace(env, "m8:1", "m2:1", 10) })
	all := h.ready
	h, env = world(t, true, "m2:1", self, "m3:1")
	h.member, h.config.Lease.Set = nil, changed
	env.Crash()
	env.Start()
	h.command(env, func(env node.Env) { h.member.Replace(env, "m8:1", "m2:1", 11) })
	ends := map[uint64]string{}
	for _, r := range append(all, h.ready...) {
		if r.Seat != nil {
			ends[r.Seat.Tag] = fmt.Sprint(r.Seat.Err)
		}
	}
	//lint:orderfree each change stands alone
	for tag, want := range map[uint64]string{7: "it is no member yet", 8: "it is no member yet", 10: "it is no member yet", 11: "<nil>"} {
		if !strings.Contains(ends[tag], want) {
			t.Errorf("change %d ends with %q, want %q", tag, ends[tag], want)
		}
	}
}

// A member agrees once it has heard nothing of the one that leaves for three beats, whatever it heard, and not before.
func TestAMemberThatIsHeard(t *testing.T) {
	h, env := world(t, true, self, "m2:1", "m3:1")
	for i, m := range []node.Message{nil, &message.LeaderBeat{Group: "dc1", Term: 1, Counter: 1}, &message.LeaseHail{Group: "dc1", Members: []string{"m1:1"}}} {
		if m != nil {
			env.ReceiveDatagram(node.Peer{ID: "m3", Incarnation: 1, Role: node.RoleManager, Addr: "m3:1"}, m)
		}
		if env.Advance(2900 * time.Millisecond); !h.member.Hears(env.Now(), "m3:1") {
			t.Errorf("%d: after 2.9s m3 counts as silent", i)
		}
		if env.Advance(200 * time.Millisecond); h.member.Hears(env.Now(), "m3:1") {
			t.Errorf("%d: after 3.1s m3 counts as heard", i)
		}
	}
}

// Members that are ready for a change say that they hear the one that leaves: an operator may stop it then. The change
// goes on only once none hears it.
func TestAMemberThatLivesKeepsItsSeat(t *testing.T) {
	h, env := world(t, true, self, "m2:1", "m3:1")
	found(env, true)
	m2, m3 := node.Peer{ID: "m2", Incarnation: 1, Role: node.RoleManager, Addr: "m2:1"}, node.Peer{ID: "m3", Incarnation: 1, Role: node.RoleManager, Addr: "m3:1"}
	end := func(tag uint64, w *message.SeatWord, hear bool) string {
		h.ready = nil
		if hear {
			env.ReceiveDatagram(m3, &message.LeaderBeatAck{Group: "dc1", Term: 1, Counter: 1})
		}
		h.command(env, func(env node.Env) { h.member.Replace(env, "m3:1", "m4:1", tag) })
		w.Group, w.Nonce = "dc1", h.member.change.nonce
		env.ReceiveDatagram(m2, w)
		for _, r := range h.ready {
			if r.Seat != nil {
				return fmt.Sprint(r.Seat.Err)
			}
		}
		return "none"
	}
	for i, c := range []struct {
		word message.SeatWord
		hear bool
		want string
	}{
		{message.SeatWord{Why: "it lacks a file"}, true, "m2 does not agree: it lacks a file"},
		{message.SeatWord{Why: "it hears m3", Hears: true}, false, "m2 does not agree: it hears m3"},
		{message.SeatWord{Why: "it hears m3", Hears: true}, true, "m2 does not agree: it hears m3"},
		{message.SeatWord{}, true, "it hears m3:1: stop that node, and ask again after 3s"},
	} {
		env.Advance(4 * time.Second)
		if got := end(uint64(i), &c.word, c.hear); got != c.want {
			t.Errorf("%d: the change ends with %q, want %q", i, got, c.want)
		}
	}
	if why, hears := h.member.bears(env.Now(), 0, "m3:1"); !hears {
		t.Errorf("m1 hears m3, and tells others %q", why)
	}
	if why, _ := h.member.bears(env.Now(), 0, self); why == "" {
		t.Error("m1 agrees that it leaves itself")
	}
	h.ready = nil
	h.command(env, func(env node.Env) { h.member.Replace(env, self, "m4:1", 8) })
	for _, p := range []node.Peer{m2, m3} {
		env.ReceiveDatagram(p, &message.SeatWord{Group: "dc1", Nonce: h.member.change.nonce, Why: "it hears m1", Hears: true})
	}
	if len(h.ready) != 1 || !strings.Contains(fmt.Sprint(h.ready[0].Seat.Err), "it hears m1") {
		t.Errorf("m1 was asked to leave, and says %+v", h.ready)
	}
	env.Advance(4 * time.Second)
	if got := end(9, &message.SeatWord{}, false); got != "<nil>" {
		t.Errorf("nothing is heard of m3, and the change ends with %q", got)
	}
}

// A member agrees to one change at a time, until that one must be over.
func TestOneChangeAtATime(t *testing.T) {
	var c change
	now := node.Instant(time.Hour)
	if why := c.promise(now, "m2:1"); why != "" {
		t.Error(why)
	}
	if why := c.promise(now.Add(time.Second), "m2:1"); why != "" {
		t.Errorf("m2 asks again: %s", why)
	}
	if why := c.promise(now.Add(pledgeMax), "m3:1"); !strings.Contains(why, "a change of m2:1") {
		t.Errorf("m3 gets %q while m2 may change the set", why)
	}
	if why := c.promise(now.Add(pledgeMax+time.Second), "m3:1"); why != "" {
		t.Errorf("m2 has given up by now: %s", why)
	}
	c.nonce, c.old = 1, "m4:1"
	if why := c.promise(now.Add(time.Hour), "m2:1"); !strings.Contains(why, "about to replace m4:1") {
		t.Errorf("m2 gets %q while this member replaces m4", why)
	}
}

// A member asks all others but the one that leaves, and writes nothing before each has agreed.
func TestAllOthersMustAgree(t *testing.T) {
	h, env := world(t, true, self, "m2:1", "m3:1")
	m2 := node.Peer{ID: "m2", Incarnation: 1, Role: node.RoleManager, Addr: "m2:1"}
	c := &h.member.change
	ask := func(env node.Env) { h.member.ask(env, "m3:1", "m4:1", 7) }
	for _, why := range []string{"", "it lacks a disk"} {
		h.ready = nil
		h.command(env, ask)
		env.ReceiveDatagram(m2, &message.SeatWord{Group: "dc1", Nonce: c.nonce + 1})
		if !slices.Equal(c.waits, []node.Addr{"m2:1"}) {
			t.Fatalf("it waits for %v after a word on another change", c.waits)
		}
		if why == "" {
			env.Advance(replaceMax + time.Second)
			why = "[m2:1] did not answer"
		} else {
			env.ReceiveDatagram(m2, &message.SeatWord{Group: "dc1", Nonce: c.nonce, Why: why})
		}
		if len(h.ready) == 0 || h.ready[len(h.ready)-1].Seat == nil || !strings.Contains(h.ready[len(h.ready)-1].Seat.Err.Error(), why) || c.nonce != 0 {
			t.Errorf("the change ends with %+v, want %q", h.ready, why)
		}
	}
}

// A member that lacks a file which its records name does not agree to the loss of another disk.
func TestAMemberThatLacksAFile(t *testing.T) {
	h, env := world(t, true, self, "m2:1", "m3:1")
	h.command(env, func(env node.Env) { h.member.Files.Mend(env, map[message.FileDigest]bool{{1}: true}) })
	if why := h.member.lacks(env.Now(), 0); !strings.Contains(why, "fetches 1 files") {
		t.Errorf("a member lacks a file, and says %q", why)
	}
}

// found founds a group of three with two members that are not there. With votes, they also tell what this one has voted.
func found(env *nodetest.Env, votes bool) {
	names, nonce := []string{"m1:1", "m2:1", "m3:1"}, uint64(0)
	others := []node.Peer{{ID: "m2", Incarnation: 1, Role: node.RoleManager, Addr: "m2:1"}, {ID: "m3", Incarnation: 1, Role: node.RoleManager, Addr: "m3:1"}}
	env.WatchDatagram = func(_ node.Addr, m node.Message) {
		if hail, ok := m.(*message.LeaseHail); ok && !hail.Answer {
			nonce = hail.Nonce
		}
	}
	for _, standing := range []uint8{0, 1, 1, 2} {
		env.Advance(3 * time.Second)
		for _, p := range others {
			env.ReceiveDatagram(p, &message.LeaseHail{Group: "dc1", Members: names, Standing: standing, Answer: true, Nonce: nonce})
		}
	}
	env.Advance(time.Second)
	if !votes {
		return
	}
	env.WatchDatagram = func(to node.Addr, m node.Message) {
		if join, ok := m.(*message.VoterJoin); ok {
			nonce = join.Nonce
		}
	}
	env.Advance(3 * time.Second)
	for _, p := range others {
		env.ReceiveDatagram(p, &message.VoterJoined{Group: "dc1", Nonce: nonce, Blank: true})
	}
	env.Advance(time.Second)
}

// A member whose registers have joined and that does not remember its votes yet does not agree that another voter leaves.
func TestAMemberThatForgotItsVotes(t *testing.T) {
	h, env := world(t, true, self, "m2:1", "m3:1")
	if found(env, false); !h.member.Leases.Speaks() || h.member.Election.Votes() {
		t.Fatalf("it speaks: %v, and votes: %v", h.member.Leases.Speaks(), h.member.Election.Votes())
	}
	if why := h.member.lacks(env.Now(), 0); !strings.Contains(why, "does not vote") {
		t.Errorf("a member that does not vote says %q", why)
	}
}
