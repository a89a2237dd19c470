package engine

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/workflow"
	"hyperscale/runtime/protocol/hostile/redis/redistest"
)

// What a run counts is what the server counted: the commands that it called and those that it
// rejected, hits and misses.
func TestCommandsAgreeWithTheServer(t *testing.T) {
	t.Parallel()
	s := redistest.Secure(t)
	for _, vus := range []uint64{1, 64, 500} {
		for name, tt := range map[string]struct {
			ask                         string
			commands, hits, misses, bad uint64 // of an operation
			kind                        string
		}{
			"get":      {`command(r, "GET", "there")`, 1, 1, 0, 0, ""},
			"miss":     {`command(r, "GET", "gone")`, 1, 0, 1, 0, ""},
			"pipeline": {`pipeline(r, [["SET", "n", 1], ["INCR", "n"], ["MGET", "there", "gone", "n"]])`, 3, 2, 1, 0, ""},
			"multi":    {`pipeline(r, [["MULTI"], ["SET", "a", b"\x00\xff"], ["GET", "a"], ["EXEC"]])`, 4, 1, 0, 0, ""},
			"failure":  {`pipeline(r, [["GET", "there"], ["LPUSH", "there", "x"]])`, 2, 1, 0, 1, "server WRONGTYPE"},
			"rejected": {`command(r, "GET")`, 1, 0, 0, 1, "server ERR"},
		} {
			for _, client := range []string{`"` + s.URL() + `"`, `redis.client("` + s.SecureURL() + `", protocol = 3, database = 1)`} {
				if vus > 64 && strings.Contains(client, "rediss") {
					continue // handshakes would take seconds
				}
				t.Run(fmt.Sprintf("%s/%d/%v", name, vus, strings.Contains(client, "rediss")), func(t *testing.T) {
					s.Ask("FLUSHALL")
					s.Ask("SET", "there", "x")
					s.Ask("SELECT", "1")
					s.Ask("SET", "there", "x")
					s.Ask("SELECT", "0")
					s.Ask("CONFIG", "RESETSTAT")
					n := 2 * vus
					w := loadFile(t, "", fmt.Sprintf("r = %s\nworkflow(name = \"test\", iterations = %d, vus = %d, duration = \"60s\", %s, steps = [step(\"ask\", redis.%s)])", client, n, vus, anyTLS, tt.ask))
					r := run(t, context.Background(), Config{Workflow: w, VUs: vus, Duration: time.Minute, Timeout: 30 * time.Second})
					got := r.Stats.Steps[0]
					if got.OK != n*(1-tt.bad) || got.Started != n || got.Sent != n || kinds(got)[tt.kind] != n*tt.bad {
						t.Fatalf("ok %d of %d, sent %d: %v", got.OK, got.Started, got.Sent, got.Errors)
					}
					all := measured(got)
					if sent, called := all[plan.MeasureCommands].Count, s.Settled(); sent != called || sent != n*tt.commands {
						t.Errorf("sent %d commands, the server called %d, want %d: %v", sent, called, n*tt.commands, s.Calls())
					}
					if hits, misses := all[plan.MeasureHits].Count, all[plan.MeasureMisses].Count; hits != n*tt.hits && name != "multi" || misses != n*tt.misses {
						t.Errorf("%d hits and %d misses, want %d and %d", hits, misses, n*tt.hits, n*tt.misses)
					}
					if len(got.Statuses) > 0 {
						t.Errorf("statuses %v: Redis has none", got.Statuses)
					}
				})
			}
		}
	}
}

// However a run ends, no command counts that the server did not get, and what it got counts.
func TestCommandsAgreeWhenARunBreaks(t *testing.T) {
	load := func(t *testing.T, s *redistest.Server, vus int) *workflow.Workflow {
		s.Ask("CONFIG", "RESETSTAT")
		return loadFile(t, s.URL(), fmt.Sprintf(`workflow(name = "test", vus = %d, duration = "60s", steps = [step("ask", redis.pipeline("TARGET", [["INCR", "n"], ["GET", "n"]]))])`, vus))
	}
	for _, vus := range []int{1, 64} {
		t.Run(fmt.Sprint("cancelled/", vus), func(t *testing.T) {
			s := redistest.Start(t)
			w := load(t, s, vus)
			ctx, cancel := context.WithCancel(context.Background())
			asked := make(chan struct{})
			go func() {
				defer close(asked)
				for s.Called() < 2000 {
					time.Sleep(time.Millisecond)
				}
				cancel()
			}()
			got := run(t, ctx, Config{Workflow: w, VUs: uint64(vus), Duration: time.Minute}).Stats.Steps[0]
			<-asked
			if sent, called := measured(got)[plan.MeasureCommands].Count, s.Settled(); sent != called || got.Failed > 0 {
				t.Errorf("sent %d commands, the server called %d; %d failed: %v", sent, called, got.Failed, got.Errors)
			}
		})
	}
	t.Run("timed out", func(t *testing.T) {
		s := redistest.Start(t)
		w := load(t, s, 16)
		s.Ask("CLIENT", "PAUSE", "400", "ALL")
		ctx, cancel := context.WithTimeout(context.Background(), 900*time.Millisecond)
		defer cancel()
		got := run(t, ctx, Config{Workflow: w, VUs: 16, Duration: time.Minute, Timeout: 50 * time.Millisecond}).Stats.Steps[0]
		// A server that was paused calls what its clients sent before they went.
		if sent, called := measured(got)[plan.MeasureCommands].Count, s.Settled(); sent < called || got.TimedOut < 16 || got.OK == 0 || sent-called > 2*got.TimedOut {
			t.Errorf("sent %d commands, the server called %d; %d ok, %d timed out", sent, called, got.OK, got.TimedOut)
		}
	})
	t.Run("killed", func(t *testing.T) {
		s := redistest.Start(t)
		ctx, cancel := context.WithCancel(context.Background())
		killed, ended := uint64(0), make(chan struct{})
		w := load(t, s, 8)
		go func() {
			defer close(ended)
			for range 20 {
				for s.Called() == 0 {
					time.Sleep(time.Millisecond)
				}
				n, _ := strconv.ParseUint(strings.TrimPrefix(s.Ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"), ":"), 10, 64)
				killed += n
				time.Sleep(5 * time.Millisecond)
			}
			cancel()
		}()
		got := run(t, ctx, Config{Workflow: w, VUs: 8, Duration: time.Minute}).Stats.Steps[0]
		<-ended
		sent, called := measured(got)[plan.MeasureCommands].Count, s.Settled()
		if sent < called || sent-called > 2*got.Failed || got.Failed > killed || got.Failed == 0 || got.TimedOut > 0 {
			t.Errorf("sent %d commands, the server called %d; %d failed of %d killed, %d timed out: %v", sent, called, got.Failed, killed, got.TimedOut, got.Errors)
		}
		for kind := range kinds(got) {
			if kind != "closed" && kind != "reset" {
				t.Errorf("%v", got.Errors)
			}
		}
	})
}

// An ACL user may do what the server lets it, with a password of a secret; another password fails
// before any operation, and stands nowhere.
func TestRedisUsers(t *testing.T) {
	s := redistest.Start(t, "--user", "default", "on", ">open", "~*", "+@all", "--user", "app", "on", ">geheim", "~app:*", "+get", "+set")
	s.Ask("AUTH", "open")
	s.Ask("CONFIG", "RESETSTAT")
	for _, version := range []int{2, 3} {
		for _, tt := range []struct {
			user, password, ask string
			kind                string
		}{
			{`user = "app", `, "geheim", `"SET", "app:1", "x"`, ""},
			{`user = "app", `, "geheim", `"SET", "other", "x"`, "server NOPERM"},
			{`user = "app", `, "falsch", `"SET", "app:1", "x"`, "auth"},
			{``, "open", `"GET", "other"`, ""},
			{``, "falsch", `"GET", "other"`, "auth"},
		} {
			text := fmt.Sprintf(`r = redis.client("%s", %spassword = secret("redis"), protocol = %d)
workflow(name = "test", vus = 1, iterations = 2, duration = "60s", steps = [step("ask", redis.command(r, %s))])`, s.URL(), tt.user, version, tt.ask)
			p, err := workflow.Load(message.Program{Main: "test.star", Files: []message.File{{Name: "test.star", Data: []byte(text)}}})
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Reveal([]message.Secret{{Name: "redis", Value: message.Sealed(tt.password)}}); err != nil {
				t.Fatal(err)
			}
			got := run(t, context.Background(), Config{Workflow: p.Workflow("test"), VUs: 1, Duration: time.Minute}).Stats.Steps[0]
			want := map[string]uint64{}
			if tt.kind != "" {
				want[tt.kind] = 2
			}
			if fmt.Sprint(kinds(got)) != fmt.Sprint(want) || got.OK != 2-want[tt.kind] {
				t.Errorf("protocol %d, %s%s: ok %d, %v, want %v", version, tt.user, tt.ask, got.OK, got.Errors, want)
			}
			if strings.Contains(fmt.Sprint(got), tt.password) && tt.password != "open" {
				t.Errorf("the result has the password in it: %v", got.Errors)
			}
		}
	}
}

// Answers become values of later steps, and values stand in commands as they are.
func TestRedisValues(t *testing.T) {
	s := redistest.Start(t)
	s.Ask("SET", "next", "k\r\n1 é")
	s.Ask("SET", "k:k\r\n1 é", "found")
	s.Ask("HSET", "h", "f", "1")
	w := loadFile(t, s.URL(), `
r = redis.client("TARGET", protocol = 3)
workflow(name = "test", vus = 1, iterations = 3, duration = "60s", steps = [
	step("next", redis.command(r, "GET", "next"), extract = {"key": json_path("$")}),
	step("get", redis.command(r, "GET", "k:${key}"), expect = [json_is("$", "found"), status(200)]),
	step("mix", redis.pipeline(r, [["GET", "k:${key}"], ["SET", "copy", "<${key}>"], ["GET", "$${key}"]]), expect = [json_is("$[0]", "found"), json_is("$[2]", None)]),
	step("map", redis.command(r, "HGETALL", "h"), expect = [json_is("$.f", "1")]),
	step("one", redis.pipeline(r, [["GET", "next"]]), expect = [json_is("$[0]", "k\r\n1 é")]),
])`)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute})
	for _, got := range r.Stats.Steps {
		if got.OK != 3 {
			t.Errorf("%s: ok %d: %v", got.Name, got.OK, got.Errors)
		}
	}
	if got := s.Ask("GET", "copy"); got != "<k\r\n1 é>" {
		t.Errorf("%q", got)
	}
	if s.Clients() > 2 {
		t.Errorf("%d connections: one user has one", s.Clients()-1)
	}
}

// Functions ask as steps do, on the same connection.
func TestRedisInFunctions(t *testing.T) {
	s := redistest.Start(t)
	s.Ask("CONFIG", "RESETSTAT")
	w := loadFile(t, s.URL(), `
r = redis.client("TARGET")

def visit(vu):
    key = "k%d-%d" % (vu.id, vu.iteration)
    for n in range(3):
        vu.redis.command(r, "SET", key, n)
    got = vu.redis.command(r, "GET", key)
    if got.json() != "2" or got.status != 200 or got.error:
        fail("got %s" % got.json())
    wrong = vu.redis.command(r, "LPUSH", key, "x")
    if wrong.status != 500 or "WRONGTYPE" not in wrong.error:
        fail("status %d, error %s" % (wrong.status, wrong.error))
    return vu.redis.pipeline(r, [["INCR", key], ["GET", key]], name = "mix", expect = [json_is("$[1]", "3")])

workflow(name = "test", vus = 4, iterations = 20, duration = "60s", steps = [step("visit", visit), step("ask", redis.command(r, "PING"))])`)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 4, Duration: time.Minute})
	sent := uint64(0)
	rows := map[string]message.StepStats{}
	for _, got := range r.Stats.Steps {
		rows[got.Name] = got
		sent += measured(got)[plan.MeasureCommands].Count
	}
	if rows["visit"].OK != 20 || rows["ask"].OK != 20 || rows["visit/mix"].OK != 20 || rows["visit/SET"].OK != 60 || kinds(rows["visit/LPUSH"])["server WRONGTYPE"] != 20 {
		for name, got := range rows {
			t.Errorf("%s: ok %d: %v", name, got.OK, got.Errors)
		}
	}
	if called := s.Settled(); sent != called || sent != 20*8 {
		t.Errorf("sent %d commands, the server called %d", sent, called)
	}
	if total := s.Ask("INFO", "stats"); !strings.Contains(total, "total_connections_received:4\r\n") {
		t.Errorf("four users have more than four connections: %s", total)
	}
}

// The example runs as it is, and what it counts is what the server counted.
func TestRedisExample(t *testing.T) {
	text, err := os.ReadFile("../../examples/redis.star")
	if err != nil {
		t.Fatal(err)
	}
	s := redistest.Start(t)
	s.Ask("CONFIG", "RESETSTAT")
	p, err := workflow.Load(message.Program{Main: "redis.star", Files: []message.File{{Name: "redis.star", Data: text}}, Params: []message.Param{{Name: "target", Value: s.URL()}}})
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, context.Background(), Config{Workflow: p.Workflow("redis"), VUs: 5, Duration: 300 * time.Millisecond})
	sent := uint64(0)
	for _, got := range r.Stats.Steps {
		sent += measured(got)[plan.MeasureCommands].Count
		if got.OK == 0 || got.Failed+got.TimedOut > 0 {
			t.Errorf("%s: ok %d of %d: %v", got.Name, got.OK, got.Started, got.Errors)
		}
	}
	if called := s.Settled(); sent != called {
		t.Errorf("sent %d commands, the server called %d", sent, called)
	}
}

// Debug output shows operations and answers, without passwords.
func TestRedisDebug(t *testing.T) {
	s := redistest.Start(t)
	var b bytes.Buffer
	w := loadFile(t, s.URL(), `
r = redis.client("TARGET", protocol = 3)
workflow(name = "test", vus = 1, iterations = 1, duration = "60s", steps = [
	step("user", redis.pipeline(r, [["ACL", "SETUSER", "app", "on", ">geheim"], ["SET", "a b", "x\r\ny"]])),
	step("wrong", redis.command(r, "LPUSH", "a b", "x")),
])`)
	run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Debug: &b})
	for _, want := range []string{`> ACL SETUSER app on ***; SET "a b" "x\u000d\ny"`, `< ["OK","OK"]`, `> LPUSH "a b" x`, `< "WRONGTYPE `, "step wrong: failed, server WRONGTYPE: LPUSH: WRONGTYPE"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "geheim") {
		t.Error(b.String())
	}
}
