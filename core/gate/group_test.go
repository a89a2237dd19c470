package gate_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"hyperscale/core/gate"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// TestGroupStories joins real gates g1, g2, g3. A command names its gate first;
// what gates say to each other is delivered at once unless they are cut apart, and
// is not shown. Beside the commands of a single gate, each with a gate's name
// before it, there are
//
//	boot [gates=n]           start them, with clients c1.. and managers m1.. on each
//	cut <gate> ... / heal    isolate gates from all fellows; join them again
//	pass <duration>          time goes by everywhere, by steps of 100 ms, managers beating
//	beats <manager> in=a ... what this manager beats with to all gates, each second
//	silent <manager>
//	race key=k [in=a] [c1=vus] [c2=vus]    c1 at g1 and c2 at g2 submit at once
//	hide <name>              on all gates
//	known                    who owns which job, as each gate tells it
func TestGroupStories(t *testing.T) {
	files, err := filepath.Glob("testdata/group/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			g := &group{config: gate.Default(), beating: map[string]*datadriven.TestData{}}
			datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string { return g.run(t, d) })
		})
	}
}

type group struct {
	config  gate.Config
	gates   []*member
	queue   []func()
	beating map[string]*datadriven.TestData
	since   time.Duration // the last beat
}

// member is one gate of a group, and its ends of the streams to the others.
type member struct {
	*story
	name string
	cut  bool
	far  map[node.StreamID]end // by own stream
}

type end struct {
	who    *member
	stream node.StreamID
}

func (g *group) boot(t *testing.T, n int) {
	for i := range n {
		g.config.Gates = append(g.config.Gates, node.Addr(fmt.Sprintf("g%d:1", i+1)))
	}
	for i := range n {
		s := newStoryOf(fmt.Sprintf("g%d", i+1), g.config)
		m := &member{story: s, name: fmt.Sprintf("g%d", i+1), far: map[node.StreamID]end{}}
		for _, name := range []string{
			"LeaseFrame", "LeaseHail", "LeaseJoinRead", "LeaseJoinKnown", "LeaseJoinSet", "LeaseJoinState", "Beat", "BeatAck",
			"FileOffer", "FileChunk", "FileKept", "FileFetch", "FileMissing", "lease-granted",
			"SwimProbe", "SwimAck", "SwimNack", "SwimAsk", "SwimGossip", "SwimCompare", "SwimList",
			"PreVoteAsk", "PreVoteAnswer", "VoteAsk", "VoteAnswer", "LeaderBeat", "LeaderBeatAck", "LeaderHandOver",
			"put", "open", "close", "GateSet", "HeartbeatAck", "member-changed", "health-changed", "voted", "elected", "stepped-down", "leader-known",
			"lease-extended", "lease-called", "lease-returned", "acceptor-wrote", "group-joined", "reached", "peer-registered", "peer-lost",
		} {
			s.world.Hidden[name] = true
		}
		for i := range 4 {
			m.tell(t, fmt.Sprintf("c%d", i+1), "client")
			m.tell(t, fmt.Sprintf("m%d", i+1), "manager")
		}
		g.gates = append(g.gates, m)
		g.join(m)
	}
	for _, m := range g.gates {
		m.world.Start()
	}
	g.pump()
}

// tell has a story know a peer.
func (m *member) tell(t *testing.T, name, role string) {
	m.world.Run(t, &datadriven.TestData{Cmd: "peer", CmdArgs: []datadriven.CmdArg{
		{Key: name}, {Key: "role", Vals: []string{role}}, {Key: "addr", Vals: []string{name + ":1"}},
	}})
}

// join carries what a gate sends to its fellows.
func (g *group) join(m *member) {
	seen := m.world.WatchSend
	m.world.WatchOpen = func(s node.StreamID, to node.Addr) { g.queue = append(g.queue, func() { g.open(m, s, to) }) }
	m.world.WatchDatagram = func(to node.Addr, msg node.Message) {
		g.queue = append(g.queue, func() {
			if o := g.at(to); o != nil && !m.cut && !o.cut && o.world.Running() {
				o.world.ReceiveDatagram(m.world.Self(), msg)
			}
		})
	}
	m.world.WatchSend = func(s node.StreamID, msg node.Message) {
		seen(s, msg)
		g.queue = append(g.queue, func() {
			if far, ok := m.far[s]; ok && !m.cut && !far.who.cut && far.who.world.Running() {
				far.who.world.Receive(far.stream, msg)
			}
		})
	}
}

func (g *group) at(a node.Addr) *member {
	for _, m := range g.gates {
		if m.world.Self().Addr == a {
			return m
		}
	}
	return nil
}

func (g *group) open(m *member, s node.StreamID, to node.Addr) {
	o := g.at(to)
	if o == nil || m.cut || o.cut || !o.world.Running() {
		m.world.Break(s, "no route")
		return
	}
	theirs := o.world.Accept(m.world.Self())
	m.far[s], o.far[theirs] = end{o, theirs}, end{m, s}
	m.world.Opened(s, o.world.Self())
}

// depart breaks the streams between a gate and its fellows.
func (g *group) depart(m *member) {
	for _, s := range slices.Sorted(maps.Keys(m.far)) {
		far := m.far[s]
		delete(m.far, s)
		delete(far.who.far, far.stream)
		if far.who.world.Running() {
			far.who.world.Break(far.stream, "cut")
		}
		if m.world.Running() {
			m.world.Break(s, "cut")
		}
	}
}

func (g *group) pump() {
	for len(g.queue) > 0 {
		next := g.queue[0]
		g.queue = g.queue[1:]
		next()
	}
}

func (g *group) run(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "config":
		s := story{config: g.config}
		s.configure(t, d)
		g.config = s.config
	case "boot":
		g.boot(t, int(number(t, arg(d, "gates", "3"))))
	case "cut", "heal":
		for _, m := range g.gates {
			if d.Cmd == "heal" {
				m.cut = false
			} else if d.HasArg(m.name) {
				m.cut = true
				g.depart(m)
			}
		}
	case "pass":
		g.pass(t, span(t, d.CmdArgs[0].Key))
	case "beats":
		kept := *d // it is used again
		g.beating[d.CmdArgs[0].Key] = &kept
		g.beat(t)
	case "silent":
		delete(g.beating, d.CmdArgs[0].Key)
	case "race": // two gates get a submission before either has heard of the other's
		for i, m := range g.gates[:2] {
			client := fmt.Sprintf("c%d", i+1)
			s := m.submission(arg(d, "key", "k"), list(arg(d, "in", "")), number(t, arg(d, client, "4")))
			s.Program.Files[0].Data = make([]byte, 8)
			m.deliver(client, s)
		}
	case "hide":
		for _, m := range g.gates {
			m.world.Hidden[d.CmdArgs[0].Key] = true
		}
	case "known":
		return g.known()
	default:
		return g.one(t, d)
	}
	g.pump()
	return g.lines()
}

// one gives a command to one gate: its name is the command, the rest follows.
func (g *group) one(t *testing.T, d *datadriven.TestData) string {
	for _, m := range g.gates {
		if m.name != d.Cmd {
			continue
		}
		inner := *d
		inner.Cmd, inner.CmdArgs = d.CmdArgs[0].Key, d.CmdArgs[1:]
		if inner.Cmd == "crash" || inner.Cmd == "restart" {
			g.depart(m)
		}
		for _, o := range g.gates { // ids that another gate has written
			maps.Copy(m.jobs, o.jobs)
		}
		m.spell(&inner)
		own := m.story.run(t, &inner)
		g.pump()
		if own == "ok\n" {
			own = ""
		}
		return g.prefixed(m, own) + g.lines()
	}
	d.Fatalf(t, "no such command or gate")
	return ""
}

// spell writes ids out that this gate has not written itself.
func (m *member) spell(d *datadriven.TestData) {
	args := make([]datadriven.CmdArg, len(d.CmdArgs))
	for i, a := range d.CmdArgs {
		args[i] = datadriven.CmdArg{Key: a.Key, Vals: slices.Clone(a.Vals)}
		for k, v := range a.Vals {
			if id, ok := m.jobs[v]; ok && a.Key == "Job" {
				args[i].Vals[k] = id.String()
			}
		}
	}
	d.CmdArgs = args
}

func (g *group) prefixed(m *member, text string) string {
	var b strings.Builder
	for _, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if l != "" {
			b.WriteString(m.name + ": " + l + "\n")
		}
	}
	return b.String()
}

func (g *group) lines() string {
	var all string
	for _, m := range g.gates {
		all += g.prefixed(m, m.world.Take())
	}
	return all
}

// pass lets time go by everywhere alike.
func (g *group) pass(t *testing.T, d time.Duration) {
	const step = 100 * time.Millisecond
	for ; d > 0; d -= step {
		for _, m := range g.gates {
			m.world.Advance(min(step, d))
			g.pump()
		}
		if g.since += step; g.since >= time.Second {
			g.since = 0
			g.beat(t)
		}
	}
}

// beat has the managers tell all gates that run what they have.
func (g *group) beat(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(g.beating)) {
		for _, m := range g.gates {
			if !m.world.Running() {
				continue
			}
			id := node.ID(name)
			if len(m.world.StreamsOf(id)) == 0 {
				m.world.Accept(node.Peer{ID: id, Incarnation: 1, Role: node.RoleManager, Addr: node.Addr(name + ":1")})
			}
			for _, o := range g.gates {
				maps.Copy(m.jobs, o.jobs)
			}
			m.deliver(name, m.beat(t, g.beating[name]))
			g.pump()
		}
	}
}

// known is what each gate answers about all registers.
func (g *group) known() string {
	var b strings.Builder
	for _, m := range g.gates {
		if !m.world.Running() {
			continue
		}
		m.world.Discard = true
		client := m.world.Accept(node.Peer{ID: "operator", Incarnation: 1, Role: node.RoleClient})
		var status *message.ClusterStatus
		seen := m.world.WatchSend
		m.world.WatchSend = func(s node.StreamID, msg node.Message) {
			if c, ok := msg.(*message.ClusterStatus); ok {
				status = c
			}
			seen(s, msg)
		}
		m.world.Receive(client, &message.ClusterQuery{Request: message.RequestID{Counter: 1}})
		m.world.WatchSend, m.world.Discard = seen, false
		m.world.Take()
		for _, l := range status.Leases {
			fmt.Fprintf(&b, "%s: %s %v holder=%s token=%v released=%v\n", m.name, l.Job.String()[:6], l.State, l.Holder, l.Token, l.Released)
		}
	}
	return b.String()
}
