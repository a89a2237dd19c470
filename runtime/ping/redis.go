package ping

import (
	"encoding/json"
	"net"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/protocol/codec"
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
