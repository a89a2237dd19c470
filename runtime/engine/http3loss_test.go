package engine

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"hyperscale/core/plan"
	hostile "hyperscale/runtime/protocol/hostile/http3"
)

// lossy carries datagrams to a server and back, each late by its delay. It drops every nth long packet of a client
// whose handshake is over: such a packet has a part of a request.
type lossy struct {
	front *net.UDPConn
	to    *net.UDPAddr
	nth   int
	late  time.Duration

	mu      sync.Mutex
	backs   map[string]*net.UDPConn // by client
	long    int
	dropped uint64
}

// queued is a datagram, and when it goes on.
type queued struct {
	due   time.Time
	bytes []byte
}

// requestLong is how many bytes a packet has at least that carries a part of a request here: those with
// acknowledgements alone, which QUIC does not count when they are lost, have fewer.
const requestLong = 200

func throughLoss(t *testing.T, url string, nth int, late time.Duration) (*lossy, string) {
	t.Helper()
	address := strings.TrimSuffix(strings.TrimPrefix(url, "https://"), "/")
	to, err := net.ResolveUDPAddr("udp", address)
	if err != nil {
		t.Fatal(err)
	}
	front, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	l := &lossy{front: front, to: to, nth: nth, late: late, backs: map[string]*net.UDPConn{}}
	t.Cleanup(func() {
		_ = front.Close()
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, c := range l.backs {
			_ = c.Close()
		}
	})
	go l.serve()
	return l, strings.Replace(url, address, front.LocalAddr().String(), 1)
}

// serve takes what clients send.
func (l *lossy) serve() {
	queues := map[string]chan queued{}
	for buffer := make([]byte, 1<<16); ; {
		n, from, err := l.front.ReadFromUDP(buffer)
		if err != nil {
			for _, q := range queues {
				close(q)
			}
			return
		}
		q := queues[from.String()]
		if q == nil {
			back, err := net.DialUDP("udp", nil, l.to)
			if err != nil {
				return
			}
			l.mu.Lock()
			l.backs[from.String()] = back
			l.mu.Unlock()
			q = make(chan queued, 1024)
			queues[from.String()] = q
			go l.passes(q, func(b []byte) { _, _ = back.Write(b) })
			go l.returns(back, from)
		}
		if !l.drops(buffer[:n]) {
			q <- queued{time.Now().Add(l.late), append([]byte(nil), buffer[:n]...)}
		}
	}
}

// drops reports whether a datagram of a client is lost.
func (l *lossy) drops(b []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.nth == 0 || b[0]&0x80 != 0 || len(b) < requestLong {
		return false
	}
	if l.long++; l.long%l.nth != 0 {
		return false
	}
	l.dropped++
	return true
}

// passes hands datagrams on in their order.
func (l *lossy) passes(q chan queued, on func([]byte)) {
	for d := range q {
		time.Sleep(time.Until(d.due))
		on(d.bytes)
	}
}

// returns takes what the server sends to a client.
func (l *lossy) returns(back *net.UDPConn, client *net.UDPAddr) {
	q := make(chan queued, 1024)
	defer close(q)
	go l.passes(q, func(b []byte) { _, _ = l.front.WriteToUDP(b, client) })
	for buffer := make([]byte, 1<<16); ; {
		n, err := back.Read(buffer)
		if err != nil {
			return
		}
		q <- queued{time.Now().Add(l.late), append([]byte(nil), buffer[:n]...)}
	}
}

func (l *lossy) lost() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dropped
}

// What QUIC takes for lost the way has lost, if not all: of what a request ends with a timeout tells it, and that is not
// counted. Each connection tells one round trip, which is not shorter than the way: when it closes in a run, and when
// the run ends.
func TestHTTP3TellsLossAndRoundTrips(t *testing.T) {
	t.Parallel()
	const late = 5 * time.Millisecond
	for name, tt := range map[string]struct {
		nth   int
		more  string
		conns uint64
	}{
		"no loss":                       {0, ", connections = 2", 2},
		"loss":                          {7, ", connections = 2", 2},
		"loss, a connection for a user": {5, "", 4},
		"closed in the run":             {0, `, session = "none"`, 40},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := hostile.Start(&hostile.Entry{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			way, url := throughLoss(t, s.URL(), tt.nth, late)
			got := over3(t, context.Background(), url, "", `http.post("TARGET", body = "b" * 12000)`, ", vu_iterations = 10"+tt.more, 4)
			if got.OK != 40 || uint64(s.Conns()) != tt.conns {
				t.Fatalf("ok %d, %d connections: %v", got.OK, s.Conns(), got.Errors)
			}
			all := measured(got)
			lost, dropped := all[plan.MeasurePacketsLost].Count, way.lost()
			if lost > dropped || lost < dropped/2 || tt.nth > 0 && dropped < uint64(400/tt.nth) {
				t.Errorf("%d packets are lost, the way dropped %d", lost, dropped)
			}
			if trips := all[plan.MeasureRTT].Times; trips.Count != tt.conns || trips.Min < uint64(2*late) || trips.Max > uint64(time.Minute) {
				t.Errorf("%d round trips, from %d to %d ns, of %d connections", trips.Count, trips.Min, trips.Max, tt.conns)
			}
		})
	}
}
