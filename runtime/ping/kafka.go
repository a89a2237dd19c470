package ping

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"time"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/kafka"
)

// talkKafka greets a broker, and times Metadata.
func (r *Report) talkKafka(ctx context.Context, c net.Conn, cfg Config, call *http1.Call) error {
	var random kafka.Random
	_, _ = rand.Read(random[:]) // it never fails
	g := kafka.New(*cfg.Kafka).Greet(random)
	rounds, out := codec.NewRounds(g)
	began := time.Now()
	r.Answer = &Answer{Protocol: "Kafka", Headers: [][2]string{}}
	d, rest, err := r.greet(ctx, &c, cfg, call, rounds, out)
	if err != nil {
		r.Answer = nil
		return err
	}
	defer d.Release()
	means := "without a proof"
	if g.Means() != "" {
		means = "user " + cfg.Kafka.User + " by " + g.Means()
	}
	produce, metadata := g.Speaks()
	r.Greeting = &Greeting{Protocol: fmt.Sprintf("Kafka, Produce v%d, Metadata v%d, %s", produce, metadata, means), NS: int64(time.Since(began))}
	of := d.(*kafka.Conn)
	outcome := func() error {
		if l := of.Outcome().Layout; l != nil {
			r.Greeting.Server = fmt.Sprintf("a cluster of %d brokers", len(l.Brokers))
		}
		return of.Outcome().Err
	}
	return r.ask(c, d, rest, &answered{outcome: outcome, say: func() error { return of.Learn("", kafka.Order{}) }})
}
