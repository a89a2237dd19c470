package fleet

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/epoll"
)

// worker is one stream to the manager.
type worker struct {
	fd       int    // -1: ended
	rest     []byte // of a frame that has not arrived whole
	out      []byte // what the socket did not take
	sequence uint64 // of the last heartbeat

	runs     bool // a shard
	shard    message.ShardID
	fence    message.Fence
	every    time.Duration // between two reports; zero: as it likes
	reports  uint64
	reported time.Time
}

// report says whether a report is due, and counts it.
func (w *worker) report(now time.Time) bool {
	if !w.runs || now.Sub(w.reported) < w.every-second/2 {
		return false
	}
	w.reports++
	w.reported = now
	return true
}

// greet shakes hands, and takes the connection out of Go's poller.
func greet(conn net.Conn, c *Config, number int) (*worker, error) {
	defer func() { _ = conn.Close() }() // its twin is open
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	hello := &message.Hello{
		Major: message.Major, Minor: message.Minor, Cluster: c.Cluster, Environment: "default", Datacenter: c.Datacenter,
		Node: fmt.Sprintf("fleet-%05d", number), Incarnation: 1, Role: uint8(node.RoleWorker), Addr: conn.LocalAddr().String(),
	}
	if _, err := conn.Write(encode(nil, hello)); err != nil {
		return nil, err
	}
	in := bufio.NewReader(conn)
	var prefix [4]byte
	if _, err := io.ReadFull(in, prefix[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(prefix[:])
	if n < message.HeaderSize || n > message.DatagramMax {
		return nil, fmt.Errorf("a Hello of %d bytes", n)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(in, b); err != nil {
		return nil, err
	}
	if m, err := message.Decode(b); err != nil || m.Kind() != message.KindHello {
		return nil, fmt.Errorf("the manager answered %+v: %v", m, err)
	}
	early, _ := in.Peek(in.Buffered()) // what is buffered can be read
	w := &worker{fd: -1, rest: early}
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		return nil, err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { w.fd, failed = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) })
	if err == nil && failed != nil {
		err = os.NewSyscallError("fcntl", failed)
	}
	return w, err
}

// send writes a message, and keeps what the socket does not take.
func (c *fleet) send(w *worker, m node.Message) {
	c.out = encode(c.out, m)
	if len(w.out) > 0 {
		w.out = append(w.out, c.out...)
		c.flush(w)
		return
	}
	n, errno := epoll.Write(w.fd, c.out)
	if errno != 0 && errno != unix.EAGAIN {
		c.end(w, "write: "+errno.Error())
		return
	}
	w.out = append(w.out, c.out[n:]...)
}

// flush writes what waits.
func (c *fleet) flush(w *worker) {
	n, errno := epoll.Write(w.fd, w.out)
	if errno != 0 && errno != unix.EAGAIN {
		c.end(w, "write: "+errno.Error())
		return
	}
	w.out = append(w.out[:0], w.out[n:]...)
}

func (c *fleet) end(w *worker, why string) {
	if c.tally.Ended == 0 {
		c.tally.Why = why
	}
	epoll.Close(w.fd)
	w.fd = -1
	c.tally.Ended++
	c.tally.Workers--
	if w.runs {
		c.tally.Running--
	}
}

// hear reads all that has arrived.
func (c *fleet) hear(w *worker) {
	for {
		n, errno := epoll.Read(w.fd, c.in)
		switch {
		case errno == unix.EAGAIN:
			return
		case errno != 0:
			c.end(w, "read: "+errno.Error())
			return
		case n == 0:
			c.end(w, "closed by the manager")
			return
		}
		w.rest = append(w.rest, c.in[:n]...)
		for len(w.rest) >= 4 && w.fd >= 0 {
			size := int(binary.BigEndian.Uint32(w.rest))
			if size < message.HeaderSize || len(w.rest) < 4+size {
				break
			}
			c.understand(w, w.rest[4:4+size])
			w.rest = w.rest[4+size:]
		}
		if w.fd < 0 || n < len(c.in) {
			return
		}
	}
}

// understand does what a worker would do with a message, in a word.
func (c *fleet) understand(w *worker, b []byte) {
	m, err := message.Decode(b)
	if err != nil {
		c.end(w, err.Error())
		return
	}
	switch m := m.(type) {
	case *message.HeartbeatAck:
		c.tally.Acks++
		if w.every = m.Every; len(m.Shards) > 0 {
			c.tally.Named++
		}
	case *message.ShardDispatch:
		if !w.runs {
			w.runs = true
			c.tally.Running++
		}
		w.shard, w.fence, w.every = m.Shard, m.Fence, m.Every
		c.send(w, &message.ShardAccepted{Shard: m.Shard, Fence: m.Fence})
	case *message.WorkerHold:
		if m.Release {
			c.send(w, &message.WorkerHeld{})
		} else {
			c.send(w, &message.WorkerHeld{Job: m.Job, Workflow: m.Workflow, Known: true})
		}
	}
}

// measured puts a frame's length before it.
func measured(b []byte) []byte {
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}
