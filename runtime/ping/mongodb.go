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
	"hyperscale/runtime/protocol/mongodb"
)

// talkMongoDB greets the server, shows what it says of itself, and times a ping.
func (r *Report) talkMongoDB(ctx context.Context, c net.Conn, cfg Config, call *http1.Call) error {
	var random mongodb.Random
	_, _ = rand.Read(random[:]) // it never fails
	g := mongodb.New(*cfg.MongoDB).Greet(random)
	if c := r.Cluster; c != nil {
		if err := g.Tell(c.Text, len(c.Servers)); err != nil {
			return err
		}
	}
	rounds, out := codec.NewRounds(g)
	began := time.Now()
	r.Answer = &Answer{Protocol: "MongoDB", Headers: [][2]string{}}
	d, rest, err := r.greet(ctx, &c, cfg, call, rounds, out)
	if err != nil {
		r.Answer = nil
		return err
	}
	defer d.Release()
	means := "without a proof"
	switch {
	case g.Means() == "":
	case cfg.MongoDB.User == "":
		means = "the user of the certificate by " + g.Means()
	default:
		means = "user " + cfg.MongoDB.User + " by " + g.Means()
	}
	said := g.Server()
	server := "a server of its own"
	switch {
	case said.Router:
		server = "mongos"
	case said.Set != "":
		server = "the primary of the set " + said.Set
	}
	r.Greeting = &Greeting{Protocol: fmt.Sprintf("%s, wire version %d, documents of %d bytes, %s", r.Answer.Protocol, said.WireVersion, said.ObjectMax, means), Server: server, NS: int64(time.Since(began))}
	r.Answer.Status, r.Answer.KeepAlive = 200, true
	return r.pong(c, d, rest, make([]byte, 64<<10))
}

// hostOf is the host of a URL, with its port.
func hostOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	host, _, _ := strings.Cut(rest, "/")
	return host
}
