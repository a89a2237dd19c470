package client

import (
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Machine is a client.
type Machine struct {
	config Config
	gates  gates
	open
	counter uint64
	calls   uint64
	budget  budget
}

var _ node.Machine = (*Machine)(nil)

// New returns a client that has not started. The configuration must be valid.
func New(c Config) *Machine {
	if err := c.Validate(); err != nil {
		node.Bug("client: %v", err)
	}
	return &Machine{config: c, gates: newGates(c), open: open{asked: map[message.RequestID]*command{}}, budget: budget{limit: c.Retries}}
}

// Step implements node.Machine.
func (m *Machine) Step(env node.Env, in *node.Input) {
	switch in.Kind {
	case node.InputStart:
		m.gates.start(env)
	case node.InputNames:
		m.onNames(env, in.Names)
	case node.InputCommand:
		m.onCommand(env, in.Command, in.Message)
	case node.InputCommandEnd:
		m.end(env, in.Command)
	case node.InputMessage:
		m.receive(env, in)
	case node.InputStreamOpened:
		m.onOpened(env, in)
	case node.InputStreamBroken:
		m.onBroken(env, in)
	case node.InputTimer:
		m.fire(env, in.Timer)
	case node.InputStop:
		m.onStop(env)
	}
}

func (m *Machine) fire(env node.Env, k node.TimerKey) {
	if m.gates.names.Fire(env, k) {
		return
	}
	switch k.Kind {
	case node.ClientSilence:
		m.onPing(env, m.gates.all[k.N()])
	case node.ClientTimeout:
		m.onTimeout(env, node.CommandID(k.N()))
	}
}

func (m *Machine) receive(env node.Env, in *node.Input) {
	g := m.gates.of(in.Stream)
	if g == nil {
		ignore(env, in, "its stream was given up")
		return
	}
	g.heard = env.Now()
	switch body := in.Message.(type) {
	case *message.ClientPong:
		m.gates.took(env, g, body.Counter)
	case *message.GateSet:
		m.onGateSet(env, in, body)
	case *message.JobAck:
		m.onAck(env, in, body)
	case *message.Refused:
		m.onRefused(env, in, body)
	case *message.JobStatus:
		m.onStatus(env, in, body)
	case *message.WorkflowEnded:
		m.onEnded(env, in, body)
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
	case *message.BackupPage:
		m.onAnswer(env, in, body.Request, kindBackup)
	case *message.UpgradeStatus:
		m.onAnswer(env, in, body.Request, kindUpgrade, kindFinalize)
	case *message.SeatReplaced:
		m.onAnswer(env, in, body.Request, kindSeat)
	case *message.JobList:
		m.onJobList(env, in, body)
	default:
		ignore(env, in, "no client expects it")
	}
}

func ignore(env node.Env, in *node.Input, why string) {
	env.Emit(event.Ignored{Peer: in.From.ID, Message: message.Name(in.Message.Kind()), Why: why})
}

func (m *Machine) onStop(env node.Env) {
	for _, g := range m.gates.all {
		if g.stream != 0 {
			env.Close(g.stream)
		}
	}
	env.Halt("")
}
