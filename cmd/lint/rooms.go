package main

import (
	"path"
	"slices"
	"strings"
)

// room is a row of the import table: which packages it holds and which rooms
// they may import from. A room may always import itself where its packages
// belong to one unit (core/gate and core/gate/internal, all of sim).
type room struct {
	name  string
	paths []string // exact, or with "/..." for everything below; first match wins
	may   []string // names of rooms
	why   string   // printed for every edge that mayNot does not explain better
}

var kernel = []string{"node", "message", "record", "event", "plan", "retry"}

// rooms is the table, first match wins. An exact path that is gone while
// treeIsWhole stands is a complaint, so that the table cannot outlive the tree.
var rooms = []room{
	{name: "floor", paths: []string{"core", "runtime"},
		why: "it is a floor, not a room: it holds a doc.go and sub-packages"},
	{name: "node", paths: []string{"core/node"},
		why: "everything stands on core/node, so it stands on nothing of ours"},
	{name: "message", paths: []string{"core/message"}, may: []string{"node"},
		why: "the catalogue of messages knows ids and addresses and nothing of who sends them"},
	{name: "toy", paths: []string{toys}, may: []string{"node", "message"},
		why: "toys are messages of test machines, which no frame carries: tests and scenarios alone import them"},
	{name: "record", paths: []string{"core/message/record"}, may: []string{"node", "message"},
		why: "records are the layout of disks: parts and roles fill them, so they know none"},
	{name: "plan", paths: []string{"core/plan", "core/plan/plantest"}, may: []string{"node", "message"},
		why: "the bounds of a plan are a law for the language, gates, managers and executors, so they know none of these"},
	{name: "event", paths: []string{"core/event"}, may: []string{"node", "message"},
		why: "events name what happened to messages and nodes; every part and role emits them, so they know none"},
	{name: "retry", paths: []string{"core/retry"}, may: []string{"node"},
		why: "when a node tries again is one rule for every part and role, so it knows none"},
	{name: "role", paths: []string{"core/client/...", "core/gate/...", "core/manager/...", "core/worker/..."},
		may: append([]string{"part", "wiring"}, kernel...),
		why: "a role is made of parts and the kernel; everything else reaches it as an input"},
	{name: "wiring", paths: []string{"core/quorum/...", "core/ledger/...", "core/output/..."}, may: append([]string{"part"}, kernel...),
		why: "a wiring joins parts once for several roles, so it knows no role"},
	{name: "part", paths: []string{"core/stats/...", "core/workflow/...", "core/..."}, may: kernel,
		why: "a part stands on the kernel alone"},
	{name: "netsim", paths: []string{"netsim/..."}, may: []string{"node", "message"},
		why: "the network carries any message and knows neither its sender nor the world around it"},
	{name: "sim", paths: []string{"sim/..."}, may: []string{"netsim", "node", "message", "event"},
		why: "the simulator runs any node.Machine"},
	{name: "checker", paths: []string{"checker/..."}, may: append([]string{"part", "wiring", "role"}, kernel...),
		why: "the checker judges a recorded history, whoever recorded it"},
	{name: "scenarios", paths: []string{"scenarios/..."},
		may: append([]string{"sim", "netsim", "checker", "part", "wiring", "role", "progress", "toy"}, kernel...),
		why: "a scenario runs in the simulated world only"},
	{name: "progress", paths: []string{"runtime/progress/..."},
		why: "what tells people how far something is knows nothing of it: the tests of scenarios and benchmarks use it, too"},
	{name: "runtime", paths: []string{"runtime/..."}, may: append([]string{"part", "wiring", "role", "docs", "progress"}, kernel...),
		why: "the runtime is what production runs"},
	{name: "cmd", paths: []string{"cmd/..."},
		may: append([]string{"part", "wiring", "role", "netsim", "sim", "checker", "scenarios", "runtime", "examples", "docs", "progress"}, kernel...),
		why: "a command wires what exists"},
	{name: "examples", paths: []string{"examples/..."},
		why: "examples are files that a user copies"},
	{name: "docs", paths: []string{"docs/..."},
		why: "manuals are texts: who explains them gets them as a value"},
}

// toys is the package of messages that no frame carries.
const toys = "core/message/toy"

// treeIsWhole is the directory whose existence means that every exact path of
// the table must exist: the product binary needs all of them.
const treeIsWhole = "cmd/hyperscale"

// optionalRooms need not exist, also not in the small trees of the tests.
var optionalRooms = []string{"floor", "toy", "record", "retry", "wiring", "examples", "docs", "progress"}

// mayNot explains the edges that people try. An empty from means any room.
var mayNot = []struct{ from, to, why string }{
	{"", "cmd", "nobody imports a command: move what you need below runtime/ or core/"},
	{"", "floor", "core and runtime are floors, not rooms: import the package that you mean"},
	{"", "toy", "production sends and decodes no toy: import it from _test.go files and scenarios only"},
	{"part", "part", "a part knows nothing of its neighbours: let the role wire the two"},
	{"part", "wiring", "a part knows nothing of what joins it to others: let the wiring or the role call it"},
	{"wiring", "role", "a wiring serves several roles: let the role call it"},
	{"part", "role", "a part never imports a role: give the part an input and let the role call it"},
	{"role", "role", "roles talk in messages: put what both need in core/message or into a part"},
	{"netsim", "sim", "the world stands on the network: pass what is needed as a value or an interface of netsim"},
	{"sim", "role", "the simulator knows no role: the scenario hands it node.Machine values"},
	{"sim", "checker", "the checker reads what the simulator recorded: the scenario brings the two together"},
	{"sim", "runtime", "simulated runs must not reach real clocks and sockets: take node.Env"},
	{"runtime", "sim", "production code must not carry the simulator: let cmd/hyperscale wire it"},
	{"runtime", "netsim", "production code must not carry the simulator: let cmd/hyperscale wire it"},
	{"runtime", "checker", "production code must not carry the checker: let cmd/hyperscale wire it"},
	{"runtime", "scenarios", "production code must not carry the scenarios: let cmd/hyperscale wire them"},
	{"checker", "sim", "the checker takes a history as a value, whoever recorded it: let the scenario pass it"},
	{"checker", "runtime", "the checker takes a history as a value, whoever recorded it: let the command pass it"},
	{"scenarios", "runtime", "a scenario is deterministic, the runtime is not: put the machine under test into core"},
}

// roomOf finds the row of a package, given below the module's root.
func roomOf(pkg string) (room, bool) {
	for _, r := range rooms {
		for _, pattern := range r.paths {
			if matches(pattern, pkg) {
				return r, true
			}
		}
	}
	return room{}, false
}

func matches(pattern, pkg string) bool {
	prefix, open := strings.CutSuffix(pattern, "/...")
	return pkg == prefix || open && strings.HasPrefix(pkg, prefix+"/")
}

// unitOf is the part of the tree inside which imports are free.
func unitOf(pkg string) string {
	elements := strings.Split(pkg, "/")
	if elements[0] == "core" && len(elements) > 1 {
		return path.Join(elements[:2]...)
	}
	if elements[0] == "cmd" && len(elements) > 1 {
		return path.Join(elements[:2]...)
	}
	return elements[0]
}

// isHarness recognizes a test harness in its package's directory: core/node/nodetest.
func isHarness(pkg string) bool {
	parent, base := path.Split(pkg)
	if !strings.HasSuffix(base, "test") {
		return false
	}
	return strings.HasPrefix(parent, "core/") && parent != "core/" || base == path.Base(parent)+"test"
}

// forbidden returns why one package may not import another, and the empty
// string if it may.
func forbidden(from, to string) string {
	source, known := roomOf(from)
	target, knownTarget := roomOf(to)
	if !known || !knownTarget {
		return "" // checkRoomsExist complains of the package itself
	}
	if target.name != "floor" && (unitOf(from) == unitOf(to) || slices.Contains(source.may, target.name)) {
		return ""
	}
	for _, edge := range mayNot {
		if edge.to == target.name && (edge.from == source.name || edge.from == "") {
			return edge.why
		}
	}
	return source.why
}
