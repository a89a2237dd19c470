package relational

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/wire"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

const (
	readMax   = time.Minute // to read a job back
	answerMax = 256 << 20   // of it, in bytes
)

// connection is one to a server, whose codec the load engine has too.
type connection struct {
	*wire.Conn
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
func (s *server) connect(ctx context.Context, g codec.Greeting) (*connection, *failure) {
	c, err := wire.Connect(ctx, s.address, s.tls, codec.Opening{Greeting: g})
	if err != nil {
		return nil, refused(err)
	}
	return &connection{Conn: c}, nil
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

// answer is the end of a transaction.
type answer struct {
	err  error
	body []byte
}

// ask sends a transaction and waits for its end. Sent says that some of it went out.
func (c *connection) ask(ctx context.Context, all []statement, keeps bool) (a answer, sent bool, err error) {
	sent, err = c.Ask(ctx, func() error { return c.operate(all, keeps) }, func([]byte) {
		body, err := c.outcome()
		a = answer{err, append([]byte(nil), body...)}
	})
	return a, sent, err
}

func (c *connection) exec(ctx context.Context, all []statement) *failure {
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

func (c *connection) query(ctx context.Context, s statement) (all []map[string]string, err error) {
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

func (c *connection) close() { c.Close() }
