package gate

import (
	"fmt"

	"hyperscale/core/event"
	"hyperscale/core/gate/audience"
	"hyperscale/core/gate/job"
	"hyperscale/core/gate/places"
	"hyperscale/core/gate/queue"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/quorum"
)

// Machine is a gate.
type Machine struct {
	config Config

	group   *quorum.Member                 // of the gates; nil until the start, when its address is known
	circuit circuit                        // around the group's majorities
	vacant  map[message.JobID]node.Instant // since when the leader has seen them so
	lookout

	jobs      map[message.JobID]*entry
	queue     *queue.Queue
	active    []*entry // dispatched and not ended
	history   *job.History
	number    uint64 // of the newest job
	accepting int    // jobs whose first record is on no majority
	specBytes int    // of jobs that have not ended
	lookups   *audience.Lookups
	forwarded []passed // results that were passed on, the oldest first

	places *places.Places

	audience *audience.Audience

	ticket  uint64 // of the newest update, file or read
	kept    map[uint64]keeping
	fetches map[uint64]fetch
	unkept  []keeping // files that were refused, to be tried again
	unread  []fetch   // and those that nobody had

	token       node.Token // of the newest write of its own
	writes      int        // of its own that are under way
	storeFailed bool

	retirement
}

var _ node.Machine = (*Machine)(nil)

// New returns a gate that has not started. The configuration must be valid.
func New(c Config) *Machine {
	if err := c.Validate(); err != nil {
		node.Bug("gate: %v", err)
	}
	return &Machine{
		config: c, history: job.NewHistory(c.ResultsMax, c.ResultBytesMax), jobs: map[message.JobID]*entry{}, lookups: audience.NewLookups(c.LookupsMax, c.WaitersMax),
		audience: audience.New(audience.Bounds{Watchers: c.WatchersMax, PushMin: c.PushMin}),
		places: places.New(places.Bounds{
			Datacenters: c.DatacentersMax, Managers: c.ManagersMax,
			Silence: c.ManagerSilence, ManagerAge: c.ManagerAge, DatacenterAge: c.KeyAge,
		}),
		kept: map[uint64]keeping{}, fetches: map[uint64]fetch{}, retirement: retirement{moved: map[message.JobID]node.Addr{}},
		lookout: lookout{reasons: map[node.ID]standing{}}, queue: queue.New(queue.Bounds{Timeout: c.QueueTimeout, AgeMax: c.QueueAgeMax}),
	}
}

// Step implements node.Machine.
func (m *Machine) Step(env node.Env, in *node.Input) {
	if m.group == nil || !m.group.Step(env, in) {
		m.handle(env, in)
	}
	if in.Kind == node.InputStored {
		m.onDisk(env, in)
	}
	m.settle(env)
	m.haltIfDone(env)
}

// handle acts on an input that is not the group's.
func (m *Machine) handle(env node.Env, in *node.Input) {
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
	switch in.From.Role {
	case node.RoleGate:
		m.fromFellow(env, in)
	case node.RoleManager:
		m.fromManager(env, in)
	default:
		m.fromClient(env, in)
	}
}

// fromClient answers whoever is neither gate nor manager.
func (m *Machine) fromClient(env node.Env, in *node.Input) {
	if in.Stream == 0 {
		ignore(env, in, "clients speak on streams")
		return
	}
	m.greet(env, in)
	switch body := in.Message.(type) {
	case *message.JobSubmit:
		m.onSubmit(env, in, body)
	case *message.JobWatch:
		m.onAsk(env, body.Job, &audience.Ask{What: audience.Watch, Stream: in.Stream, Request: body.Request, From: in.From.ID})
	case *message.JobQuery:
		m.onAsk(env, body.Job, &audience.Ask{What: audience.Status, Stream: in.Stream, Request: body.Request, From: in.From.ID})
	case *message.JobCancel:
		m.onAsk(env, body.Job, &audience.Ask{What: audience.Cancel, Stream: in.Stream, Request: body.Request, From: in.From.ID})
	case *message.DatacenterQuery:
		env.Send(in.Stream, &message.DatacenterList{Request: body.Request, Datacenters: m.places.Infos()})
	case *message.StatusQuery:
		m.onStatusQuery(env, in, body)
	case *message.ClusterQuery:
		m.onClusterQuery(env, in, body)
	case *message.DrainRequest:
		m.onDrainRequest(env, in, body)
	case *message.ClientPing:
		env.Send(in.Stream, &message.ClientPong{Counter: body.Counter})
	default:
		ignore(env, in, "no gate expects it")
	}
}

// greet tells a client with its first message who the gates are.
func (m *Machine) greet(env node.Env, in *node.Input) {
	if in.From.Role != node.RoleClient || m.audience.Greeted(in.Stream) {
		return
	}
	if !m.audience.Greet(in.Stream) {
		env.Emit(event.Shed{What: "greeting", Why: fmt.Sprintf("%d clients are connected", m.config.WatchersMax)})
		return // it knows the gates that it was given
	}
	env.Send(in.Stream, &message.GateSet{Gates: texts(m.group.Members())})
}

func (m *Machine) fromManager(env node.Env, in *node.Input) {
	switch body := in.Message.(type) {
	case *message.ManagerHeartbeat:
		m.onHeartbeat(env, in, body)
	case *message.JobAccepted:
		m.onAccepted(env, in, body)
	case *message.JobRefused:
		m.onRefused(env, in, body)
	case *message.JobProgress:
		m.onProgress(env, in, body)
	case *message.SubjobResult:
		m.onSubjobResult(env, in, body)
	default:
		ignore(env, in, "no gate expects it")
	}
}

// fromFellow takes what gates say to each other of jobs.
func (m *Machine) fromFellow(env node.Env, in *node.Input) {
	switch body := in.Message.(type) {
	case *message.SubjobResult:
		m.onSubjobResult(env, in, body)
	case *message.SubjobResultAck:
		m.onPassedAck(env, in, body)
	case *message.Drain:
		m.onDrain(env, body)
	default:
		ignore(env, in, "no gate expects it")
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
	case node.GateStop:
		m.handOver(env)
	}
}

func ignore(env node.Env, in *node.Input, why string) {
	env.Emit(event.Ignored{Peer: in.From.ID, Message: message.Name(in.Message.Kind()), Why: why})
}

// onBroken forgets who listened on the stream. A manager gets its silence to
// come back on another one.
func (m *Machine) onBroken(env node.Env, s node.StreamID) {
	m.audience.Broken(s)
	m.places.Broken(s)
}
