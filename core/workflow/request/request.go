package request

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/language"
)

// Auth proves the identity of a virtual user. Kind is "basic" or "digest" (User, Password), or
// "bearer" (Token).
type Auth struct{ Kind, User, Password, Token string }

const digestKind = "digest"

// Exchange is what a request exchanges in place of one answer: at most one is set.
type Exchange struct {
	Socket   *Socket   // it upgrades to WebSocket and exchanges messages
	Redis    *Redis    // it asks a Redis server
	SQL      *SQL      // it asks a database
	MQTT     *MQTT     // it sends a message to an MQTT server, connects there or subscribes
	NATS     *NATS     // it sends a message to a NATS server, or subscribes there
	Kafka    *Kafka    // it sends a record to a Kafka cluster
	AMQP     *AMQP     // it asks a RabbitMQ server, or consumes there
	FTP      *FTP      // it does something with files of an FTP server
	SFTP     *SFTP     // it does something with files of an SSH server
	SMTP     *SMTP     // it hands a message over to a mail server
	MongoDB  *MongoDB  // it asks a MongoDB server
	Raw      *Raw      // it exchanges bytes over TCP
	Datagram *Datagram // it exchanges datagrams over UDP
	Custom   *Custom   // it calls a custom program
	GRPC     *GRPC     // it calls a method, whose answer is HTTP/2's: it exchanges nothing
}

// Exchanges reports whether the request exchanges messages in place of one answer.
func (e *Exchange) Exchanges() bool {
	return e.Socket != nil || e.Redis != nil || e.SQL != nil || e.NATS != nil || e.Kafka != nil || e.MQTT != nil || e.AMQP != nil || e.FTP != nil || e.SFTP != nil || e.SMTP != nil || e.MongoDB != nil || e.Raw != nil || e.Datagram != nil || e.Custom != nil
}

// Custom says what a request calls of a custom program. Its arguments are the request's body.
type Custom struct {
	Program   []string // its path, and its arguments
	Processes int      // of one executor
	InFlight  int      // calls at once, of each process
	Call      string
}

// URL names the program, for people.
func (c *Custom) URL() string {
	return "custom://" + strings.TrimSuffix(path.Base(c.Program[0]), path.Ext(c.Program[0])) + "/"
}

// Key tells programs apart that are started in different ways.
func (c *Custom) Key() string {
	return fmt.Sprintf("custom %q %d %d", c.Program, c.Processes, c.InFlight)
}

// Digest reports whether a server's challenge decides how the request proves its user.
func (r *Request) Digest() bool { return r.Auth != nil && r.Auth.Kind == digestKind }

// Request describes one HTTP request, or an exchange of messages. It is plain data, and shared: a reader must not change
// it.
type Request struct {
	Method, URL              string
	Headers, Params, Cookies []builtin.Pair // as written; Params follow the URL's own
	Auth                     *Auth          // nil: none
	Body                     []byte         // json, form and multipart are encoded already
	Files                    []Attached     // in Body, by place
	ContentType              string         // of the body; empty: none. A header of that name wins
	Timeout                  time.Duration
	Redirects                int     // how many to follow at most
	Retry                    *Retry  // nil: a failure is final
	Stream                   *Stream // its answer is a stream of events; nil: it is not
	Exchange                         // messages in place of one answer
	GraphQL                  bool    // a query: its answer is judged by the errors that it reports, too

	Placeholders []Placeholder // words in the texts above that values replace; nil: none
	Escape       Escape        // of values in Body
	Boundary     string        // of a multipart Body: no value may contain it

	Bare bool // a function gave only a method and a URL: equal ones are the same request
	Made any  // an engine's own form of the request; copies must not keep it
}

// Redis says what a request asks of a Redis server: commands, of which several are a pipeline.
type Redis struct {
	Target         *Target
	Version        int    // of RESP
	User, Password string // empty: none
	Database       int
	Commands       [][]string // words; they may have placeholders
	Pipeline       bool       // its answers are a list, also one
	Cluster        bool       // Target is a node of a cluster, which tells where its keys are
	Replicas       bool       // of the cluster: they answer reads
	Redirects      int        // of the cluster: how many an operation follows
}

// rewritten returns the commands with others in place of their words.
func (r *Redis) rewritten(fill func(string) string) *Redis {
	if r == nil {
		return nil
	}
	out := *r
	out.Commands = make([][]string, len(r.Commands))
	for i, c := range r.Commands {
		for _, word := range c {
			out.Commands[i] = append(out.Commands[i], fill(word))
		}
	}
	return &out
}

// has reports whether look holds for a text of the request that may have words of secrets in it.
func (r *Redis) has(look func(string) bool) bool {
	if r == nil {
		return false
	}
	return look(r.User) || look(r.Password) || slices.ContainsFunc(r.Commands, func(c []string) bool { return slices.ContainsFunc(c, look) })
}

// NATS says what a request sends to a NATS server, or what it subscribes to.
type NATS struct {
	Target         *Target
	User, Password string // empty: none, as the proofs below
	Token          string
	Seed           string // of an NKey
	Credentials    string // the text of a file with a JWT and a seed
	Inbox          string // the prefix of replies; empty: the usual one
	Secure         SQLSecure
	Verb           NATSVerb
	Subject        string        // it may have placeholders, as Data and the values of Headers may
	Queue          string        // of a subscription; empty: none
	Pull           *NATSConsumer // of a consumer; nil: none
	Data           string
	Headers        []builtin.Pair
	First          bool // TLS stands before the server's INFO
	Stamp          bool // its header says when it was sent
}

// StampHeader is the header of a message that says when it was sent.
const StampHeader = "Hyperscale-Stamp"

// NATSVerb says what ends a request of NATS.
type NATSVerb uint8

// The verbs.
const (
	NATSPublish   NATSVerb = iota // nothing: the kernel has it
	NATSFlush                     // the server has it
	NATSStream                    // JetStream acknowledges it
	NATSRequest                   // a reply
	NATSSubscribe                 // its user: a session
	NATSPull                      // the same: of a consumer
)

// NATSConsumer is a consumer of JetStream that a session pulls from.
type NATSConsumer struct {
	Stream, Name string
	Batch        int           // messages that one request asks for
	Within       time.Duration // how long the server keeps a request
}

// rewritten returns the message with others in place of its texts.
func (n *NATS) rewritten(fill func(string) string) *NATS {
	if n == nil {
		return nil
	}
	out := *n
	out.Subject, out.Data = fill(n.Subject), fill(n.Data)
	out.Headers = slices.Clone(n.Headers)
	for i := range out.Headers {
		out.Headers[i].Value = fill(out.Headers[i].Value)
	}
	return &out
}

// proofs are what the client proves its user with.
func (n *NATS) proofs() []*string {
	return []*string{&n.User, &n.Password, &n.Token, &n.Seed, &n.Credentials}
}

// has reports whether look holds for a text of the request that may have words of secrets in it.
func (n *NATS) has(look func(string) bool) bool {
	if n == nil {
		return false
	}
	return look(n.Subject) || look(n.Data) || n.Secure.TLS != nil && look(string(n.Secure.TLS.Key)) ||
		slices.ContainsFunc(n.proofs(), func(s *string) bool { return look(*s) }) ||
		slices.ContainsFunc(n.Headers, func(h builtin.Pair) bool { return look(h.Value) })
}

// Kafka says what a request sends to a Kafka cluster.
type Kafka struct {
	Seeds          []*Target // brokers that tell of the others; one at least
	Mechanism      string    // of SASL: "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", whose token is Password; empty: none
	User, Password string
	Secure         SQLSecure
	Compression    string // "none", "gzip", "lz4", "snappy", "zstd"
	Idempotent     bool   // brokers count the records of a connection
	Gathers        KafkaBatches
	Acks           string  // "0", "1", "all"
	Topic          string  // it may have placeholders, as Key, Value and the values of Headers may
	Partition      int32   // below 0: that of the key; without a key, of a topic's one after the other
	Key, Value     *string // nil: the record has none
	Headers        []builtin.Pair
	Consumes       *KafkaConsumer // in place of sending a record
}

// KafkaBatches says how the records of a core's users are gathered.
type KafkaBatches struct {
	Linger time.Duration // for how long a record waits for others; 0: it does not
	Size   int           // bytes of a batch, before it is compressed
}

// KafkaConsumer says what a request reads of a Kafka cluster.
type KafkaConsumer struct {
	Topics []string
	Count  int           // records that end the operation; 0: one look at each leader does
	Latest bool          // a user begins behind the newest record, and else at the oldest one
	Within time.Duration // how long it waits for them

	Group, Assignor string // the consumer group whose member a core is; empty: each user reads alone
}

// rewritten returns the record with others in place of its texts.
func (k *Kafka) rewritten(fill func(string) string) *Kafka {
	if k == nil {
		return nil
	}
	out := *k
	out.Topic, out.Headers = fill(k.Topic), slices.Clone(k.Headers)
	for _, text := range []**string{&out.Key, &out.Value} {
		if *text != nil {
			filled := fill(**text)
			*text = &filled
		}
	}
	for i := range out.Headers {
		out.Headers[i].Value = fill(out.Headers[i].Value)
	}
	return &out
}

// has reports whether look holds for a text of the request that may have words of secrets in it.
func (k *Kafka) has(look func(string) bool) bool {
	if k == nil {
		return false
	}
	return look(k.User) || look(k.Password) || look(k.Topic) || k.Key != nil && look(*k.Key) || k.Value != nil && look(*k.Value) ||
		k.Secure.TLS != nil && look(string(k.Secure.TLS.Key)) || slices.ContainsFunc(k.Headers, func(h builtin.Pair) bool { return look(h.Value) })
}

// MQTT says what a request sends to an MQTT server, or what it subscribes to.
type MQTT struct {
	Target         *Target
	Version        uint8  // 4: 3.1.1; 5
	User, Password string // empty: none
	ClientID       string // it may have ${vu}; empty: each connection has one of its own
	Resumes        bool   // the server keeps the session: clean_start is off
	Expiry         uint32 // seconds that it keeps the session
	KeepAlive      uint16 // seconds; 0: none
	Secure         SQLSecure
	Verb           MQTTVerb
	QoS            uint8
	Retain         bool
	Topic          string // it may have placeholders, as Data and the values of Headers may
	Data           string
	Headers        []builtin.Pair
	Stamp          bool     // its header says when it was sent
	Filters        []string // of a subscription
	Will           *MQTTWill
}

// MQTTWill is the message that a server sends for a client whose connection ends without a goodbye.
type MQTTWill struct {
	Topic, Data string // ${vu} may stand in them
	QoS         uint8
	Retain      bool
	Delay       uint32 // seconds that the server waits; of version 5
	Sent        bool   // the goodbye asks for it
}

// UserWord stands in a client identifier and in a will for the number of its virtual user.
const UserWord = "${vu}"

// MQTTVerb says what a request of MQTT is.
type MQTTVerb uint8

// The verbs.
const (
	MQTTPublish   MQTTVerb = iota
	MQTTConnect            // it connects, and disconnects
	MQTTSubscribe          // a session
)

// rewritten returns the message with others in place of its texts.
func (m *MQTT) rewritten(fill func(string) string) *MQTT {
	if m == nil {
		return nil
	}
	out := *m
	out.Topic, out.Data = fill(m.Topic), fill(m.Data)
	out.Headers = slices.Clone(m.Headers)
	for i := range out.Headers {
		out.Headers[i].Value = fill(out.Headers[i].Value)
	}
	return &out
}

// has reports whether look holds for a text of the request that may have words of secrets in it.
func (m *MQTT) has(look func(string) bool) bool {
	if m == nil {
		return false
	}
	return look(m.User) || look(m.Password) || look(m.Topic) || look(m.Data) || m.Secure.TLS != nil && look(string(m.Secure.TLS.Key)) ||
		slices.ContainsFunc(m.Headers, func(h builtin.Pair) bool { return look(h.Value) })
}

// Filled returns the request with values in place of its words, by Workflow.Vars. It builds
// everything anew: it is for rare uses, such as a redirect or debug output.
func (r *Request) Filled(values [][]byte) *Request {
	if len(r.Placeholders) == 0 {
		return r
	}
	f := filler{}
	for _, placeholder := range r.Placeholders {
		value := string(values[placeholder.Var])
		inJSON := string(language.AppendQuoted(nil, value))
		f.plain = append(f.plain, placeholder.Word, value)
		f.path = append(f.path, placeholder.Word, strings.ReplaceAll(url.QueryEscape(value), "+", "%20"))
		f.query = append(f.query, placeholder.Word, url.QueryEscape(value))
		f.json = append(f.json, placeholder.Word, inJSON[1:len(inJSON)-1])
	}
	out := *r
	path, query, has := strings.Cut(r.URL, "?")
	if out.URL = f.in(path, f.path); has {
		out.URL += "?" + f.in(query, f.query)
	}
	out.Headers, out.Params, out.Cookies = f.pairs(r.Headers), f.pairs(r.Params), f.pairs(r.Cookies)
	if r.Auth != nil {
		out.Auth = &Auth{r.Auth.Kind, f.in(r.Auth.User, f.plain), f.in(r.Auth.Password, f.plain), f.in(r.Auth.Token, f.plain)}
	}
	escaped := [][]string{EscapeNone: f.plain, EscapeJSON: f.json, EscapeForm: f.query}[r.Escape]
	out.Body, out.Files = r.rewrite(func(text string) string { return f.in(text, escaped) })
	out.Redis = r.Redis.rewritten(func(text string) string { return f.in(text, f.plain) })
	out.Kafka = r.Kafka.rewritten(func(text string) string { return f.in(text, f.plain) })
	out.NATS = r.NATS.rewritten(func(text string) string { return f.in(text, f.plain) })
	out.MQTT = r.MQTT.rewritten(func(text string) string { return f.in(text, f.plain) })
	out.AMQP = r.AMQP.rewritten(func(text string) string { return f.in(text, f.plain) })
	out.FTP = r.FTP.rewritten(func(text string) string { return f.in(text, f.plain) })
	out.SFTP = r.SFTP.rewritten(func(text string) string { return f.in(text, f.plain) })
	out.SMTP = r.SMTP.rewritten(func(text string) string { return f.in(text, f.plain) })
	out.SQL = r.SQL.rewritten(func(text string) string { return f.in(text, f.plain) })
	out.MongoDB = r.MongoDB.rewritten(func(text string) string { return f.in(text, f.json) })
	out.Placeholders, out.Escape, out.Boundary = nil, EscapeNone, ""
	return &out
}

// filler has pairs of a word and its replacement, for each way of escaping.
type filler struct{ plain, path, query, json []string }

func (f *filler) in(text string, by []string) string { return strings.NewReplacer(by...).Replace(text) }

func (f *filler) pairs(all []builtin.Pair) []builtin.Pair {
	all = slices.Clone(all)
	for i := range all {
		all[i].Name, all[i].Value = f.in(all[i].Name, f.plain), f.in(all[i].Value, f.plain)
	}
	return all
}

// AMQP says what a request asks of a RabbitMQ server, or what it consumes there.
type AMQP struct {
	Target         *Target // its path is the virtual host; empty: the usual one
	User, Password string  // empty, both: the usual ones
	Secure         SQLSecure
	Verb           AMQPVerb
	Flags          AMQPFlags
	Exchange, Key  string // they may have placeholders, as Queue, Body and the values of Headers and Properties may
	Body           string
	Headers        []builtin.Pair
	Properties     []builtin.Pair // by their names of AMQP
	Priority       int            // below 0: none
	Queue          string
	Type           string // of the exchange that is declared
	Arguments      []AMQPArgument
	Prefetch       int
}

// AMQPArgument is one of a queue that is declared: its value is a string, an int64 or a bool.
type AMQPArgument struct {
	Name  string
	Value any
}

// AMQPVerb says what a request does.
type AMQPVerb uint8

// The verbs.
const (
	AMQPPublish AMQPVerb = iota // nothing ends it: the kernel has it
	AMQPConfirm                 // the server confirms it
	AMQPGet
	AMQPDeclare
	AMQPConsume // its user: a session
)

// AMQPFlags says several things at once.
type AMQPFlags uint16

// The flags.
const (
	AMQPMandatory AMQPFlags = 1 << iota
	AMQPPersistent
	AMQPAuto // what comes needs no acknowledgement
	AMQPExclusive
	AMQPDurable
	AMQPAutoDelete
	AMQPBinds    // what is declared is bound by the key
	AMQPExternal // the certificate proves the user
	AMQPStamp    // the message's header says when it was sent
)

// Is reports whether a flag is among them.
func (f AMQPFlags) Is(of AMQPFlags) bool { return f&of != 0 }

// texts are those of a request that values may stand in, by what they are for people.
func (a *AMQP) texts() []*string {
	all := []*string{&a.Exchange, &a.Key, &a.Queue, &a.Body}
	for _, pairs := range [][]builtin.Pair{a.Headers, a.Properties} {
		for i := range pairs {
			all = append(all, &pairs[i].Value)
		}
	}
	return all
}

// rewritten returns the request with others in place of its texts.
func (a *AMQP) rewritten(fill func(string) string) *AMQP {
	if a == nil {
		return nil
	}
	out := *a
	out.Headers, out.Properties = slices.Clone(a.Headers), slices.Clone(a.Properties)
	for _, text := range out.texts() {
		*text = fill(*text)
	}
	return &out
}

// has reports whether look holds for a text of the request that may have words of secrets in it.
func (a *AMQP) has(look func(string) bool) bool {
	if a == nil {
		return false
	}
	return look(a.User) || look(a.Password) || a.Secure.TLS != nil && look(string(a.Secure.TLS.Key)) ||
		slices.ContainsFunc(a.texts(), func(s *string) bool { return look(*s) })
}

// SFTP says what a request does with files of an SSH server.
type SFTP struct {
	Target         *Target // its scheme is sftp, or scp
	User           string
	Password, Key  string // one of them proves the user; Key is a private key
	HostKeys       string // lines of known_hosts; empty: any key is the server's
	Verb           SFTPVerb
	Path, To, Data string
	Mode           uint32 // permissions that it sets
	File           *File  // in place of Data
}

// SFTPVerb says what is done with a file.
type SFTPVerb uint8

// The verbs. SCP has the first two.
const (
	SFTPGet SFTPVerb = iota
	SFTPPut
	SFTPList
	SFTPStat
	SFTPRemove
	SFTPRename
	SFTPMkdir
	SFTPRmdir
	SFTPChmod
)

// SFTPVerbs are their words.
func SFTPVerbs() []string {
	return []string{"get", "put", "list", "stat", "remove", "rename", "mkdir", "rmdir", "chmod"}
}

// rewritten returns the request with others in place of its texts.
func (s *SFTP) rewritten(fill func(string) string) *SFTP {
	if s == nil {
		return nil
	}
	out := *s
	out.Path, out.To, out.Data = fill(s.Path), fill(s.To), fill(s.Data)
	return &out
}

// has reports whether look holds for a text of the request that may have words of secrets in it.
func (s *SFTP) has(look func(string) bool) bool {
	return s != nil && (look(s.Password) || look(s.Key) || look(s.Path) || look(s.To) || look(s.Data))
}

// MongoDB says what a request asks of a MongoDB server: one command.
type MongoDB struct {
	Target         *Target // its path is the database
	User, Password string  // empty: none
	Source         string  // the database that knows the user
	Mechanism      string  // "scram-sha-256", "scram-sha-1", "mongodb-x509"; empty: none
	Service        bool    // SRV records of the target's host name the servers
	Assumed        bool    // nothing names Source: the TXT record of a service may
	Set            string  // of replicas, which the server must be of; empty: any, or that of the TXT record
	Balanced       string  // "true": a load balancer stands before the servers; empty: the TXT record of a service may say so
	Secure         SQLSecure
	Verb           MongoDBVerb
	Command        string // in extended JSON, with "$db". Its texts may have placeholders
	Batch          int    // documents that each further batch has; 0: the server decides
	Batches        int    // that are read at most; 0: all
}

// MongoDBVerb says what of an answer counts.
type MongoDBVerb uint8

// The verbs.
const (
	MongoDBRuns   MongoDBVerb = iota // any command
	MongoDBReads                     // the documents of a cursor
	MongoDBWrites                    // documents that it changes
)

// rewritten returns the command with others in place of its words. What fills them writes JSON.
func (m *MongoDB) rewritten(fill func(string) string) *MongoDB {
	if m == nil {
		return nil
	}
	out := *m
	out.Command = fill(m.Command)
	return &out
}

// has reports whether look holds for a text of the request that may have words of secrets in it.
func (m *MongoDB) has(look func(string) bool) bool {
	if m == nil {
		return false
	}
	return look(m.User) || look(m.Password) || look(m.Command) || m.Secure.TLS != nil && look(string(m.Secure.TLS.Key))
}
