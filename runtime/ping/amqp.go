package ping

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"hyperscale/runtime/protocol/amqp"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// talkAMQP greets the server, and times an answer of its channel.
func (r *Report) talkAMQP(ctx context.Context, c net.Conn, cfg Config, call *http1.Call) error {
	protocol, err := amqp.New(*cfg.AMQP)
	if err != nil {
		return err
	}
	g := protocol.Greet()
	rounds, out := codec.NewRounds(g)
	began := time.Now()
	r.Answer = &Answer{Protocol: "AMQP 0.9.1", Headers: [][2]string{}}
	d, rest, err := r.greet(ctx, &c, cfg, call, rounds, out)
	if err != nil {
		r.Answer = nil
		return err
	}
	defer d.Release()
	product, version, most := g.Server()
	r.Greeting = &Greeting{Protocol: fmt.Sprintf("%s, frame_max %d", r.Answer.Protocol, most), Server: strings.TrimSpace(product + " " + version), NS: int64(time.Since(began))}
	r.Answer.Status, r.Answer.KeepAlive = 200, true
	return r.pong(c, d, rest, make([]byte, 64<<10))
}
