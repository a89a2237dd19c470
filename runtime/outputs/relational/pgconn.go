package relational

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"time"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/postgres"
	"hyperscale/runtime/protocol/scram"
)

const (
	readMax   = time.Minute // to read a job back
	answerMax = 256 << 20   // of it, in bytes
)

// conn is one connection to PostgreSQL, whose codec the load engine has too.
type conn struct {
	net    net.Conn
	talk   *postgres.Conn
	buffer []byte
}

// open connects and proves the user. The password is read anew each time.
func (s *server) open(ctx context.Context) (database, *failure) {
	config := postgres.Config{User: s.user, Database: s.database, TLS: s.tls != nil, Leaves: true, AnswerMax: answerMax}
	if s.password.Given() {
		password, err := s.password.Read()
		if err != nil {
			return nil, &failure{outputs.VerdictDenied, err.Error()}
		}
		config.Password = password
	}
	var dialer net.Dialer
	plain, err := dialer.DialContext(ctx, "tcp", s.address)
	if err != nil {
		return nil, &failure{outputs.VerdictAgain, fmt.Sprintf("the server cannot be reached: start it, or correct the address: %v", err)}
	}
	c := &conn{net: plain, buffer: make([]byte, 64<<10)}
	end := context.AfterFunc(ctx, func() { _ = plain.SetDeadline(time.Now()) })
	defer end()
	if err := c.greet(ctx, s, config); err != nil {
		_ = c.net.Close()
		return nil, refused(err)
	}
	return c, nil
}

// refused says what an error of a greeting means.
func refused(err error) *failure {
	if http1.KindOf(err) == http1.KindAuth {
		why := err.Error()
		why = strings.ReplaceAll(why, "give password = secret(...) to sql.client", "add password_file=FILE or password_env=VARIABLE")
		why = strings.ReplaceAll(why, `write sslmode = "verify-full" in sql.client`, "add ?sslmode=verify-full to the address")
		why = strings.ReplaceAll(why, `write sslmode = "require" in sql.client`, "add ?sslmode=verify-full to the address")
		return &failure{outputs.VerdictDenied, why}
	}
	return &failure{outputs.VerdictAgain, strings.ReplaceAll(err.Error(), `write sslmode = "disable" in sql.client`, "add ?sslmode=disable to the address")}
}

func (c *conn) greet(ctx context.Context, s *server, config postgres.Config) error {
	var random [18]byte
	_, _ = rand.Read(random[:]) // it never fails
	rounds, out := codec.NewRounds(postgres.New(config).Greet(random))
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
			c.talk = d.(*postgres.Conn)
			return c.talk.Feed(rest, &heard{})
		}
		out = said
	}
}

// heard listens for the end of an operation.
type heard struct {
	talk *postgres.Conn
	done bool
	err  error
	body []byte
}

func (h *heard) Message(_ codec.MessageKind, _ []byte) {
	o := h.talk.Outcome()
	h.done, h.err, h.body = true, o.Err, append([]byte(nil), o.Body...)
}
func (h *heard) Pong(uint64)           {}
func (h *heard) Leaves(uint16, string) {}

// ask sends an operation and waits for its end. Sent says that some of it went out.
func (c *conn) ask(ctx context.Context, o *postgres.Operation, keeps bool) (h *heard, sent bool, err error) {
	h = &heard{talk: c.talk}
	c.talk.Rest()
	if err := c.talk.Operate(o, postgres.Order{Keeps: keeps}); err != nil {
		return h, false, err
	}
	_ = c.net.SetDeadline(time.Time{})
	end := context.AfterFunc(ctx, func() { _ = c.net.SetDeadline(time.Now()) })
	defer end()
	for len(c.talk.Output()) > 0 {
		n, err := c.net.Write(c.talk.Output())
		c.talk.Sent(n)
		if sent = sent || n > 0; err != nil {
			return h, sent, err
		}
	}
	for !h.done {
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

func (c *conn) exec(ctx context.Context, all []statement) *failure {
	h, sent, err := c.ask(ctx, operation(all), false)
	switch {
	case err != nil && !sent:
		return &failure{outputs.VerdictAgain, err.Error()}
	case err != nil:
		return &failure{outputs.VerdictUnclear, err.Error()}
	case h.err != nil:
		return judgePostgres(h.err)
	}
	return nil
}

// operation is statements as one transaction. A pooler of transactions keeps no prepared ones.
func operation(all []statement) *postgres.Operation {
	var of []postgres.Statement
	for _, s := range all {
		one := postgres.Statement{Text: s.text}
		for _, v := range s.args {
			if v == nil {
				one.Args = append(one.Args, nil)
				continue
			}
			one.Args = append(one.Args, postgres.Text(*v))
		}
		of = append(of, one)
	}
	return postgres.Compile(postgres.ModeUnnamed, of, true)
}

// judgePostgres says what an error of the server means. Nothing of the transaction is there.
func judgePostgres(err error) *failure {
	code, _ := strings.CutPrefix(string(http1.KindOf(err)), "server ")
	f := &failure{outputs.VerdictAgain, code + ": " + err.Error()}
	if len(code) < 2 {
		return f
	}
	switch code[:2] {
	case "21", "22", "23", "54": // data, constraints, limits
		f.verdict = outputs.VerdictRejected
	case "28":
		f.verdict = outputs.VerdictDenied
	}
	return f
}

func (c *conn) query(ctx context.Context, s statement) (all []map[string]string, err error) {
	h, _, err := c.ask(ctx, operation([]statement{s}), true)
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

func (c *conn) close() {
	c.talk.Leave(0, "")
	_ = c.net.SetDeadline(time.Now().Add(time.Second))
	_, _ = c.net.Write(c.talk.Output()) // a goodbye
	_ = c.net.Close()
	c.talk.Release()
}
