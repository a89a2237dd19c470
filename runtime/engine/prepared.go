package engine

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/maphash"
	"strconv"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/engine/talk"
	"hyperscale/runtime/protocol/http1"
)

// prepared is a function's request, ready to send. All that send the same request share it,
// also concurrently: only its account changes.
type prepared struct {
	request *request.Request
	call    http1.Call
	host    *pool.Host
	talk    *talk.Plan // nil: it exchanges no messages
	key     []byte

	account *measure.Account // that the last one counted in, of owner
	owner   int
}

const (
	preparedMax = 512     // remembered
	preparedKey = 4 << 10 // bytes of a request's description; what is made of it refers to files, and has no copy of them
)

// memory caches the requests that functions sent last: each has one place, by its hash, and the
// newest takes it.
type memory struct {
	seed    maphash.Seed
	places  [preparedMax]*prepared
	scratch []byte
}

func newMemory() *memory { return &memory{seed: maphash.MakeSeed()} }

func (m *memory) place(key []byte) **prepared {
	return &m.places[maphash.Bytes(m.seed, key)%preparedMax]
}

// bare writes the description of a request with only a method and a URL. The engine runs one
// workflow: its client adds the same to all of them.
func (m *memory) bare(method, url string) []byte {
	m.scratch = append(append(append(m.scratch[:0], method...), 0), url...)
	return m.scratch
}

// whole writes the whole description of a request; false: it is too long to cache.
func (m *memory) whole(r *request.Request) ([]byte, bool) {
	if len(r.Body) > preparedKey {
		return nil, false
	}
	b := append(m.bare(r.Method, r.URL), 0)
	text := func(s string) { b = appendText(b, s) }
	for _, all := range [...][]builtin.Pair{r.Headers, r.Params, r.Cookies} {
		for i := range all {
			text(all[i].Name)
			text(all[i].Value)
		}
		b = append(b, 0)
	}
	if r.Auth != nil {
		text(r.Auth.Kind)
		text(r.Auth.User)
		text(r.Auth.Password)
		text(r.Auth.Token)
	}
	b = append(b, 0)
	text(r.ContentType)
	for i := range r.Files {
		b = append(strconv.AppendInt(b, int64(r.Files[i].At), 10), ':')
		text(r.Files[i].File.Name) // a program has one value of a file
	}
	if f := r.Raw; f != nil {
		b = fmt.Appendf(b, "%d %d %q", f.Receive.Kind, f.Receive.N, f.Receive.End)
	}
	if d := r.Datagram; d != nil {
		b = fmt.Appendf(b, "%d %d", d.Receive, d.Match)
	}
	b = append(b, 0)
	if to := r.GRPC; to != nil { // its deadline is a part of it
		text(to.Source)
		b = strconv.AppendInt(strconv.AppendBool(strconv.AppendBool(b, to.Compress), to.Open), int64(r.Timeout), 10)
	}
	switch {
	case r.Redis != nil:
		b = appendRedis(b, r.Redis)
	case r.Kafka != nil:
		b = appendKafka(b, r.Kafka)
	case r.NATS != nil:
		b = appendNATS(b, r.NATS)
	case r.MQTT != nil:
		b = appendMQTT(b, r.MQTT)
	case r.AMQP != nil:
		b = appendAMQP(b, r.AMQP)
	case r.FTP != nil:
		b = appendFTP(b, r.FTP)
	case r.SFTP != nil:
		b = appendSFTP(b, r.SFTP)
	case r.SMTP != nil:
		b = appendSMTP(b, r.SMTP)
	case r.MongoDB != nil:
		b = appendMongoDB(b, r.MongoDB)
	case r.SQL != nil:
		b = appendSQL(b, r.SQL)
	case r.Custom != nil:
		b = append(appendText(appendText(b, r.Custom.Key()), r.Custom.Call), r.Body...)
	default:
		b = append(b, r.Body...)
	}
	m.scratch = b
	return b, len(b) <= preparedKey
}

// appendRedis appends what a request asks a Redis server.
func appendRedis(b []byte, to *request.Redis) []byte {
	b = appendText(appendText(b, to.User), to.Password)
	b = strconv.AppendBool(strconv.AppendBool(b, to.Cluster), to.Replicas)
	b = append(b, byte(to.Redirects), byte(to.Version), byte(to.Database), byte(to.Database>>8), byte(to.Database>>16))
	for _, c := range to.Commands {
		b = strconv.AppendInt(b, int64(len(c)), 10)
		for _, word := range c {
			b = appendText(b, word)
		}
	}
	return b
}

// appendText appends a text with its length: two descriptions are equal only if all their texts are.
func appendText(b []byte, s string) []byte {
	return append(append(strconv.AppendInt(b, int64(len(s)), 10), ':'), s...)
}

// appendKafka appends what a request sends to a Kafka cluster.
func appendKafka(b []byte, to *request.Kafka) []byte {
	for _, s := range [...]string{to.Mechanism, to.User, to.Password, to.Secure.Key, to.Compression, to.Acks, to.Topic} {
		b = appendText(b, s)
	}
	for _, s := range to.Seeds {
		b = appendText(b, s.URL())
	}
	for _, s := range [...]*string{to.Key, to.Value} {
		if b = strconv.AppendBool(b, s != nil); s != nil {
			b = appendText(b, *s)
		}
	}
	b = append(strconv.AppendInt(strconv.AppendBool(b, to.Idempotent), int64(to.Partition), 10), ' ')
	for _, h := range to.Headers {
		b = appendText(appendText(b, h.Name), h.Value)
	}
	if c := to.Consumes; c != nil {
		b = fmt.Appendf(b, "%d %t %d", c.Count, c.Latest, c.Within)
		for _, t := range c.Topics {
			b = appendText(b, t)
		}
	}
	return b
}

// appendNATS appends what a request sends to a NATS server.
func appendNATS(b []byte, to *request.NATS) []byte {
	b = strconv.AppendBool(append(b, byte(to.Verb)), to.Stamp)
	for _, s := range [...]string{to.User, to.Password, to.Token, to.Seed, to.Credentials, to.Inbox, to.Secure.Key, to.Subject, to.Queue, to.Data} {
		b = appendText(b, s)
	}
	for _, h := range to.Headers {
		b = appendText(appendText(b, h.Name), h.Value)
	}
	return b
}

// appendMQTT appends what a request sends to an MQTT server.
func appendMQTT(b []byte, to *request.MQTT) []byte {
	b = append(b, byte(to.Verb), to.Version, to.QoS)
	b = strconv.AppendBool(strconv.AppendBool(strconv.AppendBool(b, to.Resumes), to.Retain), to.Stamp)
	b = strconv.AppendUint(append(strconv.AppendUint(b, uint64(to.Expiry), 10), ' '), uint64(to.KeepAlive), 10)
	for _, s := range [...]string{to.User, to.Password, to.ClientID, to.Secure.Key, to.Topic, to.Data} {
		b = appendText(b, s)
	}
	for _, h := range to.Headers {
		b = appendText(appendText(b, h.Name), h.Value)
	}
	for _, f := range to.Filters {
		b = appendText(b, f)
	}
	if w := to.Will; w != nil {
		b = appendText(appendText(append(b, w.QoS), w.Topic), w.Data)
		b = strconv.AppendUint(strconv.AppendBool(strconv.AppendBool(b, w.Retain), w.Sent), uint64(w.Delay), 10)
	}
	return b
}

// appendAMQP appends what a request asks a RabbitMQ server.
func appendAMQP(b []byte, to *request.AMQP) []byte {
	b = append(b, byte(to.Verb), byte(to.Flags), byte(to.Flags>>8))
	b = strconv.AppendInt(append(strconv.AppendInt(b, int64(to.Priority), 10), ' '), int64(to.Prefetch), 10)
	for _, s := range [...]string{to.User, to.Password, to.Secure.Key, to.Exchange, to.Key, to.Queue, to.Type, to.Body} {
		b = appendText(b, s)
	}
	for _, pairs := range [][]builtin.Pair{to.Headers, to.Properties} {
		b = strconv.AppendInt(b, int64(len(pairs)), 10)
		for _, p := range pairs {
			b = appendText(appendText(b, p.Name), p.Value)
		}
	}
	for _, a := range to.Arguments {
		b = appendText(b, a.Name)
		b = fmt.Appendf(b, "%T %v;", a.Value, a.Value)
	}
	return b
}

// appendSFTP appends what a request does with files of an SSH server.
func appendSFTP(b []byte, to *request.SFTP) []byte {
	for _, s := range [...]string{to.User, to.Password, to.Key, to.HostKeys, to.Path, to.To, to.Data} {
		b = appendText(b, s)
	}
	if b = append(b, byte(to.Verb), byte(to.Mode), byte(to.Mode>>8)); to.File != nil {
		b = appendText(b, to.File.Name)
	}
	return b
}

// appendFTP appends what a request does with files of an FTP server.
func appendFTP(b []byte, to *request.FTP) []byte {
	for _, s := range [...]string{to.User, to.Password, to.Secure.Key, to.Path, to.To, to.Data} {
		b = appendText(b, s)
	}
	b = strconv.AppendBool(strconv.AppendBool(append(b, byte(to.Verb)), to.Explicit), to.Names)
	if to.File != nil {
		b = appendText(b, to.File.Name)
	}
	return b
}

// appendSMTP appends what a request hands over to a mail server.
func appendSMTP(b []byte, to *request.SMTP) []byte {
	b = strconv.AppendInt(strconv.AppendBool(b, to.StartTLS), int64(to.Each), 10)
	for _, s := range [...]string{to.Hello, to.Mechanism, to.User, to.Password, to.Secure.Key, to.Sender, to.Body} {
		b = appendText(b, s)
	}
	if b = strconv.AppendBool(b, to.Subject != nil); to.Subject != nil {
		b = appendText(b, *to.Subject)
	}
	b = strconv.AppendInt(b, int64(len(to.To)), 10)
	for _, s := range to.To {
		b = appendText(b, s)
	}
	b = strconv.AppendInt(b, int64(len(to.Headers)), 10)
	for _, h := range to.Headers {
		b = appendText(appendText(b, h.Name), h.Value)
	}
	for i := range to.Attachments {
		a := &to.Attachments[i]
		b = append(appendText(appendText(b, a.Name), a.Text), ' ')
		if b = strconv.AppendInt(b, int64(len(a.Data)), 10); a.File != nil {
			b = appendText(b, a.File.Name)
		} else if len(a.Data) <= preparedKey { // a longer one makes no key
			b = append(append(b, ':'), a.Data...)
		} else {
			b = append(b, make([]byte, preparedKey+1)...)
		}
	}
	return b
}

// appendMongoDB appends what a request asks a MongoDB server.
func appendMongoDB(b []byte, to *request.MongoDB) []byte {
	b = append(b, byte(to.Verb))
	b = strconv.AppendInt(append(strconv.AppendInt(b, int64(to.Batch), 10), ' '), int64(to.Batches), 10)
	for _, s := range [...]string{to.User, to.Password, to.Source, to.Mechanism, to.Secure.Key, to.Command} {
		b = appendText(b, s)
	}
	return strconv.AppendBool(b, to.Target.Secure)
}

// appendSQL appends what a request asks a database.
func appendSQL(b []byte, to *request.SQL) []byte {
	for _, s := range [...]string{to.User, to.Password, to.Database, to.Secure.Key, to.PublicKey} {
		b = appendText(b, s)
	}
	b = append(b, byte(to.Mode), byte(to.Secure.Mode), byte(to.Part), byte(to.Late))
	b = strconv.AppendBool(strconv.AppendBool(strconv.AppendBool(b, to.Batch), to.Transaction), to.Copy)
	if b = appendText(b, string(to.Data)); to.File != nil {
		b = appendText(b, to.File.Name)
	}
	for i := range to.Statements {
		s := &to.Statements[i]
		b = strconv.AppendInt(appendText(b, s.Text), int64(len(s.Args)), 10)
		for _, a := range s.Args {
			b = appendText(append(strconv.AppendBool(b, a.Null), byte(a.Kind)), a.Text)
		}
	}
	return b
}

// prepare makes a request ready to send, or returns the cached one.
func (q *requests) prepare(r *request.Request) (*prepared, error) {
	if p, ok := r.Made.(*prepared); ok {
		return p, nil
	}
	var key []byte
	short := true
	if r.Bare {
		key = q.memory.bare(r.Method, r.URL)
		short = len(key) <= preparedKey
	} else {
		key, short = q.memory.whole(r)
	}
	var at **prepared
	if short {
		if at = q.memory.place(key); *at != nil && bytes.Equal((*at).key, key) {
			return *at, nil
		}
	}
	p, err := q.prepared(r)
	if err != nil {
		return nil, err
	}
	if short {
		p.key = bytes.Clone(key)
		*at = p
	}
	if r.Bare {
		r.Made = p
	}
	return p, nil
}

// prepared makes a request ready to send.
func (l *parts) prepared(r *request.Request) (*prepared, error) {
	if r.Exchanges() && r.Socket == nil { // a function upgrades for a session, which has messages of its own
		plan, _, err := talk.NewPlan(r, l.cfg.Workflow, l.g.messages)
		if err != nil {
			return nil, err
		}
		return &prepared{request: r, call: plan.Shown, talk: plan, host: l.Dialer.TalkHost(&plan.Shown, plan.Host)}, nil
	}
	timeout := l.cfg.Timeout
	if r.Timeout > 0 {
		timeout = r.Timeout
	}
	if r.GRPC != nil && r.GRPC.Open {
		timeout = r.Timeout // a session has a deadline only if it says so
	}
	call, err := compileWithin(r, timeout)
	if err != nil {
		return nil, err
	}
	if r.GRPC != nil {
		call.Open = r.GRPC.Open
		return &prepared{request: r, call: call, host: l.Dialer.CallHost(&call)}, nil
	}
	return &prepared{request: r, call: call, host: l.Dialer.Host(&call)}, nil
}

// known finds a cached bare request.
func (q *requests) known(method, url string) *request.Request {
	key := q.memory.bare(method, url)
	if p := *q.memory.place(key); p != nil && p.request.Bare && bytes.Equal(p.key, key) {
		return p.request
	}
	return nil
}

// account returns the account of a function's request. One that has no name has that of its method
// and path, or of its command, which its prepared form remembers.
func (q *requests) account(co *call, r *request.Request, as *workflow.As, p *prepared) *measure.Account {
	of, own := co.owner(), ""
	if r.Redis != nil || r.SQL != nil || r.NATS != nil || r.Kafka != nil || r.MQTT != nil || r.AMQP != nil || r.MongoDB != nil || r.Custom != nil || r.FTP != nil || r.SFTP != nil || r.SMTP != nil {
		own = r.Method // neither a command nor a statement nor a message nor a server of files has a path
	}
	if as != nil && (as.Group != "" || as.Name != "") {
		return q.names.Account(of, as.Group, cmp.Or(as.Name, own), r.Method, r.URL)
	}
	if p.account == nil || p.owner != of {
		p.owner, p.account = of, q.names.Account(of, "", own, r.Method, r.URL)
	}
	return p.account
}

// undone are transactions that were open when their iteration ended.
type undone struct{ forgotten, stopped int }

// tell says how many were rolled back, and why.
func (u *undone) tell(log func(string)) {
	if u.forgotten > 0 {
		log(fmt.Sprintf("%d transactions were still open at the end of their iterations, and were rolled back: call commit() or rollback()", u.forgotten))
	}
	if u.stopped > 0 {
		log(fmt.Sprintf("%d transactions were open when the run ended, and were rolled back", u.stopped))
	}
}
