package relational

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"time"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/scram"
)

const (
	readMax   = time.Minute // to read a job back
	answerMax = 256 << 20   // of it, in bytes
)

// wire is one connection to a server, whose codec the load engine has too.
type wire struct {
	net     net.Conn
	talk    codec.Dialogue
	buffer  []byte
	operate func(all []statement, keeps bool) error // queues one transaction
	outcome func() ([]byte, error)                  // of the transaction that ended
	judge   func(error) *failure                    // an error of the server: nothing of the transaction is there
}

// proof reads the password anew.
func (s *server) proof() (string, *failure) {
	if !s.password.Given() {
		return "", nil
	}
	password, err := s.password.Read()
	if err != nil {
		return "", &failure{outputs.VerdictDenied, err.Error()}
	}
	return password, nil
}

// connect connects, and carries a greeting to its end.
func (s *server) connect(ctx context.Context, g codec.Greeting) (*wire, *failure) {
	var dialer net.Dialer
	plain, err := dialer.DialContext(ctx, "tcp", s.address)
	if err != nil {
		return nil, &failure{outputs.VerdictAgain, fmt.Sprintf("the server cannot be reached: start it, or correct the address: %v", err)}
	}
	w := &wire{net: plain, buffer: make([]byte, 64<<10)}
	end := context.AfterFunc(ctx, func() { _ = plain.SetDeadline(time.Now()) })
	defer end()
	if err := w.greet(ctx, s, g); err != nil {
		_ = w.net.Close()
		return nil, refused(err)
	}
	return w, nil
}

// refused says what an error of a greeting means.
func refused(err error) *failure {
	if http1.KindOf(err) == http1.KindAuth {
		return &failure{outputs.VerdictDenied, own(err.Error())}
	}
	return &failure{outputs.VerdictAgain, own(err.Error())}
}

// own makes remedies of the codecs, which are those of workflows, remedies of outputs.
func own(text string) string {
	return strings.NewReplacer(
		"give password = secret(...) to sql.client", "add password_file=FILE or password_env=VARIABLE",
		`write sslmode = "verify-full" in sql.client, or public_key = file("public_key.pem")`, "add ?sslmode=verify-full to the address",
		`write sslmode = "verify-full" in sql.client`, "add ?sslmode=verify-full to the address",
		`write sslmode = "require" in sql.client`, "add ?sslmode=verify-full to the address",
		`write sslmode = "disable" in sql.client`, "add ?sslmode=disable to the address",
		"each virtual user has a connection of its own: raise max_connections of the server, or lower vus", "raise max_connections of the server",
		`, or write statements = "simple" in sql.client`, "", `: write statements = "simple" in sql.client`, "",
		`: write statements = "unnamed" in sql.client`, "", ": raise max_body", "",
	).Replace(text)
}

func (c *wire) greet(ctx context.Context, s *server, g codec.Greeting) error {
	rounds, out := codec.NewRounds(g)
	for {
		if _, err := c.net.Write(out); err != nil {
			return err
		}
		if rounds.Secures() {
			secured := tls.Client(c.net, s.tls)
			if err := secured.HandshakeContext(ctx); err != nil {
				return fmt.Errorf("TLS: %w", err)
			}
			c.net = secured
			out = rounds.Secured(nil, scram.EndPoint(secured.ConnectionState().PeerCertificates))
			continue
		}
		n, failed := c.net.Read(c.buffer)
		said, rest, d, err := rounds.Feed(nil, c.buffer[:n])
		for err == nil && d == nil && rounds.Works() {
			said, rest, d, err = rounds.Feed(said, nil)
		}
		if err == nil && d == nil && failed != nil {
			err = rounds.End(failed)
		}
		if err != nil {
			return err
		}
		if d != nil {
			c.talk = d
			return d.Feed(rest, &heard{})
		}
		out = said
	}
}

// heard listens for the end of an operation.
type heard struct {
	of   func() ([]byte, error)
	done bool
	err  error
	body []byte
}

func (h *heard) Message(_ codec.MessageKind, _ []byte) {
	body, err := h.of()
	h.done, h.err, h.body = true, err, append([]byte(nil), body...)
}
func (h *heard) Pong(uint64)           {}
func (h *heard) Leaves(uint16, string) {}

// ask sends a transaction and waits for its end. Sent says that some of it went out.
func (c *wire) ask(ctx context.Context, all []statement, keeps bool) (h *heard, sent bool, err error) {
	h = &heard{of: c.outcome}
	c.talk.Rest()
	if err := c.operate(all, keeps); err != nil {
		return h, false, err
	}
	_ = c.net.SetDeadline(time.Time{})
	end := context.AfterFunc(ctx, func() { _ = c.net.SetDeadline(time.Now()) })
	defer end()
	for !h.done {
		for len(c.talk.Output()) > 0 {
			n, err := c.net.Write(c.talk.Output())
			c.talk.Sent(n)
			if sent = sent || n > 0; err != nil {
				return h, sent, err
			}
		}
		n, err := c.net.Read(c.buffer)
		if wrong := c.talk.Feed(c.buffer[:n], h); wrong != nil {
			return h, true, wrong
		}
		if err != nil && !h.done {
			return h, true, c.talk.End(err)
		}
	}
	return h, true, nil
}

func (c *wire) exec(ctx context.Context, all []statement) *failure {
	h, sent, err := c.ask(ctx, all, false)
	switch {
	case err != nil && !sent:
		return &failure{outputs.VerdictAgain, err.Error()}
	case err != nil:
		return &failure{outputs.VerdictUnclear, own(err.Error())}
	case h.err != nil:
		return c.judge(h.err)
	}
	return nil
}

func (c *wire) query(ctx context.Context, s statement) (all []map[string]string, err error) {
	h, _, err := c.ask(ctx, []statement{s}, true)
	if err == nil {
		err = h.err
	}
	if err != nil {
		return nil, err
	}
	var rows []map[string]json.RawMessage
	if err := json.Unmarshal(h.body, &rows); err != nil {
		return nil, err
	}
	for _, r := range rows {
		row := map[string]string{}
		for name, raw := range r { //lint:orderfree it is a map again
			var word string
			switch {
			case string(raw) == "null":
				continue
			case json.Unmarshal(raw, &word) != nil:
				word = string(raw)
			}
			row[name] = word
		}
		all = append(all, row)
	}
	return all, nil
}

func (c *wire) close() {
	c.talk.Leave(0, "")
	_ = c.net.SetDeadline(time.Now().Add(time.Second))
	_, _ = c.net.Write(c.talk.Output()) // a goodbye
	_ = c.net.Close()
	c.talk.Release()
}
