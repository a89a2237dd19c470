package quorum

import (
	"slices"
	"time"

	"hyperscale/core/archive"
	"hyperscale/core/election"
	"hyperscale/core/event"
	"hyperscale/core/health"
	"hyperscale/core/lease"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/ring"
	"hyperscale/core/swim"
	"hyperscale/core/uplink"
)

// Member is one member of a group. Its role uses the exported parts, and leaves their inputs
// and outcomes to Step and Ready.
type Member struct {
	Links    *uplink.Links
	Leases   *lease.Registers
	Files    *archive.Archive
	Swim     *swim.Group
	Election *election.Election
	Ring     *ring.Ring // the order of the members for each job

	config     Config
	clocks     *health.Clocks
	monitor    *health.Monitor
	lag        time.Duration // of the loop, as the membership last heard
	multiplier int           // of local health, as the election last heard
	round      round
	board      board
	change     change
	ears       ears
}

// New returns a member that has not started. The configuration must be valid.
func New(c Config) *Member {
	m := &Member{
		config: c, Ring: ring.New(c.Members), Links: uplink.New(c.Links, c.Members), Swim: swim.New(c.swim()),
		clocks: health.NewClocks(c.clocks()), monitor: health.New(health.Default()),
	}
	m.Leases = lease.New(c.leases(m, m.Links), m.Links)
	m.Files = archive.New(c.files(), m.Links)
	m.Election = election.New(c.votes(m.Leases), m.Links)
	m.ears = make(ears, len(c.Members))
	return m
}

// Members returns the configured members in their order.
func (m *Member) Members() []node.Addr { return m.config.Members }

// Start joins the group, and opens its streams and those of the role to others beside the
// group. A member reads its disk before it opens a stream.
func (m *Member) Start(env node.Env, beside ...*uplink.Links) {
	for _, a := range m.config.Members {
		m.ears[a] = env.Now()
	}
	m.Files.Start(env)
	m.Leases.Start(env)
	m.Election.Start(env)
	m.Swim.Start(env)
	for _, l := range beside {
		l.Start(env)
	}
	m.Links.Start(env)
	m.monitor.Start(env)
}

// Step takes an input of the group, and returns false for an input of the role.
func (m *Member) Step(env node.Env, in *node.Input) bool {
	switch in.Kind {
	case node.InputMessage:
		return m.receive(env, in)
	case node.InputStreamOpened:
		if m.Swim.Opened(env, in) {
			return true
		}
		_, ours := m.Links.Opened(env, in)
		return ours
	case node.InputStreamBroken:
		_, ours := m.Links.Broken(env, in)
		return ours || m.Swim.Broken(env, in)
	case node.InputTimer:
		return m.fire(env, in.Timer)
	case node.InputStored:
		return m.stored(env, in)
	}
	return false
}

func (m *Member) receive(env node.Env, in *node.Input) bool {
	fellow := in.From.Role == m.config.Links.Role
	if !fellow && !m.config.Open {
		return false
	}
	if fellow {
		m.noteLife(env.Now(), in.From.Addr)
	}
	if _, beats := in.Message.(*message.Beat); beats && fellow {
		m.Leases.TellRetired(env, in.From.Addr) // it may be idle, and send nothing else
	}
	if m.Links.Receive(env, in) || fellow && uplink.AnswerBeat(env, in) || m.Leases.Receive(env, in.From, in.Message) || m.hear(in.From, in.Message) || fellow && m.hearSeats(env, in.From, in.Message) {
		return true
	}
	if !m.config.Open && !slices.Contains(m.config.Members, in.From.Addr) {
		env.Emit(event.Ignored{Peer: in.From.ID, Message: message.Name(in.Message.Kind()), Why: "its sender is not in the configured set"})
		return true
	}
	return m.Files.Receive(env, in.From, in.Message) || m.Swim.Receive(env, in) || m.Election.Receive(env, in.From, in.Message)
}

func (m *Member) fire(env node.Env, k node.TimerKey) bool {
	switch k.Part {
	case node.PartUplink:
		return m.Links.Fire(env, k)
	case node.PartLease:
		m.Leases.Fire(env, k)
	case node.PartArchive:
		m.Files.Fire(env, k)
	case node.PartSwim:
		m.Swim.Fire(env, k)
	case node.PartElection:
		m.Election.Fire(env, k)
	case node.PartHealth:
		m.health(env, k)
	default:
		return false
	}
	return true
}

func (m *Member) stored(env node.Env, in *node.Input) bool {
	switch in.WriteID.Part() {
	case node.PartLease:
		m.Leases.Stored(env, in)
	case node.PartArchive:
		m.Files.Stored(env, in)
	case node.PartElection:
		m.Election.Stored(env, in)
	default:
		return false
	}
	return true
}

// health reports this node's loop lag to the membership when it changes.
func (m *Member) health(env node.Env, k node.TimerKey) {
	m.monitor.Fire(env, k)
	m.tickSeats(env)
	if lag := m.monitor.Lag(); lag != m.lag {
		m.lag = lag
		m.Swim.SetLag(lag)
	}
}

// fitness reports this node's health to the election when it changes.
func (m *Member) fitness(env node.Env) {
	if now := m.Swim.Multiplier(); now != m.multiplier {
		m.multiplier = now
		m.monitor.SetMultiplier(env, now)
		m.Election.SetFitness(env, now)
	}
}

// Alive reports whether to send to a member: true also for one that was never heard.
func (m *Member) Alive(a node.Addr) bool {
	o, known := m.Swim.FindAddr(a)
	return !known || !o.State.Gone()
}

// Reaches reports whether this member speaks and a majority of the members, itself among them,
// answers its beats.
func (m *Member) Reaches() bool {
	n := 1
	for _, l := range m.Links.All() {
		if l.Answers() {
			n++
		}
	}
	return m.Leases.Speaks() && 2*n > len(m.config.Members)
}

// Rank returns this member's turn to acquire an expired job; 0 tries first. It implements
// lease.Order.
func (m *Member) Rank(job message.JobID) int { return m.Ring.Rank(job, m.config.Self, m.Alive) }

// Leave hands leadership over, and tells the membership that this node leaves.
func (m *Member) Leave(env node.Env) {
	m.Election.HandOver(env)
	m.Swim.Leave(env)
}
