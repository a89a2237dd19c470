package outputstest

import (
	"io"
	"net"
	"sync"
)

// Stream is a server that reads a batch from each TCP connection until its end, and does to one connection in five, from
// the first one on, what a fault says.
type Stream struct {
	take func(batch []byte)

	mu      sync.Mutex
	address string
	fault   Fault
	count   int
	free    chan struct{}
	l       net.Listener
	work    sync.WaitGroup
}

// NewStream listens on a free port of this machine.
func NewStream(take func(batch []byte)) *Stream {
	s := &Stream{take: take, free: make(chan struct{})}
	s.listen("127.0.0.1:0")
	return s
}

func (s *Stream) listen(address string) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		panic(err)
	}
	s.l, s.address = l, l.Addr().String()
	s.work.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.work.Go(func() { s.serve(c.(*net.TCPConn)) })
		}
	})
}

// Address is where it listens.
func (s *Stream) Address() string { return s.address }

// Can says that Misbehave knows the fault: a protocol without answers accepts no half.
func (s *Stream) Can(f Fault) bool { return f != FaultHalf }

// Misbehave sets what goes wrong from now on. Connections that hang end first.
func (s *Stream) Misbehave(f Fault) {
	s.mu.Lock()
	was := s.fault
	s.fault, s.count = f, 0
	close(s.free)
	s.free = make(chan struct{})
	s.mu.Unlock()
	switch {
	case f == FaultDead && was != FaultDead:
		_ = s.l.Close() // its accept ends
		s.work.Wait()
	case f != FaultDead && was == FaultDead:
		s.listen(s.address)
	}
}

// Close ends it.
func (s *Stream) Close() {
	s.Misbehave(FaultDead)
}

func (s *Stream) serve(c *net.TCPConn) {
	defer func() { _ = c.Close() }() // what it did is done
	s.mu.Lock()
	s.count++
	fault, free := s.fault, s.free
	if s.count%5 != 1 {
		fault = FaultNone
	}
	s.mu.Unlock()
	switch fault {
	case FaultRefuse:
		_ = c.SetLinger(0) // the end is a reset
		return
	case FaultCut:
		_, _ = io.CopyN(io.Discard, c, 100)
		_ = c.SetLinger(0) // as above
		return
	case FaultNone, FaultHang, FaultLate, FaultHalf, FaultLoseWord, FaultDead, FaultMax:
	}
	b, err := io.ReadAll(io.LimitReader(c, 64<<20))
	if err != nil || len(b) == 0 {
		return
	}
	switch fault {
	case FaultHang:
		s.take(b)
		<-free
	case FaultLate:
		<-free
		s.take(b)
	case FaultLoseWord:
		s.take(b)
		_ = c.SetLinger(0) // as above
	case FaultNone, FaultRefuse, FaultCut, FaultHalf, FaultDead, FaultMax:
		s.take(b)
	}
}
