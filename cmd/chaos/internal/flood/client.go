package flood

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// client is one connection after the other, of one habit.
type client struct {
	config  *Config
	tally   *tally
	number  int
	habit   habit
	gate    string
	draw    *rand.Rand
	program message.Program
	plan    *message.Plan
	jobs    []message.JobID // the last that it has submitted
	counter uint64
}

// again is how long a connection waits before it opens once more.
const again = 20 * time.Millisecond

func (c *client) live(ctx context.Context) {
	dialer := net.Dialer{Timeout: 5 * time.Second}
	if c.config.From != "" {
		dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(c.config.From)}
	}
	for ctx.Err() == nil {
		conn, err := dialer.DialContext(ctx, "tcp", c.gate)
		if err == nil {
			c.tally.mu.Lock()
			c.tally.Opened++
			c.tally.mu.Unlock()
			stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
			c.use(ctx, conn)
			stop()
			_ = conn.Close() // nothing is owed
			if ctx.Err() == nil {
				c.tally.mu.Lock()
				c.tally.Ended++
				c.tally.mu.Unlock()
			}
		}
		sleep(ctx, again)
	}
}

// use behaves on one connection until it ends.
func (c *client) use(ctx context.Context, conn net.Conn) {
	if c.habit == strange {
		c.write(conn, "no Hello", c.noise(1+c.draw.IntN(200)))
		sleep(ctx, time.Second)
		return
	}
	hello := &message.Hello{
		Major: message.Major, Minor: message.Minor, Cluster: c.config.Cluster, Environment: "default",
		Node: "flood-" + itoa(c.number), Incarnation: 1, Role: uint8(node.RoleClient),
	}
	if !c.send(conn, hello) {
		return
	}
	heard := make(chan struct{})
	if c.habit == deaf {
		close(heard)
	} else {
		go c.hear(conn, heard)
	}
	defer func() { _ = conn.Close(); <-heard }()
	every := time.Duration(c.config.Connections) * time.Second / time.Duration(max(1, c.config.Rate))
	sleep(ctx, time.Duration(c.draw.Int64N(int64(every)+1)))
	next := time.Now()
	for ctx.Err() == nil && c.act(ctx, conn) {
		next = next.Add(every)
		if wait := time.Until(next); wait > 0 {
			sleep(ctx, wait)
		} else {
			next = time.Now() // what could not be sent in time is not sent later
		}
	}
}

// act sends one thing.
func (c *client) act(ctx context.Context, conn net.Conn) bool {
	switch c.habit {
	case babbles:
		return c.write(conn, "garbage", c.noise(1+c.draw.IntN(2000)))
	case pretends:
		return c.send(conn, c.pretence())
	case stalls:
		head := binary.BigEndian.AppendUint32(nil, message.FrameMax)
		if !c.write(conn, "half a frame", append(head, c.noise(4096)...)) {
			return false
		}
		sleep(ctx, 20*time.Second)
		return false
	}
	return c.send(conn, c.request())
}

// request is one of a client: of 110 there are 10 submissions, 95 queries and watches, and 5
// cancellations. Those of a plain flood are 10 submissions and 100 queries of jobs: a gate refuses
// what exceeds the share of their source, and asks no majority about it.
func (c *client) request() node.Message {
	c.counter++
	r := message.RequestID{Incarnation: 1, Counter: c.counter}
	job := message.JobOf("none-" + itoa(c.number))
	if len(c.jobs) > 0 {
		job = c.jobs[c.draw.IntN(len(c.jobs))]
	}
	switch n := c.draw.IntN(110); {
	case n < 10:
		key := "flood-" + itoa(c.number) + "-" + itoa(int(c.counter))
		if c.config.Jobs > 0 {
			key = "flood-" + itoa(c.draw.IntN(c.config.Jobs))
		}
		if c.jobs = append(c.jobs, message.JobOf(key)); len(c.jobs) > 16 {
			c.jobs = c.jobs[1:]
		}
		return &message.JobSubmit{Request: r, Key: key, Name: "flood", Program: c.program, Plan: *c.plan}
	case c.config.Plain:
	case n < 15:
		return &message.JobCancel{Request: r, Job: job}
	case n < 20:
		return &message.JobWatch{Request: r, Job: job}
	case n < 25:
		return &message.StatusQuery{Request: r}
	case n < 30:
		return &message.DatacenterQuery{Request: r}
	}
	return &message.JobQuery{Request: r, Job: job}
}

// pretence is what only nodes send.
func (c *client) pretence() node.Message {
	c.counter++
	job := message.JobOf("none")
	return [...]node.Message{
		&message.WorkerHeartbeat{Datacenter: "flood", Sequence: c.counter, CoresTotal: 64},
		&message.ManagerHeartbeat{Datacenter: "flood", Sequence: c.counter, CoresTotal: 64},
		&message.Beat{Counter: c.counter},
		&message.JobCancelAck{Request: message.RequestID{Incarnation: 1, Counter: 1}, Job: job, State: message.JobCancelled},
	}[c.counter%4]
}

func (c *client) noise(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(c.draw.Uint32())
	}
	return b
}

func (c *client) send(conn net.Conn, m node.Message) bool {
	frame, err := message.Append(make([]byte, 4, 256), m)
	if err != nil {
		node.Bug("flood: %v", err) // the messages above are sound
	}
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-4))
	return c.write(conn, message.Name(m.Kind()), frame)
}

func (c *client) write(conn net.Conn, what string, b []byte) bool {
	_ = conn.SetWriteDeadline(time.Now().Add(30 * time.Second)) // a closed conn says so at the write
	if _, err := conn.Write(b); err != nil {
		return false
	}
	c.tally.sent(what)
	return true
}

// hear counts answers until the connection ends. It decodes only refusals.
func (c *client) hear(conn net.Conn, done chan<- struct{}) {
	defer close(done)
	in := bufio.NewReaderSize(conn, 4<<10)
	for b := make([]byte, 0, 4<<10); ; {
		var prefix [4]byte
		if _, err := io.ReadFull(in, prefix[:]); err != nil {
			return
		}
		n := int(binary.BigEndian.Uint32(prefix[:]))
		if n < message.HeaderSize || n > message.FrameMax {
			return
		}
		if cap(b) < n {
			b = make([]byte, 0, n)
		}
		b = b[:n]
		if _, err := io.ReadFull(in, b); err != nil {
			return
		}
		kind := node.Kind(binary.BigEndian.Uint16(b[1:]))
		what := message.Name(kind)
		if kind == message.KindRefused {
			m, err := message.Decode(b)
			if err != nil {
				return
			}
			what += " " + m.(*message.Refused).Code.String()
		}
		if kind != message.KindHello && kind != message.KindGateSet { // each stream begins with both
			c.tally.answered(what)
		}
	}
}

func sleep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
