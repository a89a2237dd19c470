package cassandra

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"net"
	"strings"
	"time"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/redact"
)

// failure is why a statement did not run, or a row is not there.
type failure struct {
	verdict outputs.Verdict
	code    int // of the server; -1: it said nothing
	why     string
}

func (f *failure) outcome() outputs.Outcome {
	return outputs.Outcome{Verdict: f.verdict, Why: f.why}
}

// silent is a failure of the connection.
func silent(verdict outputs.Verdict, err error) *failure { return &failure{verdict, -1, err.Error()} }

// conn is one connection to a coordinator, whose user is proved.
type conn struct {
	net      net.Conn
	in       *bufio.Reader
	row, day []byte // ids of the statements that insert
	secret   string // the password that this connection has sent: no error shows it
}

// connect connects to an address, and proves the user.
func (s *server) connect(ctx context.Context, address string) (*conn, *failure) {
	var dialer net.Dialer
	plain, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, silent(outputs.VerdictAgain, fmt.Errorf("the server cannot be reached: start it, or correct the address: %w", err))
	}
	c := &conn{net: plain}
	defer c.bound(ctx)()
	if s.tls != nil {
		secure := s.tls.Clone()
		secure.ServerName, _, _ = net.SplitHostPort(address) // it was joined
		secured := tls.Client(plain, secure)
		if err := secured.HandshakeContext(ctx); err != nil {
			c.close()
			return nil, silent(outputs.VerdictAgain, fmt.Errorf("TLS: %w", err))
		}
		c.net = secured
	}
	c.in = bufio.NewReaderSize(c.net, 64<<10)
	if fail := s.greet(c); fail != nil {
		c.close()
		return nil, fail
	}
	return c, nil
}

func (c *conn) close() { _ = c.net.Close() }

// bound ends what waits for the server when the context ends, until the function that it returns is called.
func (c *conn) bound(ctx context.Context) func() {
	n := c.net // TLS may take its place meanwhile
	_ = n.SetDeadline(time.Time{})
	stop := context.AfterFunc(ctx, func() { _ = n.SetDeadline(time.Now()) })
	return func() { stop() }
}

// greet begins a session. The password is read anew each time.
func (s *server) greet(c *conn) *failure {
	f, fail := c.say(opStartup, appendText(appendText([]byte{0, 1}, "CQL_VERSION"), "3.0.0"))
	if fail != nil || f.op == opReady {
		return fail
	}
	if f.op != opAuthenticate {
		return silent(outputs.VerdictAgain, errAnswer)
	}
	if !s.password.Given() {
		return &failure{outputs.VerdictDenied, -1, "the server wants a user: write cassandras://USER@HOST/KEYSPACE, and add password_file=FILE or password_env=VARIABLE"}
	}
	password, err := s.password.Read()
	if err != nil {
		return silent(outputs.VerdictDenied, err)
	}
	c.secret = password
	token := "\x00" + s.user + "\x00" + password // PLAIN, RFC 4616
	if f, fail = c.say(opAuthResponse, appendLong(nil, token)); fail != nil {
		return fail
	}
	switch f.op {
	case opAuthSuccess:
		return nil
	case opAuthChallenge:
		return &failure{outputs.VerdictDenied, -1, "the server wants another proof than a password: use PasswordAuthenticator there"}
	}
	return silent(outputs.VerdictAgain, errAnswer)
}

// say sends one request, and waits for its answer.
func (c *conn) say(op opcode, body []byte) (frame, *failure) {
	if _, err := c.net.Write(appendFrame(nil, 0, op, body)); err != nil {
		return frame{}, silent(outputs.VerdictAgain, err)
	}
	f, err := readFrame(c.in)
	switch {
	case err != nil:
		return f, silent(outputs.VerdictUnclear, err)
	case f.op == opError:
		return f, judge(f.body, c.secret)
	}
	return f, nil
}

// run runs a statement.
func (c *conn) run(statement string, q query) (frame, *failure) {
	f, fail := c.say(opQuery, q.append(appendLong(nil, statement)))
	if fail == nil && f.op != opResult {
		fail = silent(outputs.VerdictAgain, errAnswer)
	}
	return f, fail
}

// prepare returns the id of a statement.
func (c *conn) prepare(statement string) ([]byte, *failure) {
	f, fail := c.say(opPrepare, appendLong(nil, statement))
	if fail != nil {
		return nil, fail
	}
	kind := f.body.int()
	id := f.body.take(f.body.short())
	if f.op != opResult || kind != resultPrepared || f.body.err != nil || len(id) == 0 {
		return nil, silent(outputs.VerdictAgain, errAnswer)
	}
	return id, nil
}

// flight bounds the requests that wait for an answer: a server holds their bytes.
const flight = 64

// execution is one prepared statement with its values.
type execution struct {
	id     []byte
	values [][]byte
}

// execute runs statements at once, and returns what became of each, and what broke the connection.
func (c *conn) execute(ctx context.Context, level uint16, all []execution) (ends []*failure, broken *failure) {
	defer c.bound(ctx)()
	ends = make([]*failure, len(all))
	for from := 0; from < len(all); from += flight {
		to := min(from+flight, len(all))
		if broken = c.fly(level, all[from:to], ends[from:to]); broken != nil {
			return ends, broken
		}
	}
	return ends, nil
}

func (c *conn) fly(level uint16, all []execution, ends []*failure) *failure {
	var out []byte
	for i, e := range all {
		q := query{level: level, values: e.values}
		body := binary.BigEndian.AppendUint16(nil, uint16(len(e.id)))
		out = appendFrame(out, i, opExecute, q.append(append(body, e.id...)))
	}
	if _, err := c.net.Write(out); err != nil {
		return silent(outputs.VerdictUnclear, err)
	}
	waits := make([]bool, len(all))
	for i := range waits {
		waits[i] = true
	}
	for range all {
		f, err := readFrame(c.in)
		switch {
		case err != nil:
			return silent(outputs.VerdictUnclear, err)
		case f.op == opError && f.stream < 0:
			fail := judge(f.body, c.secret)
			if fail.verdict == outputs.VerdictRejected {
				fail.verdict = outputs.VerdictUnclear // it names no statement, and the server has some already
			}
			return fail
		case f.stream < 0 || int(f.stream) >= len(all) || !waits[f.stream] || f.op != opResult && f.op != opError:
			return silent(outputs.VerdictUnclear, errAnswer)
		}
		waits[f.stream] = false
		if f.op == opError {
			ends[f.stream] = judge(f.body, c.secret)
		}
	}
	return nil
}

// Codes of errors.
const (
	codeCredentials  = 0x0100
	codeProtocol     = 0x000A
	codeUnavailable  = 0x1000
	codeSyntax       = 0x2000
	codeUnauthorized = 0x2100
	codeInvalid      = 0x2200
	codeConfig       = 0x2300
	codeExists       = 0x2400
)

// whyMax bounds what a server says, in bytes.
const whyMax = 500

// judge says what an error of the server means, without the secret. What may have been written changes nothing when it comes again.
func judge(body reader, secret string) *failure {
	code := body.int()
	said := strings.ToValidUTF8(redact.Excerpt(body.text(), whyMax, secret), "\uFFFD")
	if body.err != nil {
		return silent(outputs.VerdictUnclear, errAnswer)
	}
	f := &failure{outputs.VerdictAgain, code, fmt.Sprintf("0x%04X: %s", code, said)}
	switch code {
	case codeCredentials:
		f.verdict = outputs.VerdictDenied
	case codeUnauthorized:
		f.verdict, f.why = outputs.VerdictDenied, f.why+": grant the user MODIFY on the tables, and CREATE on the keyspace or add create=false"
	case codeUnavailable:
		f.why += ": bring the replicas back, or choose another consistency="
	case codeProtocol:
		f.why += ": use Cassandra 2.2 or newer"
	case codeInvalid, codeSyntax, codeConfig:
		f.verdict = outputs.VerdictRejected
	}
	return f
}
