package main

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"hyperscale/runtime/epoll"
)

// reflecting is a server that sends each datagram back.
type reflecting struct {
	socket  *net.UDPConn
	counter *counter
}

func newReflecting(c serverConfig, n *counter) (*reflecting, error) {
	at, err := net.ResolveUDPAddr("udp", c.Listen)
	if err != nil {
		return nil, err
	}
	socket, err := net.ListenUDP("udp", at)
	if err != nil {
		return nil, err
	}
	return &reflecting{socket, n}, socket.SetReadBuffer(4 << 20)
}

func (e *reflecting) serve() error {
	buffer := make([]byte, 64<<10)
	for {
		n, from, err := e.socket.ReadFromUDPAddrPort(buffer)
		if err != nil {
			return err
		}
		e.counter.requests.Add(1)
		_, _ = e.socket.WriteToUDPAddrPort(buffer[:n], from) // the client has gone
	}
}

// packetsLoop is a goroutine for each socket, as one writes it with net.
func packetsLoop(c net.Conn, payload []byte, exchanged func() bool) error {
	buffer := make([]byte, 64<<10)
	for {
		if _, err := c.Write(payload); err != nil {
			return err
		}
		n, err := c.Read(buffer)
		if err == nil && n != len(payload) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		if !exchanged() {
			return nil
		}
	}
}

// datagrams opens a connected socket.
func datagrams(to netip.AddrPort) (fd int, connected bool, err error) {
	fd, err = epoll.Datagrams(to, netip.Addr{})
	return fd, true, err
}

// udpSize is how many bytes each datagram of the experiment has.
const udpSize = 40

// udp compares exchanges of datagrams on 64 sockets with plain loops.
func (b *bench) udp() error {
	s, err := startServer(serverConfig{Kind: "udp"}, b.serverCPUs)
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }()
	const vus = 64
	step := fmt.Sprintf("step(\"ask\", udp.exchange(\"udp://%s\", send = %q))", s.Address, strings.Repeat("x", udpSize))
	us, err := b.ours("udp", 1, flow{Name: "udp", Step: step, VUs: vus, Duration: b.duration})
	if err != nil {
		return err
	}
	all := []contender{us}
	for _, name := range []string{"epoll-udp", "packets"} {
		c, err := loopContender(loopConfig{Name: name, Address: s.Address, Connections: vus, Size: udpSize, Duration: b.duration})
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	rows := b.cost("udp", strconv.Itoa(vus)+" sockets", s, all)
	b.bars("1.2", rows, rival{"epoll-udp", 1 / 1.2})
	return nil
}

func (b *bench) takesUDP() time.Duration { return b.turns(3*b.rounds, b.duration) }
