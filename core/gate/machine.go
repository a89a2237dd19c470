package gate

import (
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Machine is a gate.
type Machine struct {
	config Config

	jobs      map[message.JobID]*job
	keys      map[string]*job
	queue     []*job // QUEUED, the oldest first
	active    []*job // dispatched and not ended
	ended     []*job // the oldest end first
	number    uint64 // of the newest job
	accepting int    // jobs whose first record is not on disk
	specBytes int    // of jobs that have not ended
	results   int    // kept
	resultSum int    // bytes of them

	managers    map[node.ID]*manager
	datacenters map[string]*datacenter
	places      []*datacenter // by name

	watchers  int
	following map[node.StreamID][]*job // by who watches
	pending   []*watcher               // have something to be told at the next push
	pushing   bool

	puts        []*put // not completed, the oldest first
	refused     []*put // by the disk, to be tried again
	token       node.Token
	storeFailed bool
	stopping    bool
}

var _ node.Machine = (*Machine)(nil)

// New returns a gate that has not started. The configuration must be valid.
func New(c Config) *Machine {
	if err := c.Validate(); err != nil {
		node.Bug("gate: %v", err)
	}
	return &Machine{
		config: c, jobs: map[message.JobID]*job{}, keys: map[string]*job{},
		following: map[node.StreamID][]*job{},
		managers:  map[node.ID]*manager{}, datacenters: map[string]*datacenter{},
	}
}

// Step implements node.Machine.
func (m *Machine) Step(env node.Env, in *node.Input) {
	switch in.Kind {
	case node.InputStart:
		m.start(env)
	case node.InputMessage:
		m.receive(env, in)
	case node.InputStreamBroken:
		m.onBroken(env, in.Stream)
	case node.InputTimer:
		m.fire(env, in.Timer)
	case node.InputStored:
		m.onStored(env, in)
	case node.InputStop:
		m.onStop(env)
	}
}

func (m *Machine) receive(env node.Env, in *node.Input) {
	switch body := in.Message.(type) {
	case *message.JobSubmit:
		m.onSubmit(env, in, body)
	case *message.JobWatch:
		m.onWatch(env, in, body)
	case *message.JobQuery:
		m.onQuery(env, in, body)
	case *message.JobCancel:
		m.onCancel(env, in, body)
	case *message.DatacenterQuery:
		m.onDatacenterQuery(env, in, body)
	case *message.StatusQuery:
		m.onStatusQuery(env, in, body)
	case *message.ClientPing:
		env.Send(in.Stream, &message.ClientPong{Counter: body.Counter})
	case *message.ManagerHeartbeat:
		m.onHeartbeat(env, in, body)
	case *message.JobAccepted:
		m.onAccepted(env, in, body)
	case *message.JobRefused:
		m.onRefused(env, in, body)
	case *message.JobProgress:
		m.onProgress(env, in, body)
	case *message.PartResult:
		m.onPartResult(env, in, body)
	default:
		m.ignore(env, in, "no gate expects it")
	}
}

func (m *Machine) fire(env node.Env, k node.TimerKey) {
	switch k.Kind {
	case node.GateSilence:
		m.onSilence(env)
	case node.GateJob:
		m.onJobTimer(env, message.JobID(k.ID))
	case node.GateRetry:
		m.onStoreRetry(env)
	case node.GateSweep:
		m.onSweep(env)
	case node.GatePush:
		m.onPush(env)
	case node.GateQueue:
		m.onQueueTimer(env)
	}
}

func (m *Machine) ignore(env node.Env, in *node.Input, why string) {
	env.Emit(event.Ignored{Peer: in.From.ID, Message: message.Name(in.Message.Kind()), Why: why})
}

// onBroken forgets who listened on the stream. A manager gets its silence to
// come back on another one.
func (m *Machine) onBroken(env node.Env, s node.StreamID) {
	m.dropWatchers(s)
	//lint:orderfree at most one manager speaks on a stream
	for _, mgr := range m.managers {
		if mgr.stream == s {
			mgr.stream = 0
		}
	}
}

// onStop takes no new work; what was asked of the disk is waited for. Jobs go
// on where they run, and are found again after the restart.
func (m *Machine) onStop(env node.Env) {
	m.stopping = true
	m.haltIfDone(env)
}

func (m *Machine) haltIfDone(env node.Env) {
	if m.stopping && len(m.puts) == 0 {
		env.Halt("")
	}
}
