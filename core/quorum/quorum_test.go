package quorum

import (
	"slices"
	"testing"
	"time"

	"hyperscale/core/archive"
	"hyperscale/core/event"
	"hyperscale/core/lease"
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
				r, _ := h.member.change(env, &swim.Change{Kind: swim.ChangeSample, Member: swim.Member{ID: "m2"}, Sample: sample})
				if r.Drift != nil {
					drifts = append(drifts, *r.Drift)
				}
				if removed {
					h.member.change(env, &swim.Change{Kind: swim.ChangeMember, Member: swim.Member{ID: "m2"}, To: swim.Removed})
				}
			}
		})
		if found := len(drifts) > 0; found == removed {
			t.Errorf("removed = %v: it finds %+v", removed, drifts)
		}
	}
}
