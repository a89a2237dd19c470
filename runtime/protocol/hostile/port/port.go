package port

import (
	"errors"
	"net"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Port listens, and knows the connections that are open.
type Port struct {
	listener *net.TCPListener
	refuses  string // the address at which nothing listens; "": it listens
	bound    int    // the socket that keeps that address from others
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
func (p *Port) Address() string {
	if p.refuses != "" {
		return p.refuses
	}
	return p.listener.Addr().String()
}

// Refuse gives the port an address that refuses connections, and keeps it until Close: an address that was only
// closed may be another server's a moment later.
func (p *Port) Refuse() error {
	if err := p.listener.Close(); err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return errors.Join(err, unix.Close(fd))
	}
	at, err := unix.Getsockname(fd)
	if err != nil {
		return errors.Join(err, unix.Close(fd))
	}
	p.bound, p.refuses = fd, net.JoinHostPort("127.0.0.1", strconv.Itoa(at.(*unix.SockaddrInet4).Port))
	return nil
}

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
	if p.refuses != "" {
		_ = unix.Close(p.bound) // it is open
	}
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
