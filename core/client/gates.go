package client

import (
	"cmp"
	"slices"
	"time"

	"hyperscale/core/discovery"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/ring"
)

// connection is the connection to one gate.
type connection struct {
	index    int
	addr     node.Addr
	stream   node.StreamID // 0 if there is none
	peer     node.Peer     // the last peer
	open     bool
	failures int          // since it was last open
	again    node.Instant // it opens no stream before
	reason   string       // why there is no stream, for users
	unfit    node.Instant // when the last try found that this client and the gate do not belong together; 0: it did not
	heard    node.Instant
	counter  uint64
	pinged   node.Instant // when the ping was sent that measures the gate; 0: it was answered
	measured uint64       // the counter of that ping
	gone     bool         // it was a candidate, and no name has it any more
}

// usable reports that the client may ask a gate now: a stream is open or opening, or may be
// opened again.
func (g *connection) usable(now node.Instant) bool { return g.stream != 0 || now >= g.again }

// connect opens a stream, and watches the opening, too.
func (g *connection) connect(env node.Env, ping time.Duration) {
	g.stream, g.heard = env.Open(g.addr), env.Now()
	g.watch(env, ping)
}

func (g *connection) watch(env node.Env, ping time.Duration) {
	env.SetTimer(node.KeyN(node.PartClient, node.ClientSilence, uint64(g.index)), ping)
}

// gates holds the connections to all gates that this client knows, and the last known owner of
// each job.
type gates struct {
	gatesMax, homesMax int
	near               bool // only those on this machine
	named              bool // it looks gates up

	all     []*connection // those configured, then those learnt; it only grows
	ring    *ring.Ring    // of the gates' own set; nil until a gate reports it
	names   *discovery.Names
	pool    *discovery.Pool // for questions that no owner must answer; nil: without Config.Explore
	explore time.Duration
	pings   time.Duration
	cached  []node.Addr                   // that an earlier client knew; nil once they are asked
	current *connection                   // the gate whose stream opened last
	homes   map[message.JobID]*connection // the gate that owns the job, as last reported
	met     bool                          // a gate has answered
	known   []message.JobID               // keys of homes, the oldest first
}

func newGates(c Config) gates {
	g := gates{gatesMax: c.GatesMax, homesMax: c.HomesMax, near: c.Near, named: len(c.Discover) > 0, cached: c.Cached, explore: c.Explore, pings: c.PingInterval, homes: map[message.JobID]*connection{}}
	names := discovery.Default()
	names.Names = c.Discover
	g.names = discovery.New(names)
	for _, addr := range c.Gates {
		g.at(addr)
	}
	if len(g.all) > 0 {
		g.current = g.all[0]
	}
	return g
}

// of returns the connection that has a stream, or nil.
func (g *gates) of(s node.StreamID) *connection {
	for _, c := range g.all {
		if c.stream == s && s != 0 {
			return c
		}
	}
	return nil
}

// at returns the connection to an address; nil if there is no room for another, or the client
// must not ask it.
func (g *gates) at(a node.Addr) *connection {
	for _, c := range g.all {
		if c.addr == a {
			return c
		}
	}
	if g.near && !a.Near() {
		return nil
	}
	if len(g.all) >= g.gatesMax {
		return g.reuse(a)
	}
	c := &connection{index: len(g.all), addr: a}
	g.all = append(g.all, c)
	g.pooled()
	return c
}

// reuse gives an address the place of a candidate that is gone; nil if there is none. A job whose
// owner it was finds its owner again.
func (g *gates) reuse(a node.Addr) *connection {
	for _, c := range g.all {
		if c.gone && c.stream == 0 {
			*c = connection{index: c.index, addr: a}
			g.pooled()
			return c
		}
	}
	return nil
}

// learn takes the set of gates, by the addresses that they have for each other, and reports whether
// it differs.
func (g *gates) learn(set []node.Addr) (changed bool) {
	set = slices.Compact(slices.Sorted(slices.Values(set)))
	if g.ring != nil && slices.Equal(g.ring.Members(), set) {
		return false
	}
	g.ring = ring.New(set)
	for _, a := range set {
		if c := g.at(a); c != nil {
			c.gone = false
		}
	}
	return true
}

// set returns the addresses of the group of gates, sorted; before a gate has reported it, those
// that were configured.
func (g *gates) set() []node.Addr {
	if g.ring != nil {
		return g.ring.Members()
	}
	var set []node.Addr
	for _, c := range g.all {
		set = append(set, c.addr)
	}
	slices.Sort(set)
	return set
}

// order returns the gates in the order in which a command about a job asks them: the reported
// owner, then the ring's order, which all nodes share, then the rest. Those that the client
// could not reach of late are last.
func (g *gates) order(job message.JobID) []*connection {
	list := make([]*connection, 0, len(g.all))
	add := func(c *connection) {
		if c != nil && !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	if job != (message.JobID{}) {
		add(g.homes[job])
		if g.ring != nil {
			for _, a := range g.ring.Order(job) {
				add(g.at(a))
			}
		}
	}
	add(g.current)
	for _, c := range g.all {
		add(c)
	}
	list = slices.DeleteFunc(list, func(c *connection) bool { return c.gone && c.stream == 0 })
	slices.SortStableFunc(list, func(a, b *connection) int { return min(a.failures, 1) - min(b.failures, 1) })
	return list
}

// remember stores which gate owns a job.
func (g *gates) remember(job message.JobID, c *connection) {
	if job == (message.JobID{}) {
		return
	}
	if _, ok := g.homes[job]; !ok {
		g.known = append(g.known, job)
		if len(g.known) > g.homesMax {
			delete(g.homes, g.known[0])
			g.known = slices.Delete(g.known, 0, 1)
		}
	}
	g.homes[job] = c
}

// start begins to look names up, and to prefer gates.
func (g *gates) start(env node.Env) {
	if g.explore > 0 {
		c := discovery.DefaultPool()
		c.Self, c.Explore = env.Self().ID, g.explore
		g.pool = discovery.NewPool(c)
		g.pooled()
		if g.current != nil {
			g.pool.Prefer(env.Now(), g.current.addr)
		}
	}
	g.names.Start(env)
}

// pooled makes the pool of all gates that the client knows.
func (g *gates) pooled() {
	if g.pool == nil {
		return
	}
	var all []node.Addr
	for _, c := range g.all {
		all = append(all, c.addr)
	}
	g.pool.Set(all)
}

// ranked returns the gates in the order in which a command asks them. A question that no owner must
// answer goes to the gate that answers fastest; whatever concerns a job goes by order alone.
func (g *gates) ranked(env node.Env, job message.JobID) []*connection {
	list := g.order(job)
	if g.pool == nil || job != (message.JobID{}) {
		return list
	}
	if a, due := g.pool.Another(env.Now(), env.Rand(node.PurposeJitter)); due {
		g.measure(env, g.at(a))
	}
	rank := map[node.Addr]int{}
	for i, a := range g.pool.Order(env.Now()) {
		rank[a] = i
	}
	slices.SortStableFunc(list, func(a, b *connection) int {
		return cmp.Or(cmp.Compare(min(a.failures, 1), min(b.failures, 1)), cmp.Compare(rank[a.addr], rank[b.addr]))
	})
	return list
}

// measure pings a gate, or opens a stream to it first: no question waits for a gate that may be away.
func (g *gates) measure(env node.Env, c *connection) {
	switch {
	case g.pool == nil || c == nil:
	case c.open && c.pinged == 0:
		c.ping(env)
	case c.stream == 0 && c.usable(env.Now()):
		c.connect(env, g.pings)
	}
}

// opened begins with the first gate that answers, and measures one that no command needs.
func (g *gates) opened(env node.Env, c *connection, needed bool) {
	if g.pool == nil {
		return
	}
	g.pool.Prefer(env.Now(), c.addr)
	if !needed {
		g.measure(env, c)
	}
}

// ping sends a ping, whose answer measures the gate.
func (c *connection) ping(env node.Env) {
	c.counter++
	if c.pinged == 0 {
		c.pinged, c.measured = env.Now(), c.counter
	}
	env.Send(c.stream, &message.ClientPing{Counter: c.counter})
}

// took measures a gate by its answer to a ping, or to a later one: while both wait in a mailbox, the
// newer replaces the older.
func (g *gates) took(env node.Env, c *connection, counter uint64) {
	if g.pool == nil || c.pinged == 0 || counter < c.measured {
		return
	}
	was := g.pool.Preferred()
	g.pool.Took(env.Now(), c.addr, env.Now().Sub(c.pinged))
	c.pinged = 0
	g.preferred(env, was)
}

// failed notes that a gate did not serve a question.
func (g *gates) failed(env node.Env, c *connection) {
	if g.pool != nil {
		was := g.pool.Preferred()
		g.pool.Failed(env.Now(), c.addr)
		g.preferred(env, was)
	}
}

func (g *gates) preferred(env node.Env, was node.Addr) {
	if is := g.pool.Preferred(); is != was {
		env.Emit(event.GatePreferred{Gate: string(is), Former: string(was)})
	}
}

// follow takes the addresses behind a name.
func (g *gates) follow(env node.Env, found *node.Names) {
	change := g.names.Take(env, found)
	for _, a := range change.Added {
		if c := g.at(a); c != nil {
			c.gone = false
		}
	}
	for _, c := range g.all {
		if slices.Contains(change.Removed, c.addr) && (g.ring == nil || !slices.Contains(g.ring.Members(), c.addr)) {
			c.gone = true
		}
	}
	if g.names.Failing() {
		g.recall(env)
	}
}

// recall adds gates that an earlier client knew, once the names lead to none.
func (g *gates) recall(env node.Env) {
	if g.met || len(g.cached) == 0 || g.names.Waits() {
		return
	}
	env.Emit(event.GatesRecalled{Gates: len(g.cached)})
	for _, a := range g.cached {
		g.at(a)
	}
	g.cached = nil
}

// probesMax bounds the gates that a client opens at once while it has met none.
const probesMax = 10

// probing reports whether commands wait for the first gate that answers, and not for one after the
// other: some addresses of a name may be dead, or of another cluster.
func (g *gates) probing() bool { return g.named && !g.met }

// unfit reports that no gate answers, and all of them have found since then that this client does not
// belong to them: to ask again would find the same.
func (g *gates) unfit(since node.Instant) bool {
	return !g.met && len(g.all) > 0 && !g.names.Waits() && !g.names.Failing() &&
		!slices.ContainsFunc(g.all, func(c *connection) bool { return c.unfit < since })
}

// probe opens streams to several gates at once. It returns false if all have failed of late, and no
// name has an outcome to come.
func (g *gates) probe(env node.Env) bool {
	opening := 0
	for _, c := range g.all {
		if c.stream != 0 {
			opening++
		}
	}
	for _, c := range g.order(message.JobID{}) {
		if c.stream == 0 && c.usable(env.Now()) && opening < probesMax {
			c.connect(env, g.pings)
			opening++
		}
	}
	return opening > 0 || g.names.Waits()
}

// won closes the streams that are still opening, but those that a command needs.
func (g *gates) won(env node.Env, needed func(*connection) bool) {
	for _, c := range g.all {
		if c.stream != 0 && !c.open && !needed(c) {
			env.Close(c.stream)
			c.stream = 0
		}
	}
}
