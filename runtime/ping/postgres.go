package ping

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/postgres"
	"hyperscale/runtime/protocol/scram"
)

// talkPostgres greets the server, in TLS if it is asked to, and times a statement.
func (r *Report) talkPostgres(ctx context.Context, c net.Conn, cfg Config, call *http1.Call) error {
	var random [18]byte
	_, _ = rand.Read(random[:]) // it never fails
	g := postgres.New(*cfg.Postgres).Greet(random)
	rounds, out := codec.NewRounds(g)
	began := time.Now()
	r.Answer = &Answer{Protocol: "PostgreSQL 3.0", Headers: [][2]string{}}
	d, rest, err := r.greet(ctx, &c, cfg, call, rounds, out)
	if err != nil {
		r.Answer = nil
		return err
	}
	defer d.Release()
	means := "without a proof"
	if g.Means() != "" {
		means = "by " + g.Means()
	}
	r.Greeting = &Greeting{Protocol: r.Answer.Protocol + ", user " + cfg.Postgres.User + " " + means, Server: strings.TrimSpace("PostgreSQL " + g.Server()), NS: int64(time.Since(began))}
	of := d.(*postgres.Conn)
	return r.ask(c, d, rest, &answered{outcome: func() error { return of.Outcome().Err }, say: func() error { return d.Send(codec.MessageText, []byte("select 1"), nil) }})
}

// greet carries a greeting to its dialogue. TLS in its middle puts another connection in place.
func (r *Report) greet(ctx context.Context, c *net.Conn, cfg Config, call *http1.Call, rounds *codec.Rounds, out []byte) (codec.Dialogue, []byte, error) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := (*c).Write(out)
		if r.Answer.BytesOut += int64(n); err != nil {
			return nil, nil, err
		}
		if rounds.Secures() {
			r.enter(message.PhaseTLS)
			secured, err := r.secure(ctx, *c, cfg, call, newSessions())
			if err != nil {
				return nil, nil, err
			}
			*c = secured
			out = rounds.Secured(nil, scram.EndPoint(secured.(*tls.Conn).ConnectionState().PeerCertificates))
			r.enter(message.PhaseSend)
			continue
		}
		r.enter(message.PhaseWait)
		n, readErr := (*c).Read(buffer)
		r.Answer.BytesIn += int64(n)
		said, rest, d, err := rounds.Feed(nil, buffer[:n])
		for err == nil && d == nil && rounds.Works() {
			said, rest, d, err = rounds.Feed(said, nil)
		}
		if err == nil && d == nil && readErr != nil {
			err = rounds.End(readErr)
		}
		if err != nil || d != nil {
			return d, rest, err
		}
		if out = said; len(out) > 0 {
			r.enter(message.PhaseSend)
		}
	}
}

// answered listens for the answer to a statement.
type answered struct {
	say     func() error // asks it
	outcome func() error // the server's error
	done    bool
	err     error
	body    int
}

var _ codec.Listener = (*answered)(nil)

func (a *answered) Message(_ codec.MessageKind, b []byte) {
	a.done, a.err, a.body = true, a.outcome(), len(b)
}
func (a *answered) Pong(uint64)           {}
func (a *answered) Leaves(uint16, string) {}

// ask times select 1.
func (r *Report) ask(c net.Conn, d codec.Dialogue, rest []byte, on *answered) error {
	if err := d.Feed(rest, on); err != nil {
		return err
	}
	r.enter(message.PhaseSend)
	began := time.Now()
	if err := on.say(); err != nil {
		return err
	}
	if err := r.write(c, d); err != nil {
		return err
	}
	r.enter(message.PhaseWait)
	for buffer := make([]byte, 64<<10); !on.done; {
		n, err := c.Read(buffer)
		r.Answer.BytesIn += int64(n)
		if wrong := d.Feed(buffer[:n], on); wrong != nil {
			return wrong
		}
		if err != nil && !on.done {
			if over := d.End(err); over != nil {
				return over
			}
			return err
		}
	}
	r.Greeting.PongNS = int64(time.Since(began))
	r.Answer.Status, r.Answer.KeepAlive, r.Answer.BodyBytes = 200, true, int64(on.body)
	var wrong *http1.Error
	if errors.As(on.err, &wrong) {
		r.Answer.Status = 500
		return wrong
	}
	d.Leave(0, "")
	_ = r.write(c, d) // whether the goodbye arrives changes nothing
	return nil
}
