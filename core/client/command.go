package client

import (
	"fmt"
	"slices"
	"strings"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// kind tells commands apart.
type kind uint8

const (
	kindSubmit kind = iota + 1
	kindWatch
	kindQuery
	kindCancel
	kindDatacenters
	kindStatus
)

// nowhere is no gate.
const nowhere = -1

// command is a question that is not answered for good.
type command struct {
	id       node.CommandID
	kind     kind
	submit   *message.JobSubmit // of a submission
	job      message.JobID      // of a watch, query, cancel
	gate     int                // whom it asks
	request  message.RequestID  // of the newest try; zero while there is none
	exposed  int                // gate that may know a submission, or nowhere
	denied   []bool             // gates that have nothing to say about it
	refusal  *message.Refused   // by the last of them
	deadline node.Instant
	bounded  bool // deadline is set
	answered bool // the newest try of a watch
	sequence uint64
}

func (m *Machine) onCommand(env node.Env, id node.CommandID, body node.Message) {
	c := &command{id: id, gate: m.current, exposed: nowhere, denied: make([]bool, len(m.gates))}
	switch b := body.(type) {
	case *message.JobSubmit:
		c.kind, c.submit = kindSubmit, b
		if b.Key == "" {
			keyed := *b
			keyed.Key = message.JobID(env.Rand(node.PurposeID).ID()).String()
			c.submit = &keyed
		}
	case *message.JobWatch:
		c.kind, c.job = kindWatch, b.Job
	case *message.JobQuery:
		c.kind, c.job = kindQuery, b.Job
	case *message.JobCancel:
		c.kind, c.job = kindCancel, b.Job
	case *message.DatacenterQuery:
		c.kind = kindDatacenters
	case *message.StatusQuery:
		c.kind = kindStatus
	default:
		m.refuse(env, id, &message.Refused{Code: message.CodeInternal, Detail: fmt.Sprintf("%s is no command of a client", message.Name(body.Kind()))})
		return
	}
	if len(m.commands) >= m.config.CommandsMax {
		m.refuse(env, id, &message.Refused{Code: message.CodeQueueFull, Detail: fmt.Sprintf("%d commands are open, the bound is client.commands_max", len(m.commands)), RetryAfter: m.config.AskRetry})
		return
	}
	if home, ok := m.homes[c.job]; ok {
		c.gate = home
	}
	if c.kind != kindWatch {
		m.bound(env, c)
	}
	m.commands = append(m.commands, c)
	m.try(env, c)
}

// refuse answers a command that is not even tried.
func (m *Machine) refuse(env node.Env, id node.CommandID, r *message.Refused) {
	r.Request = m.newRequest(env)
	env.Answer(id, r)
}

// newRequest returns an id that no question had before.
func (m *Machine) newRequest(env node.Env) message.RequestID {
	m.counter++
	return message.RequestID{Incarnation: env.Self().Incarnation, Counter: m.counter}
}

func (m *Machine) bound(env node.Env, c *command) {
	if !c.bounded {
		c.bounded, c.deadline = true, env.Now().Add(m.config.AskTimeout)
	}
}

// try asks the command's gate, at once or as soon as there is a stream.
func (m *Machine) try(env node.Env, c *command) {
	m.unask(c)
	switch g := m.gates[c.gate]; {
	case g.open:
		m.ask(env, c)
	case g.stream == 0 && !g.waiting:
		m.connect(env, g)
	}
	m.arm(env, c)
}

func (m *Machine) unask(c *command) {
	delete(m.asked, c.request)
	c.request, c.answered = message.RequestID{}, false
}

// ask sends the question under a new request id.
func (m *Machine) ask(env node.Env, c *command) {
	m.unask(c)
	c.request = m.newRequest(env)
	m.asked[c.request] = c
	if c.kind == kindSubmit {
		c.exposed = c.gate
	}
	env.Send(m.gates[c.gate].stream, c.question())
}

func (c *command) question() node.Message {
	switch c.kind {
	case kindSubmit:
		s := *c.submit
		s.Request = c.request
		return &s
	case kindWatch:
		return &message.JobWatch{Request: c.request, Job: c.job}
	case kindQuery:
		return &message.JobQuery{Request: c.request, Job: c.job}
	case kindCancel:
		return &message.JobCancel{Request: c.request, Job: c.job}
	case kindDatacenters:
		return &message.DatacenterQuery{Request: c.request}
	}
	return &message.StatusQuery{Request: c.request}
}

// arm sets the command's timer: to its end, or to when it is asked again. A
// watch that is being told needs none.
func (m *Machine) arm(env node.Env, c *command) {
	key := node.KeyN(node.PartClient, node.ClientTimeout, uint64(c.id))
	if c.answered && !c.bounded {
		env.CancelTimer(key)
		return
	}
	d := m.config.AskRetry
	if c.bounded {
		d = min(d, max(0, c.deadline.Sub(env.Now())))
	}
	env.SetTimer(key, d)
}

func (m *Machine) onTimeout(env node.Env, id node.CommandID) {
	at := slices.IndexFunc(m.commands, func(c *command) bool { return c.id == id })
	if at < 0 {
		return
	}
	c := m.commands[at]
	if c.bounded && env.Now() >= c.deadline {
		m.finish(env, c, m.giveUp(env, c))
		return
	}
	m.try(env, c)
}

// giveUp says what is known when no more is to come.
func (m *Machine) giveUp(env node.Env, c *command) *message.Refused {
	if c.refusal != nil {
		return c.refusal
	}
	var asked []string
	for _, g := range m.gates {
		name := string(g.addr)
		if g.reason != "" {
			name += " (" + g.reason + ")"
		}
		asked = append(asked, name)
	}
	detail := fmt.Sprintf("no answer from %s within %v", strings.Join(asked, ", "), m.config.AskTimeout)
	if c.exposed != nowhere {
		detail += fmt.Sprintf("; %s may have accepted the job under the key %q", m.config.Gates[c.exposed], c.submit.Key)
	}
	return &message.Refused{Request: m.newRequest(env), Code: message.CodeUnreachable, Detail: detail}
}

// finish gives the last answer.
func (m *Machine) finish(env node.Env, c *command, answer node.Message) {
	m.unask(c)
	m.commands = slices.DeleteFunc(m.commands, func(o *command) bool { return o == c })
	env.CancelTimer(node.KeyN(node.PartClient, node.ClientTimeout, uint64(c.id)))
	env.Answer(c.id, answer)
}
