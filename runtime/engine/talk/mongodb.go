package talk

import (
	"crypto/rand"
	"crypto/tls"
	"fmt"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/bson"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/mongodb"
)

// document is mongodb.find and its kin.
type document struct {
	of        *mongoServer
	operation *mongodb.Operation
}

var _ verb = (*document)(nil)

func (v *document) open() codec.Opening {
	var random mongodb.Random
	_, _ = rand.Read(random[:]) // it never fails
	return codec.Opening{Greeting: v.of.begins.Greet(random)}
}

func (v *document) say(x *Exchange, d codec.Dialogue) error {
	if x.stock.show != nil {
		x.shows(v.operation.Show(nil, x.values))
	}
	return d.(*mongodb.Conn).Operate(v.operation, mongodb.Order{Values: x.values, Keeps: x.keeps})
}

func (v *document) hear(x *Exchange, _ codec.MessageKind, payload []byte) bool {
	o := x.with.(*mongodb.Conn).Outcome()
	x.account.Results().Documents(o.Documents, o.Batches, o.Affected)
	x.wrong, _ = o.Err.(*http1.Error)
	x.keep(payload)
	return true
}

func (v *document) deaf() bool { return false }

func (v *document) status() uint16 { return 200 }

func (v *document) protocol() string { return "MongoDB" }

func (v *document) left(uint16, string) error { return nil }

// mongoDB prepares an operation.
func (p *Plan) mongoDB(r *request.Request, w *workflow.Workflow, memory *Memory) error {
	to := r.MongoDB
	if w.HTTP.Proxy != nil {
		return &http1.InputError{Field: "url", Value: r.URL, Remedy: "take the proxy out of http.client: it carries HTTP"}
	}
	var words []bson.Word
	for _, placeholder := range r.Placeholders {
		words = append(words, bson.Word{Text: placeholder.Word, Value: placeholder.Var})
	}
	command, err := bson.Compile(to.Command, words)
	if err != nil {
		return err
	}
	key := fmt.Sprintf("mongodb %s %v %q %q %q %v %q %s %s %s %d", to.Target.URL(), to.Target.Secure, to.User, to.Password, to.Source, to.Assumed, to.Set, to.Balanced, to.Mechanism, to.Secure.Key, to.Target.Connections)
	s, err := memory.mongoServer(key, to, w)
	if err != nil {
		return err
	}
	operation := mongodb.Run(command)
	switch to.Verb {
	case request.MongoDBReads:
		operation = mongodb.Find(command, mongodb.Cursor{Batch: to.Batch, Batches: to.Batches})
	case request.MongoDBWrites:
		operation = mongodb.Write(command)
	}
	p.verb, p.coded = &document{of: s, operation: operation}, true
	p.Host = pool.TalkHost{Key: key, Secure: to.Target.Secure, TLS: s.tls, Resume: s.resume, Shared: int(to.Target.Connections)}
	if to.Service {
		p.Host.Service = "mongodb"
	}
	p.Shown = http1.Call{Method: r.Method, Scheme: to.Target.Scheme, Host: to.Target.Host, Port: to.Target.Port, Path: "/" + to.Target.Path}
	return nil
}

// mongoServer is what begins the connections of a target.
type mongoServer struct {
	begins *mongodb.Protocol
	tls    *tls.Config // nil: the workflow's, where they have TLS
	resume bool        // a user's connections take up its TLS session
}

// mongoServer returns what begins the connections of a target.
func (m *Memory) mongoServer(key string, to *request.MongoDB, w *workflow.Workflow) (*mongoServer, error) {
	s := m.mongos[key]
	if s != nil {
		return s, nil
	}
	if m.mongos == nil || len(m.mongos) >= protocolsMax {
		m.mongos = map[string]*mongoServer{}
	}
	s = &mongoServer{begins: mongodb.New(mongodb.Config{
		Mechanism: mongodb.MechanismOf(to.Mechanism),
		User:      to.User, Password: to.Password, Source: to.Source, Assumed: to.Assumed, Set: to.Set, Balanced: to.Balanced == "true", Unbalanced: to.Balanced == "false", AnswerMax: w.HTTP.MaxBody, Pool: &m.documents, Keys: &m.keys,
	})}
	var err error
	if s.tls, s.resume, err = securing(&to.Secure, &w.HTTP.TLS); err != nil {
		return nil, err
	}
	m.mongos[key] = s
	return s, nil
}
