package documents

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"hyperscale/core/workflow/bson"
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/wire"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/mongodb"
)

const mongoExample = "mongodb://load@mongo.internal/load,password_file=/run/secrets/mongodb"

// MongoDB is the kind `mongodb`: a document for each row, in one collection.
func MongoDB() outputs.Kind {
	return outputs.Kind{
		Name: "mongodb", Engine: "documents", About: "MongoDB: a document for each row, during the run and at its end", Place: "URL", Example: mongoExample,
		Options: []outputs.Option{
			{Name: "password", Type: outputs.OptionSecret, Help: "of the user of the address"},
			{Name: "mechanism", Type: outputs.OptionChoice, Default: "SCRAM-SHA-256", Choices: []string{"SCRAM-SHA-256", "SCRAM-SHA-1"}, Help: "how the user proves the password"},
			{Name: "auth_source", Type: outputs.OptionText, Default: "admin", Help: "the database that knows the user"},
			{Name: "tls", Type: outputs.OptionBool, Help: "default true, and false for an address of this machine"},
			{Name: "ca", Type: outputs.OptionText, Help: "file of an authority of your own, in PEM"},
			{Name: "collection", Type: outputs.OptionText, Default: "hyperscale_rows", Help: "of the database of the address"},
		},
		Delivery: outputs.Exact, Limits: outputs.Limits{Rows: mongoRows},
		Tested: "FerretDB 1.24 on PostgreSQL 15, through a relay that refuses, hangs, cuts and loses answers; no MongoDB",
		Schema: mongoSchema,
		Open: func(s *outputs.Settings) (outputs.Sink, error) {
			at, err := mongoOf(s)
			if err != nil {
				return nil, err
			}
			return &mongoSink{mongoServer: *at}, nil
		},
		ReadBack: readMongo,
	}
}

// mongoRows bounds a batch: FerretDB holds one of its 50 connections to PostgreSQL for each document that an update replaces, and
// waits for ever if they do not suffice.
const mongoRows = 40

const mongoSchema = `A document has the fields of a line of jsonl, and
_id  JOB/KIND/DATACENTER/WORKFLOW/STEP/STEP_KIND/FROM_MS/TO_MS, each part escaped as in a path of a URL; without times for run,
     result and check, with the expression for threshold and the sequence for event instead
at   the end of what the row is about, as a date: db.hyperscale_rows.createIndex({at: 1}, {expireAfterSeconds: 2592000})
statuses, errors and tags are lists of {k, v}, which $arrayToObject takes, since names may have dots.
`

// mongoServer is where a collection is.
type mongoServer struct {
	address, user, database, collection, source string
	mechanism                                   mongodb.Mechanism
	tls                                         *tls.Config // nil: in clear
	password                                    outputs.Secret
}

// mongoOf reads mongodb://[USER@]HOST[:PORT]/DATABASE.
func mongoOf(s *outputs.Settings) (*mongoServer, error) {
	u, err := url.Parse(s.Place)
	if err != nil || u.Scheme != "mongodb" || u.Hostname() == "" || u.RawQuery != "" || strings.Trim(u.Path, "/") == "" || strings.Contains(u.Host, ",") {
		return nil, errors.New("this is no address of one server and a database: write " + mongoExample)
	}
	at := &mongoServer{
		address: net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "27017")), user: u.User.Username(), database: strings.Trim(u.Path, "/"),
		collection: s.Text("collection"), source: s.Text("auth_source"), password: s.Secret("password"), mechanism: mongodb.SCRAMSHA256,
	}
	if s.Text("mechanism") == "SCRAM-SHA-1" {
		at.mechanism = mongodb.SCRAMSHA1
	}
	if at.user == "" {
		at.mechanism = mongodb.None
	}
	if (at.user != "") != at.password.Given() {
		return nil, errors.New("a user and a password belong together: write mongodb://USER@HOST/DATABASE, and add password_file=FILE or password_env=VARIABLE")
	}
	ip := net.ParseIP(u.Hostname())
	here := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	ca := s.Text("ca")
	if s.Bool("tls") || s.Text("tls") == "" && (!here || ca != "") {
		at.tls = &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12}
	}
	if ca == "" {
		return at, nil
	}
	if at.tls == nil {
		return nil, errors.New("ca is of no use with tls=false: leave one out")
	}
	if at.tls.RootCAs, err = wire.Roots(ca); err != nil {
		return nil, fmt.Errorf("ca: %w", err)
	}
	return at, nil
}

// open connects, and proves the user. The password is read anew each time.
func (s *mongoServer) open(ctx context.Context) (*wire.Conn, error) {
	config := mongodb.Config{Mechanism: s.mechanism, User: s.user, Source: s.source, AnswerMax: answerMax}
	if s.password.Given() {
		password, err := s.password.Read()
		if err != nil {
			return nil, &http1.Error{Kind: http1.KindAuth, Detail: err.Error()}
		}
		config.Password = password
	}
	var random mongodb.Random
	_, _ = rand.Read(random[:]) // it never fails
	return wire.Connect(ctx, s.address, s.tls, codec.Opening{Greeting: mongodb.New(config).Greet(random)})
}

// ask runs a command, an object of JSON, in the database. The error of the server is answer.
func (s *mongoServer) ask(ctx context.Context, c *wire.Conn, command string, of func(*bson.Template) *mongodb.Operation) (body []byte, sent bool, answer, err error) {
	template, err := bson.Compile(strings.TrimSuffix(command, "}")+`,"$db":`+quote(s.database)+"}", nil)
	if err != nil {
		return nil, false, nil, &http1.Error{Kind: http1.KindValue, Detail: err.Error()}
	}
	talk := c.Talk.(*mongodb.Conn)
	sent, err = c.Ask(ctx, func() error { return talk.Operate(of(template), mongodb.Order{Keeps: true}) }, func(payload []byte) {
		body, answer = bytes.Clone(payload), talk.Outcome().Err
	})
	return body, sent, answer, err
}

// quote is a text as JSON has it.
func quote(s string) string {
	b, _ := json.Marshal(s) // a text always can be
	return string(b)
}

// update replaces documents by rows, or adds them, unless a greater version is there: then the filter finds nothing, and the
// document that it would add has an id that is taken.
func (s *mongoServer) update(rows []outputs.Row) (string, error) {
	var b strings.Builder
	b.WriteString(`{"update":` + quote(s.collection) + `,"ordered":false,"writeConcern":{"w":"majority"},"updates":[`)
	for i := range rows {
		document, id, err := mongoDocument(&rows[i])
		if err != nil {
			return "", fmt.Errorf("row %s: %w", rows[i].Key(), err)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"q":{"_id":%s,"version":{"$lte":"%x"}},"u":%s,"upsert":true}`, id, rows[i].Version, document)
	}
	b.WriteString("]}")
	return b.String(), nil
}

// mongoLists are the fields whose names come from outside: they become lists.
var mongoLists = []string{"statuses", "errors", "tags"}

// mongoDocument is a row as a document in extended JSON, with its id.
func mongoDocument(r *outputs.Row) (document []byte, id string, err error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(outputs.AppendJSON(nil, r), &all); err != nil {
		return nil, "", err
	}
	for _, name := range mongoLists {
		if raw, has := all[name]; has {
			if all[name], err = listOf(raw); err != nil {
				return nil, "", err
			}
		}
	}
	if r.Figures != nil && r.Figures.Latency.Sum > 1<<63-1 {
		all["sum_ns"] = fmt.Appendf(nil, `{"$numberDecimal":"%d"}`, r.Figures.Latency.Sum)
	}
	id = quote(r.Job + "/" + Name(r))
	all["_id"], all["at"] = json.RawMessage(id), fmt.Appendf(nil, `{"$date":%s}`, quote(r.At().UTC().Format(outputs.TimeLayout)))
	document, err = json.Marshal(all)
	return document, id, err
}

// listOf makes a list of {k, v} of an object.
func listOf(raw json.RawMessage) (json.RawMessage, error) {
	type member struct {
		K string          `json:"k"`
		V json.RawMessage `json:"v"`
	}
	var of map[string]json.RawMessage
	if err := json.Unmarshal(raw, &of); err != nil {
		return nil, err
	}
	members := make([]member, 0, len(of))
	for name, value := range of { //lint:orderfree they are sorted
		members = append(members, member{name, value})
	}
	slices.SortFunc(members, func(a, b member) int { return cmp.Compare(a.K, b.K) })
	return json.Marshal(members)
}

// mongoSink keeps rows in a collection.
type mongoSink struct {
	mongoServer
	conn *wire.Conn // nil: there is none
}

// connect connects, if there is no connection.
func (s *mongoSink) connect(ctx context.Context) outputs.Outcome {
	if s.conn != nil {
		return outputs.Delivered()
	}
	c, err := s.open(ctx)
	switch {
	case http1.KindOf(err) == http1.KindAuth:
		return outputs.Denied(mongoText(err))
	case err != nil:
		return outputs.Again(0, mongoText(err))
	}
	s.conn = c
	return outputs.Delivered()
}

// Check connects, and asks for an update that changes nothing.
func (s *mongoSink) Check(ctx context.Context) error {
	if out := s.connect(ctx); out.Verdict != outputs.VerdictDelivered {
		return errors.New(out.Why)
	}
	body, _, answer, err := s.ask(ctx, s.conn, `{"update":`+quote(s.collection)+`,"updates":[{"q":{"_id":"check"},"u":{"$set":{"version":""}}}]}`, mongodb.Write)
	if err != nil {
		s.Close()
		return errors.New(mongoText(err))
	}
	if out := judgeMongo(body, answer); out.Verdict != outputs.VerdictDelivered {
		return errors.New(out.Why)
	}
	return nil
}

func (s *mongoSink) Deliver(ctx context.Context, b outputs.Batch) outputs.Outcome {
	command, err := s.update(b.Rows)
	if err != nil {
		return alone(b, err.Error())
	}
	if out := s.connect(ctx); out.Verdict != outputs.VerdictDelivered {
		return out
	}
	body, sent, answer, err := s.ask(ctx, s.conn, command, mongodb.Write)
	switch {
	case http1.KindOf(err) == http1.KindValue && !sent: // too long, or no BSON: nothing was queued
		return alone(b, err.Error())
	case err != nil:
		s.Close()
		if sent {
			return outputs.Unclear(mongoText(err))
		}
		return outputs.Again(0, mongoText(err))
	}
	out := judgeMongo(body, answer)
	if out.Verdict != outputs.VerdictDelivered && out.Verdict != outputs.VerdictRejected {
		s.Close() // the server may not be the primary any more
	}
	return out
}

// Codes of MongoDB's errors.
const (
	mongoUnauthorized = "server 13"
	mongoAuthFailed   = "server 18"
	mongoDuplicate    = 11000
)

// mongoFaulty are codes of errors of single updates that no repetition mends: bad values, and documents that the collection's
// schema or size does not allow.
var mongoFaulty = []int{2, 9, 14, 52, 57, 121, 10334, 17280, 17419, 17420}

// writeError is what an answer says of one update.
type writeError struct {
	Index, Code int
	ErrMsg      string
}

func (e *writeError) text() string { return fmt.Sprintf("%d: %.300s", e.Code, e.ErrMsg) }

// judgeMongo says what an answer means. Rows that are there change nothing when they come again.
func judgeMongo(body []byte, answer error) outputs.Outcome {
	if answer == nil {
		return outputs.Delivered()
	}
	var said struct {
		WriteErrors       []writeError
		WriteConcernError json.RawMessage
	}
	why := mongoText(answer)
	if kind := http1.KindOf(answer); kind == mongoUnauthorized || kind == mongoAuthFailed {
		return outputs.Denied(why + ": let the user find and update there, as the role readWrite does")
	}
	if err := json.Unmarshal(body, &said); err != nil || len(said.WriteErrors) == 0 || said.WriteConcernError != nil {
		return outputs.Again(0, why)
	}
	var bad []int
	first := ""
	for _, e := range said.WriteErrors {
		switch {
		case e.Code == mongoDuplicate: // a greater version is there
		case slices.Contains(mongoFaulty, e.Code):
			bad, first = append(bad, e.Index), cmp.Or(first, e.text())
		default:
			return outputs.Again(0, e.text())
		}
	}
	if bad == nil {
		return outputs.Delivered()
	}
	slices.Sort(bad)
	return outputs.Rejected(bad, first)
}

// mongoText makes remedies of the codec, which are those of workflows, remedies of this output.
func mongoText(err error) string {
	return strings.NewReplacer("give user, password and auth_source to mongodb.client", "write mongodb://USER@HOST/DATABASE, password_file=FILE and auth_source=DATABASE").Replace(err.Error())
}

// Close closes the connection.
func (s *mongoSink) Close() {
	if s.conn != nil {
		s.conn.Close()
		s.conn = nil
	}
}
