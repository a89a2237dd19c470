package engine

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"hyperscale/core/plan"
	"hyperscale/runtime/protocol/hostile/hostiletest"
)

// query is a question of DNS, by its type and class.
func query(name string, kind, class byte) []byte {
	b := []byte{7, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0}
	for label := range strings.SplitSeq(name, ".") {
		b = append(append(b, byte(len(label))), label...)
	}
	return append(b, 0, 0, kind, 0, class)
}

// answered asks a dnsmasq how many questions it has answered, without this one.
func answered(c net.Conn) (uint64, error) {
	if err := c.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return 0, err
	}
	if _, err := c.Write(query("hits.bind", 16, 3)); err != nil {
		return 0, err
	}
	b := make([]byte, 512)
	n, err := c.Read(b)
	if err != nil {
		return 0, err
	}
	for at := n - 1; at > 0; at-- { // the text is the answer's end, behind its length
		if int(b[at]) == n-1-at {
			return strconv.ParseUint(string(b[at+1:n]), 10, 64)
		}
	}
	return 0, fmt.Errorf("no text in %q", b[:n])
}

// dnsmasq starts a server of names, and returns a socket that asks it how many it has answered.
func dnsmasq(t *testing.T, records ...string) net.Conn {
	t.Helper()
	c, err := net.Dial("udp", hostiletest.Names(t, records...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	for until := time.Now().Add(30 * time.Second); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		if _, err = answered(c); err == nil {
			return c
		}
	}
	t.Fatalf("dnsmasq does not answer: %v", err)
	return nil
}

// A server that others wrote counts the questions that a run counts, and each is answered.
func TestUDPAgreesWithDnsmasq(t *testing.T) {
	c := dnsmasq(t, "--address=/#/192.0.2.1")
	before, err := answered(c)
	if err != nil {
		t.Fatal(err)
	}
	w := loadFile(t, "udp://"+c.RemoteAddr().String(), `
A = bytes("\x00\x00\x01\x00\x01")

def ask(vu):
    name = "host%d" % vu.random.int(1, 1000)
    id = bytes([vu.iteration // 256 % 256, vu.iteration % 256])
    r = vu.udp.exchange("TARGET", send = id + hex.decode("01000001000000000000") + bytes([len(name)]) + bytes(name) + A, match = udp.same(2), timeout = "10s", name = "A", expect = [size_below("100B")])
    if r.error == "" and r.body[-4:] != hex.decode("c0000201"):
        fail("another address")
    return r

workflow(name = "test", iterations = 800, vus = 16, duration = "60s", steps = [
    step("a", udp.exchange("TARGET", send = hex.decode("0001010000010000000000000268630000010001"), match = udp.same(2), timeout = "10s")),
    step("none", udp.exchange("TARGET", send = hex.decode("00020100000100000000000002686300001c0001"), match = udp.same(2), timeout = "10s")),
    step(ask),
])`)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 16, Duration: time.Minute, Timeout: 30 * time.Second})
	after, err := answered(c)
	if err != nil {
		t.Fatal(err)
	}
	var sent, heard uint64
	for _, s := range r.Stats.Steps {
		if m := measured(s); s.Name != "ask" {
			sent += m[plan.MeasureMessagesSent].Count
			heard += m[plan.MeasureMessagesReceived].Count
		}
		if s.OK != 800 {
			t.Errorf("%s: ok %d of %d: %v", s.Name, s.OK, s.Started, s.Errors)
		}
	}
	if server := after - before - 1; sent != 2400 || heard != sent || server != sent { // it counts our own question, too
		t.Errorf("sent %d, heard %d, the server has answered %d", sent, heard, server)
	}
}
