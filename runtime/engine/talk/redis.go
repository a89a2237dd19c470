package talk

import (
	"fmt"
	"strings"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/keyspace"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/redis"
)

// ask is redis.command and redis.pipeline.
type ask struct {
	greets    *redis.Protocol
	operation *redis.Operation
}

var _ verb = (*ask)(nil)

func (a *ask) open() codec.Opening {
	if a.greets.Greets() {
		return codec.Opening{Greeting: a.greets.Greet()}
	}
	return codec.Opening{Dialogue: a.greets.Begin()}
}

func (a *ask) say(x *Exchange, d codec.Dialogue) error {
	if x.stock.show != nil {
		x.stock.text = a.operation.Append(x.stock.text[:0], x.values)
		x.shows(redis.Describe(nil, x.stock.text, true))
	}
	return d.(*redis.Conn).Operate(a.operation, redis.Order{Values: x.values, Keeps: x.keeps, Sent: x.counts()})
}

// counts returns what counts the commands that the kernel takes.
func (x *Exchange) counts() *uint64 {
	if x.hops.replica {
		return x.account.Commands().ToReplicas()
	}
	return x.account.Commands().Sent()
}

func (a *ask) hear(x *Exchange, _ codec.MessageKind, payload []byte) bool {
	o := x.with.(*redis.Conn).Outcome()
	x.account.Commands().Read(o.Hits, o.Misses)
	x.wrong, _ = o.Err.(*http1.Error)
	x.keep(payload)
	return true
}

func (a *ask) deaf() bool { return false }

func (a *ask) status() uint16 { return 200 }

func (a *ask) protocol() string { return "Redis" }

func (a *ask) left(uint16, string) error { return nil }

// redis prepares an operation.
func (p *Plan) redis(r *request.Request, w *workflow.Workflow, memory *Memory) error {
	to := r.Redis
	if w.HTTP.Proxy != nil {
		return &http1.InputError{Field: "url", Value: r.URL, Remedy: "take the proxy out of http.client: it carries HTTP"}
	}
	key := fmt.Sprintf("%s %q %q %d %d %v %v %d", r.URL, to.User, to.Password, to.Version, to.Database, to.Cluster, to.Replicas, to.Target.Connections)
	var commands []redis.Command
	for _, c := range to.Commands {
		var command redis.Command
		for _, word := range c {
			command = append(command, argument(word, r.Placeholders))
		}
		commands = append(commands, command)
	}
	config := redis.Config{Version: to.Version, User: to.User, Password: to.Password, Database: to.Database, Replicas: to.Replicas, AnswerMax: w.HTTP.MaxBody}
	p.Shown = http1.Call{Method: r.Method, Scheme: to.Target.Scheme, Host: to.Target.Host, Port: to.Target.Port}
	if to.Subscribes() {
		p.Greeting = newSubscription(to.Commands, memory.protocol(key, config), w.HTTP.MaxBody)
		p.Host = pool.TalkHost{Key: "session " + key, Secure: to.Target.Secure}
		return nil
	}
	operation := redis.Compile
	if to.Pipeline {
		operation = redis.Pipeline
	}
	a := &ask{greets: memory.protocol(key, config), operation: operation(commands)}
	if p.verb = a; to.Cluster {
		p.inCluster(a, to, key, r.Placeholders, memory)
	}
	p.Host = pool.TalkHost{Key: key, Secure: to.Target.Secure, Shared: int(to.Target.Connections)}
	return nil
}

// protocolsMax bounds the targets that are remembered: functions may make them up.
const protocolsMax = 1000

// protocol returns what greets a target.
func (m *Memory) protocol(key string, c redis.Config) *redis.Protocol {
	p := m.protocols[key]
	if p == nil {
		if m.protocols == nil || len(m.protocols) >= protocolsMax {
			m.protocols = map[string]*redis.Protocol{}
		}
		c.Pool = &m.answers
		p = redis.New(c)
		m.protocols[key] = p
	}
	return p
}

// cluster returns what is known of a target.
func (m *Memory) cluster(key string, of *request.Redis) *Cluster {
	c := m.clusters[key]
	if c == nil {
		if m.clusters == nil || len(m.clusters) >= clustersMost {
			m.clusters = map[string]*Cluster{}
		}
		c = &Cluster{key: key, secure: of.Target.Secure, shared: int(of.Target.Connections), reads: of.Replicas}
		m.clusters[key] = c
	}
	return c
}

// askCluster is redis.command and redis.pipeline of a cluster.
type askCluster struct {
	ask
	of   *Cluster
	keys []redis.Argument
	slot int // of the keys, if none has values; below 0: they have, or there are none
	host string

	reads   bool // it writes nothing, and replicas answer it
	follows int  // redirects, at most
}

// hops is how far an exchange has followed redirects, and which node it goes to.
type hops struct {
	followed int
	asks     *Node // that its last node told it to ask; nil: the one that has its keys
	replica  bool  // it goes to a replica
	at       *Node // where it goes; nil: to the one that its URL names
}

// trip is how far an exchange with a cluster is.
type trip uint8

const (
	tripBegins    trip = iota // it goes to the node that its URL names
	tripRouted                // or to the one that has its keys, as far as the loop knows
	tripAsks                  // or to the one that takes them over: ASKING goes out before the operation
	tripLearns                // it has asked for the layout, and sent nothing of its operation
	tripElsewhere             // then another node has the keys
	tripMoved                 // it has asked for the layout, since its node did not have the keys
)

// parts implements keeper.
func (a *askCluster) parts(x *Exchange) {
	if x.trip == tripMoved {
		a.of.learns = false
	}
}

// Elsewhere reports that the exchange has only learnt where it must go, and makes it begin anew.
func (x *Exchange) Elsewhere() bool {
	is := x.trip == tripElsewhere
	if is {
		x.trip, x.enough, x.got = tripBegins, false, 0
	}
	return is
}

// Gone tells once which destinations have left the exchange's cluster: nothing goes there any more.
func (x *Exchange) Gone() (all []*pool.Host) {
	if a, ok := x.plan.verb.(*askCluster); ok {
		all, a.of.gone = a.of.gone, nil
	}
	return all
}

// Route returns the node that an exchange must go to; nil: the one that its URL names.
func (x *Exchange) Route() (*Node, error) {
	if x.plan.routed != nil {
		return x.plan.routed.route(x)
	}
	a, ok := x.plan.verb.(*askCluster)
	if !ok {
		return nil, nil
	}
	x.hops.replica = false
	if to := x.hops.asks; to != nil {
		x.trip, x.hops.asks, x.hops.at = tripAsks, nil, to
		return to, nil
	}
	x.hops.at = nil
	slot, err := a.slotOf(x)
	if err != nil || slot < 0 || a.of.slots == nil {
		return nil, err
	}
	to := a.of.node(slot)
	if a.reads {
		if copy := a.of.replica(slot); copy != nil {
			to, x.hops.replica = copy, true
		}
	}
	switch {
	case to != nil && x.trip == tripBegins:
		x.trip = tripRouted
	case to == nil && x.trip == tripBegins && a.of.away != nil:
		to = a.of.another() // it learns the layout there
	}
	x.hops.at = to
	return to, nil
}

// astray notes that the node of an exchange could not be reached, or did not answer.
func (a *askCluster) astray(x *Exchange, kind http1.Kind) {
	if x.hops.at == nil {
		return
	}
	switch kind {
	case http1.KindRefused, http1.KindConnectTimeout, http1.KindUnreachable, http1.KindClosed, http1.KindReset, http1.KindTruncated:
		a.of.lose(x.hops.at, x.stock.clock.Now, loseEvery)
	case http1.KindTimeout, http1.KindWriteTimeout, http1.KindLost:
		a.of.lose(x.hops.at, x.stock.clock.Now, loseSlowEvery)
	}
}

// slotOf returns the slot of an exchange's keys; below 0: it has none.
func (a *askCluster) slotOf(x *Exchange) (int, error) {
	if a.slot >= 0 {
		return a.slot, nil
	}
	slot, first := -1, ""
	for _, k := range a.keys {
		text := x.stock.text[:0]
		for _, part := range k {
			if text = append(text, part.Text...); part.Value >= 0 {
				text = append(text, x.values[part.Value]...)
			}
		}
		x.stock.text = text
		switch now := keyspace.Slot(string(text)); {
		case slot < 0:
			slot, first = now, string(text)
		case now != slot:
			return 0, &http1.Error{Kind: http1.KindValue, Detail: fmt.Sprintf("command: the keys %q and %q belong to the slots %d and %d, and one operation goes to one node (CROSSSLOT): give them one hash tag", first[:min(len(first), 40)], text[:min(len(text), 40)], slot, now)}
		}
	}
	return slot, nil
}

// askLayout is CLUSTER SLOTS, which every server since 3.0 answers.
var askLayout = redis.Compile([]redis.Command{{redis.Text("CLUSTER"), redis.Text("SLOTS")}})

func (a *askCluster) say(x *Exchange, d codec.Dialogue) error {
	if len(a.keys) > 0 && x.trip == tripBegins { // it set out before the layout was known
		d.(*redis.Conn).Prepares(true)
		return x.learn(d, tripLearns)
	}
	if x.trip == tripAsks {
		x.shows([]byte("ASKING"))
		if err := d.(*redis.Conn).Operate(asking, redis.Order{Sent: x.counts()}); err != nil {
			return err
		}
	}
	return a.ask.say(x, d)
}

// asking makes a node that takes a slot over answer the next command.
var asking = redis.Compile([]redis.Command{{redis.Text("ASKING")}})

// learn asks for the layout.
func (x *Exchange) learn(d codec.Dialogue, since trip) error {
	x.with, x.trip = d, since
	x.shows([]byte("CLUSTER SLOTS"))
	return d.(*redis.Conn).Operate(askLayout, redis.Order{Keeps: true})
}

func (a *askCluster) hear(x *Exchange, kind codec.MessageKind, payload []byte) bool {
	c := x.with.(*redis.Conn)
	switch x.trip {
	case tripLearns, tripMoved:
		return a.learnt(x, c)
	case tripAsks: // the answer to ASKING: what follows says whether the node took it
		x.trip = tripRouted
		return false
	}
	enough := a.ask.hear(x, kind, payload)
	to, slot, asks, was := movedTo(x.wrong)
	if !was {
		return enough
	}
	x.wrong = &http1.Error{Kind: http1.KindMoved, Detail: strings.TrimSuffix(x.wrong.Detail, ": "+redis.ClusterRemedy)}
	if follows := slot >= 0 && x.hops.followed < a.follows; asks && follows {
		if place := a.of.named(to, a.host); place > 0 {
			x.hops.asks = a.of.nodes[place-1]
			return x.follow()
		}
	} else if slot >= 0 && !asks {
		a.of.move(slot, to, a.host)
		if follows && a.of.learns {
			return x.follow()
		}
	}
	if a.of.learns {
		return enough
	}
	a.of.learns = true
	return x.learn(c, tripMoved) != nil
}

// follow makes an exchange set out anew, for the node that has its keys or takes them over.
func (x *Exchange) follow() (enough bool) {
	x.wrong, x.trip = nil, tripElsewhere
	x.hops.followed++
	x.account.Commands().Redirected()
	return true
}

// learnt takes the layout, and goes on with the operation.
func (a *askCluster) learnt(x *Exchange, c *redis.Conn) bool {
	o := c.Outcome()
	err := o.Err
	if err == nil {
		err = a.of.read(o.Body, a.host)
	}
	if x.trip == tripMoved {
		x.trip, a.of.learns = tripRouted, false
		if err == nil && x.hops.followed < a.follows {
			return x.follow()
		}
		return true // it has failed by what its node said
	}
	if err != nil {
		x.wrong, _ = err.(*http1.Error)
		return true
	}
	to, err := x.Route()
	if err != nil {
		x.wrong, _ = err.(*http1.Error)
		return true
	}
	if to != nil {
		x.trip = tripElsewhere
		return true
	}
	x.trip = tripRouted
	c.Prepares(false)
	if err := a.ask.say(x, c); err != nil {
		x.wrong = &http1.Error{Kind: http1.KindOf(err), Detail: err.Error()}
		return true
	}
	return false
}

// inCluster makes an operation one of a cluster.
func (p *Plan) inCluster(a *ask, to *request.Redis, key string, all []request.Placeholder, memory *Memory) {
	v := &askCluster{ask: *a, of: memory.cluster(key, to), slot: -1, host: to.Target.Host, reads: to.Replicas}
	if len(to.Commands) == 1 { // of several a node may have executed some
		v.follows = to.Redirects
	}
	open := false
	for _, c := range to.Commands {
		v.reads = v.reads && keyspace.Reads(c)
		at, _ := keyspace.Keys(c)
		for _, k := range at {
			word := argument(c[k], all)
			for _, part := range word {
				open = open || part.Value >= 0
			}
			if v.keys = append(v.keys, word); !open && v.slot < 0 {
				v.slot = keyspace.Slot(c[k])
			}
		}
	}
	if open {
		v.slot = -1
	}
	p.verb = v
}
