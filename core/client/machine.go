package client

import (
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/ring"
)

// Machine is a client.
type Machine struct {
	config   Config
	gates    []*connection // those given, then those learnt; only ever appended to
	ring     *ring.Ring    // of the gates' own set; nil until one of them has told it
	current  *connection   // that opened last
	commands []*command
	asked    map[message.RequestID]*command
	counter  uint64
	calls    uint64
	homes    map[message.JobID]*connection // the gate that owns the job, as was last heard
	known    []message.JobID               // keys of homes, the oldest first
}

var _ node.Machine = (*Machine)(nil)

// New returns a client that has not started. The configuration must be valid.
func New(c Config) *Machine {
	if err := c.Validate(); err != nil {
		node.Bug("client: %v", err)
	}
	m := &Machine{config: c, asked: map[message.RequestID]*command{}, homes: map[message.JobID]*connection{}}
	for _, addr := range c.Gates {
		m.gateAt(addr)
	}
	m.current = m.gates[0]
	return m
}

// Step implements node.Machine.
func (m *Machine) Step(env node.Env, in *node.Input) {
	switch in.Kind {
	case node.InputCommand:
		m.onCommand(env, in.Command, in.Message)
	case node.InputMessage:
		m.receive(env, in)
	case node.InputStreamOpened:
		m.onOpened(env, in)
	case node.InputStreamBroken:
		m.onBroken(env, in.Stream, in.Reason)
	case node.InputTimer:
		m.fire(env, in.Timer)
	case node.InputStop:
		m.onStop(env)
	}
}

func (m *Machine) fire(env node.Env, k node.TimerKey) {
	switch k.Kind {
	case node.ClientSilence:
		m.onPing(env, m.gates[k.N()])
	case node.ClientTimeout:
		m.onTimeout(env, node.CommandID(k.N()))
	}
}

func (m *Machine) receive(env node.Env, in *node.Input) {
	g := m.gateOf(in.Stream)
	if g == nil {
		m.ignore(env, in, "its stream was given up")
		return
	}
	g.heard = env.Now()
	switch body := in.Message.(type) {
	case *message.ClientPong:
	case *message.GateSet:
		m.onGateSet(env, in, body)
	case *message.JobAck:
		m.onAck(env, in, body)
	case *message.Refused:
		m.onRefused(env, in, body)
	case *message.JobStatus:
		m.onStatus(env, in, body)
	case *message.JobResult:
		m.onResult(env, in, body)
	case *message.JobCancelAck:
		m.onCancelAck(env, in, body)
	case *message.DatacenterList:
		m.onAnswer(env, in, body.Request, kindDatacenters)
	case *message.StatusList:
		m.onAnswer(env, in, body.Request, kindStatus)
	case *message.ClusterStatus:
		m.onAnswer(env, in, body.Request, kindCluster)
	case *message.DrainAck:
		m.onAnswer(env, in, body.Request, kindDrain)
	default:
		m.ignore(env, in, "no client expects it")
	}
}

func (m *Machine) ignore(env node.Env, in *node.Input, why string) {
	env.Emit(event.Ignored{Peer: in.From.ID, Message: message.Name(in.Message.Kind()), Why: why})
}

func (m *Machine) onStop(env node.Env) {
	for _, g := range m.gates {
		if g.stream != 0 {
			env.Close(g.stream)
		}
	}
	env.Halt("")
}
