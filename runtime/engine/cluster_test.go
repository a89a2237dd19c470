package engine

import (
	"bytes"
	"context"
	"fmt"
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
	leaves := redistest.Join(t, all)
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
