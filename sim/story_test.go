package sim_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"hyperscale/core/message"
	"hyperscale/core/message/toy"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
	"hyperscale/sim"
)

// story is a world whose toys execute a file's commands and print what they see.
//
//	world [bandwidth=N] [late=PPM] [within]   (within: the bound of clocks holds)
//	node ID [cost=D] [cores=N] [lanes=N] [drift=PPM] [crash] [hang] [fail] [ignore-cancel]
//	do ID              lines: datagram TO N | open NAME TO | send NAME [KIND] N | close NAME | set N D | cancel N
//	                          when N ACTION (on a timer) | put TOKEN KEY=VALUE ... | exec ID CORE | cancel-exec ID | kill-exec ID | clock | halt REASON
//	fault KIND [nodes=a,b] [peers=c] [value=N] [for=D] [aim=ping.1-1ms] [hold=D] [beyond]
//	start|crash|stop|pause|resume|restart|lose ID, heal
//	run D
type story struct {
	t         *testing.T
	w         *sim.World
	streams   map[string]node.StreamID // by node and name
	names     map[string]string        // of streams by node and id
	todo      []string                 // of the node that does something
	wire      bool
	reactions map[string][]string // to timers, by node and number
	lines     []string
}

func TestStories(t *testing.T) {
	for _, wire := range []bool{false, true} {
		nodetest.Stories(t, func(t *testing.T, path string) { tell(t, path, wire) })
	}
}

func tell(t *testing.T, path string, wire bool) {
	s := &story{t: t, wire: wire, streams: map[string]node.StreamID{}, names: map[string]string{}, reactions: map[string][]string{}}
	datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
		s.t = t
		s.command(d)
		text := strings.Join(s.lines, "\n")
		s.lines = nil
		if text != "" {
			text += "\n"
		}
		return text
	})
}

func (s *story) say(format string, args ...any) {
	s.lines = append(s.lines, fmt.Sprintf("%v ", s.w.Now())+fmt.Sprintf(format, args...))
}

func (s *story) command(d *datadriven.TestData) {
	id := ""
	if len(d.CmdArgs) > 0 {
		id = d.CmdArgs[0].Key
	}
	switch d.Cmd {
	case "world":
		s.world(d)
	case "node":
		s.node(d)
	case "do":
		s.todo = strings.Split(d.Input, "\n")
		if !s.w.Command(node.ID(id), ping(0), func(m node.Message) { s.say("%s answered %d", id, m.(*toy.Ack).Counter) }) {
			s.say("%s is down", id)
		}
		s.w.RunUntil(s.w.Now())
	case "fault":
		s.fault(d)
	case "start":
		s.w.Start(node.ID(id))
	case "crash":
		s.w.Crash(node.ID(id))
	case "stop":
		s.w.Stop(node.ID(id))
	case "pause":
		s.w.Pause(node.ID(id))
	case "resume":
		s.w.Resume(node.ID(id))
	case "restart":
		s.w.Restart(node.ID(id), sim.KeepDisk)
	case "lose":
		s.w.Restart(node.ID(id), sim.LoseDisk)
	case "heal":
		s.w.Heal()
	case "run":
		s.w.RunUntil(s.w.Now() + s.duration(id))
	default:
		d.Fatalf(s.t, "command %q is not known", d.Cmd)
	}
}

func (s *story) world(d *datadriven.TestData) {
	c := plainNetwork()
	if d.HasArg("bandwidth") {
		d.ScanArgs(s.t, "bandwidth", &c.Near.Bandwidth)
	}
	if d.HasArg("late") {
		d.ScanArgs(s.t, "late", &c.Near.Late)
		c.LateMin, c.LateMax = 5*time.Second, 5*time.Second
	}
	s.w = sim.New(sim.Config{Seed: 1, Network: c, Wire: s.wire, Beyond: !d.HasArg("within")})
}

func (s *story) node(d *datadriven.TestData) {
	id := d.CmdArgs[0].Key
	m := sim.DefaultModel()
	m.BootMin, m.BootMax, m.ProgressEvery = time.Second, time.Second, time.Second
	m.ResponseMin, m.ResponseMax, m.CancelMax, m.GoneMax = time.Millisecond, time.Millisecond, 0, 0
	spec := sim.Spec{ID: node.ID(id), Role: node.RoleToy, Place: "dc", Model: m,
		Disk: sim.Disk{Latency: 100 * time.Millisecond, LostPPM: 1_000_000},
		New:  func() node.Machine { return &scripted{func(env node.Env, in *node.Input) { s.step(id, env, in) }} }}
	for _, a := range d.CmdArgs[1:] {
		switch a.Key {
		case "cost":
			spec.Costs.Default = s.duration(a.Vals[0])
		case "cores":
			spec.Cores = s.number(a.Vals[0])
		case "lanes":
			n := s.number(a.Vals[0])
			spec.Mailbox = node.DefaultMailbox()
			spec.Mailbox.Lanes = [node.Priorities]int{n, n, n, n}
		case "drift":
			spec.DriftPPM = int64(s.number(a.Vals[0]))
		case "hang":
			m.Hang = 1_000_000
		case "crash":
			m.Crash = 1_000_000
		case "fail":
			m.Fail = 1_000_000
		case "ignore-cancel":
			m.IgnoreCancel = 1_000_000
		default:
			d.Fatalf(s.t, "node: %q is not known", a.Key)
		}
	}
	s.w.Add(spec)
	s.w.Start(spec.ID)
}

func (s *story) fault(d *datadriven.TestData) {
	f := sim.Fault{Kind: d.CmdArgs[0].Key}
	for _, a := range d.CmdArgs[1:] {
		switch a.Key {
		case "nodes":
			f.Nodes = a.Vals
		case "peers":
			f.Peers = a.Vals
		case "value":
			f.Value = int64(s.number(a.Vals[0]))
		case "for":
			f.For = s.duration(a.Vals[0])
		case "aim":
			f.Aim = strings.ReplaceAll(a.Vals[0], "ping", strconv.Itoa(int(node.PartPing)))
		case "hold":
			f.Hold = s.duration(a.Vals[0])
		case "beyond":
			f.Beyond = true
		}
	}
	if err := s.w.Apply(f); err != nil {
		s.say("%v", err)
	}
}

func (s *story) duration(text string) time.Duration {
	v, err := time.ParseDuration(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return v
}

func (s *story) number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

// step prints what a toy sees.
func (s *story) step(id string, env node.Env, in *node.Input) {
	name := func() string {
		if n := s.names[fmt.Sprint(id, in.Stream)]; n != "" {
			return n
		}
		n := fmt.Sprintf("s%d", len(s.names)+1)
		s.names[fmt.Sprint(id, in.Stream)], s.streams[id+n] = n, in.Stream
		return n
	}
	switch in.Kind {
	case node.InputCommand:
		for _, line := range s.todo {
			s.act(id, env, strings.Fields(line))
		}
	case node.InputStart:
		if env.Self().Incarnation > 1 {
			found := ""
			for _, r := range env.Store().Load("") {
				found += fmt.Sprintf(" %s=%s", r.Key, r.Value)
			}
			s.say("%s starts, on its disk:%s", env.Self(), found)
		}
	case node.InputMessage:
		where := "a datagram"
		if in.Stream != 0 {
			where = name()
		}
		s.say("%s got %s on %s from %s", id, show(in.Message), where, in.From)
	case node.InputStreamOpened:
		s.say("%s has %s opened with %s", id, name(), in.From)
	case node.InputStreamBroken:
		s.say("%s has %s broken: %s", id, name(), in.Reason)
	case node.InputTimer:
		s.say("%s timer %d", id, in.Timer.N())
		if f := s.reactions[fmt.Sprint(id, in.Timer.N())]; f != nil {
			s.act(id, env, f)
		}
	case node.InputStored:
		s.say("%s stored %d: %v", id, in.WriteID, in.Err)
	case node.InputStop:
		s.say("%s is asked to stop", id)
	case node.InputExec:
		if in.Exec.Kind == node.ExecGone {
			s.say("%s exec %d gone %q", id, in.Exec.ID, in.Exec.Reason)
		} else {
			s.say("%s exec %d %s", id, in.Exec.ID, show(in.Exec.Body))
		}
	}
}

func show(m node.Message) string {
	switch m := m.(type) {
	case *toy.Ping:
		return fmt.Sprint(m.Counter)
	case *toy.Gossip:
		return fmt.Sprintf("low %d", m.Updates[0].Node)
	case *message.ExecCancel:
		return "critical " + m.Reason
	case *message.ExecStarted:
		return fmt.Sprintf("started with %d users", m.VUs)
	case *message.ExecProgress:
		p := m.Stats.Steps[0]
		return fmt.Sprintf("progress %d: %d started, %d in flight", m.Sequence, p.Started, p.Started-p.OK-p.Failed-p.TimedOut-p.Cancelled)
	case *message.ExecResult:
		p := m.Stats.Steps[0]
		return fmt.Sprintf("%v %q: %d started = %d ok + %d failed + %d timed out + %d cancelled", m.State, m.Error, p.Started, p.OK, p.Failed, p.TimedOut, p.Cancelled)
	}
	return fmt.Sprintf("%T", m)
}

// act performs one line of a do.
func (s *story) act(id string, env node.Env, f []string) {
	switch f[0] {
	case "datagram":
		env.Datagram(s.w.Addr(node.ID(f[1])), ping(uint64(s.number(f[2]))))
	case "open":
		to := node.Addr(f[2])
		if !strings.HasPrefix(f[2], "nowhere") {
			to = s.w.Addr(node.ID(f[2]))
		}
		s.streams[id+f[1]] = env.Open(to)
		s.names[fmt.Sprint(id, s.streams[id+f[1]])] = f[1]
	case "send":
		s.send(id, env, f)
	case "close":
		env.Close(s.streams[id+f[1]])
	case "set":
		env.SetTimer(node.KeyN(node.PartPing, 1, uint64(s.number(f[1]))), s.duration(f[2]))
	case "cancel":
		env.CancelTimer(node.KeyN(node.PartPing, 1, uint64(s.number(f[1]))))
	case "when":
		s.reactions[id+f[1]] = f[2:]
	case "put":
		var records []node.Record
		for _, pair := range f[2:] {
			k, v, _ := strings.Cut(pair, "=")
			records = append(records, node.Record{Key: k, Value: []byte(v)})
		}
		env.Store().Put(records, node.WriteID(s.number(f[1])))
	case "exec":
		env.Exec().Start(node.ExecID(s.number(f[1])), s.number(f[2]), &message.ExecStart{
			Shard: message.ShardID{Job: message.JobID{1}}, Workflow: "w", Program: message.Program{Main: "m"}, PlanDigest: 1, VUs: 2, Duration: 3 * time.Second})
	case "cancel-exec":
		env.Exec().Cancel(node.ExecID(s.number(f[1])))
	case "extend-exec":
		env.Exec().Extend(node.ExecID(s.number(f[1])), env.Now().Add(s.duration(f[2])))
	case "kill-exec":
		env.Exec().Kill(node.ExecID(s.number(f[1])))
	case "clock":
		s.say("%s clock %v", id, time.Duration(env.Now()))
	case "halt":
		env.Halt(strings.Join(f[1:], " "))
	case "answer":
		env.Answer(1, &toy.Ack{Counter: uint64(s.number(f[1]))})
	default:
		s.t.Fatalf("do: %q is not known", f[0])
	}
}

func (s *story) send(id string, env node.Env, f []string) {
	stream := s.streams[id+f[1]]
	switch f[2] {
	case "low":
		g := &toy.Gossip{}
		g.Updates[0].Node = uint32(s.number(f[3]))
		env.Send(stream, g)
	case "critical":
		env.Send(stream, &message.ExecCancel{Reason: f[3]})
	default:
		for _, n := range f[2:] {
			env.Send(stream, ping(uint64(s.number(n))))
		}
	}
}
