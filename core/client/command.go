package client

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hyperscale/core/client/listing"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// kind is what a command asks for.
type kind uint8

const (
	kindSubmit kind = iota + 1
	kindWatch
	kindQuery
	kindCancel
	kindDatacenters
	kindStatus
	kindCluster
	kindDrain
	kindList
	kindReplay
	kindBackup
	kindUpgrade
	kindFinalize
	kindSeat
)

// wish is what a command was given.
type wish struct {
	submit *message.JobSubmit    // of a submission
	drain  *message.DrainRequest // of a drain
	cancel *message.JobCancel
	query  *message.JobQuery
	list   *listing.Listing // of all gates' jobs
	dead   bool             // of dead letters alone
	replay *message.JobReplay
	backup *message.BackupQuery
	seat   *message.SeatReplace
}

// command is a request without a final answer.
type command struct {
	wish
	try
	repeats
	seating
	id   node.CommandID
	kind kind
	job  message.JobID // for commands about one; a submission's job follows from its key

	gate      *connection   // that it asks; nil while it waits for the next round
	tried     []*connection // in this round
	redirects int           // that it followed in this round
	rounds    int
	said      []saying         // why each gate did not serve it
	refusal   *message.Refused // the last rejection

	call     uint64 // of the events; zero until the first send
	exposed  bool   // a try was sent and got no answer: it may have taken effect
	began    node.Instant
	deadline node.Instant // zero for a watch

	ends  uint32 // of workflows, that a watch has told
	shown shown
}

// try is the newest one.
type try struct {
	request  message.RequestID // zero: none is open
	at       *connection       // that has it
	answered bool              // of a watch: it has an answer
}

// open are the commands without a final answer. A gate knows one watch of a client for each job, by its newest request:
// what it tells is for all watches of the job there.
type open struct {
	commands []*command                     // in their order
	asked    map[message.RequestID]*command // by the newest try
}

// sharing lists the watches that have asked the gate of one for the same job, that one too.
func (o *open) sharing(of *command) (all []*command) {
	for _, c := range o.commands {
		if c.kind == kindWatch && c.job == of.job && c.at == of.at && c.request != (message.RequestID{}) {
			all = append(all, c)
		}
	}
	return all
}

// leastEnds is how many ends of workflows each watch of a job at one gate has told.
func (o *open) leastEnds(of *command) uint32 {
	least := of.ends
	for _, c := range o.sharing(of) {
		least = min(least, c.ends)
	}
	return least
}

// settle ends the newest try of a command. If that is the one by which a gate knows the watches of a job, another of them
// inherits it.
func (o *open) settle(c *command) {
	newest := c.request
	delete(o.asked, newest)
	c.request, c.answered = message.RequestID{}, false
	if c.kind != kindWatch || newest == (message.RequestID{}) {
		return
	}
	all := o.sharing(c)
	if len(all) == 0 || slices.ContainsFunc(all, func(w *command) bool { return w.request.Counter > newest.Counter }) {
		return
	}
	delete(o.asked, all[0].request)
	all[0].request, o.asked[newest] = newest, all[0]
}

// end forgets a watch that nothing reads any more. Other commands end by their time: an order may be on its way.
func (o *open) end(env node.Env, id node.CommandID) {
	at := slices.IndexFunc(o.commands, func(c *command) bool { return c.id == id && c.kind == kindWatch })
	if at < 0 {
		return
	}
	c := o.commands[at]
	o.settle(c)
	o.commands = slices.Delete(o.commands, at, at+1)
	env.CancelTimer(c.timer())
}

// seating is what is known of a change of seats.
type seating struct {
	seated     *message.SeatReplaced // the last answer, until a majority is known to have the set
	confirming node.Instant          // the deadline from the first sign on that the change happened
}

// confirmMax is how long a client asks whether a majority has a set: members tell it within a second or two.
const confirmMax = 15 * time.Second

// saying is the reason why a gate did not serve a command.
type saying struct {
	gate *connection
	what string
}

// waits reports whether a command waits for the first gate that answers.
func (c *command) waits() bool { return c.gate == nil && c.refusal == nil }

func (c *command) say(g *connection, what string) {
	for i := range c.said {
		if c.said[i].gate == g {
			c.said[i].what = what
			return
		}
	}
	c.said = append(c.said, saying{g, what})
}

// saying returns why a gate did not serve the command, or why it has no stream.
func (c *command) saying(g *connection) string {
	for i := range c.said {
		if c.said[i].gate == g {
			return c.said[i].what
		}
	}
	return g.reason
}

func (m *Machine) onCommand(env node.Env, id node.CommandID, body node.Message) {
	c := &command{id: id, began: env.Now()}
	switch b := body.(type) {
	case *message.JobSubmit:
		c.kind, c.submit = kindSubmit, b
		if b.Key == "" {
			keyed := *b
			keyed.Key = message.JobID(env.Rand(node.PurposeID).ID()).String()
			c.submit = &keyed
		}
		c.job = message.JobOf(c.submit.Key)
	case *message.JobWatch:
		c.kind, c.job, c.ends = kindWatch, b.Job, b.After
	case *message.JobQuery:
		c.kind, c.job, c.query = kindQuery, b.Job, b
	case *message.JobCancel:
		c.kind, c.job, c.cancel = kindCancel, b.Job, b
	case *message.DatacenterQuery:
		c.kind = kindDatacenters
	case *message.StatusQuery:
		c.kind = kindStatus
	case *message.ClusterQuery:
		c.kind = kindCluster
	case *message.DrainRequest:
		c.kind, c.drain = kindDrain, b
	case *message.UpgradeQuery:
		c.kind = kindUpgrade
	case *message.UpgradeFinalize:
		c.kind = kindFinalize
	case *message.SeatReplace:
		c.kind, c.seat = kindSeat, b
	case *message.JobListQuery:
		c.kind, c.list, c.dead = kindList, listing.New(m.config.ListMax), b.Dead
	case *message.BackupQuery:
		c.kind, c.backup = kindBackup, b
	case *message.JobReplay:
		c.kind, c.replay, c.job = kindReplay, b, message.JobOf(message.ReplayKey(b.Job, b.Number))
	default:
		m.refuse(env, id, &message.Refused{Code: message.CodeInternal, Detail: fmt.Sprintf("%s is no command of a client", message.Name(body.Kind()))})
		return
	}
	if len(m.commands) >= m.config.CommandsMax {
		m.refuse(env, id, &message.Refused{Code: message.CodeQueueFull, Detail: fmt.Sprintf("%d commands are open, the bound is client.commands_max", len(m.commands)), RetryAfter: m.config.AskRetry})
		return
	}
	if c.kind != kindWatch {
		c.deadline = c.began.Add(min(m.config.ReachTimeout, m.config.AskTimeout))
	}
	m.commands = append(m.commands, c)
	m.next(env, c)
}

// refuse rejects a command that the client does not even try.
func (m *Machine) refuse(env node.Env, id node.CommandID, r *message.Refused) {
	r.Request = m.newRequest(env)
	env.Answer(id, r)
}

// newRequest returns an id that no earlier request has.
func (m *Machine) newRequest(env node.Env) message.RequestID {
	m.counter++
	return message.RequestID{Incarnation: env.Self().Incarnation, Counter: m.counter}
}

// unask gives up the newest try. Without an answer it may still take effect.
func (m *Machine) unask(c *command) {
	if c.request != (message.RequestID{}) && !c.answered {
		c.exposed = true
		c.unserve()
	}
	m.settle(c)
}

// ask sends the command under a new request id, unless it is a try again for which the budget has
// no room.
func (m *Machine) ask(env node.Env, c *command) {
	m.unask(c)
	if wait := m.budget.hold(c, env.Now()); wait > 0 {
		c.tried = slices.DeleteFunc(c.tried, func(g *connection) bool { return g == c.gate })
		c.gate = nil
		c.arm(env, wait)
		return
	}
	c.request, c.at = m.newRequest(env), c.gate
	m.asked[c.request] = c
	if c.deadline != 0 {
		c.deadline = c.began.Add(m.config.AskTimeout)
		if c.ordered() {
			c.confirm(env.Now())
		}
	}
	q := c.question()
	if w, ok := q.(*message.JobWatch); ok {
		w.After = m.leastEnds(c)
	}
	if p := c.gate.peer; !message.Knows(p, q.Kind()) {
		m.onRefused(env, &node.Input{From: p}, &message.Refused{Request: c.request, Code: message.CodeVersion, Detail: message.Beyond(p, q)})
		return
	}
	m.called(env, c)
	m.budget.spend(env, c, q)
	env.Send(c.gate.stream, q)
	c.arm(env, m.config.AskRetry)
	if c.job == (message.JobID{}) {
		m.gates.measure(env, c.gate)
	}
}

func (c *command) question() node.Message {
	switch c.kind {
	case kindSubmit:
		s := *c.submit
		s.Request = c.request
		return &s
	case kindWatch:
		return &message.JobWatch{Request: c.request, Job: c.job} // ask says what it has
	case kindQuery:
		q := *c.query
		q.Request = c.request
		return &q
	case kindCancel:
		k := *c.cancel
		k.Request = c.request
		return &k
	case kindDatacenters:
		return &message.DatacenterQuery{Request: c.request}
	case kindCluster:
		return &message.ClusterQuery{Request: c.request}
	case kindDrain:
		d := *c.drain
		d.Request = c.request
		return &d
	case kindSeat:
		o := *c.seat
		o.Request = c.request
		return &o
	case kindList:
		return &message.JobListQuery{Request: c.request, After: c.list.After(), Dead: c.dead}
	case kindBackup:
		q := *c.backup
		q.Request = c.request
		return &q
	case kindUpgrade:
		return &message.UpgradeQuery{Request: c.request}
	case kindFinalize:
		return &message.UpgradeFinalize{Request: c.request}
	case kindReplay:
		r := *c.replay
		r.Request = c.request
		return &r
	}
	return &message.StatusQuery{Request: c.request}
}

// arm sets the command's timer: to its next step, or to its deadline.
func (c *command) arm(env node.Env, d time.Duration) {
	if c.deadline != 0 {
		d = min(d, max(0, c.deadline.Sub(env.Now())))
	}
	env.SetTimer(c.timer(), d)
}

func (c *command) timer() node.TimerKey {
	return node.KeyN(node.PartClient, node.ClientTimeout, uint64(c.id))
}

func (m *Machine) onTimeout(env node.Env, id node.CommandID) {
	at := slices.IndexFunc(m.commands, func(c *command) bool { return c.id == id })
	if at < 0 {
		return
	}
	c := m.commands[at]
	if c.gate != nil {
		what := fmt.Sprintf("no answer within %v", m.config.AskRetry)
		if g := c.gate; !g.open && g.reason != "" {
			what = g.reason // its last stream failed, and the next one has not opened
		}
		c.say(c.gate, what)
		m.gates.failed(env, c.gate)
	}
	if c.deadline != 0 && env.Now() >= c.deadline {
		m.giveUp(env, c)
		return
	}
	m.next(env, c)
}

// giveUp ends the command, and says what the client tried and knows.
func (m *Machine) giveUp(env node.Env, c *command) {
	if m.listed(env, c) {
		return
	}
	m.unask(c)
	if c.seated != nil {
		m.finish(env, c, c.seated)
		return
	}
	var asked []string
	for _, g := range m.gates.all {
		at := slices.IndexFunc(c.said, func(s saying) bool { return s.gate == g })
		switch {
		case at >= 0:
			asked = append(asked, fmt.Sprintf("%s (%s)", g.addr, c.said[at].what))
		case m.gates.probing() && g.reason != "":
			asked = append(asked, fmt.Sprintf("%s (%s)", g.addr, g.reason))
		}
	}
	r := &message.Refused{Request: m.newRequest(env), Code: message.CodeUnreachable}
	if c.refusal != nil {
		r.Code, r.RetryAfter, r.Current, r.Holder = c.refusal.Code, c.refusal.RetryAfter, c.refusal.Current, c.refusal.Holder
	}
	asked = append(asked, m.gates.names.Failures()...)
	if took := env.Now().Sub(c.began).Round(time.Millisecond); c.refusal != nil {
		r.Detail = fmt.Sprintf("asked %s for %v", strings.Join(asked, ", "), took)
	} else if m.gates.unfit(c.began) {
		r.Detail = "each gate rejects this client: " + strings.Join(asked, ", ")
	} else {
		r.Detail = fmt.Sprintf("no answer from %s within %v", strings.Join(asked, ", "), took)
	}
	if c.waited > 0 {
		r.Detail += fmt.Sprintf("; the client held %d repeats of it back, since it repeats one of %d requests at most: ask fewer things at once, or later", c.waited, m.config.Retries.Asks)
	}
	if c.exposed && c.kind == kindSubmit {
		r.Detail += fmt.Sprintf("; the job may have been accepted all the same: submit it again under the key %q, which is safe", c.submit.Key)
	}
	if c.exposed && c.kind == kindReplay {
		r.Detail += "; the job may have been replayed all the same: replay it again, which is safe"
	}
	if c.exposed && c.kind == kindSeat {
		r.Detail += "; the seat may have been given away all the same: give the order again, which is safe"
	}
	if c.exposed && c.kind == kindCancel {
		r.Detail += "; the job may have been cancelled all the same: cancel it again, which is safe"
	}
	m.finish(env, c, r)
}

// finish sends the final answer.
func (m *Machine) finish(env node.Env, c *command, answer node.Message) {
	m.settle(c)
	m.commands = slices.DeleteFunc(m.commands, func(o *command) bool { return o == c })
	env.CancelTimer(c.timer())
	env.Answer(c.id, answer)
}
