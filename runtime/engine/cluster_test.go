package engine

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hyperscale/core/plan"
	"hyperscale/core/workflow/keyspace"
	"hyperscale/runtime/protocol/hostile/redis/redistest"
)

// forgets makes the nodes forget their data and what they have counted.
func forgets(all []*redistest.Server) {
	for _, s := range all {
		s.Ask("FLUSHALL")
		s.Ask("CONFIG", "RESETSTAT")
	}
}

// settled is what all nodes have counted, and each of them.
func settled(all []*redistest.Server) (sum uint64, each []uint64) {
	for _, s := range all {
		n := s.Settled()
		sum, each = sum+n, append(each, n)
	}
	return sum, each
}

// Commands go to the node that has their keys: the nodes count what was sent, and none says MOVED.
func TestCommandsOfACluster(t *testing.T) {
	all := redistest.StartCluster(t, 3)
	for _, vus := range []uint64{1, 64} {
		for _, version := range []int{2, 3} {
			t.Run(fmt.Sprint(vus, "/RESP", version), func(t *testing.T) {
				forgets(all)
				w := loadFile(t, all[0].URL(), fmt.Sprintf(clustered, version, vus))
				r := run(t, context.Background(), Config{Workflow: w, VUs: vus, Duration: time.Minute, Timeout: 30 * time.Second})
				sent := uint64(0)
				for _, got := range r.Stats.Steps {
					sent += measured(got)[plan.MeasureCommands].Count
					if got.Failed+got.TimedOut+got.Cancelled > 0 || got.Started != got.OK {
						t.Errorf("%s: ok %d of %d: %v", got.Name, got.OK, got.Started, got.Errors)
					}
				}
				called, each := settled(all)
				if sent != called || sent != vus*10*9 {
					t.Errorf("sent %d commands, the nodes called %v, want %d", sent, each, vus*10*9)
				}
				for i, n := range each {
					if n == 0 {
						t.Errorf("node %d was asked nothing: %v", i, each)
					}
				}
			})
		}
	}
}

const clustered = `
r = redis.client("TARGET", protocol = %d, cluster = True)
def visit(vu):
    key = "v:%%d:%%d" %% (vu.id, vu.iteration)
    vu.redis.command(r, "SET", key, 7)
    got = vu.redis.command(r, "GET", key)
    expect.equal(got.json(), "7")
    return vu.redis.pipeline(r, [["SET", "{%%s}.a" %% key, 1], ["MGET", "{%%s}.a" %% key, "{%%s}.b" %% key]], name = "mix")
workflow(name = "test", vu_iterations = 10, vus = %d, duration = "60s", steps = [
    step("fixed", redis.command(r, "SET", "fixed", "k1")),
    step("read", redis.command(r, "GET", "fixed"), extract = {"k": json_path("$")}),
    step("filled", redis.pipeline(r, [["INCR", "{${k}}.n"], ["EXPIRE", "{${k}}.n", 60]])),
    step("ping", redis.command(r, "PING")),
    step(visit),
])`

// A node that does not have the key any more fails the operation as moved, and the layout is learnt anew:
// nothing is sent twice, and the next operation goes to the right node.
func TestMovedSlots(t *testing.T) {
	all := redistest.StartCluster(t, 3)
	gate := redistest.Start(t)
	slot := keyspace.Slot("k")
	at := slot * 3 / keyspace.Slots
	for _, vus := range []uint64{1, 64} {
		forgets(all)
		gate.Ask("FLUSHALL")
		at = (at + 1) % 3
		w := loadFile(t, all[0].URL(), fmt.Sprintf(moving, gate.URL(), vus))
		done := make(chan struct{})
		go func() { // the slot moves while all users wait
			defer close(done)
			for gate.Ask("LLEN", "ready") != fmt.Sprint(":", vus) {
				time.Sleep(time.Millisecond)
			}
			redistest.Give(all, slot, at)
			for range vus {
				gate.Ask("RPUSH", "go", "1")
			}
		}()
		r := run(t, context.Background(), Config{Workflow: w, VUs: vus, Duration: time.Minute, Timeout: 30 * time.Second})
		<-done
		sent := uint64(0)
		for _, got := range r.Stats.Steps {
			name := strings.TrimPrefix(got.Name, "visit/")
			if name == "before" || name == "moves" || name == "behind" {
				sent += measured(got)[plan.MeasureCommands].Count
			}
			told := kinds(got)["moved"]
			if got.OK+told != vus || got.Failed != told || told > 0 && name != "moves" || name == "moves" && told == 0 {
				t.Errorf("%s: ok %d of %d: %v", got.Name, got.OK, got.Started, got.Errors)
			}
		}
		if called, each := settled(all); sent != called || sent != 3*vus {
			t.Errorf("sent %d commands, the nodes called %v, want %d", sent, each, 3*vus)
		}
	}
}

const moving = `
r = redis.client("TARGET", cluster = True)
gate = "%s"
def visit(vu):
    vu.redis.command(r, "GET", "k", name = "before")
    vu.redis.command(gate, "LPUSH", "ready", 1, name = "ready")
    vu.redis.command(gate, "BLPOP", "go", 0, name = "wait")
    vu.redis.command(r, "GET", "k", name = "moves")
    return vu.redis.command(r, "GET", "k", name = "behind")
workflow(name = "test", vu_iterations = 1, vus = %d, duration = "60s", steps = [step(visit)])`

// A node that has left the cluster loses the connections that users share, while the run goes on.
func TestNodesThatLeaveACluster(t *testing.T) {
	t.Parallel()
	all := redistest.StartCluster(t, 3)
	gate := redistest.Start(t)
	leaves := redistest.Join(t, all, 1)[0]
	slot := keyspace.Slot("k")
	redistest.Give(append(all, leaves), slot, len(all))
	const vus = 16
	w := loadFile(t, all[0].URL(), fmt.Sprintf(leaving, gate.URL(), vus))
	held, left := 0, false
	done := make(chan struct{})
	wait := func(list string) {
		for gate.Ask("LLEN", list) != fmt.Sprint(":", vus) {
			time.Sleep(time.Millisecond)
		}
	}
	go func() {
		defer close(done)
		wait("ready")
		held = leaves.Clients() - 1
		redistest.Give(append(all, leaves), slot, slot*3/keyspace.Slots)
		for range vus {
			gate.Ask("RPUSH", "go", "1")
		}
		wait("moved")
		for until := time.Now().Add(10 * time.Second); !left && time.Now().Before(until); time.Sleep(time.Millisecond) {
			left = leaves.Clients() == 1
		}
		for range vus {
			gate.Ask("RPUSH", "end", "1")
		}
	}()
	r := run(t, context.Background(), Config{Workflow: w, VUs: vus, Duration: time.Minute, Timeout: 30 * time.Second})
	<-done
	for _, got := range r.Stats.Steps {
		if got.Failed != kinds(got)["moved"] || got.TimedOut+got.Cancelled > 0 {
			t.Errorf("%s: ok %d of %d: %v", got.Name, got.OK, got.Started, got.Errors)
		}
	}
	if held < 1 || held > 4 || !left {
		t.Errorf("the node that left had %d connections before, and %d while the run went on", held, leaves.Clients()-1)
	}
}

const leaving = `
r = redis.client("TARGET", cluster = True, connections = 4)
gate = "%s"
def visit(vu):
    vu.redis.command(r, "GET", "k", name = "before")
    vu.redis.command(gate, "LPUSH", "ready", 1, name = "ready")
    vu.redis.command(gate, "BLPOP", "go", 0, name = "wait")
    vu.redis.command(r, "GET", "k", name = "moves")
    vu.redis.command(r, "GET", "k", name = "behind")
    vu.redis.command(gate, "LPUSH", "moved", 1, name = "moved")
    return vu.redis.command(gate, "BLPOP", "end", 0, name = "end")
workflow(name = "test", vu_iterations = 1, vus = %d, duration = "60s", steps = [step(visit)])`

// An operation follows redirects as far as its client says: MOVED to the node that has the slot, ASK, behind
// ASKING, to the one that takes it over. Each command counts, and one that follows none fails as moved.
func TestRedirectsOfACluster(t *testing.T) {
	t.Parallel()
	all := redistest.StartCluster(t, 3)
	const users = 8
	slot := keyspace.Slot("{a}")
	from, to := slot*3/keyspace.Slots, (slot*3/keyspace.Slots+1)%3
	moved := keyspace.Slot("b")
	all[from].Ask("SET", "{a}.here", "1")
	all[from].Ask("SET", "{a}.there", "1")
	redistest.Migrate(all, slot, from, to)
	redistest.Carry(all, "{a}.there", from, to)
	for i, tt := range []struct {
		client, ask           string
		commands, asked, hops uint64 // of one operation
		kind                  string
	}{
		{ask: `command(r, "GET", "{a}.here")`, client: "redirects = 1", commands: 1},
		{ask: `command(r, "GET", "{a}.there")`, client: "redirects = 1", commands: 3, asked: 1, hops: 1},
		{ask: `pipeline(r, [["GET", "{a}.there"]])`, client: "redirects = 1", commands: 3, asked: 1, hops: 1},
		{ask: `command(r, "INCR", "{a}.new")`, client: "redirects = 5", commands: 3, asked: 1, hops: 1},
		{ask: `command(r, "GET", "{a}.there")`, client: "redirects = 0", commands: 1, kind: "moved"},
		{ask: `command(r, "GET", "{a}.there")`, client: "protocol = 3", commands: 1, kind: "moved"},
		{ask: `pipeline(r, [["GET", "{a}.here"], ["GET", "{a}.there"]])`, client: "redirects = 1", commands: 2, kind: "moved"},
		{ask: `command(r, "MGET", "{a}.here", "{a}.there")`, client: "redirects = 1", commands: 1, kind: "server TRYAGAIN"},
	} {
		for _, s := range all {
			s.Ask("CONFIG", "RESETSTAT")
		}
		w := loadFile(t, all[0].URL(), fmt.Sprintf("r = redis.client(\"TARGET\", cluster = True, %s)\nworkflow(name = \"test\", vu_iterations = 4, vus = %d, duration = \"60s\", steps = [step(\"ask\", redis.%s)])", tt.client, users, tt.ask))
		got := run(t, context.Background(), Config{Workflow: w, VUs: users, Duration: time.Minute, Timeout: 30 * time.Second}).Stats.Steps[0]
		n := uint64(4 * users)
		calls, each := settled(all)
		m := measured(got)
		if sent := m[plan.MeasureCommands].Count; sent != calls || sent != n*tt.commands || m[plan.MeasureRedirects].Count != n*tt.hops {
			t.Errorf("%d: %s, %s: sent %d commands, the nodes called %v, want %d; %d redirects", i, tt.ask, tt.client, sent, each, n*tt.commands, m[plan.MeasureRedirects].Count)
		}
		if asked := all[to].Calls()["ASKING"]; asked != n*tt.asked {
			t.Errorf("%d: %s: the node got ASKING %d times, want %d", i, tt.ask, asked, n*tt.asked)
		}
		if tt.kind == "" && got.OK != n || tt.kind != "" && (kinds(got)[tt.kind] != n || got.Failed != n) {
			t.Errorf("%d: %s, %s: ok %d of %d: %v, want %q", i, tt.ask, tt.client, got.OK, got.Started, got.Errors, tt.kind)
		}
	}
	forgetsMoves(t, all, moved)
}

// forgetsMoves moves a slot between two operations of each user: those that follow find it.
func forgetsMoves(t *testing.T, all []*redistest.Server, slot int) {
	t.Helper()
	const users = 8
	gate := redistest.Start(t)
	for _, s := range all {
		s.Ask("CONFIG", "RESETSTAT")
	}
	w := loadFile(t, all[0].URL(), strings.Replace(strings.ReplaceAll(fmt.Sprintf(moving, gate.URL(), users), `"k"`, `"b"`), "cluster = True", "cluster = True, redirects = 2", 1))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for gate.Ask("LLEN", "ready") != fmt.Sprint(":", users) {
			time.Sleep(time.Millisecond)
		}
		redistest.Give(all, slot, (slot*3/keyspace.Slots+1)%3)
		for range users {
			gate.Ask("RPUSH", "go", "1")
		}
	}()
	r := run(t, context.Background(), Config{Workflow: w, VUs: users, Duration: time.Minute, Timeout: 30 * time.Second})
	<-done
	var sent, hops uint64
	for _, got := range r.Stats.Steps {
		if name := strings.TrimPrefix(got.Name, "visit/"); name == "before" || name == "moves" || name == "behind" {
			sent, hops = sent+measured(got)[plan.MeasureCommands].Count, hops+measured(got)[plan.MeasureRedirects].Count
		}
		if got.OK != got.Started || got.OK != users {
			t.Errorf("%s: ok %d of %d: %v", got.Name, got.OK, got.Started, got.Errors)
		}
	}
	if called, each := settled(all); hops == 0 || hops > users || sent != 3*users+hops || called != sent {
		t.Errorf("%d redirects, sent %d commands, the nodes called %v", hops, sent, each)
	}
}

// Replicas answer what only reads, in turn, and masters the rest.
func TestReadsOfReplicas(t *testing.T) {
	t.Parallel()
	all := redistest.StartCluster(t, 3)
	copies := redistest.Copy(t, all)
	const users = 8
	for _, from := range []string{"master", "replica"} {
		for _, s := range append(copies, all...) {
			s.Ask("CONFIG", "RESETSTAT")
		}
		w := loadFile(t, all[0].URL(), fmt.Sprintf(replicated, from, users))
		r := run(t, context.Background(), Config{Workflow: w, VUs: users, Duration: time.Minute, Timeout: 30 * time.Second})
		var sent, read uint64
		for _, got := range r.Stats.Steps {
			sent, read = sent+measured(got)[plan.MeasureCommands].Count, read+measured(got)[plan.MeasureReplicaCommands].Count
			if got.OK != got.Started {
				t.Errorf("%s: ok %d of %d: %v", got.Name, got.OK, got.Started, got.Errors)
			}
		}
		masters, _ := answeredBy(all)
		replicas, each := answeredBy(copies)
		want := uint64(0)
		if from == "replica" {
			want = users * 5 * 5
		}
		if read != want || replicas != want || sent != masters+replicas || sent != users*5*8 {
			t.Errorf("%s: sent %d commands, of them %d to replicas, want %d; the masters called %d, the replicas %v", from, sent, read, want, masters, each)
		}
	}
}

// answeredBy is what the nodes have counted of a test's commands, without those of replication. All have answers.
func answeredBy(all []*redistest.Server) (sum uint64, each []uint64) {
	for _, s := range all {
		n := uint64(0)
		for name, calls := range s.Calls() {
			if name == "GET" || name == "MGET" || name == "EXISTS" || name == "STRLEN" || name == "GETDEL" || name == "PUBLISH" {
				n += calls
			}
		}
		sum, each = sum+n, append(each, n)
	}
	return sum, each
}

const replicated = `
m = redis.client("TARGET", cluster = True, read_from = "master")
r = redis.client("TARGET", cluster = True, read_from = "%s")
def visit(vu):
    key = "v:%%d:%%d" %% (vu.id, vu.iteration)
    vu.redis.command(r, "GET", key)
    vu.redis.command(m, "GET", key, name = "master")
    vu.redis.command(r, "GETDEL", key)
    vu.redis.pipeline(r, [["STRLEN", "{%%s}.a" %% key], ["MGET", "{%%s}.a" %% key, "{%%s}.b" %% key]], name = "mix")
    vu.redis.command(r, "PUBLISH", "c", "m")
    return vu.redis.command(r, "EXISTS", key)
workflow(name = "test", vu_iterations = 5, vus = %d, duration = "60s", steps = [step("fixed", redis.command(r, "GET", "fixed")), step(visit)])`

// KEYSPACE-3: a server agrees on which commands only read.
func TestWhatOnlyReads(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	reads := 0
	for _, name := range strings.Split(s.Ask("COMMAND", "LIST"), "\n") {
		words := []string{strings.ToUpper(name), "STREAMS", "1", "k", "k", "k"}
		info := strings.Split(s.Ask("COMMAND", "INFO", name), "\n")
		if !keyspace.Reads(words) {
			continue
		}
		if reads++; slices.Contains(info, "+write") {
			t.Errorf("%s writes", name)
		}
	}
	if reads < 70 {
		t.Errorf("%d commands read", reads)
	}
}

// Keys with values may turn out to belong to two slots: such an operation is not sent. A server that is
// no node of a cluster says so.
func TestWrongOperationsOfACluster(t *testing.T) {
	all := redistest.StartCluster(t, 3)
	alone := redistest.Start(t)
	var b bytes.Buffer
	w := loadFile(t, all[0].URL(), fmt.Sprintf(`
r = redis.client("TARGET", cluster = True)
workflow(name = "test", iterations = 1, vus = 1, duration = "60s", steps = [
    step("first", redis.command(r, "SET", "x", "1")),
    step("next", redis.command(r, "GET", "x"), extract = {"k": json_path("$")}),
    step("two", redis.command(r, "MGET", "a${k}", "b${k}")),
    step("told", redis.command(r, "LPUSH", "x", "1")),
    step("alone", redis.command(redis.client(%q, cluster = True), "GET", "k")),
])`, alone.URL()))
	r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 30 * time.Second, Debug: &b})
	for i, want := range []string{"", "", "value", "server WRONGTYPE", "server ERR"} {
		got := r.Stats.Steps[i]
		if want == "" && got.OK != 1 || want != "" && (kinds(got)[want] != 1 || got.Failed != 1) {
			t.Errorf("%s: ok %d: %v, want %q", got.Name, got.OK, got.Errors, want)
		}
	}
	if two := fmt.Sprint(r.Stats.Steps[2].Errors); !strings.Contains(two, "CROSSSLOT") || measured(r.Stats.Steps[2])[plan.MeasureCommands].Count != 0 {
		t.Error(two)
	}
	if !strings.Contains(b.String(), "> CLUSTER SLOTS") || !strings.Contains(b.String(), "cluster support disabled") {
		t.Error(b.String())
	}
}

// A node dies, and others have its slots: the operation that meets it fails, those behind it find the new node, also
// if the dead one is the one that the URL names.
func TestANodeOfAClusterDies(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"another", "the first"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := redistest.StartCluster(t, 3)
			gate := redistest.Start(t)
			dies := redistest.Join(t, all, 1)[0]
			slot := keyspace.Slot("k")
			redistest.Give(append(all, dies), slot, len(all))
			first := all[0]
			if name == "the first" {
				first = dies
			}
			w := loadFile(t, first.URL(), fmt.Sprintf(dying, gate.URL()))
			done := make(chan struct{})
			go func() {
				defer close(done)
				for gate.Ask("LLEN", "ready") != ":1" {
					time.Sleep(time.Millisecond)
				}
				dies.Kill()
				redistest.Give(all, slot, 0)
				gate.Ask("RPUSH", "go", "1")
			}()
			r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 30 * time.Second})
			<-done
			steps := byName(r.Stats.Steps)
			if dead := steps["dead"]; dead.Failed != dead.Started || dead.Started != 1 {
				t.Errorf("dead: ok %d of %d: %v", dead.OK, dead.Started, dead.Errors)
			}
			if behind := steps["behind"]; behind.OK != 1 || behind.Started != 1 {
				t.Errorf("behind: ok %d of %d: %v", behind.OK, behind.Started, behind.Errors)
			}
		})
	}
}

const dying = `
r = redis.client("TARGET", cluster = True)
gate = "%s"
def visit(vu):
    vu.redis.command(r, "GET", "k", name = "before")
    vu.redis.command(gate, "LPUSH", "ready", 1, name = "ready")
    vu.redis.command(gate, "BLPOP", "go", 0, name = "wait")
    vu.redis.command(r, "GET", "k", name = "dead")
    return vu.redis.command(r, "GET", "k", name = "behind")
workflow(name = "test", vu_iterations = 1, vus = 1, duration = "60s", steps = [step("visit", visit)])`
