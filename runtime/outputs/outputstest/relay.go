package outputstest

import (
	"net"
	"sync"
	"testing"
	"time"
)

// Relay stands before a real server on TCP, and misbehaves.
type Relay struct {
	// Every says which pieces of a client go wrong: each fifth, or more seldom where a try has many.
	Every int
	// Answers changes what the server says, before any client comes; nil: nothing does.
	Answers  func([]byte) []byte
	to       string
	listener net.Listener

	mu    sync.Mutex
	fault Fault
	count int // pieces that clients have sent
	open  map[net.Conn]bool
}

// NewRelay carries connections to a server.
func NewRelay(tb testing.TB, to string) *Relay {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	r := &Relay{Every: 5, to: to, listener: l, open: map[net.Conn]bool{}}
	tb.Cleanup(func() {
		_ = l.Close()
		r.drop()
	})
	go r.accept()
	return r
}

// Address is host:port of the relay.
func (r *Relay) Address() string { return r.listener.Addr().String() }

// Misbehave sets what goes wrong from now on: with each fifth piece that a client sends, or as Every says.
func (r *Relay) Misbehave(f Fault) {
	r.mu.Lock()
	r.fault, r.count = f, 0
	r.mu.Unlock()
	if f == FaultDead {
		r.drop()
	}
}

// Can says which faults the relay can do for any protocol.
func (r *Relay) Can(f Fault) bool { return f != FaultHalf }

func (r *Relay) drop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.open { //lint:orderfree all are closed
		_ = c.Close()
	}
}

func (r *Relay) accept() {
	for {
		client, err := r.listener.Accept()
		if err != nil {
			return
		}
		r.mu.Lock()
		dead := r.fault == FaultDead
		r.mu.Unlock()
		server, err := net.Dial("tcp", r.to)
		if dead || err != nil {
			_ = client.Close()
			if err == nil {
				_ = server.Close()
			}
			continue
		}
		r.mu.Lock()
		r.open[client], r.open[server] = true, true
		r.mu.Unlock()
		go r.carry(client, server)
	}
}

// carry brings what a client says to the server, and the answers back.
func (r *Relay) carry(client, server net.Conn) {
	var mu sync.Mutex
	fault := FaultNone // of the piece that is answered
	go func() {
		buf := make([]byte, 1<<20)
		for {
			n, err := server.Read(buf)
			if err != nil {
				_ = client.Close()
				return
			}
			mu.Lock()
			f := fault
			mu.Unlock()
			switch f {
			case FaultHang:
				continue // the client waits
			case FaultLate:
				time.Sleep(2 * Timeout)
			case FaultLoseWord:
				_ = client.Close()
			}
			said := buf[:n]
			if r.Answers != nil {
				said = r.Answers(said)
			}
			if _, err := client.Write(said); err != nil {
				return
			}
		}
	}()
	defer func() {
		_, _ = client.Close(), server.Close()
		r.mu.Lock()
		delete(r.open, client)
		delete(r.open, server)
		r.mu.Unlock()
	}()
	buf := make([]byte, 1<<20)
	for {
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		f := r.next()
		mu.Lock()
		fault = f
		mu.Unlock()
		switch f {
		case FaultRefuse:
			return
		case FaultCut:
			_, _ = server.Write(buf[:n/2])
			return
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
	}
}

// next is the fault of the next piece.
func (r *Relay) next() Fault {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count++; r.count%r.Every == 0 {
		return r.fault
	}
	return FaultNone
}
