package members

import (
	"fmt"
	"slices"
	"time"

	"hyperscale/checker"
	"hyperscale/core/node"
	"hyperscale/core/swim"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// crowdGroup is the name of the group of a world of members.
const crowdGroup = "crowd"

// goodbye is how long a leaving member stays to answer.
const goodbye = time.Second

// InvariantM names violations of the worlds of members: a member's state at an observer is
// wrong.
const InvariantM = "M"

// crowd is a world of machines that only belong to a group. It judges each member's view of the
// others.
type crowd struct {
	*stage.Stage
	ids    []node.ID
	config func(i int) swim.Config
	groups map[node.ID]*swim.Group       // of members that run, or ran last
	views  map[node.ID]map[node.ID]sight // only members whose state changed
	// rostered members knew all others from the start.
	rostered map[node.ID]bool
	guilty   map[node.ID]bool                 // faults hit them: others may suspect them, and they may err
	absent   map[node.ID]bool                 // others may suspect them, but they may not err
	monitors map[node.ID]*healthMonitor       // members that also watch their own health; nil: none does
	told     func(at node.ID, in *node.Input) // receives what members receive; may be nil
	calm     bool                             // no member may even become suspect
	deaths   map[node.ID]map[node.ID]time.Duration
	why      map[string]int                        // reasons of deaths
	holds    map[node.ID]int                       // how often a member held evictions
	heals    []time.Duration                       // when cuts heal that leave some members alone
	agreedOn map[int]node.ID                       // of a heal: the member that agreed excuses
	doubts   map[node.ID]map[node.ID]time.Duration // of a member: when each guilty one last began to suspect it
}

// sight is one member's view of another.
type sight struct {
	state       swim.State
	incarnation uint64
	back        time.Duration // when it was last heard of after it was unknown or gone
}

// size is the size of a crowd: members, evenly over so many places.
type size struct{ members, places int }

// newCrowd builds members. The world that builds them starts each.
func newCrowd(s *stage.Stage, n size, spec sim.Spec, config func(i int, c *swim.Config)) *crowd {
	c := &crowd{
		Stage: s, groups: map[node.ID]*swim.Group{}, views: map[node.ID]map[node.ID]sight{}, rostered: map[node.ID]bool{}, guilty: map[node.ID]bool{}, absent: map[node.ID]bool{},
		deaths: map[node.ID]map[node.ID]time.Duration{}, why: map[string]int{}, agreedOn: map[int]node.ID{}, doubts: map[node.ID]map[node.ID]time.Duration{}, holds: map[node.ID]int{},
	}
	c.config = func(i int) swim.Config {
		base := swim.Default()
		base.Group = crowdGroup
		if config != nil {
			config(i, &base)
		}
		return base
	}
	for i := range n.members {
		id := node.ID(fmt.Sprintf("member-%04d", i))
		spec.ID, spec.Role, spec.Place = id, node.RoleToy, stage.Datacenter(i*n.places/n.members)
		spec.New = func() node.Machine {
			m := &crowdMember{crowd: c, id: id, group: c.fresh(i, id)}
			if c.monitors != nil {
				m.health = newHealthMonitor(m.group)
				c.monitors[id] = m.health
			}
			return m
		}
		s.World.Add(spec)
		c.ids = append(c.ids, id)
	}
	s.Nodes = append(s.Nodes, c.ids...)
	s.World.At(s.Options.Virtual, c.finish)
	return c
}

// fresh returns a member's group at its start. A restarted member gets no roster, because it
// would be outdated.
func (c *crowd) fresh(i int, id node.ID) *swim.Group {
	config := c.config(i)
	if c.groups[id] != nil {
		config.Known = nil
	}
	c.groups[id] = swim.New(config)
	c.views[id], c.rostered[id] = make(map[node.ID]sight), len(config.Known) > 0
	return c.groups[id]
}

// addrs returns the addresses of the first n.
func (c *crowd) addrs(n int) []node.Addr {
	var all []node.Addr
	for _, id := range c.ids[:n] {
		all = append(all, c.World.Addr(id))
	}
	return all
}

// roster returns all identities, for members that know each other from the start. The world
// owns it, so that ten thousand members share one.
func (c *crowd) roster() []*swim.Identity {
	all := make([]*swim.Identity, len(c.ids))
	for i, id := range c.ids {
		all[i] = &swim.Identity{ID: id, Addr: c.World.Addr(id), Role: node.RoleToy}
	}
	return all
}

// warm starts a crowd in one place whose members know each other from the start, with three
// seeds.
func warm(s *stage.Stage, n int, spec sim.Spec, config func(*swim.Config)) *crowd {
	return warmIn(s, size{n, 1}, spec, config)
}

// warmIn does the same in many places.
func warmIn(s *stage.Stage, n size, spec sim.Spec, config func(*swim.Config)) *crowd {
	var seeds []node.Addr
	var roster []*swim.Identity
	c := newCrowd(s, n, spec, func(_ int, o *swim.Config) {
		o.Seeds, o.Known = seeds, roster
		if config != nil {
			config(o)
		}
	})
	seeds, roster = c.addrs(min(3, n.members)), c.roster()
	for _, id := range c.ids {
		s.World.Start(id)
	}
	return c
}

// blame marks the members that faults hit.
func (c *crowd) blame(ids ...node.ID) {
	for _, id := range ids {
		c.guilty[id] = true
	}
}

// some returns n members that are not seeds, in random order.
func (c *crowd) some(n int) []node.ID {
	ids := slices.Clone(c.ids[3:])
	c.Rand.Shuffle(len(ids), func(a, b int) { ids[a], ids[b] = ids[b], ids[a] })
	return ids[:n]
}

func (c *crowd) violate(id node.ID, format string, args ...any) {
	c.Checker.Violate(InvariantM, checker.Record{At: c.World.Now(), Node: id}, format, args...)
}

// see judges one change of one member at one observer.
func (c *crowd) see(at node.ID, ch *swim.Change) {
	if ch.Kind == swim.ChangeHold && ch.Hold {
		c.holds[at]++
	}
	if ch.Kind != swim.ChangeMember {
		return
	}
	m := &ch.Member
	before, known := c.views[at][m.ID]
	switch {
	case known:
	case c.rostered[at]:
		before, known = sight{state: swim.Alive, incarnation: 1 << 32}, true
	default:
		before.state = swim.Unknown
	}
	switch {
	case before.state != ch.From:
		c.violate(at, "%s goes from %v to %v, it was %v", m.ID, ch.From, ch.To, before.state)
	case !legalStep(ch.From, ch.To):
		c.violate(at, "%s goes from %v to %v, which is no legal step", m.ID, ch.From, ch.To)
	case m.Incarnation < before.incarnation, ch.To == swim.Alive && known && m.Incarnation == before.incarnation:
		c.violate(at, "%s goes from %v in incarnation %d to %v in %d", m.ID, ch.From, before.incarnation, ch.To, m.Incarnation)
	case (ch.To == swim.Dead || ch.To == swim.Suspect) && ch.By == "":
		c.violate(at, "%s is %v, and no member has raised it", m.ID, ch.To)
	}
	back := before.back
	if ch.From == swim.Unknown || ch.From.Gone() {
		back = c.World.Now()
	}
	c.views[at][m.ID] = sight{ch.To, m.Incarnation, back}
	if ch.To == swim.Removed {
		c.views[at][m.ID] = sight{state: swim.Unknown}
	}
	if ch.To == swim.Dead {
		c.dies(at, m.ID, ch)
	}
	if ch.To == swim.Suspect && c.guilty[at] {
		if c.doubts[m.ID] == nil {
			c.doubts[m.ID] = map[node.ID]time.Duration{}
		}
		c.doubts[m.ID][at] = c.World.Now()
	}
	if c.calm && ch.To == swim.Suspect && !c.guilty[m.ID] && !c.absent[m.ID] && !c.guilty[at] {
		c.violate(at, "%s is suspected by %s: %s", m.ID, ch.By, ch.Reason)
	}
}

// agreed says that a cut healed a moment ago, that two members behind it suspected a member that
// they could not reach, and that it is the only such member. One confirms the other, so they tell
// their verdict, and a cut that heals after their last question leaves the refutation no time.
func (c *crowd) agreed(id node.ID) bool {
	now, accusers := c.World.Now(), 0
	//lint:orderfree a count
	for _, since := range c.doubts[id] {
		if now-since < 20*time.Second {
			accusers++
		}
	}
	at := slices.IndexFunc(c.heals, func(at time.Duration) bool { return at <= now && now-at < 2*time.Second })
	if at < 0 || accusers < 2 {
		return false
	}
	if c.agreedOn[at] == "" {
		c.agreedOn[at] = id
	}
	return c.agreedOn[at] == id
}

func (c *crowd) dies(at, id node.ID, ch *swim.Change) {
	c.why[ch.Reason]++
	if c.deaths[id] == nil {
		c.deaths[id] = map[node.ID]time.Duration{}
	}
	if _, told := c.deaths[id][at]; !told {
		c.deaths[id][at] = c.World.Now()
	}
	if !c.guilty[id] && !c.absent[id] && !c.guilty[at] && !c.agreed(id) {
		c.violate(at, "%s is healthy, and is taken for dead, as %s says: %s", id, ch.By, ch.Reason)
	}
}

// legalStep is the table of resolutions, State machines, Member.
func legalStep(from, to swim.State) bool {
	switch from {
	case swim.Unknown:
		return to == swim.Alive
	case swim.Alive:
		return to == swim.Suspect || to.Gone()
	case swim.Suspect:
		return to == swim.Alive || to.Gone()
	case swim.Dead, swim.Left:
		return to == swim.Alive || to == swim.Removed
	}
	return false
}

// at returns the members of a place.
func (c *crowd) at(place string) []node.ID {
	var ids []node.ID
	for _, id := range c.ids {
		if c.World.Place(id) == place {
			ids = append(ids, id)
		}
	}
	return ids
}

// settled judges that every running member sees exactly the running members as alive, in their
// incarnations.
func (c *crowd) settled() {
	for _, at := range c.ids {
		if !c.World.Alive(at) {
			continue
		}
		for _, id := range c.ids {
			seen, known := c.groups[at].Find(id)
			switch {
			case c.World.Alive(id) && !known:
				c.violate(at, "%s runs, and is not known", id)
			case c.World.Alive(id) && (seen.State != swim.Alive || seen.Incarnation != c.groups[id].Incarnation()):
				c.violate(at, "%s runs in incarnation %d, and is taken for %v in %d", id, c.groups[id].Incarnation(), seen.State, seen.Incarnation)
			case !c.World.Alive(id) && known && !seen.State.Gone():
				c.violate(at, "%s does not run, and is taken for %v", id, seen.State)
			}
		}
	}
}

// settleTime is the time until all have one view after the last fault.
const settleTime = 45 * time.Second

func (c *crowd) finish() {
	if c.Options.Virtual-c.Heal < settleTime {
		return
	}
	c.settled()
	for _, id := range c.ids {
		if !c.World.Alive(id) {
			continue
		}
		if m := c.groups[id].Multiplier(); m > 1 { // a refutation may have been the last event
			c.violate(id, "all has been well for %v, and it takes itself to be unwell by %d", settleTime, m)
		}
		if n := c.groups[id].Waiting(); n > 0 {
			c.violate(id, "nothing has happened for %v, and it tells %d pieces of news", settleTime, n)
		}
	}
}

// dead judges that every running member learnt of a crash in time, and returns the time of the
// last one.
func (c *crowd) dead(id node.ID, since, within time.Duration) time.Duration {
	var last time.Duration
	for _, at := range c.ids {
		if at == id || !c.World.Alive(at) {
			continue
		}
		when, told := c.deaths[id][at]
		if !told || when-since > within {
			c.violate(at, "%s fell silent at %v, and is not known to be dead %v later", id, since, within)
			return within
		}
		last = max(last, when-since)
	}
	return last
}

// unwellMax is the worst local health, of Lifeguard.
const unwellMax = 8

// crowdMember is a role that only belongs to a group.
type crowdMember struct {
	crowd  *crowd
	id     node.ID
	group  *swim.Group
	health *healthMonitor // nil: it does not watch its own health
}

// Step implements node.Machine.
func (m *crowdMember) Step(env node.Env, in *node.Input) {
	switch in.Kind {
	case node.InputStart:
		m.group.Start(env)
		if m.health != nil {
			m.health.monitor.Start(env)
		}
	case node.InputMessage:
		if m.crowd.told != nil {
			m.crowd.told(m.id, in)
		}
		m.group.Receive(env, in)
	case node.InputStreamOpened:
		m.group.Opened(env, in)
	case node.InputStreamBroken:
		m.group.Broken(env, in)
	case node.InputTimer:
		if !m.group.Fire(env, in.Timer) && !m.health.fire(env, in.Timer) {
			env.Halt("")
		}
	case node.InputStop:
		m.group.Leave(env)
		env.SetTimer(node.Key(node.PartGossip, gossipTimerProbe), goodbye)
	}
	if n := m.group.Multiplier(); n < 0 || n > unwellMax {
		m.crowd.violate(m.id, "it takes itself to be unwell by %d, of %d", n, unwellMax)
	}
	changes := m.group.Take()
	for i := range changes {
		m.crowd.see(m.id, &changes[i])
		m.health.take(env, &changes[i])
	}
}
