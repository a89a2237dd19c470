package metrics

import (
	"net"
	"sync"
)

// bounded limits a listener's concurrent connections: the next one waits in the system's
// backlog.
type bounded struct {
	net.Listener
	room   chan struct{}
	closed chan struct{}
	once   sync.Once
}

// NewBounded returns a listener that accepts at most n connections at once; the next one waits in the
// backlog of the system.
func NewBounded(l net.Listener, n int) net.Listener {
	return &bounded{Listener: l, room: make(chan struct{}, n), closed: make(chan struct{})}
}

// Accept implements net.Listener.
func (b *bounded) Accept() (net.Conn, error) {
	select {
	case b.room <- struct{}{}:
	case <-b.closed:
		return nil, net.ErrClosed
	}
	c, err := b.Listener.Accept()
	if err != nil {
		<-b.room
		return nil, err
	}
	return &boundedConn{Conn: c, leave: sync.OnceFunc(func() { <-b.room })}, nil
}

// Close implements net.Listener.
func (b *bounded) Close() error {
	b.once.Do(func() { close(b.closed) })
	return b.Listener.Close()
}

type boundedConn struct {
	net.Conn
	leave func()
}

// Close implements net.Conn.
func (c *boundedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
