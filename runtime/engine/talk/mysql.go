package talk

import (
	"crypto/rand"
	"crypto/tls"
	"fmt"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/mysql"
)

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
	key := fmt.Sprintf("%s %q %q %q %d %q %d %s", r.URL, to.User, to.Password, to.Database, mode, to.PublicKey, to.Secure.Mode, to.Secure.Key)
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
	p.Host = pool.TalkHost{Key: key, TLS: d.tls, Resume: d.resume}
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
