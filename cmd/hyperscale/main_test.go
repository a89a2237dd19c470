package main

import (
	"context"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/examples"
	"hyperscale/runtime/report"
	"hyperscale/runtime/target"
)

// Most tests here wait for processes: more of them at once end earlier. -parallel wins.
func TestMain(m *testing.M) {
	if !slices.Contains([]string{"hyperscale", "loopback"}, filepath.Base(os.Args[0])) { // a command that a test starts has what the test says
		_ = os.Setenv("HYPERSCALE_HISTORY", "off") // no test writes into a person's home
	}
	_ = flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))) // the flag exists in each test binary
	testscript.Main(m, map[string]func(){"hyperscale": main, "loopback": loopback, "called": called})
}

// called runs hyperscale under the name that its first argument says.
func called() {
	os.Args = os.Args[1:]
	main()
}

// TestErrorsObeyNoTerminal: what stands in an error may be a server's answer or a file's name, and no terminal obeys it.
func TestErrorsObeyNoTerminal(t *testing.T) {
	var out, faults strings.Builder
	code := execute([]string{"validate", "no\x1b]0;such\x07.star"}, &out, &faults)
	if text := faults.String(); code != command.ExitUsage || !strings.Contains(text, "no·]0;such·.star") || strings.ContainsAny(text, "\x1b\x07") {
		t.Errorf("code %d: %q", code, text)
	}
}

// TestScripts runs commands as a person types them. In addition to testscript's own, scripts
// have
//
//	code N command...      run it, its exit code is N
//	target key=N...        start a target, its address is $TARGET, for WebSocket $SOCKET, over TCP $ECHO, over UDP $PACKETS
//	served N               wait until it has got that many requests
//	ports NAME...          sets each variable to a free loopback address
//	until TEXT command...  run it until its stdout has TEXT
//	examples               run every example against the target, briefly
//	accounts FILE [SLACK]  the result file adds up and agrees with the target: exactly,
//	                       or, with "cancelled", except for requests in flight
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata",
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			env.Values[serverKey] = new(*target.Server)
			env.Setenv("HYPERSCALE_HISTORY", "off")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code": expectCode, "target": serve, "served": served, "accounts": accounts, "ports": ports, "until": until, "examples": runExamples,
		},
	})
}

const serverKey = "target"

func expectCode(ts *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) < 2 {
		ts.Fatalf("usage: code N command...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if exit, ok := err.(interface{ ExitCode() int }); ok {
		got = strconv.Itoa(exit.ExitCode())
	} else {
		ts.Check(err)
	}
	if got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}

func serve(ts *testscript.TestScript, _ bool, args []string) {
	config := target.Default()
	config.Listen, config.TCP, config.UDP = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"
	for i := 0; i+1 < len(args); i += 2 {
		n, err := strconv.Atoi(args[i+1])
		ts.Check(err)
		switch args[i] {
		case "error-every":
			config.ErrorEvery = n
		case "close-every":
			config.CloseEvery = n
		case "stall-every":
			config.StallEvery = n
		case "latency-ms":
			config.Latency = time.Duration(n) * time.Millisecond
		default:
			ts.Fatalf("no option %s", args[i])
		}
	}
	server, err := target.Listen(config)
	ts.Check(err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx) }()
	ts.Defer(func() {
		cancel()
		ts.Check(<-done)
	})
	*ts.Value(serverKey).(**target.Server) = server
	ts.Setenv("TARGET", server.URL())
	ts.Setenv("ECHO", server.TCP())
	ts.Setenv("PACKETS", server.UDP())
	ts.Setenv("SOCKET", "ws"+strings.TrimPrefix(server.URL(), "http"))
}

func server(ts *testscript.TestScript) *target.Server { return *ts.Value(serverKey).(**target.Server) }

func served(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.ParseUint(args[0], 10, 64)
	ts.Check(err)
	for limit := time.Now().Add(30 * time.Second); server(ts).Stats().Requests < want; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			ts.Fatalf("the target has got %d requests in 30s, want %d", server(ts).Stats().Requests, want)
		}
	}
}

func accounts(ts *testscript.TestScript, _ bool, args []string) {
	var r report.Result
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &r))
	check := func(what string, t report.Totals) {
		if t.Started != t.OK+t.Failed+t.TimedOut+t.Cancelled {
			ts.Fatalf("%s does not add up: %+v", what, t)
		}
	}
	check("the whole", r.Totals)
	for _, w := range r.Workflows {
		check("workflow "+w.Name, w.Totals)
		for _, s := range w.Steps {
			check("step "+s.Name, s.Totals)
			if s.LatencyNS.Count != 0 && s.LatencyNS.P50 > s.LatencyNS.Max {
				ts.Fatalf("step %s: p50 %d is above max %d", s.Name, s.LatencyNS.P50, s.LatencyNS.Max)
			}
		}
	}
	for name, d := range r.Datacenters {
		var sum report.Totals
		for _, w := range d.Workers {
			sum.Add(w.Totals)
		}
		if sum != d.Totals {
			ts.Fatalf("datacenter %s did %+v, its workers %+v", name, d.Totals, sum)
		}
	}
	for _, t := range r.Thresholds { // of rates only: the table above covers the rest
		for _, s := range r.Workflows[0].Steps {
			if t.Of == "rate" && strings.HasPrefix(t.Expr, s.Name+".rate") && uint64(t.Value) != s.RateMilli {
				ts.Fatalf("%s is %d, the step says %d", t.Expr, t.Value, s.RateMilli)
			}
		}
	}
	var slack uint64
	if len(args) > 1 {
		slack = r.Totals.Cancelled
	}
	got := server(ts).Stats().Requests
	if got > r.Totals.Started || got < r.Totals.Started-slack {
		ts.Fatalf("the target counted %d requests, the result %+v", got, r.Totals)
	}
	if r.Totals.Started == 0 {
		ts.Fatalf("nothing was started")
	}
	ts.Logf("%d requests, both agree", got)
}

func ports(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range args {
		address, err := freeAddress()
		ts.Check(err)
		ts.Setenv(name, address)
	}
}

func until(ts *testscript.TestScript, _ bool, args []string) {
	for limit := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		err := ts.Exec(args[1], args[2:]...)
		if err == nil && strings.Contains(ts.ReadFile("stdout"), args[0]) {
			return
		}
		if time.Now().After(limit) {
			ts.Fatalf("no %q from %v within 30s: %v", args[0], args[1:], err)
		}
	}
}

func runExamples(ts *testscript.TestScript, _ bool, _ []string) {
	all, err := examples.Files.ReadDir(".")
	ts.Check(err)
	for _, e := range all {
		b, err := examples.Files.ReadFile(e.Name())
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs(e.Name()), b, 0o644))
	}
	for _, e := range all {
		file := ts.MkAbs(e.Name())
		if filepath.Ext(file) != ".star" || e.Name() == "ftp.star" || e.Name() == "grpc.star" || e.Name() == "kafka.star" || e.Name() == "mongodb.star" || e.Name() == "mqtt.star" || e.Name() == "amqp.star" || e.Name() == "nats.star" || e.Name() == "redis.star" || e.Name() == "sftp.star" || e.Name() == "smtp.star" || e.Name() == "sql.star" || e.Name() == "mysql.star" || e.Name() == "custom.star" || e.Name() == "http3.star" { // its server is another: runtime/engine runs it
			continue
		}
		address := ts.Getenv("TARGET")
		if b, err := examples.Files.ReadFile(e.Name()); err == nil && strings.Contains(string(b), "tcp.exchange") {
			address = ts.Getenv("ECHO")
		} else if err == nil && strings.Contains(string(b), "udp.exchange") {
			address = ts.Getenv("PACKETS")
		}
		before, out := server(ts).Stats(), ts.MkAbs("result.json")
		ts.Check(ts.Exec("hyperscale", "run", file, "--set", "target="+address, "--vus", "5", "--duration", "300ms", "--cores", "1", "--ui", "none", "--out", "json="+out))
		r, err := report.Read(out)
		ts.Check(err)
		want, after := counted(r), server(ts).Stats()
		if got := after.Messages - before.Messages; got != want.messages {
			ts.Fatalf("%s: the target counted %d messages, the result has %d under its names", e.Name(), got, want.messages)
		}
		if got := after.Requests - before.Requests; got != want.requests {
			ts.Fatalf("%s: the target counted %d requests, the result has %d under its names", e.Name(), got, want.requests)
		}
		for status, n := range before.Statuses { //lint:orderfree each by itself
			if after.Statuses[status] -= n; after.Statuses[status] == 0 {
				delete(after.Statuses, status)
			}
		}
		if !maps.Equal(after.Statuses, want.answers) {
			ts.Fatalf("%s: the target answered %v, the result has %v", e.Name(), after.Statuses, want.answers)
		}
	}
}

// left is what a run says that its target counted.
type left struct {
	requests uint64
	messages uint64 // of WebSocket; the upgrades of their connections are requests
	answers  map[string]uint64
}

// counted sums what left, over the names of all requests, and the answers by status.
func counted(r *report.Result) left {
	out := left{answers: map[string]uint64{}}
	for i := range r.Workflows {
		w := &r.Workflows[i]
		for _, s := range append(w.Leaves(), w.Beside...) {
			talked, talks := s.Measures["messages_sent"]
			out.messages += talked.Count
			if !talks {
				out.requests += s.Sent
			}
			for status, n := range s.Statuses { //lint:orderfree a sum
				out.answers[status] += n
				if talks {
					out.requests += n
				}
			}
		}
	}
	return out
}
