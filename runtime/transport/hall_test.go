package transport

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// BenchmarkHall is a request of each of 256 clients and its refusal, the clients' own reads and
// writes included.
func BenchmarkHall(b *testing.B) {
	s, err := Listen("127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	d := &desk{}
	d.Transport = New(Config{Self: node.Peer{ID: "gate", Incarnation: 1, Role: node.RoleGate}, Cluster: "c", Environment: "e"}, s)
	d.Serve(d)
	b.Cleanup(d.Kill)
	query := frame(b, &message.JobQuery{Request: message.RequestID{Incarnation: 1, Counter: 1}, Job: message.JobOf("none")})
	var conns []net.Conn
	buffer := make([]byte, 4<<10)
	for range 256 {
		conn, err := net.Dial("tcp", s.Addr())
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = conn.Close() })
		h := hello("client")
		h.Role = uint8(node.RoleClient)
		if _, err := conn.Write(frame(b, h)); err != nil {
			b.Fatal(err)
		}
		take(b, conn, buffer)
		conns = append(conns, conn)
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, conn := range conns {
			if _, err := conn.Write(query); err != nil {
				b.Fatal(err)
			}
		}
		for _, conn := range conns {
			take(b, conn, buffer)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(conns)), "ns/request")
}

// take reads one frame.
func take(b *testing.B, conn net.Conn, buffer []byte) {
	if _, err := io.ReadFull(conn, buffer[:4]); err != nil {
		b.Fatal(err)
	}
	if _, err := io.ReadFull(conn, buffer[:binary.BigEndian.Uint32(buffer)]); err != nil {
		b.Fatal(err)
	}
}

// desk is a Sink that refuses each query.
type desk struct{ *Transport }

func (d *desk) StreamOpened(node.StreamID, node.Peer)               {}
func (d *desk) StreamBroken(node.StreamID, node.Peer, string, bool) {}
func (d *desk) Resolved(node.Names)                                 {}
func (d *desk) Message(_ node.Peer, s node.StreamID, m node.Message) bool {
	d.Send(s, &message.Refused{Request: message.RequestOf(m), Code: message.CodeRateLimited, RetryAfter: time.Second, Detail: "the requests that wait are its share"})
	return true
}

// TestDescriptorsOfClientsAreReleased: clients whose streams this node ends, and clients that leave,
// keep no descriptor open.
func TestDescriptorsOfClientsAreReleased(t *testing.T) {
	h := serve(t, "gate", func(c *Config) { c.Self.Role = node.RoleToy })
	h.seats = func(node.Role) bool { return true }
	before := -1
	for round := range 3 {
		for i := range 8 {
			conn, s := dial(t, h), node.StreamID(8*round+i+1)
			if _, err := conn.Write(frame(t, hello("raw"))); err != nil {
				t.Fatal(err)
			}
			h.ear.want(t, fmt.Sprintf("opened %d raw#1", s))
			switch i % 4 {
			case 0:
				h.Close(s)
			case 1:
				h.stream(s).cut("enough")
			case 2:
				_ = conn.Close()
			case 3:
				_, _ = conn.Write([]byte{0, 0, 0}) // half of a length
				_ = conn.Close()
			}
			if i%4 != 0 {
				h.ear.want(t, "broken")
			}
			if !ends(conn) {
				t.Fatalf("client %d of round %d is still connected", i, round)
			}
			_ = conn.Close()
		}
		for until := time.Now().Add(wait); ; time.Sleep(time.Millisecond) {
			open, err := filepath.Glob("/proc/self/fd/*")
			if err != nil {
				t.Fatal(err)
			}
			if before < 0 {
				before = len(open)
			}
			if len(open) <= before {
				break
			}
			if time.Now().After(until) {
				t.Fatalf("round %d leaves %d descriptors open, the first one left %d: %v", round, len(open), before, os.ErrDeadlineExceeded)
			}
		}
	}
}

// TestTheHallServesClientsAndWorkers: a thousand workers of a manager have no goroutine each. Other
// nodes do not wait for a turn.
func TestTheHallServesClientsAndWorkers(t *testing.T) {
	h := serve(t, "manager", func(c *Config) { c.Self.Role = node.RoleToy })
	h.seats = seated
	for i, role := range []node.Role{node.RoleClient, node.RoleWorker, node.RoleManager, node.RoleGate} {
		join(t, h, fmt.Sprint("n", i), role)
		h.ear.want(t, fmt.Sprintf("opened %d", i+1))
		if got, want := h.stream(node.StreamID(i+1)).guest != nil, i < 2; got != want {
			t.Errorf("the hall serves a %v: %v, want %v", role, got, want)
		}
	}
	eventually(t, "the hall counts one worker", func() bool {
		h.hall.mu.Lock()
		defer h.hall.mu.Unlock()
		return h.hall.workers == 1
	})
}

// TestMessagesOfManyWorkersGather: the hall looks less often while it serves many workers and nothing else. A client
// waits for no such pause, nor do guests that wait for their turn, nor does the end.
func TestMessagesOfManyWorkersGather(t *testing.T) {
	for _, c := range []struct {
		what             string
		workers, clients int
		waits, over      bool
		want             bool
	}{
		{what: "no guest"},
		{what: "few workers", workers: hallMany - 1},
		{what: "many workers", workers: hallMany, want: true},
		{what: "a client among many workers", workers: hallMany, clients: 1},
		{what: "many clients", clients: hallMany},
		{what: "guests that wait", workers: hallMany, waits: true},
		{what: "the end", workers: hallMany, over: true},
	} {
		h := &hall{guests: map[uint64]*guest{}, workers: c.workers, over: c.over}
		for i := range c.workers + c.clients {
			h.guests[uint64(i)] = nil
		}
		if c.waits {
			h.turns = []*source{{}}
		}
		if got := h.gathers(); got != c.want {
			t.Errorf("%s: the hall gathers: %v, want %v", c.what, got, c.want)
		}
	}
}

// TestTheHallReadsLargeFrames: a frame arrives whole or in two parts, alone or before another one,
// whatever its size is next to what the hall reads at once.
func TestTheHallReadsLargeFrames(t *testing.T) {
	h := serve(t, "manager", func(c *Config) { c.Self.Role = node.RoleToy })
	h.seats = func(node.Role) bool { return true }
	conn, s := greeted(t, h)
	beat := frame(t, &message.Beat{Counter: 7})
	for _, size := range []int{1, hallBytes - 40, hallBytes, 5000, hallLarge - 40, hallLarge, 300_000} {
		whole := frame(t, &message.ExecResult{State: 1, Error: strings.Repeat("x", size)})
		for _, cut := range []int{0, 3, len(whole) / 2, len(whole) - 1} {
			if _, err := conn.Write(whole[:cut]); err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Write(append(whole[cut:len(whole):len(whole)], beat...)); err != nil {
				t.Fatal(err)
			}
			h.ear.want(t, fmt.Sprintf("result of %d bytes", size), fmt.Sprintf("ping 7 from raw on %d", s))
		}
	}
	whole := frame(t, &message.ExecResult{State: 1, Error: strings.Repeat("x", 5000)})
	if _, err := conn.Write(whole[:3000]); err != nil {
		t.Fatal(err)
	}
	_ = conn.(*net.TCPConn).CloseWrite() // an end that is read, no reset
	h.ear.want(t, fmt.Sprintf("broken %d cut short after 3000 bytes", s))
}
