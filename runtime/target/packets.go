package target

import (
	"context"
	"errors"
	"fmt"
	"net"
)

// packets sends each datagram back to where it came from, and counts it as a message.
type packets struct {
	site   *site
	socket *net.UDPConn
}

// datagramMax is more than a datagram has.
const datagramMax = 64 << 10

// datagramQueue is what the kernel keeps of datagrams that are not read yet, if it may: a burst of many
// users comes at once.
const datagramQueue = 4 << 20

// listenPackets takes the address of Config.UDP.
func listenPackets(site *site, address string) (*packets, error) {
	c, err := net.ListenPacket("udp", address)
	if err != nil {
		return nil, fmt.Errorf("target: listen on %s: choose a free address of this machine with --udp, like 127.0.0.1:7007: %w", address, err)
	}
	socket := c.(*net.UDPConn)
	_ = socket.SetReadBuffer(datagramQueue) // less only drops earlier
	return &packets{site: site, socket: socket}, nil
}

// serve repeats until the context ends.
func (p *packets) serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = p.socket.Close() })
	defer stop()
	buffer := make([]byte, datagramMax)
	for {
		n, from, err := p.socket.ReadFromUDPAddrPort(buffer)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		case err != nil:
			continue // the network reports about a datagram before
		}
		p.site.mu.Lock()
		p.site.stats.Messages++
		p.site.mu.Unlock()
		_, _ = p.socket.WriteToUDPAddrPort(buffer[:n], from) // a client that has gone gets nothing
	}
}
