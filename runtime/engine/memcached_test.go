package engine

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"hyperscale/runtime/protocol/hostile/hostiletest"
)

// cached asks a memcached for its counters.
func cached(t *testing.T, c net.Conn, in *bufio.Reader) map[string]uint64 {
	t.Helper()
	if _, err := io.WriteString(c, "stats\r\n"); err != nil {
		t.Fatal(err)
	}
	out := map[string]uint64{}
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line == "END\r\n" {
			return out
		}
		if words := strings.Fields(line); len(words) == 3 {
			out[words[1]], _ = strconv.ParseUint(words[2], 10, 64) // the others are texts
		}
	}
}

// A server that others wrote counts what a run counts: commands, bytes and connections.
func TestTCPAgreesWithMemcached(t *testing.T) {
	program := hostiletest.Need(t, "memcached", "memcached")
	var c net.Conn
	var address string
	for try := 0; c == nil && try < 5; try++ { // the port may be taken before the server has it
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address = l.Addr().String()
		_, port, _ := strings.Cut(address, ":")
		_ = l.Close()
		hostiletest.Start(t, program, "-l", "127.0.0.1", "-p", port, "-U", "0", "-u", "root", "-t", "1")
		for until := time.Now().Add(5 * time.Second); c == nil && time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
			c, _ = net.Dial("tcp", address)
		}
	}
	if c == nil {
		t.Fatal("memcached does not listen")
	}
	defer c.Close()
	in := bufio.NewReader(c)
	before := cached(t, c, in)
	const vus, n = 16, 320
	w := loadFile(t, "tcp://"+address, fmt.Sprintf(`
def get(vu):
    r = vu.tcp.exchange("TARGET", send = "get k\r\n", receive = tcp.until("END\r\n"), name = "k")
    if not r.text().endswith("hello\r\n"):
        fail("got %%s" %% r.text())
    return r

workflow(name = "test", iterations = %d, vus = %d, duration = "60s", steps = [
    step("set", tcp.exchange("TARGET", send = "set k 0 0 5\r\nhello\r\n", receive = tcp.until("\r\n")), expect = [body_contains("STORED")]),
    step("miss", tcp.exchange("TARGET", send = "get gone\r\n", receive = tcp.bytes(5)), expect = [body_contains("END")]),
    step(get),
])`, n, vus))
	r := run(t, context.Background(), Config{Workflow: w, VUs: vus, Duration: time.Minute, Timeout: 30 * time.Second})
	sent, received := uint64(0), uint64(0)
	for _, s := range r.Stats.Steps {
		if s.OK != n {
			t.Errorf("%s: ok %d of %d: %v", s.Name, s.OK, s.Started, s.Errors)
		}
		if !strings.Contains(s.Name, "/") { // a function's bytes are those of its requests
			sent, received = sent+s.BytesOut, received+s.BytesIn
		}
	}
	after := cached(t, c, in)
	got := func(name string) uint64 { return after[name] - before[name] }
	if got("cmd_set") != n || got("get_hits") != n || got("get_misses") != n || got("total_connections") != vus {
		t.Errorf("the server counted %d sets, %d hits, %d misses, %d connections, want %d each of %d users", got("cmd_set"), got("get_hits"), got("get_misses"), got("total_connections"), n, vus)
	}
	if asked := uint64(len("stats\r\n")); got("bytes_read")-asked != sent {
		t.Errorf("sent %d bytes, the server read %d", sent, got("bytes_read")-asked)
	}
	if want := uint64(n * len("STORED\r\nEND\r\nVALUE k 0 5\r\nhello\r\nEND\r\n")); received != want {
		t.Errorf("received %d bytes, want %d", received, want)
	}
}
