package port

import (
	"net"
	"sync"
	"time"
)

// Port listens, and knows the connections that are open.
type Port struct {
	listener *net.TCPListener
	closing  chan struct{}
	all      sync.WaitGroup

	mu   sync.Mutex
	open map[net.Conn]struct{}
}

// Open listens on a free port of this machine. Nothing is accepted before Serve.
func Open() (*Port, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return &Port{listener: l.(*net.TCPListener), closing: make(chan struct{}), open: map[net.Conn]struct{}{}}, nil
}

// Address is host:port.
func (p *Port) Address() string { return p.listener.Addr().String() }

// Refuse makes the port refuse connections from now on.
func (p *Port) Refuse() error { return p.listener.Close() }

// received is the buffer of a connection, in bytes: a large request soon fills it.
const received = 64 << 10

// Serve serves each connection on a goroutine of its own, with its number from 1, and closes it
// afterwards.
func (p *Port) Serve(serve func(c *net.TCPConn, number int)) {
	p.all.Go(func() {
		for number := 1; ; number++ {
			c, err := p.listener.AcceptTCP()
			if err != nil {
				return
			}
			_ = c.SetReadBuffer(received)
			p.mu.Lock()
			p.open[c] = struct{}{}
			p.mu.Unlock()
			p.all.Go(func() {
				serve(c, number)
				_ = c.Close()
				p.mu.Lock()
				delete(p.open, c)
				p.mu.Unlock()
			})
		}
	})
}

// patience is how long connections may stay that the client does not close.
const patience = time.Second

// Close lets every connection end, which the client causes by closing it, so that everything
// sent is counted. It closes those that remain.
func (p *Port) Close() {
	close(p.closing)
	_ = p.listener.Close()
	force := time.AfterFunc(patience, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for c := range p.open {
			_ = c.Close()
		}
	})
	p.all.Wait()
	force.Stop()
}

// Closing is closed when Close begins.
func (p *Port) Closing() <-chan struct{} { return p.closing }

// Wait sleeps unless the port is closed, and reports whether it slept all of the time.
func (p *Port) Wait(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-p.closing:
		return false
	}
}
