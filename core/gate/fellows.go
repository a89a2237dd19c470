package gate

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"hyperscale/core/archive"
	"hyperscale/core/election"
	"hyperscale/core/health"
	"hyperscale/core/lease"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/ring"
	"hyperscale/core/swim"
	"hyperscale/core/uplink"
	"hyperscale/core/window"
)

// groupName is the gates' own among the groups of a cluster.
const groupName = "gates"

// linkGroup tells the timers of the streams to fellows from others.
const linkGroup = 1

// startGroup makes this gate a member of the configured set; alone it is one too,
// and a majority of one.
func (m *Machine) startGroup(env node.Env) {
	self := env.Self().Addr
	m.gates = slices.Sorted(slices.Values(m.config.Gates))
	if len(m.gates) == 0 {
		m.gates = []node.Addr{self}
	}
	if !slices.Contains(m.gates, self) {
		env.Halt("gate.gates = " + list(m.gates) + " must contain this gate's own address, " + string(self) + ": add it, or correct --advertise")
		return
	}
	links := uplink.Default()
	links.Group, links.Role, links.Beats = linkGroup, node.RoleGate, true
	m.links = uplink.New(links, m.gates)
	m.ring = ring.New(m.gates)
	m.swim = m.newSwim()
	m.leases = lease.New(m.leaseConfig(env), m.links)
	files := archive.Default()
	files.Group, files.Self, files.Members = groupName, self, m.gates
	files.FilesMax, files.BytesMax, files.SweepAge = m.config.FilesMax, int64(m.config.FileBytesMax), m.config.FileAge
	m.files = archive.New(files, m.links)
	votes := election.Default()
	votes.Group, votes.Self, votes.Voters, votes.Registers = groupName, self, m.gates, m.leases
	m.election = election.New(votes, m.links)
	clocks := health.DefaultClock()
	clocks.BoundPPM = 2 * m.config.DriftPPM
	m.clocks = health.NewClocks(clocks)
	m.monitor = health.New(health.Default())
	m.monitor.Start(env)
	m.links.Start(env)
	m.swim.Start(env)
	m.files.Start(env)
	m.leases.Start(env)
	m.election.Start(env)
}

func (m *Machine) leaseConfig(env node.Env) lease.Config {
	self := env.Self().Addr
	c := lease.Default()
	c.Group, c.Self, c.Members = groupName, self, m.gates
	c.Lease, c.AttemptTimeout, c.DriftPPM, c.Granularity = m.config.Lease, m.config.QuorumTimeout, m.config.DriftPPM, window.Granularity
	c.Recover = m.config.Recover
	c.RetryMax = min(c.RetryMax, m.config.Lease/6)
	c.RetryMin = min(c.RetryMin, c.RetryMax)
	c.TombstoneAge, c.RecordMax = m.config.KeyAge, lease.RecordMax
	c.Rank = func(job message.JobID) int { return m.ring.Rank(job, self, m.alive) }
	return c
}

func (m *Machine) newSwim() *swim.Group {
	c := swim.Default()
	c.Group, c.Seeds = groupName, m.gates
	return swim.New(c)
}

// alive says whether a fellow may be sent to: one that was never heard may be.
func (m *Machine) alive(a node.Addr) bool {
	o, ok := m.swim.FindAddr(a)
	return !ok || !o.State.Gone()
}

// fellowAlive says whether another gate could take this one's jobs.
func (m *Machine) fellowAlive() bool {
	return slices.ContainsFunc(m.links.All(), func(k *uplink.Link) bool { return k.Stands && m.alive(k.Addr) })
}

// successor is the next gate in a job's order that stands.
func (m *Machine) successor(env node.Env, id message.JobID) node.Addr {
	for _, a := range m.ring.Order(id) {
		if a == env.Self().Addr || !m.alive(a) {
			continue
		}
		if k := m.links.To(a); k != nil && k.Stands {
			return a
		}
	}
	return ""
}

// takeSwim keeps what the membership says of fellows for people, compares clocks,
// and lets this gate's own health decide whether it may lead. Who is dead is asked
// where it matters: a death that was learnt acts like one that was seen.
func (m *Machine) takeSwim(env node.Env) {
	for _, c := range m.swim.Take() {
		switch c.Kind {
		case swim.ChangeMember:
			m.reasons[c.Member.ID] = standing{env.Now(), c.Reason}
			if c.To == swim.Removed {
				delete(m.reasons, c.Member.ID)
				m.clocks.Forget(c.Member.ID)
			}
		case swim.ChangeSample:
			m.onSample(env, &c.Member, c.Sample)
		}
	}
	if now := m.swim.Multiplier(); now != m.multiplier {
		m.multiplier = now
		m.monitor.SetMultiplier(env, now)
		m.election.SetFitness(env, now)
	}
}

// onHealth tells the membership how late this gate's loop is, when that changes.
func (m *Machine) onHealth(env node.Env, k node.TimerKey) {
	m.monitor.Fire(env, k)
	if lag := m.monitor.Lag(); lag != m.lag {
		m.lag = lag
		m.swim.SetLag(lag)
	}
}

// onSample keeps for operators that two clocks drift apart faster than both may.
func (m *Machine) onSample(env node.Env, o *swim.Member, s swim.Sample) {
	f, found := m.clocks.Observe(env, o.ID, o.Run(), health.Sample{Sent: s.Sent, Received: s.Received, Uptime: s.Uptime})
	if !found {
		return
	}
	what := "drifts by"
	if f.Jump {
		what = "has jumped, by"
	}
	m.alarms++
	m.alarm = fmt.Sprintf("the clock of %s %s %d ppm against this gate's, each may drift by %d: set both right", o.ID, what, f.PPM, m.config.DriftPPM)
}

// onElection: the leader keeps house.
func (m *Machine) onElection(env node.Env, o election.Outcome) {
	if o.Kind == election.Led {
		m.keepHouse(env)
	}
}

// keepHouse acquires what has been vacant for so long that every gate must have
// missed its turn. A leader that hears no majority stops before another may lead.
func (m *Machine) keepHouse(env node.Env) {
	if !m.election.Leads(env.Now()) || !m.leases.Speaks() || m.retiring() {
		m.vacant = nil // the next leader counts for itself, and this one anew
		return
	}
	vacant := map[message.JobID]node.Instant{}
	for _, id := range m.leases.Known() {
		seen, ok := m.leases.Seen(env.Now(), id)
		if !ok || seen.Released || seen.Left > 0 || m.jobs[id] != nil {
			continue
		}
		since, was := m.vacant[id]
		if !was {
			since = env.Now()
		}
		if env.Now().Sub(since) >= m.config.Lease+time.Duration(len(m.gates))*time.Second {
			reached(env, "gate/vacant-swept")
			m.onVacant(env, lease.Outcome{Kind: lease.Vacant, Job: id})
			continue
		}
		vacant[id] = since
	}
	m.vacant = vacant
}

func fileOf(b []byte) message.FileDigest { return sha256.Sum256(b) }

func list[T ~string](names []T) string {
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = string(n)
	}
	return strings.Join(all, ", ")
}

func texts(addrs []node.Addr) []string {
	all := make([]string, len(addrs))
	for i, a := range addrs {
		all[i] = string(a)
	}
	return all
}

// standing is why a member is as it is, for people.
type standing struct {
	at  node.Instant
	why string
}

// lookout is what a gate notes of its own health and of its peers', for operators and for
// the membership.
type lookout struct {
	clocks     *health.Clocks
	monitor    *health.Monitor
	lag        time.Duration // of the loop, as the membership knows it
	multiplier int           // of local health, likewise
	reasons    map[node.ID]standing
	alarms     uint32 // of clocks and of registers
	alarm      string // the newest
}
