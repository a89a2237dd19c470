package lines

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/outputstest/vendors/vendorstest"
	"hyperscale/runtime/protocol/hostile/hostiletest"
)

// need skips a test whose program this machine lacks; in CI it may not be absent.
func need(t testing.TB, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil && os.Getenv("HYPERSCALE_CI") == "" {
		t.Skip("SKIPPED: " + program + " is not installed")
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func start(t testing.TB, address string, child *exec.Cmd) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	child.Stdout, child.Stderr = log, log
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = child.Process.Kill(); _ = child.Wait() })
	for deadline := time.Now().Add(60 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if c, err := net.Dial("tcp", address); err == nil {
			_ = c.Close()
			return
		}
	}
	said, _ := os.ReadFile(log.Name())
	t.Fatalf("%s does not answer: %s", child.Path, said)
}

func open(t testing.TB, k outputs.Kind, place string) outputs.Sink {
	t.Helper()
	s, err := outputs.Parse(&k, place)
	if err != nil {
		t.Fatal(err)
	}
	sink, err := k.Open(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sink.Close)
	return sink
}

func deliver(t testing.TB, s outputs.Sink, rows ...outputs.Row) outputs.Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return s.Deliver(ctx, outputs.Batch{Number: 1, Try: 1, Rows: rows})
}

// Whisper has each value at its time, whatever the names are, and the same one after a repeated batch.
func TestGraphiteAgainstCarbon(t *testing.T) {
	carbon, fetch := need(t, "carbon-cache"), need(t, "whisper-fetch")
	folder := t.TempDir()
	address := fmt.Sprintf("127.0.0.1:%d", hostiletest.FreePort(t))
	_, port, _ := net.SplitHostPort(address)
	config := fmt.Sprintf("[cache]\nUSER =\nSTORAGE_DIR = %[1]s\nLOCAL_DATA_DIR = %[1]s/whisper\nCONF_DIR = %[1]s\nLOG_DIR = %[1]s/log\nPID_DIR = %[1]s\nMAX_CREATES_PER_MINUTE = inf\nMAX_UPDATES_PER_SECOND = inf\nLINE_RECEIVER_INTERFACE = 127.0.0.1\nLINE_RECEIVER_PORT = %[2]s\nPICKLE_RECEIVER_INTERFACE = 127.0.0.1\nPICKLE_RECEIVER_PORT = %[3]d\nCACHE_QUERY_INTERFACE = 127.0.0.1\nCACHE_QUERY_PORT = %[4]d\nENABLE_LOGROTATION = False\nENABLE_TAGS = False\n", folder, port, hostiletest.FreePort(t), hostiletest.FreePort(t))
	for name, text := range map[string]string{"carbon.conf": config, "storage-schemas.conf": "[all]\npattern = .*\nretentions = 10s:1h\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	start(t, address, exec.Command(carbon, "--config="+folder+"/carbon.conf", "--nodaemon", "start"))
	s := open(t, Graphite(), address)
	if err := s.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	hostile := "a.b c;d=é\n../../x"
	now := time.Now().Truncate(10 * time.Second).UTC()
	rows := make([]outputs.Row, 8)
	for i := range rows {
		rows[i] = window(uint64(i + 1))
		rows[i].Started, rows[i].From, rows[i].To = now.Add(-10*time.Minute), time.Duration(i)*10*time.Second, time.Duration(i+1)*10*time.Second
		rows[i].Step = hostile
	}
	for range 2 {
		if out := deliver(t, s, rows...); out.Verdict != outputs.VerdictDelivered {
			t.Fatalf("%+v", out)
		}
	}
	file := filepath.Join(folder, "whisper", "hyperscale", "checkout%2Estar", whole, "buy", Node(hostile), "requests", "started.wsp")
	var values string
	for range 100 {
		text, err := exec.Command(fetch, "--json", "--drop=nulls", fmt.Sprintf("--from=%d", now.Add(-10*time.Minute).Unix()), fmt.Sprintf("--until=%d", now.Unix()), file).Output()
		var got struct{ Values []float64 }
		if err == nil && json.Unmarshal(text, &got) == nil {
			if values = fmt.Sprint(got.Values); len(got.Values) == 8 {
				break
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	if values != "[1 2 3 4 5 6 7 8]" {
		found, _ := filepath.Glob(folder + "/whisper/*/*/*/*/*/*")
		t.Fatalf("whisper has %s, files %v", values, found)
	}
	text, err := exec.Command(fetch, "--json", "--drop=nulls", fmt.Sprintf("--from=%d", now.Add(-10*time.Minute).Unix()), strings.Replace(file, "requests/started", "latency/p99", 1)).Output()
	if err != nil || !strings.Contains(string(text), "0.02") {
		t.Fatalf("%s %v", text, err)
	}
	if all, _ := filepath.Glob(folder + "/whisper/*"); len(all) != 1 && len(all) != 2 { // and carbon's own
		t.Fatalf("roots %v", all)
	}
}

// A connection that breaks, and one that the server does not end, say nothing of the batch.
func TestGraphiteWithoutAnEnd(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	mode := make(chan string, 1)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			switch <-mode {
			case "break":
				_ = c.(*net.TCPConn).SetLinger(0) // the end is a reset
				_, _ = io.ReadFull(c, make([]byte, 10))
				_ = c.Close()
			case "hang":
				_, _ = io.Copy(io.Discard, c)
				time.AfterFunc(time.Second, func() { _ = c.Close() })
			}
		}
	}()
	s := open(t, Graphite(), l.Addr().String())
	for _, m := range []string{"break", "hang"} {
		mode <- m
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		out := s.Deliver(ctx, outputs.Batch{Number: 1, Try: 1, Rows: []outputs.Row{window(3)}})
		cancel()
		if out.Verdict != outputs.VerdictUnclear {
			t.Fatalf("%s: %+v", m, out)
		}
	}
	_ = l.Close()
	if out := deliver(t, s, window(3)); out.Verdict != outputs.VerdictAgain {
		t.Fatalf("%+v", out)
	}
	if err := s.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "correct the address") {
		t.Fatal(err)
	}
}

// read is what a parser of another hand made of a line.
type read struct {
	Name     string
	Value    float64
	Labels   map[string]string
	Gauge    bool
	Relative bool
}

func page(t testing.TB, address string) (all struct {
	Read    []read
	Longest int
	Bad     []string
}) {
	t.Helper()
	a, err := http.Get("http://" + address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Body.Close() }()
	if err := json.NewDecoder(a.Body).Decode(&all); err != nil {
		t.Fatal(err)
	}
	return all
}

// Each line is read as it was meant, by the parser of statsd_exporter.
func TestTagsOfStatsD(t *testing.T) {
	for _, k := range []outputs.Kind{DogStatsD(), TelegrafStatsD()} {
		t.Run(k.Name, func(t *testing.T) {
			args := []string{"influxdb"}
			if k.Name == "dogstatsd" {
				args = []string{"dogstatsd", filepath.Join(t.TempDir(), "socket")}
			}
			addresses := vendorstest.Start(t, "statsd", args...)
			places := []string{addresses[0]}
			if len(args) > 1 {
				places = append(places, "unix://"+args[1])
			}
			times := float64(len(places))
			var rows []outputs.Row
			for i := range 40 {
				r := window(uint64(i + 1))
				r.Step = fmt.Sprintf("a:b|c,d=%d #@x", i)
				r.Tags = []message.Tag{{Name: "team", Value: "größe"}}
				rows = append(rows, r)
			}
			for _, place := range places {
				s := open(t, k, place)
				if err := s.Check(t.Context()); err != nil {
					t.Fatal(err)
				}
				if out := deliver(t, s, rows...); out.Verdict != outputs.VerdictDelivered {
					t.Fatalf("%+v", out)
				}
			}
			got := page(t, addresses[1])
			sum, steps := 0.0, map[string]bool{}
			for _, r := range got.Read {
				if r.Relative {
					t.Fatalf("%+v adds to what is there", r)
				}
				if r.Name != "hyperscale.requests.started" {
					continue
				}
				steps[r.Labels["step"]] = true
				sum += r.Value
				if r.Gauge || r.Labels["team"] != "größe" || r.Labels["workflow"] != "buy" || r.Labels["run"] != "J" {
					t.Fatalf("%+v", r)
				}
			}
			if sum != 820*times || len(steps) != 40 || len(got.Bad) != 0 || got.Longest > datagramMax || got.Longest < datagramMax/2 {
				t.Fatalf("%v requests of %d steps, %d bad lines %q, %d bytes", sum, len(steps), len(got.Bad), got.Bad, got.Longest)
			}
		})
	}
}

// A row whose names do not fit a datagram is rejected alone, and one that the machine rejects is lost.
func TestDatagramsThatDoNotLeave(t *testing.T) {
	addresses := vendorstest.Start(t, "statsd", "dogstatsd")
	s := open(t, DogStatsD(), addresses[0])
	wide := window(5)
	for i := range 16 {
		wide.Tags = append(wide.Tags, message.Tag{Name: fmt.Sprint("tag", i), Value: strings.Repeat("=", 64)})
	}
	out := deliver(t, s, window(1), wide, window(2))
	if out.Verdict != outputs.VerdictRejected || fmt.Sprint(out.Rows) != "[1]" {
		t.Fatalf("%+v", out)
	}
	sum := 0.0
	for _, r := range page(t, addresses[1]).Read {
		if r.Name == "hyperscale.requests.started" {
			sum += r.Value
		}
	}
	if sum != 3 {
		t.Fatalf("%v requests", sum)
	}
	closed := open(t, StatsD(), fmt.Sprintf("127.0.0.1:%d", hostiletest.FreePort(t)))
	if out := deliver(t, closed, window(1)); out.Verdict != outputs.VerdictAgain || !strings.Contains(out.Why, "refused") {
		t.Fatalf("%+v", out)
	}
}

// statsd is the server from npm, in a folder below out.
func statsd(t testing.TB) string {
	t.Helper()
	npm := need(t, "npm")
	folder := filepath.Join("..", "..", "..", "out", "vendors", "_npm")
	file := filepath.Join(folder, "node_modules", "statsd", "stats.js")
	if _, err := os.Stat(file); err != nil {
		text, err := exec.Command(npm, "install", "--prefix", folder, "--no-audit", "--no-fund", "--ignore-scripts", "statsd@0.9.0").CombinedOutput()
		if err != nil && os.Getenv("HYPERSCALE_CI") == "" {
			t.Skipf("SKIPPED: npm cannot install statsd: %s", text)
		}
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	return file
}

// StatsD's own console has the counters' sums and the gauges' newest values.
func TestStatsD(t *testing.T) {
	node, file := need(t, "node"), statsd(t)
	udp, tcp := hostiletest.FreePort(t), hostiletest.FreePort(t)
	config := filepath.Join(t.TempDir(), "config.js")
	text := fmt.Sprintf("{port: %d, address: '127.0.0.1', mgmt_port: %d, mgmt_address: '127.0.0.1', flushInterval: 3600000, backends: []}", udp, tcp)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	console := fmt.Sprintf("127.0.0.1:%d", tcp)
	start(t, console, exec.Command(node, file, config))
	s := open(t, StatsD(), fmt.Sprintf("127.0.0.1:%d", udp))
	for i := range 3 {
		r := window(uint64(i + 1))
		r.Step = "a:b|c d/é"
		if out := deliver(t, s, r); out.Verdict != outputs.VerdictDelivered {
			t.Fatalf("%+v", out)
		}
	}
	said := func(command string) string {
		c, err := net.Dial("tcp", console)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		_, _ = fmt.Fprintln(c, command)
		var b strings.Builder
		in := bufio.NewScanner(c)
		for in.Scan() && in.Text() != "END" {
			b.WriteString(in.Text() + "\n")
		}
		return b.String()
	}
	// It takes the % out of names.
	counters, gauges := said("counters"), said("gauges")
	name := "hyperscale.checkout2Estar._all.buy.a3Ab7Cc20d2FC3A9."
	for _, want := range []string{"'" + name + "requests.started': 6", "'" + name + "responses.200': 6", "'statsd.bad_lines_seen': 0"} {
		if !strings.Contains(counters, want) {
			t.Errorf("no %s in %s", want, counters)
		}
	}
	for _, want := range []string{"'" + name + "latency.p99': 0.02", "'" + name + "users.active': 7"} {
		if !strings.Contains(gauges, want) {
			t.Errorf("no %s in %s", want, gauges)
		}
	}
}
