package discovery

import (
	"slices"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/node"
	"hyperscale/core/retry"
)

// Names are the names of one role, with the candidates of each.
type Names struct {
	config Config
	names  []*name
}

type name struct {
	addr       node.Addr
	index      uint64
	candidates []node.Addr // in the order of the last answer
	state      state
	tries      int    // failures in a row
	why        string // the last look-up has failed
	said       string // the last outcome that an event reported
}

type state uint8

// The states of a name.
const (
	stateAsked state = iota + 1 // for the first time
	stateFound
	stateFailed
)

// Change is what an outcome changes for the role.
type Change struct{ Added, Removed []node.Addr }

// New returns names that nothing is known of.
func New(c Config) *Names {
	c.check()
	n := &Names{config: c}
	for _, a := range c.Names {
		if n.of(a) == nil {
			n.names = append(n.names, &name{addr: a, index: uint64(len(n.names))})
		}
	}
	return n
}

// Start asks for all names. Call it when the node starts.
func (n *Names) Start(env node.Env) {
	for _, k := range n.names {
		k.state = stateAsked
		n.ask(env, k)
	}
}

func (n *Names) key(k *name) node.TimerKey {
	return node.KeyN(node.PartDiscovery, node.DiscoveryRefresh, n.config.Group<<32|k.index)
}

// ask begins a look-up. Its timer ends one without an outcome.
func (n *Names) ask(env node.Env, k *name) {
	env.SetTimer(n.key(k), n.config.LookupMax)
	env.Resolve(k.addr)
}

// Fire handles a timer; false means that it belongs to another part. A timer that fires while a
// look-up has no outcome begins the next one.
func (n *Names) Fire(env node.Env, t node.TimerKey) bool {
	if t.Part != node.PartDiscovery || t.N()>>32 != n.config.Group {
		return false
	}
	if i := t.N() & (1<<32 - 1); i < uint64(len(n.names)) {
		n.ask(env, n.names[i])
	}
	return true
}

// Take takes an outcome of Env.Resolve.
func (n *Names) Take(env node.Env, found *node.Names) (c Change) {
	k := n.of(found.Name)
	if k == nil {
		return c
	}
	before := n.Candidates()
	if len(found.Addrs) == 0 {
		n.failed(env, k, found)
		return c
	}
	k.state, k.tries, k.candidates = stateFound, 0, nil
	for _, a := range found.Addrs {
		if len(k.candidates) < CandidatesMax && a != "" && !slices.Contains(k.candidates, a) {
			k.candidates = append(k.candidates, a)
		}
	}
	after := n.Candidates()
	c.Added, c.Removed = without(after, before), without(before, after)
	ttl := found.TTL
	if ttl == 0 {
		ttl = n.config.TTL
	}
	n.later(env, k, min(max(ttl, n.config.TTLMin), n.config.TTLMax))
	k.report(env, event.NameResolved{Name: string(k.addr), Addrs: len(k.candidates), Added: len(c.Added), Removed: len(c.Removed)})
	return c
}

func (n *Names) failed(env node.Env, k *name, found *node.Names) {
	k.state = stateFailed
	if found.Absent {
		k.tries, k.why = 0, "there is no such name, or it has no address"
		n.later(env, k, n.config.Negative)
	} else {
		k.why = found.Err
		wait := retry.Backoff{Base: n.config.RetryMin, Cap: n.config.RetryMax}
		n.later(env, k, wait.Bound(k.tries))
		k.tries++
	}
	k.report(env, event.NameFailed{Name: string(k.addr), Why: k.why, Kept: len(k.candidates)})
}

// later asks again after a wait from the upper half of its bound.
func (n *Names) later(env node.Env, k *name, bound time.Duration) {
	env.SetTimer(n.key(k), env.Rand(node.PurposeJitter).Duration(bound/2, bound))
}

// report emits what differs from the last outcome: a name that stays as it is fills no log.
func (k *name) report(env node.Env, e node.Event) {
	said := e.EventName()
	switch e := e.(type) {
	case event.NameResolved:
		if said == k.said && e.Added == 0 && e.Removed == 0 {
			return
		}
	case event.NameFailed:
		if said += e.Why; said == k.said {
			return
		}
	}
	k.said = said
	env.Emit(e)
}

// Candidates returns the addresses behind all names, each once, in the order of the names and of
// their answers.
func (n *Names) Candidates() (all []node.Addr) {
	seen := map[node.Addr]bool{}
	for _, k := range n.names {
		for _, a := range k.candidates {
			if !seen[a] {
				seen[a] = true
				all = append(all, a)
			}
		}
	}
	return all
}

// Waits reports whether a name has had no outcome yet.
func (n *Names) Waits() bool {
	return slices.ContainsFunc(n.names, func(k *name) bool { return k.state <= stateAsked })
}

// Failing reports whether the last look-up of a name has failed.
func (n *Names) Failing() bool {
	return slices.ContainsFunc(n.names, func(k *name) bool { return k.state == stateFailed })
}

// Failures says of each name whose last look-up has failed why.
func (n *Names) Failures() (all []string) {
	for _, k := range n.names {
		if k.state == stateFailed {
			all = append(all, string(k.addr)+" ("+k.why+")")
		}
	}
	return all
}

func (n *Names) of(a node.Addr) *name {
	for _, k := range n.names {
		if k.addr == a {
			return k
		}
	}
	return nil
}

// without returns those of all that are not among others.
func without(all, others []node.Addr) (rest []node.Addr) {
	not := map[node.Addr]bool{}
	for _, a := range others {
		not[a] = true
	}
	for _, a := range all {
		if !not[a] {
			rest = append(rest, a)
		}
	}
	return rest
}
