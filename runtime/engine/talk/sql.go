package talk

import (
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"strings"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/request"
	"hyperscale/core/workflow/session"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/mysql"
	"hyperscale/runtime/protocol/postgres"
)

// statements are sql.query, sql.batch and sql.copy.
type statements struct {
	of        *request.SQL
	begins    *postgres.Protocol
	operation *postgres.Operation
}

var _ verb = (*statements)(nil)

func (s *statements) open() codec.Opening {
	var random [18]byte
	_, _ = rand.Read(random[:]) // it never fails
	return codec.Opening{Greeting: s.begins.Greet(random)}
}

func (s *statements) say(x *Exchange, d codec.Dialogue) error {
	if x.stock.show != nil {
		for i := range s.of.Statements {
			x.shows([]byte(s.of.Statements[i].Text))
		}
	}
	return d.(*postgres.Conn).Operate(s.operation, postgres.Order{Values: x.values, Keeps: x.keeps})
}

func (s *statements) hear(x *Exchange, _ codec.MessageKind, payload []byte) bool {
	o := x.with.(*postgres.Conn).Outcome()
	x.account.Results().Add(o.Rows, o.Affected)
	x.wrong, _ = o.Err.(*http1.Error)
	if s.of.Part == session.PartCommit && o.Undone && x.wrong == nil {
		x.wrong = errUndone
	}
	x.keep(payload)
	return true
}

// errUndone: a server answers ROLLBACK to a COMMIT behind a statement that failed.
var errUndone = &http1.Error{Kind: "server ROLLBACK", Detail: "a statement of the transaction had failed: the server has rolled it back"}

func (s *statements) deaf() bool { return false }

func (s *statements) status() uint16 { return 200 }

func (s *statements) protocol() string { return "PostgreSQL" }

func (s *statements) left(uint16, string) error { return nil }

// sql prepares an operation.
func (p *Plan) sql(r *request.Request, w *workflow.Workflow, memory *Memory) error {
	to := r.SQL
	if w.HTTP.Proxy != nil {
		return &http1.InputError{Field: "url", Value: r.URL, Remedy: "take the proxy out of http.client: it carries HTTP"}
	}
	var all []postgres.Statement
	for i := range to.Statements {
		s := postgres.Statement{Text: to.Statements[i].Text}
		for _, a := range to.Statements[i].Args {
			if a.Null {
				s.Args = append(s.Args, nil)
				continue
			}
			s.Args = append(s.Args, sqlArgument(a.Text, r.Placeholders))
		}
		all = append(all, s)
	}
	mode := map[request.SQLMode]postgres.Mode{request.SQLUnnamed: postgres.ModeUnnamed, request.SQLSimple: postgres.ModeSimple}[to.Mode]
	if to.Part.IsText() {
		mode = postgres.ModeSimple
	}
	key := fmt.Sprintf("%s %q %q %q %d %d %s %d", r.URL, to.User, to.Password, to.Database, to.Late, to.Secure.Mode, to.Secure.Key, to.Target.Connections)
	config := postgres.Config{User: to.User, Password: to.Password, Database: to.Database, TLS: to.Secure.Mode != request.SQLPlain, Direct: to.Secure.Direct, Leaves: to.Late == request.SQLWorksOn, AnswerMax: w.HTTP.MaxBody}
	d, err := memory.database(key, config, &to.Secure, &w.HTTP.TLS)
	if err != nil {
		return err
	}
	operation := postgres.Compile(mode, all, to.Transaction)
	if to.Copy {
		rows := to.Data
		if to.File != nil {
			if rows, err = to.File.Data(); err != nil {
				return err
			}
		}
		operation = postgres.Copy(to.Statements[0].Text, rows)
	}
	p.verb = &statements{of: to, begins: d.protocol, operation: operation}
	p.coded = true
	p.Host = pool.TalkHost{Key: key, TLS: d.tls, Resume: d.resume, Shared: int(to.Target.Connections)}
	if to.Secure.Direct {
		p.Host.Offer = []string{postgres.ALPN}
	}
	p.Shown = http1.Call{Method: r.Method, Scheme: to.Target.Scheme, Host: to.Target.Host, Port: to.Target.Port, Path: "/" + to.Database}
	return nil
}

// sqlArgument cuts an argument where placeholders stand in it.
func sqlArgument(text string, all []request.Placeholder) (a postgres.Argument) {
	for {
		first, at := (*request.Placeholder)(nil), len(text)
		for i := range all {
			if k := strings.Index(text[:at], all[i].Word); k >= 0 {
				first, at = &all[i], k
			}
		}
		if first == nil {
			return append(a, postgres.Part{Text: text, Value: -1})
		}
		a = append(a, postgres.Part{Text: text[:at], Value: -1}, postgres.Part{Value: first.Var})
		text = text[at+len(first.Word):]
	}
}

// database is what begins the connections of a target.
type database struct {
	protocol *postgres.Protocol
	tls      *tls.Config // nil: they have none
	resume   bool        // a user's connections take up its TLS session
}

// database returns what begins the connections of a target. Common are the TLS options of those that
// have none of their own.
func (m *Memory) database(key string, c postgres.Config, s *request.SQLSecure, common *request.TLS) (*database, error) {
	d := m.databases[key]
	if d != nil {
		return d, nil
	}
	if m.databases == nil || len(m.databases) >= protocolsMax {
		m.databases = map[string]*database{}
	}
	c.Pool, c.Keys = &m.rows, &m.keys
	d = &database{protocol: postgres.New(c)}
	var err error
	if d.tls, d.resume, err = securing(s, common); err != nil {
		return nil, err
	}
	if s.Direct {
		pool.Judging(d.tls, func(state *tls.ConnectionState) error { return postgres.Chosen(state.NegotiatedProtocol) })
	}
	m.databases[key] = d
	return d, nil
}

// questions are sql.query and sql.batch for MySQL.
type questions struct {
	of        *request.SQL
	begins    *mysql.Protocol
	operation *mysql.Operation
}

var _ verb = (*questions)(nil)

func (q *questions) open() codec.Opening { return codec.Opening{Greeting: q.begins.Greet()} }

func (q *questions) say(x *Exchange, d codec.Dialogue) error {
	if x.stock.show != nil {
		for i := range q.of.Statements {
			x.shows([]byte(q.of.Statements[i].Text))
		}
	}
	return d.(*mysql.Conn).Operate(q.operation, mysql.Order{Values: x.values, Keeps: x.keeps})
}

func (q *questions) hear(x *Exchange, _ codec.MessageKind, payload []byte) bool {
	o := x.with.(*mysql.Conn).Outcome()
	x.account.Results().Add(o.Rows, o.Affected)
	x.wrong, _ = o.Err.(*http1.Error)
	x.keep(payload)
	return true
}

func (q *questions) deaf() bool { return false }

func (q *questions) status() uint16 { return 200 }

func (q *questions) protocol() string { return "MySQL" }

func (q *questions) left(uint16, string) error { return nil }

// mysql prepares an operation.
func (p *Plan) mysql(r *request.Request, w *workflow.Workflow, memory *Memory) error {
	to := r.SQL
	if w.HTTP.Proxy != nil {
		return &http1.InputError{Field: "url", Value: r.URL, Remedy: "take the proxy out of http.client: it carries HTTP"}
	}
	var all []mysql.Statement
	for i := range to.Statements {
		s := mysql.Statement{Text: to.Statements[i].Text}
		for _, a := range to.Statements[i].Args {
			s.Args = append(s.Args, mysqlArgument(&a, r.Placeholders))
		}
		all = append(all, s)
	}
	mode := map[request.SQLMode]mysql.Mode{request.SQLUnnamed: mysql.ModeUnnamed, request.SQLSimple: mysql.ModeSimple}[to.Mode]
	key := fmt.Sprintf("%s %q %q %q %d %q %d %s %d", r.URL, to.User, to.Password, to.Database, mode, to.PublicKey, to.Secure.Mode, to.Secure.Key, to.Target.Connections)
	config := mysql.Config{User: to.User, Password: to.Password, Database: to.Database, TLS: to.Secure.Mode != request.SQLPlain, Several: mode == mysql.ModeSimple, AnswerMax: w.HTTP.MaxBody}
	if to.PublicKey != "" {
		public, err := request.RSAKey(to.PublicKey)
		if err != nil {
			return fmt.Errorf("public_key %w", err) // the load has read it
		}
		config.Key, config.Random = public, rand.Reader
	}
	d, err := memory.mysql(key, config, &to.Secure, &w.HTTP.TLS)
	if err != nil {
		return err
	}
	if to.Part.IsText() {
		mode = mysql.ModeSimple
	}
	p.verb = &questions{of: to, begins: d.protocol, operation: mysql.Compile(mode, all, to.Transaction)}
	p.coded = true
	p.Host = pool.TalkHost{Key: key, TLS: d.tls, Resume: d.resume, Shared: int(to.Target.Connections)}
	p.Shown = http1.Call{Method: r.Method, Scheme: to.Target.Scheme, Host: to.Target.Host, Port: to.Target.Port, Path: "/" + to.Database}
	return nil
}

// mysqlArgument cuts an argument where placeholders stand in it.
func mysqlArgument(a *request.SQLArgument, all []request.Placeholder) (out mysql.Argument) {
	if a.Null {
		return mysql.Argument{Kind: mysql.KindNull}
	}
	out.Kind = map[request.SQLKind]mysql.Kind{request.SQLBytes: mysql.KindBytes, request.SQLInteger: mysql.KindInteger, request.SQLFloat: mysql.KindFloat}[a.Kind]
	for _, part := range sqlArgument(a.Text, all) {
		out.Parts = append(out.Parts, mysql.Part{Text: part.Text, Value: part.Value})
	}
	return out
}

// mysqlDatabase is what begins the connections of a target.
type mysqlDatabase struct {
	protocol *mysql.Protocol
	tls      *tls.Config // nil: they have none
	resume   bool        // a user's connections take up its TLS session
}

// mysql returns what begins the connections of a target. Common are the TLS options of those that have
// none of their own.
func (m *Memory) mysql(key string, c mysql.Config, s *request.SQLSecure, common *request.TLS) (*mysqlDatabase, error) {
	d := m.mysqls[key]
	if d != nil {
		return d, nil
	}
	if m.mysqls == nil || len(m.mysqls) >= protocolsMax {
		m.mysqls = map[string]*mysqlDatabase{}
	}
	c.Pool = &m.results
	d = &mysqlDatabase{protocol: mysql.New(c)}
	var err error
	if d.tls, d.resume, err = securing(s, common); err != nil {
		return nil, err
	}
	m.mysqls[key] = d
	return d, nil
}
