package gate_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"hyperscale/core/gate"
	"hyperscale/core/node"
)

// command is one command of a story: it calls a function on the gate or the cluster. It returns
// "" where the gates' own lines follow.
type command[T any] func(on T, t *testing.T, d *datadriven.TestData)

// gateCommands are given to one gate, beside nodetest's own:
//
//	config sinks=(a,b) | queue=n | watchers=n | waiters=n | results=n | age=s | jobs=n
//	submit <client> key=k [in=a,b] [vus=n] [cores=n] [layer=2] [files=n] [timeout=d] [threshold=expr] [abort=<percent of errors>] [unique] [soak] [count=n] [prefer=a,b] [outputs=a,b]
//	beat <manager> in=a [free=n] [total=n] [workers=n] [draining] [refuses=quorum|joining|full] [overdue=d] [managers=n] [suspects=n] [subjobs=<job>:<fence>,...]
//	progress <manager> <job> in=a fence=1.1.0 seq=n [ok=n] [failed=n] [cores=n] [ended] [soak]
//	result <manager> <job> in=a fence=1.1.0 [state=COMPLETED] [n=10] [error=text] [soak]
//	sinks done|failed|unconfigured [rejected=n] [why=text]    answer each delivery
func gateCommands() map[string]command[*member] {
	return map[string]command[*member]{
		"config": func(m *member, t *testing.T, d *datadriven.TestData) { configure(t, &m.config, d) },
		"submit": func(m *member, t *testing.T, d *datadriven.TestData) { m.deliver(d.CmdArgs[0].Key, m.submitted(t, d)) },
		"beat":   func(m *member, t *testing.T, d *datadriven.TestData) { m.deliver(d.CmdArgs[0].Key, m.beat(t, d)) },
		"progress": func(m *member, t *testing.T, d *datadriven.TestData) {
			m.deliver(d.CmdArgs[0].Key, m.progress(t, d))
		},
		"sinks":  func(m *member, t *testing.T, d *datadriven.TestData) { m.sinks(t, d) },
		"result": func(m *member, t *testing.T, d *datadriven.TestData) { m.deliver(d.CmdArgs[0].Key, m.result(t, d)) },
	}
}

// clusterCommands are given to all gates of a story in testdata/group. A gate's name before a
// command gives it to that gate alone. Messages between gates arrive at once, unless the gates
// are isolated, and are not shown.
//
//	boot [gates=n]           start them, with clients c1.. and managers m1.. on each
//	cut <gate> ... / heal    isolate gates from all others; join them again
//	pass <duration>          advance all clocks by steps of 100 ms; managers send heartbeats
//	beats <manager> in=a ... what this manager sends to all gates each second
//	silent <manager>
//	race key=k [in=a] [c1=vus] [c2=vus]    c1 at g1 and c2 at g2 submit at once
//	hide <name>              on all gates
func clusterCommands() map[string]command[*cluster] {
	return map[string]command[*cluster]{
		"config": func(g *cluster, t *testing.T, d *datadriven.TestData) { configure(t, &g.config, d) },
		"boot": func(g *cluster, t *testing.T, d *datadriven.TestData) {
			g.boot(t, int(number(t, arg(d, "gates", "3"))))
		},
		"cut":    (*cluster).cutApart,
		"heal":   (*cluster).heal,
		"pass":   func(g *cluster, t *testing.T, d *datadriven.TestData) { g.pass(t, span(t, d.CmdArgs[0].Key)) },
		"beats":  (*cluster).beats,
		"silent": func(g *cluster, _ *testing.T, d *datadriven.TestData) { delete(g.beating, d.CmdArgs[0].Key) },
		"race":   (*cluster).race,
		"hide":   (*cluster).hide,
	}
}

// TestStories runs each file of testdata with one gate, and each of testdata/group with a
// cluster.
func TestStories(t *testing.T) {
	seen := map[string]bool{}
	for _, file := range stories(t, "testdata/*.txt") {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			m := newMember(gate.Default())
			hide(m, hidden())
			m.world.WatchEvent = func(e node.Event) { seen[e.EventName()] = true }
			datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string { return m.run(t, d) })
		})
	}
	for _, name := range []string{
		"job-changed", "subjob-dispatched", "subjob-counted", "workflow-aborted", "fence-refused", "peer-registered", "peer-lost", "shed", "store-failed", "ignored",
	} {
		if !seen[name] {
			t.Errorf("no story produces the event %s", name)
		}
	}
	for _, file := range stories(t, "testdata/group/*.txt") {
		t.Run("group/"+strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			g := &cluster{config: gate.Default(), beating: map[string]*datadriven.TestData{}}
			datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string { return g.run(t, d) })
		})
	}
}

func stories(t *testing.T, pattern string) []string {
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	return files
}

// hidden lists the events that no story shows.
func hidden() []string {
	return []string{
		"put", "reached", "GateSet", "voted", "elected", "leader-known", "group-joined", "acceptor-wrote",
		"lease-granted", "lease-extended", "lease-called", "lease-returned", "lease-ended", "bound-used", "workflow-ended",
		"job-submitted", "job-began", "load-changed", "circuit-changed", "cores-wanted",
	}
}

// hiddenInGroups lists further messages between gates.
func hiddenInGroups() []string {
	return []string{
		"LeaseFrame", "LeaseHail", "LeaseJoinRead", "LeaseJoinKnown", "LeaseJoinSet", "LeaseJoinState", "Beat", "BeatAck",
		"FileOffer", "FileChunk", "FileKept", "FileFetch", "FileMissing", "lease-granted",
		"SwimProbe", "SwimAck", "SwimNack", "SwimAsk", "SwimGossip", "SwimCompare", "SwimList",
		"PreVoteAsk", "PreVoteAnswer", "VoteAsk", "VoteAnswer", "LeaderBeat", "LeaderBeatAck", "LeaderHandOver",
		"put", "open", "close", "GateSet", "HeartbeatAck", "bound-used", "member-changed", "health-changed", "voted", "elected", "stepped-down", "leader-known",
		"lease-extended", "lease-called", "lease-returned", "acceptor-wrote", "group-joined", "reached", "peer-registered", "peer-lost", "workflow-ended",
		"job-submitted", "job-began", "load-changed", "circuit-changed", "cores-wanted",
	}
}

func hide(m *member, names []string) {
	for _, name := range names {
		m.world.Hidden[name] = true
	}
}

// run gives a command to one gate.
func (m *member) run(t *testing.T, d *datadriven.TestData) string {
	c, ours := gateCommands()[d.Cmd]
	if !ours {
		return m.world.Run(t, d)
	}
	if c(m, t, d); d.Cmd == "config" {
		return "ok\n"
	}
	if out := m.world.Take(); out != "" {
		return out
	}
	return "ok\n"
}

// run gives a command to the cluster, or to the gate whose name comes first.
func (g *cluster) run(t *testing.T, d *datadriven.TestData) string {
	c, ours := clusterCommands()[d.Cmd]
	switch {
	case d.Cmd == "known": // which gate owns which job, according to each gate
		return g.known()
	case !ours:
		return g.one(t, d)
	}
	c(g, t, d)
	g.pump()
	return g.lines()
}

// one gives a command to one gate: the command's name is the gate, the rest is the command.
func (g *cluster) one(t *testing.T, d *datadriven.TestData) string {
	for _, m := range g.gates {
		if m.name != d.Cmd {
			continue
		}
		inner := *d
		inner.Cmd, inner.CmdArgs = d.CmdArgs[0].Key, d.CmdArgs[1:]
		if inner.Cmd == "crash" || inner.Cmd == "restart" {
			g.depart(m)
		}
		for _, o := range g.gates { // IDs that another gate has printed
			maps.Copy(m.jobs, o.jobs)
		}
		m.spell(&inner)
		own := m.run(t, &inner)
		g.pump()
		if own == "ok\n" {
			own = ""
		}
		return g.prefixed(m, own) + g.lines()
	}
	d.Fatalf(t, "no such command or gate")
	return ""
}

// spell replaces abbreviated IDs that this gate has not printed itself.
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

func (g *cluster) prefixed(m *member, text string) string {
	var b strings.Builder
	for _, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if l != "" {
			b.WriteString(m.name + ": " + l + "\n")
		}
	}
	return b.String()
}

func (g *cluster) lines() string {
	var all string
	for _, m := range g.gates {
		all += g.prefixed(m, m.world.Take())
	}
	return all
}
