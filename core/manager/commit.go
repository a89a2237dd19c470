package manager

import (
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// records are the commits of the subjobs that are held.
type records struct {
	of      map[*subjob.Subjob]*commits
	changed []*subjob.Subjob // whose record is to be written
}

// commits is what waits for the record of one subjob.
type commits struct {
	waits   []wait
	changed bool // the record is to be written
	spill   bool // it is on its way as a file
}

// idle says that a majority has all that changed.
func (c *commits) idle() bool { return !c.changed && len(c.waits) == 0 && !c.spill }

// wait is what follows once a majority has the record of a ticket.
type wait struct {
	ticket uint64 // 0 until it is sent
	then   func(node.Env)
}

// commit writes the subjob's record as it stands at the end of this step; then
// follows once a majority has it, and never if the register is lost before.
func (m *Machine) commit(env node.Env, p *subjob.Subjob, then func(node.Env)) {
	if then == nil {
		then = func(node.Env) {}
	}
	if p.Orders != nil {
		node.Bug("manager: a record of job %v is written before the one in its register was read", p.Job)
	}
	c := m.records.of[p]
	if c == nil {
		return // it is not held any more
	}
	c.waits = append(c.waits, wait{then: then})
	if !c.changed {
		c.changed = true
		m.records.changed = append(m.records.changed, p)
	}
}

// flush sends the records that this step has changed. It says whether there was
// any.
func (m *Machine) flush(env node.Env) bool {
	list := m.records.changed
	m.records.changed = nil
	for _, p := range list {
		if c := m.records.of[p]; c != nil {
			c.changed = false
			if !c.spill {
				m.write(env, p, c)
			}
		}
	}
	return len(list) > 0
}

func (m *Machine) write(env node.Env, p *subjob.Subjob, c *commits) {
	m.ticket++
	ticket := m.ticket
	for i := range c.waits {
		if c.waits[i].ticket == 0 {
			c.waits[i].ticket = ticket
		}
	}
	record := p.Record(env.Now())
	if len(record) < m.config.SpillAt {
		m.group.Leases.Update(env, p.Job, record, ticket)
		return
	}
	// One at a time, so that an older one never follows a newer one.
	c.spill = true
	began := env.Now()
	var file message.FileDigest
	file = m.keep(env, record, func(env node.Env, err error) {
		if m.subjobs[p.Job] == p && env.Now().Sub(began) >= m.config.FileAge/8 {
			m.keepAgain(env, p, c, ticket)
			return
		}
		c.spill = false
		if m.subjobs[p.Job] != p {
			return
		}
		if err != nil {
			c.unsend(ticket) // onRetry writes it again
			return
		}
		m.group.Leases.Update(env, p.Job, subjob.Spilled(file), ticket)
		if c.unsent() {
			m.commit(env, p, nil)
		}
	})
}

// keepAgain keeps the files of a record that took long to become a file itself: the
// fellows that have them may be about to sweep them. Then it writes the record anew.
func (m *Machine) keepAgain(env node.Env, p *subjob.Subjob, c *commits, ticket uint64) {
	env.Emit(event.Reached{What: "manager/kept-again"})
	missing := 1
	done := func(env node.Env, _ error) {
		if missing--; missing > 0 || m.subjobs[p.Job] != p {
			return
		}
		c.spill = false
		c.unsend(ticket)
		m.commit(env, p, nil)
	}
	for _, f := range p.Files() {
		if b, ok := m.group.Files.Have(f); ok {
			missing++
			m.keep(env, b, done)
		}
	}
	done(env, nil)
}

// unsend takes back the ticket of what was not sent.
func (c *commits) unsend(ticket uint64) {
	for i := range c.waits {
		if c.waits[i].ticket == ticket {
			c.waits[i].ticket = 0
		}
	}
}

func (c *commits) unsent() bool {
	return slices.ContainsFunc(c.waits, func(w wait) bool { return w.ticket == 0 })
}

// onUpdated goes on with what waited for a record that a majority has now.
func (m *Machine) onUpdated(env node.Env, job message.JobID, ticket uint64) {
	p := m.subjobs[job]
	if p == nil {
		return
	}
	c := m.records.of[p]
	for len(c.waits) > 0 && c.waits[0].ticket != 0 && c.waits[0].ticket <= ticket && m.subjobs[job] == p {
		then := c.waits[0].then
		c.waits = c.waits[1:]
		then(env)
	}
}

func encode(m message.Body) []byte {
	b, err := message.Append(nil, m)
	if err != nil {
		node.Bug("manager: a record that cannot be written: %v", err)
	}
	return b
}
