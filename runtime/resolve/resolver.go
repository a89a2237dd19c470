package resolve

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// Resolver drives lookups with sockets. Any number of goroutines may share it.
type Resolver struct {
	Config Config
	Hosts  Hosts
}

// NewResolver is the machine's own.
func NewResolver() *Resolver {
	return &Resolver{Config: System(), Hosts: ParseHosts(read("/etc/hosts"))}
}

// received holds bytes of one of the sockets, or the error that ended it.
type received struct {
	query Query
	bytes []byte
	err   error
}

// Lookup asks until there is an answer, or none, or the context ends.
func (r *Resolver) Lookup(ctx context.Context, name string) (Answer, error) {
	if a, ok := r.Hosts.find(name); ok {
		return a, nil
	}
	return r.drive(ctx, NewLookup(&r.Config, name, randomID, 0))
}

// Services asks for the targets of a service. Each target is a name to look up in turn.
func (r *Resolver) Services(ctx context.Context, name string) (Answer, error) {
	return r.drive(ctx, NewServices(&r.Config, name, randomID, 0))
}

// Texts asks for the texts of a name: TXT records.
func (r *Resolver) Texts(ctx context.Context, name string) (Answer, error) {
	return r.drive(ctx, NewTexts(&r.Config, name, randomID, 0))
}

// drive carries out a lookup that began now.
func (r *Resolver) drive(ctx context.Context, l *Lookup) (Answer, error) {
	var sockets sync.WaitGroup
	defer sockets.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // it closes the sockets
	start := time.Now()
	inbox := make(chan received, 16)
	for {
		for q, more := l.Out(); more; q, more = l.Out() {
			sockets.Go(func() { q.exchange(ctx, inbox) })
		}
		if a, err, done := l.Done(); done {
			a.Took = time.Since(start)
			return a, err
		}
		deadline, _ := l.Deadline()
		timer := time.NewTimer(max(0, deadline-time.Since(start)))
		select {
		case in := <-inbox:
			if in.err != nil {
				l.Failed(in.query, time.Since(start), in.err)
			} else {
				l.In(in.query.Server, in.query.TCP, in.bytes, time.Since(start))
			}
		case <-timer.C:
			l.Expire(time.Since(start))
		case <-ctx.Done():
			timer.Stop()
			return l.answer, context.Cause(ctx)
		}
		timer.Stop()
	}
}

func randomID() uint16 {
	var b [2]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the process instead
	return binary.BigEndian.Uint16(b[:])
}

// messagesMax is how many datagrams of a socket are looked at: more are a flood.
const messagesMax = 64

// exchange sends one query and passes on the answers, until the context ends. The socket is
// connected: the kernel drops packets of other addresses.
func (q Query) exchange(ctx context.Context, inbox chan<- received) {
	tell := func(b []byte, err error) bool {
		select {
		case inbox <- received{q, b, err}:
			return err == nil
		case <-ctx.Done():
			return false
		}
	}
	network := "udp"
	if q.TCP {
		network = "tcp"
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, network, q.Server.String())
	if err != nil {
		tell(nil, err)
		return
	}
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer func() {
		if stop() {
			_ = c.Close()
		}
	}()
	if q.TCP {
		b, err := overTCP(c, q.Bytes)
		tell(b, err)
		return
	}
	if _, err := c.Write(q.Bytes); err != nil {
		tell(nil, err)
		return
	}
	buffer := make([]byte, 4096)
	for range messagesMax {
		n, err := c.Read(buffer)
		if err != nil {
			tell(nil, err)
			return
		}
		if !tell(append([]byte(nil), buffer[:n]...), nil) {
			return
		}
	}
}

func overTCP(c net.Conn, query []byte) ([]byte, error) {
	framed := binary.BigEndian.AppendUint16(nil, uint16(len(query)))
	if _, err := c.Write(append(framed, query...)); err != nil {
		return nil, err
	}
	var size [2]byte
	if _, err := io.ReadFull(c, size[:]); err != nil {
		return nil, err
	}
	b := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := io.ReadFull(c, b); err != nil {
		return nil, err
	}
	if len(b) == 0 {
		return nil, errors.New("an empty answer")
	}
	return b, nil
}
