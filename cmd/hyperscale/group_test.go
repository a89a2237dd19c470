package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"hyperscale/checker"
	"hyperscale/checker/history"
	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/protocol/hostile/hostiletest"
	"hyperscale/runtime/view"
)

// Leases of the groups in tests: short, so that no test waits long for one to run out.
const groupLease = 3 * time.Second

// group is three gates, three managers and two workers, as processes on loopback.
type group struct {
	t        *testing.T
	dir      string
	gates    map[string]string // addresses by id
	managers map[string]string
	admins   map[string]string
	nodes    map[string]*process
	more     []string                 // flags of gates
	timing   []string                 // flags of gates and managers
	trust    func(id string) []string // flags of a node's certificate; nil: it has none
}

func freeAddresses(t *testing.T, prefix string, n int) map[string]string {
	t.Helper()
	all := map[string]string{}
	for i := range n {
		all[fmt.Sprintf("%s-%d", prefix, i+1)] = hostiletest.FreeAddress(t)
	}
	return all
}

func newGroup(t *testing.T) *group {
	t.Helper()
	return &group{t: t, dir: t.TempDir(), gates: freeAddresses(t, "gate", 3), managers: freeAddresses(t, "manager", 3), admins: map[string]string{}, nodes: map[string]*process{},
		timing: []string{"--lease", groupLease.String(), "--quorum-timeout", "500ms"}}
}

func list(addresses map[string]string) string {
	var all []string
	for _, a := range addresses {
		all = append(all, a)
	}
	slices.Sort(all)
	return strings.Join(all, ",")
}

func (g *group) path(name string) string { return filepath.Join(g.dir, name) }

// settings are a node's flags.
func (g *group) settings(id string) []string {
	common := []string{"--id", id, "--data", g.path(id)}
	if g.trust != nil {
		common = append(common, g.trust(id)...)
	}
	timing := append(slices.Clone(g.timing), "--gates", list(g.gates))
	role, _, _ := strings.Cut(id, "-")
	switch role {
	case "gate":
		return slices.Concat(common, []string{"--listen", g.gates[id]}, timing, g.more)
	case "manager":
		return slices.Concat(common, []string{"--listen", g.managers[id], "--datacenter", "here", "--managers", list(g.managers)}, timing)
	}
	return slices.Concat(common, []string{"--listen", "127.0.0.1:0", "--datacenter", "here", "--managers", list(g.managers), "--cores", "1"})
}

func (g *group) start(ids ...string) {
	g.t.Helper()
	for _, id := range ids {
		role, _, _ := strings.Cut(id, "-")
		g.nodes[id] = start(g.t, slices.Concat([]string{role}, g.settings(id), []string{"--admin", "127.0.0.1:0", "--history", g.path(id + ".jsonl")})...)
	}
	for _, id := range ids {
		g.admins[id] = g.nodes[id].await(`msg=up .*admin=(\S+)`)
	}
}

// status is one gate's view of the group.
func (g *group) status(without ...string) (c view.Cluster, ok bool) {
	gates := maps.Clone(g.gates)
	for _, id := range without {
		delete(gates, id)
	}
	p := start(g.t, "status", "--cluster", "--json", "--gate", list(gates))
	return c, p.code() == command.ExitGood && json.Unmarshal([]byte(p.out.String()), &c) == nil
}

// led waits until a gate names the given leader.
func (g *group) led(want string) {
	g.t.Helper()
	eventually(g.t, "a leader is known: "+want, patience, func() bool {
		p := start(g.t, "status", "--cluster", "--gate", list(g.gates))
		return p.code() == command.ExitGood && matches("leader gate-[123], "+want+"\\n", p.out.String())
	})
}

// owner waits until a gate that is not this one owns the job, and returns its id. It does not ask that gate: one that was
// away does not know who owns the job.
func (g *group) owner(job, not string) (id string) {
	g.t.Helper()
	eventually(g.t, "another gate than "+not+" owns "+job, patience, func() bool {
		c, _ := g.status(not)
		for _, l := range c.Leases {
			for gate, address := range g.gates {
				if l.Job == job && l.Holder == address && gate != not && l.LeftNS > 0 {
					id = gate
					return true
				}
			}
		}
		return false
	})
	return id
}

// granted is how long after an instant another gate than this one owned the job, as the logs tell: a command that asks for
// the owner takes seconds on a busy machine.
func (g *group) granted(job, not string, since time.Time) time.Duration {
	g.t.Helper()
	first := time.Duration(math.MaxInt64)
	for gate := range g.gates {
		if gate == not {
			continue
		}
		for _, m := range regexp.MustCompile(`(?m)^time=(\S+) .*msg=lease-granted .*job=`+job).FindAllStringSubmatch(g.nodes[gate].err.String(), -1) {
			at, err := time.Parse(time.RFC3339, m[1])
			if err != nil {
				g.t.Fatal(err)
			}
			if !at.Before(since.Truncate(time.Millisecond)) {
				first = min(first, at.Sub(since))
			}
		}
	}
	return first
}

// up waits until all gates are alive in each other's eyes, one leads, and both
// workers are there.
func (g *group) up() {
	g.t.Helper()
	eventually(g.t, "all gates alive, one leads, two cores free", patience, func() bool {
		c, ok := g.status()
		alive, free := 0, uint32(0)
		for _, m := range c.Members {
			if m.State == "alive" {
				alive++
			}
		}
		for _, n := range c.Nodes {
			if n.Role == "worker" {
				free += n.CoresFree
			}
		}
		return ok && c.Standing == "member" && c.Leader != "" && alive == len(g.gates) && free == 2
	})
}

// submit starts a job and a process that waits for it, and returns both.
func (g *group) submit(file, url string, lifetime time.Duration, name string) (wait *process, job, out string) {
	out = g.path(name + ".json")
	wait = start(g.t, "submit", file, "--gate", list(g.gates), "--set", "target="+url, "--duration", lifetime.String(), "--wait", "--ui", "none",
		"--out", "json="+out, "--journal", g.path(name+".jsonl"))
	return wait, wait.await(`^([0-9a-z]{26})\n`), out
}

// judge lets the checker read what all nodes and clients wrote.
func judge(t *testing.T, dir string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no histories: %v", err)
	}
	var files []io.Reader
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }() // it was only read
		files = append(files, f)
	}
	all, err := history.Merge(files...)
	if err != nil {
		t.Fatalf("%v: %v", names, err)
	}
	c := checker.New()
	for _, r := range all {
		c.Observe(r)
	}
	for _, v := range c.Violations() {
		t.Errorf("%v", v)
	}
	t.Logf("%d events of %d histories", len(all), len(names))
}

// TestGroupSurvives: jobs live through the kill of the gate that owns them, the
// graceful stop of the next one, and the drain of a manager; each ends once, whole.
func TestGroupSurvives(t *testing.T) {
	t.Parallel()
	url, file := serveTarget(t, "--latency", "5ms"), write(t, "load.star", loadFile)
	g := newGroup(t)
	g.start("gate-1", "gate-2", "gate-3", "manager-1", "manager-2", "manager-3", "worker-1", "worker-2")
	g.up()

	wait, job, out := g.submit(file, url, 14*time.Second, "client-1")
	first := g.owner(job, "")
	eventually(t, "the target is busy", patience, func() bool { return stats(t, url).Requests > 20 })
	begun := time.Now()
	g.nodes[first].kill()
	second := g.owner(job, first)
	took := g.granted(job, first, begun)
	if most := groupLease + groupLease/100 + 2*time.Second; took > most {
		t.Errorf("a job of a killed gate was owned again after %v, want at most %v", took, most)
	}
	t.Logf("killed: owned again after %v", took)

	begun = time.Now()
	g.nodes[second].signal(syscall.SIGTERM)
	g.start(first)
	third := g.owner(job, second)
	if took = g.granted(job, second, begun); took > 6*time.Second {
		t.Errorf("a job of a gate that stops was owned again after %v", took)
	}
	t.Logf("stopped: owned again by %s after %v", third, took)
	g.nodes[second].expect(command.ExitGood)
	g.start(second)

	wait.expect(command.ExitGood)
	r := readResult(t, out)
	adds(t, r)
	if r.Outcome != "COMPLETED" || len(r.Workflows[0].Lost) != 0 || stats(t, url).Requests != r.Totals.Started {
		t.Errorf("%s, the target counted %d, the result %+v, lost %+v", r.Outcome, stats(t, url).Requests, r.Totals, r.Workflows[0].Lost)
	}
	g.up()
	g.drains(file, url)
	judge(t, g.dir)
}

// drains empties a manager and a gate that have work, by command.
func (g *group) drains(file, url string) {
	t := g.t
	t.Helper()
	wait, job, out := g.submit(file, url, 10*time.Second, "client-2")
	owner := g.owner(job, "")
	part := ""
	eventually(t, "a manager owns the subjob", patience, func() bool {
		c, _ := g.status()
		for _, n := range c.Nodes {
			if n.Subjobs > 0 {
				part = n.Node
			}
		}
		return part != ""
	})
	for _, name := range []string{part, owner} {
		begun := time.Now()
		p := run(t, command.ExitGood, "drain", name, "--gate", list(g.gates))
		if want := name + " owns nothing: you can stop it\n"; p.out.String() != want || time.Since(begun) > 10*time.Second {
			t.Errorf("drain %s said %q after %v, want %q", name, p.out.String(), time.Since(begun), want)
		}
	}
	g.owner(job, owner)
	text := run(t, command.ExitGood, "status", "--cluster", "--gate", list(g.gates)).out.String()
	for _, want := range []string{owner + " .*alive, draining", part + " +manager +here .*alive, draining", job + " +load.star +RUNNING", "leader gate-"} {
		if !matches(want, text) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, name := range []string{part, owner} {
		if p := run(t, command.ExitGood, "drain", name, "--undo", "--gate", list(g.gates)); p.out.String() != name+" takes work again\n" {
			t.Errorf("drain --undo said %q", p.out.String())
		}
	}
	run(t, command.ExitUsage, "drain", "gate-7", "--gate", list(g.gates)).says(`no node of this cluster is called "gate-7" \(did you mean gate-1\?\)`)
	wait.expect(command.ExitGood)
	if r := readResult(t, out); r.Outcome != "COMPLETED" || len(r.Workflows[0].Lost) != 0 {
		t.Errorf("%s, lost %+v", r.Outcome, r.Workflows[0].Lost)
	}
}

// TestGatesAndAManagerReplaced: each gate in turn, and then a manager, loses its seat to a new node. No seat is given
// away while its node runs. Some are killed before. Others are stopped, return while a job runs, and fall silent. Jobs
// end once, whole, and the histories fit together.
func TestGatesAndAManagerReplaced(t *testing.T) {
	t.Parallel()
	url, file := serveTarget(t, "--latency", "5ms"), write(t, "load.star", loadFile)
	g := newGroup(t)
	g.start("gate-1", "gate-2", "gate-3", "manager-1", "manager-2", "manager-3", "worker-1", "worker-2")
	g.up()
	for i, old := range []string{"gate-1", "gate-2", "gate-3", "manager-1"} {
		back := g.replace(old, i%2 == 0)
		wait, _, out := g.submit(file, url, 3*time.Second, "client-"+old)
		back()
		wait.expect(command.ExitGood)
		r := readResult(t, out)
		adds(t, r)
		if r.Outcome != "COMPLETED" || len(r.Workflows[0].Lost) != 0 {
			t.Errorf("%s replaced: %s, lost %+v", old, r.Outcome, r.Workflows[0].Lost)
		}
		g.up()
	}
	eventually(t, "the gates hear all managers, which have started again with the first gates in their settings", patience, func() bool {
		c, ok := g.status()
		heard := 0
		for _, n := range c.Nodes {
			if _, has := g.managers[n.Node]; has && n.State == "alive" {
				heard++
			}
		}
		return ok && heard == len(g.managers)
	})
	if p := run(t, command.ExitGood, "members", "list", "--gate", list(g.gates)); !strings.Contains(p.out.String(), "changed 3 times") {
		t.Errorf("members list:\n%s", p.out.String())
	}
	run(t, command.ExitFailed, "members", "replace", "mars:1", "venus:1", "--gate", list(g.gates)).says("no gate has the address mars:1")
	judge(t, g.dir)
}

// replace gives a node's seat to a new one, whose number is three higher. One that is not dead is stopped: back lets it run again.
func (g *group) replace(old string, dead bool) (back func()) {
	g.t.Helper()
	set := g.gates
	if strings.HasPrefix(old, "manager") {
		set = g.managers
	}
	role, n, _ := strings.Cut(old, "-")
	heir, was, address := fmt.Sprintf("%s-%s", role, string(n[0]+3)), set[old], hostiletest.FreeAddress(g.t)
	eventually(g.t, "only the old one is in the way", patience, func() bool {
		p := start(g.t, "members", "replace", was, address, "--gate", list(g.gates))
		return p.code() == command.ExitFailed && strings.Contains(p.err.String(), "stop that node")
	})
	if dead {
		g.nodes[old].kill()
	} else {
		g.nodes[old].signal(syscall.SIGSTOP)
	}
	delete(set, old)
	eventually(g.t, "the others agree", patience, func() bool {
		p := start(g.t, "members", "replace", was, address, "--gate", list(g.gates))
		return p.code() == command.ExitGood && strings.Contains(p.out.String(), address+" has the seat of "+was)
	})
	set[heir] = address
	g.start(heir)
	eventually(g.t, heir+" is ready", patience, func() bool {
		r, err := http.Get("http://" + g.admins[heir] + "/readyz")
		if err != nil {
			return false
		}
		defer func() { _ = r.Body.Close() }() // its status says all
		return r.StatusCode == http.StatusOK
	})
	if dead {
		return func() {}
	}
	return func() {
		g.nodes[old].signal(syscall.SIGCONT)
		g.nodes[old].await("another address has this member's seat")
		g.nodes[old].signal(syscall.SIGTERM)
	}
}

// TestLostMajority: two of three gates return without their disks. The group does not admit
// them, they say so, and an operator's command founds a new epoch.
func TestLostMajority(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	all := []string{"gate-1", "gate-2", "gate-3"}
	g.start(all...)
	for _, id := range all {
		g.nodes[id].await(`group-joined .*how=founded`)
	}
	g.led(`term \d+`)
	recovering := slices.Concat([]string{"recover"}, g.settings("gate-1"))
	for _, id := range all {
		g.nodes[id].kill()
	}
	for _, id := range all[1:] {
		if err := os.RemoveAll(g.path(id)); err != nil {
			t.Fatal(err)
		}
	}
	g.start(all...)
	for _, id := range all[1:] {
		why := "2 of 3 gates have lost their disks"
		g.nodes[id].await("level=ERROR msg=group-alarm .*" + why)
		if got := get(t, "http://"+g.admins[id]+"/readyz"); !strings.HasPrefix(got, why) {
			t.Errorf("readyz of %s: %q", id, got)
		}
		if got := metric(t, g.admins[id], "hyperscale_lease_member"); got != 0 {
			t.Errorf("%s takes itself for a member", id)
		}
	}
	g.nodes["gate-1"].signal(syscall.SIGTERM)
	g.nodes["gate-1"].expect(command.ExitGood)
	run(t, command.ExitUsage, recovering...).says("would make the disk of gate-1", "what others acknowledged and it does not have would be lost", "add --unsafe to do it")
	p := run(t, command.ExitGood, append(recovering, "--unsafe")...)
	if got := p.out.String(); !matches(`gate-1 founded epoch \d+ of gates`, got) || !matches("kept: 0 jobs", got) || !matches("next: start gate-1 as usual", got) {
		t.Errorf("recover said %q", got)
	}
	g.start("gate-1")
	for _, id := range all[1:] {
		g.nodes[id].await(`group-joined .*how=rejoined`)
		eventually(t, id+" is ready", patience, func() bool { return get(t, "http://"+g.admins[id]+"/readyz") == "ok\n" })
	}
	g.led(`term \d+ of epoch 1`)
	g.nodes["gate-1"].signal(syscall.SIGTERM)
	g.nodes["gate-1"].expect(command.ExitGood)
	run(t, command.ExitFailed, append(recovering, "--unsafe")...).says("nothing was recovered: a majority of the configured set is alive")
}
