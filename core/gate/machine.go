package gate

import (
	"fmt"
	"strings"

	"hyperscale/core/admission"
	"hyperscale/core/alert"
	"hyperscale/core/archive"
	"hyperscale/core/election"
	"hyperscale/core/event"
	"hyperscale/core/gate/audience"
	"hyperscale/core/gate/job"
	"hyperscale/core/gate/places"
	"hyperscale/core/gate/queue"
	"hyperscale/core/gate/throttle"
	"hyperscale/core/lease"
	"hyperscale/core/ledger"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/pressure"
	"hyperscale/core/quorum"
	"hyperscale/core/uplink"
	"hyperscale/core/window"
)

// Machine is a gate. It passes each input to the layer that handles it.
type Machine struct{ operations }

var _ node.Machine = (*Machine)(nil)

// New returns a gate that has not started. The configuration must be valid.
func New(c Config) *Machine {
	if err := c.Validate(); err != nil {
		node.Bug("gate: %v", err)
	}
	m := &Machine{}
	m.config, m.reasons, m.moved = c, map[node.ID]standing{}, map[message.JobID]node.Addr{}
	m.jobs, m.history = map[message.JobID]*entry{}, job.NewHistory(job.Bounds{
		Results: c.ResultsMax, ResultBytes: c.ResultBytesMax, Letters: c.LettersMax, LetterBytes: c.LetterBytesMax,
	})
	m.places = places.New(places.Bounds{
		Datacenters: c.DatacentersMax, Managers: c.ManagersMax,
		Silence: c.ManagerSilence, ManagerAge: c.ManagerAge, DatacenterAge: c.DatacenterAge,
	})
	m.audience = audience.New(audience.Bounds{Watchers: c.WatchersMax, PushMin: c.PushMin})
	m.deliveries = map[node.DeliveryID]*entry{}
	m.ledger = ledger.New[tag](c.Lease + c.QuorumTimeout)
	m.crowd = queue.NewCrowd()
	m.queue = queue.New(queue.Bounds{Timeout: c.QueueTimeout, AgeMax: c.QueueAgeMax, Step: c.QueueStep})
	m.readings.refused = alert.Rate{PerSecond: refusedMax}
	m.gauge = pressure.Gauge{Base: c.PushInterval, PerSecond: c.ReportsMax}
	m.lookups = audience.NewLookups(c.LookupsMax, c.WaitersMax)
	return m
}

// Entrance implements node.Doorkept: the gate refuses clients' requests that it could not answer
// in time, and those of a greedy source while it has too much to do.
func (m *Machine) Entrance() node.Entrance { return admission.NewEntrance(admission.Default()) }

// start loads the datacenters that this gate knew before its restart. The registers bring back
// its jobs.
func (m *Machine) start(env node.Env) {
	env.SetTimer(node.Key(node.PartGate, node.GateSweep), m.config.SweepInterval)
	m.throttle = throttle.New(m.config.DispatchRateMax, m.config.DispatchTarget, env.Now())
	for _, r := range env.Store().Load(datacenterPrefix) {
		m.places.Add(strings.TrimPrefix(r.Key, datacenterPrefix), env.Now(), silence(r.Value))
	}
	m.startGroup(env)
	m.drainedBefore(env)
}

// linkGroup distinguishes the timers of the streams to other gates.
const linkGroup = 1

// startGroup makes this gate a member of the configured set. A single gate is a group of one,
// and its own majority.
func (m *Machine) startGroup(env node.Env) {
	self := env.Self().Addr
	gates, ok := quorum.Addresses(m.config.Gates, self)
	if !ok {
		env.Halt("gate.gates = " + list(gates) + " must contain this gate's own address, " + string(self) + ": add it, or correct --advertise")
		return
	}
	m.group = quorum.New(m.quorumConfig(self, gates).Seated(env))
	m.ledger.Start(m.group.Leases, m.group.Files)
	m.group.Start(env)
	if m.config.SinkDigest != "" || len(m.config.Sinks) > 0 {
		m.gossip()
	}
	m.began = env.Now()
	env.SetTimer(node.Key(node.PartGate, node.GateStop), m.config.grace()) // then it is deaf, or hears
}

func (m *Machine) quorumConfig(self node.Addr, gates []node.Addr) quorum.Config {
	c := quorum.Config{
		Group: groupName, Self: self, Members: gates, DriftPPM: m.config.DriftPPM,
		Links: uplink.Default(), Lease: lease.Default(), Files: archive.Default(),
	}
	c.Links.Group, c.Links.Role, c.Links.Beats = linkGroup, node.RoleGate, true
	l := &c.Lease
	l.Lease, l.AttemptTimeout, l.Granularity, l.Recover = m.config.Lease, m.config.QuorumTimeout, window.Granularity, m.config.Recover
	l.Records = job.Records{}
	l.RetryMax = min(l.RetryMax, m.config.Lease/6)
	l.RetryMin = min(l.RetryMin, l.RetryMax)
	l.TombsMax, l.RegistersMax = m.config.KeysMax, max(l.RegistersMax, 4*m.config.JobsMax)
	l.TombstoneAge, l.RecordMax = m.config.KeyAge, lease.RecordMax
	c.Files.FilesMax, c.Files.BytesMax, c.Files.SweepAge = m.config.FilesMax, int64(m.config.FileBytesMax), m.config.FileAge
	return c
}

// Step implements node.Machine.
func (m *Machine) Step(env node.Env, in *node.Input) {
	m.readings.post.See(in.Mail)
	if m.group == nil || !m.group.Step(env, in) {
		m.handle(env, in)
	}
	if m.group != nil && quorum.Judges(in) {
		m.watch(env)
	}
	if in.Kind == node.InputStored {
		m.onDisk(env, in)
	}
	m.settle(env)
	m.haltIfDone(env)
}

// handle acts on an input that is not for the group of gates.
func (m *Machine) handle(env node.Env, in *node.Input) {
	switch in.Kind {
	case node.InputStart:
		m.start(env)
	case node.InputMessage:
		m.receive(env, in)
	case node.InputShed:
		m.onShed(env, in)
	case node.InputStreamBroken:
		m.onBroken(env, in.Stream)
	case node.InputTimer:
		m.fire(env, in.Timer)
	case node.InputStored:
		m.onStored(env, in)
	case node.InputDelivered:
		m.onDeliveredHere(env, in.Delivered)
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

// fromClient handles the messages of peers that are neither gates nor managers.
func (m *Machine) fromClient(env node.Env, in *node.Input) {
	if in.Stream == 0 {
		ignore(env, in, "clients speak on streams")
		return
	}
	m.greet(env, in)
	if !m.permits(env, in) {
		return
	}
	switch body := in.Message.(type) {
	case *message.JobSubmit:
		m.onSubmit(env, in, body)
	case *message.JobWatch:
		m.onAsk(env, body.Job, &audience.Ask{What: audience.Watch, Stream: in.Stream, Request: body.Request, From: in.From.ID, After: body.After})
	case *message.JobQuery:
		a := &audience.Ask{What: audience.Status, Stream: in.Stream, Request: body.Request, From: in.From.ID}
		if body.Detail {
			a.Detail = body
		}
		m.onAsk(env, body.Job, a)
	case *message.JobCancel:
		m.onAsk(env, body.Job, &audience.Ask{
			What: audience.Cancel, Now: body.Now, Workflows: body.Workflows, Reason: body.Reason, Stream: in.Stream, Request: body.Request, From: in.From.ID, Grant: in.From.Grant,
		})
	case *message.JobReplay:
		m.onAsk(env, body.Job, &audience.Ask{
			What: audience.Replay, Stream: in.Stream, Request: body.Request, From: in.From.ID, Number: body.Number, Source: in.From.Source, Grant: in.From.Grant,
		})
	case *message.DatacenterQuery:
		env.Send(in.Stream, &message.DatacenterList{Request: body.Request, Datacenters: m.places.Infos()})
	case *message.StatusQuery:
		m.onStatusQuery(env, in, body)
	case *message.JobListQuery:
		m.onJobListQuery(env, in, body)
	case *message.BackupQuery:
		m.onBackupQuery(env, in, body)
	case *message.ClusterQuery:
		m.onClusterQuery(env, in, body)
	case *message.DrainRequest:
		m.onDrainRequest(env, in, body)
	case *message.UpgradeQuery:
		m.onUpgrade(env, in, body.Request, false)
	case *message.UpgradeFinalize:
		m.onUpgrade(env, in, body.Request, true)
	case *message.SeatReplace:
		m.onSeatReplace(env, in, body)
	case *message.ClientPing:
		env.Send(in.Stream, &message.ClientPong{Counter: body.Counter})
	default:
		ignore(env, in, "no gate expects it")
	}
}

// greet sends a client the addresses of the gates after its first message.
func (m *Machine) greet(env node.Env, in *node.Input) {
	if in.From.Role != node.RoleClient || m.audience.Greeted(in.Stream) {
		return
	}
	if !m.audience.Greet(in.Stream) {
		env.Emit(event.Shed{Reason: event.ShedBound, What: "greeting", Why: fmt.Sprintf("%d clients are connected", m.config.WatchersMax)})
		return // it already has the gates of its configuration
	}
	env.Send(in.Stream, &message.GateSet{Gates: texts(m.group.Members())})
}

func (m *Machine) fromManager(env node.Env, in *node.Input) {
	if m.places.Manager(in.From.ID).Hear(in.Stream) {
		defer m.schedule(env)
	}
	switch body := in.Message.(type) {
	case *message.ManagerHeartbeat:
		m.onHeartbeat(env, in, body)
	case *message.ManagerAlerts:
		m.places.Manager(in.From.ID).Report(in.Stream, body.Alerts)
	case *message.UpgradeStatus:
		if len(body.Groups) == 1 {
			m.places.Manager(in.From.ID).Versioned(in.Stream, &body.Groups[0])
		}
	case *message.JobAccepted:
		m.onAccepted(env, in, body)
	case *message.JobRefused:
		m.onRefused(env, in, body)
	case *message.JobProgress:
		m.onProgress(env, in, body)
	case *message.SubjobResult:
		m.onSubjobResult(env, in, body)
	case *message.SeatReplaced:
		m.onSeatReplaced(env, in, body)
	default:
		ignore(env, in, "no gate expects it")
	}
}

// fromFellow handles the messages about jobs that other gates send.
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
	case node.GateRows:
		m.onRowsTimer(env, message.JobID(k.ID))
		m.passOn(env, message.JobID(k.ID))
	case node.GateStop:
		m.handOver(env)
	}
}

// onBroken drops the watchers of a closed stream. A manager has ManagerSilence to connect
// again.
func (m *Machine) onBroken(env node.Env, s node.StreamID) {
	m.audience.Broken(s)
	m.places.Broken(s)
}

// settle handles the outcomes of the group until none is left.
func (m *Machine) settle(env node.Env) {
	if m.group == nil {
		return
	}
	for again := true; again; {
		again = false
		for r, ok := m.group.Ready(env); ok; r, ok = m.group.Ready(env) {
			again = true
			m.onReady(env, r)
		}
	}
}

func (m *Machine) onReady(env node.Env, r quorum.Ready) {
	switch {
	case r.Lease != nil:
		m.onLease(env, *r.Lease)
	case r.File != nil:
		m.ledger.OnFile(env, r.File)
		m.settleLedger(env)
	case r.Vote != nil && r.Vote.Kind == election.Led:
		m.keepHouse(env)
	case r.Member != nil:
		m.onMember(env, r.Member)
	case r.Drift != nil:
		m.onDrift(*r.Drift)
	case r.Seat != nil:
		m.onSeat(env, r.Seat)
	}
}
