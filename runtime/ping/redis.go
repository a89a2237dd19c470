package ping

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/kafka"
	"hyperscale/runtime/protocol/mqtt"
	"hyperscale/runtime/protocol/nats"
	"hyperscale/runtime/protocol/redis"
)

// talkRedis greets the server, which tells what it is, and times a PING.
func (r *Report) talkRedis(c net.Conn, cfg Config) error {
	g := redis.New(*cfg.Redis).Greet()
	rounds, out := codec.NewRounds(g)
	began := time.Now()
	r.Answer = &Answer{Protocol: "RESP3", Headers: [][2]string{}}
	n, err := c.Write(out)
	r.Answer.BytesOut += int64(n)
	if err != nil {
		r.Answer = nil
		return err
	}
	r.enter(message.PhaseWait)
	buffer := make([]byte, 64<<10)
	for {
		n, readErr := c.Read(buffer)
		r.Answer.BytesIn += int64(n)
		_, rest, d, err := rounds.Feed(nil, buffer[:n])
		if err == nil && d == nil && readErr != nil {
			err = rounds.End(readErr)
		}
		if err != nil {
			r.Answer = nil
			return err
		}
		if d != nil {
			defer d.Release()
			r.Greeting = &Greeting{Protocol: r.Answer.Protocol, Server: serverOf(g.First()), NS: int64(time.Since(began))}
			r.Answer.Status, r.Answer.KeepAlive = 200, true
			return r.pong(c, d, rest, buffer)
		}
	}
}

// serverOf returns what an answer to HELLO says of the server.
func serverOf(hello []byte) string {
	var said struct{ Server, Version, Mode, Role string }
	if json.Unmarshal(hello, &said) != nil {
		return "" // a server that says something else
	}
	var all []string
	for _, text := range []string{strings.TrimSpace(said.Server + " " + said.Version), said.Mode, said.Role} {
		if text != "" {
			all = append(all, text)
		}
	}
	return strings.Join(all, ", ")
}

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
	produce, fetch, metadata := g.Speaks()
	r.Greeting = &Greeting{Protocol: fmt.Sprintf("Kafka, Produce v%d, Fetch v%d, Metadata v%d, %s", produce, fetch, metadata, means), NS: int64(time.Since(began))}
	of := d.(*kafka.Conn)
	outcome := func() error {
		if l := of.Outcome().Layout; l != nil {
			r.Greeting.Server = fmt.Sprintf("a cluster of %d brokers", len(l.Brokers))
		}
		return of.Outcome().Err
	}
	return r.ask(c, d, rest, &answered{outcome: outcome, say: func() error { return of.Learn("", kafka.Order{}) }})
}

// talkMQTT connects to the server, shows what it allows, and times a PINGREQ.
func (r *Report) talkMQTT(_ context.Context, c net.Conn, cfg Config, _ *http1.Call) error {
	protocol, err := mqtt.New(*cfg.MQTT)
	if err != nil {
		return err
	}
	var random [12]byte
	_, _ = rand.Read(random[:]) // it never fails
	g := protocol.Greet(mqtt.Client(random), nil)
	rounds, out := codec.NewRounds(g)
	began := time.Now()
	r.Answer = &Answer{Protocol: "MQTT", Headers: [][2]string{}}
	n, err := c.Write(out)
	r.Answer.BytesOut += int64(n)
	r.enter(message.PhaseWait)
	buffer := make([]byte, 64<<10)
	for err == nil {
		n, readErr := c.Read(buffer)
		r.Answer.BytesIn += int64(n)
		_, rest, d, wrong := rounds.Feed(nil, buffer[:n])
		if wrong == nil && d == nil && readErr != nil {
			wrong = rounds.End(readErr)
		}
		if err = wrong; d != nil {
			defer d.Release()
			r.Greeting = &Greeting{Protocol: protocolOf(cfg.MQTT.Version, g), NS: int64(time.Since(began))}
			r.Answer.Status, r.Answer.KeepAlive = 200, true
			return r.pong(c, d, rest, buffer)
		}
	}
	r.Answer = nil
	return err
}

// protocolOf is what a greeting says of a server.
func protocolOf(v mqtt.Version, g *mqtt.Greeting) string {
	version := "MQTT 3.1.1"
	if v == mqtt.Version5 {
		version = "MQTT 5"
	}
	packetMost, qosMost, keepAlive, _ := g.Server()
	all := []string{version, fmt.Sprintf("QoS %d at most", qosMost)}
	if packetMost > 0 {
		all = append(all, fmt.Sprintf("packets of %d bytes at most", packetMost))
	}
	if keepAlive > 0 {
		all = append(all, fmt.Sprintf("keep alive %d s", keepAlive))
	}
	return strings.Join(all, ", ")
}
