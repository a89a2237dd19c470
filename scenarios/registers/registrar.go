package registers

import (
	"encoding/binary"
	"slices"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/lease"
	"hyperscale/core/message"
	"hyperscale/core/message/toy"
	"hyperscale/core/node"
	"hyperscale/scenarios/stage"
)

// Timer kinds of the machines around registers.
const (
	registerAct uint8 = iota + 1 // the next action
	registerTry                  // it tries a denied acquisition of the script again
)

// registrar is a role that is only a member of a group of registers. At random it acquires,
// updates, reads, hands over and releases, and gives orders under its tokens. It sends all its
// messages as datagrams.
type registrar struct {
	registers *lease.Registers
	set       []node.Addr
	obeyers   []node.Addr
	jobs      []message.JobID
	pace      time.Duration
	calm      bool // it does only what keeps every job owned
	tickets   uint64
	value     uint64
	wanted    map[message.JobID]bool // an acquisition is under way
	script    *leaseStage            // decides what it does until it is calm; nil: it acts at random
	violate   func(invariant, format string, args ...any)
	granted   map[message.JobID]message.LeaseToken // by the last grant
	under     map[uint64]message.LeaseToken        // by ticket of an update: what it held when it asked
	eager     map[message.JobID]bool               // a script wants it: a denied acquisition is tried again
}

var _ node.Machine = (*registrar)(nil)

func newRegistrar(c lease.Config, jobs []message.JobID, obeyers []node.Addr, pace time.Duration) *registrar {
	return &registrar{registers: lease.New(c, stage.Datagrams{}), set: c.Members, obeyers: obeyers, jobs: jobs, pace: pace, wanted: map[message.JobID]bool{}, eager: map[message.JobID]bool{}, granted: map[message.JobID]message.LeaseToken{}, under: map[uint64]message.LeaseToken{}}
}

// Step implements node.Machine.
func (m *registrar) Step(env node.Env, in *node.Input) {
	switch in.Kind {
	case node.InputStart:
		m.value = node.MixString(env.Self().Incarnation, string(env.Self().ID))
		m.registers.Start(env)
		m.actLater(env)
	case node.InputMessage:
		m.registers.Receive(env, in.From, in.Message)
	case node.InputStored:
		m.registers.Stored(env, in)
	case node.InputTimer:
		switch {
		case in.Timer.Part == node.PartLease:
			m.registers.Fire(env, in.Timer)
		case in.Timer.Kind == registerTry:
			m.tryAgain(env)
		default:
			if m.script == nil || m.calm {
				m.act(env)
			}
			m.actLater(env)
		}
	case node.InputCommand:
		m.script.deeds[in.Message.(*toy.Order).Value](env, m)
	case node.InputStop:
		env.Halt("")
	}
	m.heed(env)
	m.registers.Flush(env)
}

func (m *registrar) actLater(env node.Env) {
	env.SetTimer(node.Key(node.PartRegister, registerAct), env.Rand(node.PurposeToy).Duration(m.pace/8, m.pace))
}

// act does one thing to one job.
func (m *registrar) act(env node.Env) {
	r := env.Rand(node.PurposeToy)
	job := m.jobs[r.Int(len(m.jobs))]
	token, holds := m.registers.Holds(env.Now(), job)
	switch n := r.Int(16); {
	case !m.registers.Speaks():
	case n < 2:
		m.tickets++
		m.registers.Read(env, job, m.tickets)
	case !holds:
		if !m.wanted[job] && (m.calm || n < 8) {
			m.want(env, job)
		}
	case n < 8:
		m.update(env, job)
	case n < 13 || m.calm:
		m.order(env, job, token)
	case n < 14:
		m.registers.Release(env, job)
	case len(m.set) > 1:
		m.registers.Transfer(env, job, m.set[r.Int(len(m.set))])
	}
}

// tryAgain repeats an acquisition of the script as soon as the denial's time has passed.
func (m *registrar) tryAgain(env node.Env) {
	for _, job := range m.jobs {
		if _, holds := m.registers.Holds(env.Now(), job); m.eager[job] && !holds && !m.wanted[job] {
			m.want(env, job)
		}
	}
}

func (m *registrar) want(env node.Env, job message.JobID) {
	m.wanted[job] = true
	m.registers.Acquire(env, job, m.record())
}

// update writes a new record of a job that it holds.
func (m *registrar) update(env node.Env, job message.JobID) {
	token, _ := m.registers.Holds(env.Now(), job)
	m.tickets++
	m.under[m.tickets] = token
	m.registers.Update(env, job, m.record(), m.tickets)
}

// record returns a record that no member has written before.
func (m *registrar) record() []byte {
	m.value++
	return binary.BigEndian.AppendUint64(nil, m.value)
}

// order checks the window and acts at two instants: only the fence closes the gap between them.
func (m *registrar) order(env node.Env, job message.JobID, token message.LeaseToken) {
	m.value++
	for _, to := range m.obeyers {
		env.Datagram(to, &toy.Order{Job: job, Token: token, Value: m.value})
	}
}

// heed acts on the registers' outcomes.
func (m *registrar) heed(env node.Env) {
	for _, o := range m.registers.Take() {
		switch {
		case o.Kind == lease.Granted:
			m.granted[o.Job] = o.Token
		case o.Kind == lease.Updated && m.under[o.Ticket] != m.granted[o.Job]:
			m.violate("T4", "update %d of job %v was called done, and a grant since then has a record without it", o.Ticket, o.Job)
		}
		switch o.Kind {
		case lease.Granted, lease.Denied, lease.Lost, lease.Released:
			delete(m.wanted, o.Job)
			if o.Kind == lease.Denied && m.eager[o.Job] && !m.calm {
				wait := o.Left
				if o.Err != nil {
					wait = m.pace / 16
				}
				env.SetTimer(node.Key(node.PartRegister, registerTry), wait)
			}
		case lease.Vacant:
			if m.script != nil && !m.calm && !m.script.vacant && !o.Consented {
				continue
			}
			if slices.Contains(m.jobs, o.Job) && !m.wanted[o.Job] {
				m.want(env, o.Job)
			}
		}
	}
}

// obeyer acts on orders. The highest token of each job is on its disk before it acts, and it
// rejects lower ones.
type obeyer struct {
	highest map[message.JobID]message.LeaseToken // on disk or on its way there
	waiting []toy.Order                          // for their writes, in order
	writeID node.WriteID
}

var _ node.Machine = (*obeyer)(nil)

func newObeyer() *obeyer { return &obeyer{highest: map[message.JobID]message.LeaseToken{}} }

// Step implements node.Machine.
func (m *obeyer) Step(env node.Env, in *node.Input) {
	switch in.Kind {
	case node.InputStart:
		for _, r := range env.Store().Load("order/") {
			if job, err := message.ParseJobID(r.Key[len("order/"):]); err == nil && len(r.Value) == 8 {
				m.highest[job] = message.UnpackToken(binary.BigEndian.Uint64(r.Value))
			}
		}
	case node.InputMessage:
		if o, ok := in.Message.(*toy.Order); ok {
			m.receive(env, o)
		}
	case node.InputStored:
		o := m.waiting[0]
		m.waiting = m.waiting[1:]
		if in.Err == nil && o.Token == m.highest[o.Job] {
			obey(env, &o)
		}
	case node.InputStop:
		env.Halt("")
	}
}

func (m *obeyer) receive(env node.Env, o *toy.Order) {
	high := m.highest[o.Job]
	if o.Token.Less(high) {
		env.Emit(event.FenceRefused{Shard: message.ShardID{Job: o.Job}, Subjob: true, Got: fenceOf(o.Token), Current: fenceOf(high), What: "order"})
		return
	}
	// An equal token may wait for the write of the first order under it.
	m.highest[o.Job] = o.Token
	m.waiting = append(m.waiting, *o)
	m.writeID++
	env.Store().Put([]node.Record{{Key: "order/" + o.Job.String(), Value: binary.BigEndian.AppendUint64(nil, o.Token.Packed())}}, m.writeID)
}

func obey(env node.Env, o *toy.Order) {
	env.Emit(event.Acted{Shard: message.ShardID{Job: o.Job}, Subjob: true, Fence: fenceOf(o.Token), What: "order"})
}

func fenceOf(t message.LeaseToken) message.Fence { return message.Fence{JobEpoch: t.Packed()} }
