package gate

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"hyperscale/core/archive"
	"hyperscale/core/lease"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/quorum"
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
	gates, ok := quorum.Addresses(m.config.Gates, self)
	if !ok {
		env.Halt("gate.gates = " + list(gates) + " must contain this gate's own address, " + string(self) + ": add it, or correct --advertise")
		return
	}
	m.group = quorum.New(m.quorumConfig(self, gates))
	m.group.Start(env)
}

func (m *Machine) quorumConfig(self node.Addr, gates []node.Addr) quorum.Config {
	c := quorum.Config{
		Group: groupName, Self: self, Members: gates, DriftPPM: m.config.DriftPPM,
		Links: uplink.Default(), Lease: lease.Default(), Files: archive.Default(),
	}
	c.Links.Group, c.Links.Role, c.Links.Beats = linkGroup, node.RoleGate, true
	l := &c.Lease
	l.Lease, l.AttemptTimeout, l.Granularity, l.Recover = m.config.Lease, m.config.QuorumTimeout, window.Granularity, m.config.Recover
	l.RetryMax = min(l.RetryMax, m.config.Lease/6)
	l.RetryMin = min(l.RetryMin, l.RetryMax)
	l.TombstoneAge, l.RecordMax = m.config.KeyAge, lease.RecordMax
	c.Files.FilesMax, c.Files.BytesMax, c.Files.SweepAge = m.config.FilesMax, int64(m.config.FileBytesMax), m.config.FileAge
	return c
}

// fellowAlive says whether another gate could take this one's jobs.
func (m *Machine) fellowAlive() bool {
	return slices.ContainsFunc(m.group.Links.All(), func(k *uplink.Link) bool { return k.Stands && m.group.Alive(k.Addr) })
}

// successor is the next gate in a job's order that stands.
func (m *Machine) successor(env node.Env, id message.JobID) node.Addr {
	for _, a := range m.group.Ring.Order(id) {
		if a == env.Self().Addr || !m.group.Alive(a) {
			continue
		}
		if k := m.group.Links.To(a); k != nil && k.Stands {
			return a
		}
	}
	return ""
}

// onMember keeps for operators why a member is as it is. Who is dead is asked where it
// matters: a death that was learnt acts like one that was seen.
func (m *Machine) onMember(env node.Env, c *swim.Change) {
	m.reasons[c.Member.ID] = standing{env.Now(), c.Reason}
	if c.To == swim.Removed {
		delete(m.reasons, c.Member.ID)
	}
}

// onDrift keeps for operators that two clocks drift apart faster than both may.
func (m *Machine) onDrift(d quorum.Drift) {
	what := "drifts by"
	if d.Jump {
		what = "has jumped, by"
	}
	m.alarms++
	m.alarm = fmt.Sprintf("the clock of %s %s %d ppm against this gate's, each may drift by %d: set both right", d.Member, what, d.PPM, m.config.DriftPPM)
}

// keepHouse acquires what has been vacant for so long that every gate must have
// missed its turn. A leader that hears no majority stops before another may lead.
func (m *Machine) keepHouse(env node.Env) {
	if !m.group.Election.Leads(env.Now()) || !m.group.Leases.Speaks() || m.retiring() {
		m.vacant = nil // the next leader counts for itself, and this one anew
		return
	}
	vacant := map[message.JobID]node.Instant{}
	for _, id := range m.group.Leases.Known() {
		seen, ok := m.group.Leases.Seen(env.Now(), id)
		if !ok || seen.Released || seen.Left > 0 || m.jobs[id] != nil {
			continue
		}
		since, was := m.vacant[id]
		if !was {
			since = env.Now()
		}
		if env.Now().Sub(since) >= m.config.Lease+time.Duration(len(m.group.Members()))*time.Second {
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

// lookout is what a gate notes of its peers for operators.
type lookout struct {
	reasons map[node.ID]standing
	alarms  uint32 // of clocks and of registers
	alarm   string // the newest
}
