package ping

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"strings"
	"time"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/nats"
)

// talkNATS greets the server, in TLS if either side wants it, and times a PING.
func (r *Report) talkNATS(ctx context.Context, c net.Conn, cfg Config, call *http1.Call) error {
	protocol, err := nats.New(*cfg.NATS)
	if err != nil {
		return err
	}
	var random nats.Random
	_, _ = rand.Read(random[:]) // it never fails
	g := protocol.Greet(random)
	rounds, out := codec.NewRounds(g)
	began := time.Now()
	r.Answer = &Answer{Protocol: "NATS", Headers: [][2]string{}}
	d, rest, err := r.greet(ctx, &c, cfg, call, rounds, out)
	if err != nil {
		r.Answer = nil
		return err
	}
	defer d.Release()
	version, name, most, jetStream := g.Server()
	server := strings.TrimSpace("nats-server " + version + ", " + name)
	if jetStream {
		server += ", JetStream"
	}
	r.Greeting = &Greeting{Protocol: fmt.Sprintf("%s, max_payload %d", r.Answer.Protocol, most), Server: server, NS: int64(time.Since(began))}
	r.Answer.Status, r.Answer.KeepAlive = 200, true
	return r.pong(c, d, rest, make([]byte, 64<<10))
}
