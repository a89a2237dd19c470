package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"hyperscale/runtime/epoll"
)

// repeating is a server that sends each line back.
type repeating struct {
	listener net.Listener
	counter  *counter
}

func newRepeating(c serverConfig, n *counter) (*repeating, error) {
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return nil, err
	}
	return &repeating{listener, n}, nil
}

func (e *repeating) serve() error {
	for {
		c, err := e.listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer func() { _ = c.Close() }() // the client has gone
			in := bufio.NewReader(c)
			for {
				line, err := in.ReadSlice('\n')
				if err != nil {
					return
				}
				e.counter.requests.Add(1)
				if _, err := c.Write(line); err != nil {
					return
				}
			}
		}()
	}
}

// linesLoop is a goroutine for each connection, as one writes it with net.
func linesLoop(c net.Conn, payload []byte, exchanged func() bool) error {
	in, line := bufio.NewReader(c), append(payload[:len(payload)-1:len(payload)-1], '\n')
	for {
		if _, err := c.Write(line); err != nil {
			return err
		}
		if _, err := in.ReadSlice('\n'); err != nil {
			return err
		}
		if !exchanged() {
			return nil
		}
	}
}

// epollLoop is one thread over epoll that does nothing but exchange lines or datagrams: what any client has to
// spend in the kernel, and little beside.
func epollLoop(c loopConfig) (done, failed uint64, err error) {
	to, err := netip.ParseAddrPort(c.Address)
	if err != nil {
		return 0, 0, err
	}
	poller, err := epoll.New()
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = poller.Close() }() // nothing is under way
	dial := func(to netip.AddrPort) (int, bool, error) { return epoll.Dial(to, netip.Addr{}) }
	line, answer := []byte(strings.Repeat("x", c.Size-1)+"\n"), c.Size
	if c.Name == "epoll-udp" {
		dial = datagrams
	}
	for range c.Connections {
		fd, connected, err := dial(to)
		if err != nil {
			return 0, 0, err
		}
		defer epoll.Close(fd)
		if err := poller.Add(fd, epoll.In, uint64(uint32(fd))); err != nil {
			return 0, 0, err
		}
		for try := 0; !connected; try++ { // loopback connects at once, or soon
			time.Sleep(time.Millisecond)
			if err := epoll.Connected(fd); err == nil || try == 100 {
				break
			}
		}
		if _, errno := epoll.Write(fd, line); errno != 0 {
			return 0, 0, errno
		}
	}
	events, buffer := make([]epoll.Event, 512), make([]byte, 64<<10)
	for until := time.Now().Add(c.Duration); time.Now().Before(until); {
		n, err := poller.Block(events, 100*time.Millisecond)
		if err != nil {
			return done, failed, err
		}
		for i := range events[:n] {
			fd := int(uint32(events[i].Token()))
			got, errno := epoll.Read(fd, buffer)
			if errno != 0 || got == 0 || bytes.IndexByte(buffer[:got], '\n') != answer-1 {
				return done, failed + 1, fmt.Errorf("read %d bytes: %w", got, errno)
			}
			done++
			if _, errno := epoll.Write(fd, line); errno != 0 {
				return done, failed + 1, errno
			}
		}
	}
	return done, failed, nil
}

// tcpSize is how many bytes each line of the experiment has.
const tcpSize = 40

// tcp compares exchanges of lines on 64 connections with plain loops.
func (b *bench) tcp() error {
	s, err := startServer(serverConfig{Kind: "tcp"}, b.serverCPUs)
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }()
	const vus = 64
	step := fmt.Sprintf("step(\"ask\", tcp.exchange(\"tcp://%s\", send = %q, receive = tcp.line()))", s.Address, strings.Repeat("x", tcpSize-1)+"\n")
	us, err := b.ours("tcp", 1, flow{Name: "tcp", Step: step, VUs: vus, Duration: b.duration})
	if err != nil {
		return err
	}
	all := []contender{us}
	for _, name := range []string{"epoll", "lines"} {
		c, err := loopContender(loopConfig{Name: name, Address: s.Address, Connections: vus, Size: tcpSize, Duration: b.duration})
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	rows := b.cost("tcp", strconv.Itoa(vus)+" connections", s, all)
	b.bars("1.15", rows, rival{"epoll", 1 / 1.15})
	return nil
}

func (b *bench) takesTCP() time.Duration { return b.turns(3*b.rounds, b.duration) }
