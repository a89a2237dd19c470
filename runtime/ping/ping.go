package ping

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/protocol/amqp"
	"hyperscale/runtime/protocol/ftp"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/kafka"
	"hyperscale/runtime/protocol/mongodb"
	"hyperscale/runtime/protocol/mqtt"
	"hyperscale/runtime/protocol/mysql"
	"hyperscale/runtime/protocol/nats"
	"hyperscale/runtime/protocol/postgres"
	"hyperscale/runtime/protocol/redis"
	"hyperscale/runtime/protocol/smtp"
	"hyperscale/runtime/resolve"
)

// Config says what to ask, and how.
type Config struct {
	Request    http1.Request
	Service    string // SRV records of the URL's host name the servers of this service, as "mongodb"; empty: the host is the server
	HTTP       Version
	Events     bool          // wait for an event of the answer, which is a stream of them
	GRPC       *Called       // over HTTP/2: ask the health service, else reflection; nil: another protocol
	Greeted                  // a protocol that greets; none of it: another one
	Raw        *Said         // send it over TCP or UDP, and read what comes; nil: speak HTTP
	WebSocket  *Offer        // upgrade, and wait for the answer to a ping; nil: speak HTTP
	Timeout    time.Duration // of all together
	Insecure   bool          // a refused certificate ends nothing
	TLS        *tls.Config   // versions, authorities and the client's certificate; nil: the library's and the machine's
	ServerName string        // instead of the URL's host
	Address    netip.Addr    // connect to it, whatever the name says; zero: look the name up
	Resolver   *resolve.Resolver

	more bool // another server of the cluster follows: this one's addresses have less time
}

// Version is one of HTTP.
type Version uint8

// The versions. The third one goes over QUIC.
const (
	HTTP1 Version = iota
	HTTP2
	HTTP3
)

// name is the ping's word for it.
func (v Version) name() string { return [...]string{"http", "http2", "http3"}[v] }

// Greeted says how to greet the server of one protocol, and what to ask then.
type Greeted struct {
	Redis    *redis.Config    // greet, and wait for the answer to a PING
	NATS     *nats.Config     // the same of NATS
	Kafka    *kafka.Config    // greet, and wait for the answer to Metadata
	MQTT     *mqtt.Config     // connect, and wait for the answer to a PINGREQ
	FTP      *ftp.Config      // greet an FTP server, and wait for the answer to NOOP
	SMTP     *smtp.Config     // greet a mail server, and wait for the answer to NOOP
	AMQP     *amqp.Config     // the same of RabbitMQ, where its channel answers
	SSH      *SSH             // greet, and wait for the answer to REALPATH or a command
	MongoDB  *mongodb.Config  // greet, and wait for the answer to ping
	Postgres *postgres.Config // greet, and wait for the answer to select 1
	MySQL    *mysql.Config    // the same of MySQL
}

// Called is what a ping of gRPC asks beside the server's health.
type Called struct {
	Descriptors bool     // of services, by reflection
	Services    []string // these; empty: all that the server lists
	Reflection  bool     // nothing else: not its health, and not whether TLS resumes
}

// Said is what a ping over TCP or UDP sends.
type Said struct {
	Data []byte
	UDP  bool
}

// Offer is what an upgrade to WebSocket offers.
type Offer struct {
	Protocols []string
}

// Report is what a ping learnt. Times are in nanoseconds.
type Report struct {
	Protocol string `json:"protocol"`
	Method   string `json:"method"`
	URL      string `json:"url"`
	course

	Cluster  *Cluster  `json:"cluster,omitempty"` // nil: the URL's host is the server
	DNS      *Names    `json:"dns,omitempty"`     // of the server; nil: an address was given
	Tries    []Try     `json:"tries"`             // addresses, in the order in which they were tried
	Address  string    `json:"address"`           // the one that took the connection
	Local    string    `json:"local"`             // and from where
	TLS      *Secured  `json:"tls,omitempty"`
	QUIC     *Packets  `json:"quic,omitempty"`     // of HTTP/3
	Answer   *Answer   `json:"answer,omitempty"`   // nil: there was none
	Event    *Event    `json:"event,omitempty"`    // the first one of a stream
	Service  *Service  `json:"grpc,omitempty"`     // of gRPC
	Greeting *Greeting `json:"greeting,omitempty"` // of WebSocket, Kafka, MongoDB, MQTT, NATS, RabbitMQ, Redis, mail servers and databases
	Bytes    *Bytes    `json:"bytes,omitempty"`    // over TCP and UDP
	TotalNS  int64     `json:"total_ns"`
	Kind     string    `json:"kind"`  // of the failure; empty: a whole answer came
	Error    string    `json:"error"` // the same, for people
}

// Phase is a part of the time. OffsetNS is when it began.
type Phase struct {
	Name     string `json:"name"`
	OffsetNS int64  `json:"offset_ns"`
	NS       int64  `json:"ns"`
}

// Try is one address.
type Try struct {
	Address string `json:"address"`
	NS      int64  `json:"ns"`
	Error   string `json:"error"` // empty: it took the connection
}

// Answer describes the response, in sizes on the wire.
type Answer struct {
	Protocol  string      `json:"protocol"`
	Status    int         `json:"status"`
	Headers   [][2]string `json:"headers"`
	BodyBytes int64       `json:"body_bytes"` // without framing
	BytesIn   int64       `json:"bytes_in"`   // all, under TLS without its records
	BytesOut  int64       `json:"bytes_out"`
	KeepAlive bool        `json:"keep_alive"` // the server would take another request
}

// Event is the first event of a stream.
type Event struct {
	Type  string `json:"type"` // empty: message
	ID    string `json:"id"`
	Data  string `json:"data"`  // its first 4 KiB
	Bytes int    `json:"bytes"` // of its data
	NS    int64  `json:"ns"`    // since the ping began
}

// OK says that a whole answer came, with a status that a load test counts as good. Over TCP a
// connection is enough.
func (r *Report) OK() bool {
	return r.Kind == "" && (r.Bytes != nil || r.Answer != nil && r.Answer.Status < 400)
}

// Run sends the request. An error means that it could not be sent as it is written;
// everything else is in the report.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	call, err := cfg.Request.Compile()
	if err != nil {
		return nil, err
	}
	if cfg.HTTP == HTTP3 && call.Scheme != "https" {
		return nil, &http1.InputError{Field: "url", Value: cfg.Request.URL, Remedy: "HTTP/3 has no connection without TLS: write https://"}
	}
	r := reportOf(&cfg, &call)
	ctx, cancel := context.WithTimeout(ctx, cfg.Timeout)
	defer cancel()
	err = r.run(ctx, cfg, &call)
	r.enter(message.PhaseNone)
	for _, p := range r.Phases {
		r.TotalNS += p.NS
	}
	if err != nil {
		r.Kind, r.Error = string(kindOf(ctx, err, r.phaseAtEnd())), detailOf(err)
	}
	return r, nil
}

// reportOf begins a report with what the ping asks, in the protocol's own words.
func reportOf(cfg *Config, call *http1.Call) *Report {
	r := &Report{Protocol: cfg.HTTP.name(), Method: call.Method, URL: cfg.Request.URL, Tries: []Try{}, course: course{StartedAt: time.Now(), Phases: []Phase{}}}
	if cfg.Events {
		r.Protocol = "sse"
	}
	if cfg.WebSocket != nil {
		r.Protocol, r.URL = "websocket", "ws"+strings.TrimPrefix(cfg.Request.URL, "http")
	}
	if cfg.GRPC != nil {
		r.Protocol, r.Method, r.URL = "grpc", "gRPC", "grpc"+strings.TrimSuffix(strings.TrimPrefix(cfg.Request.URL, "http"), "/")
	}
	if cfg.Redis != nil {
		r.Protocol, r.Method, r.URL = "redis", "PING", "redis"+strings.TrimSuffix(strings.TrimPrefix(cfg.Request.URL, "http"), "/")
	}
	if p := cfg.NATS; p != nil {
		r.Protocol, r.Method, r.URL = "nats", "PING", map[bool]string{false: "nats://", true: "tls://"}[p.TLS]+hostOf(cfg.Request.URL)
	}
	if cfg.Kafka != nil {
		r.Protocol, r.Method, r.URL = "kafka", "METADATA", "kafka"+strings.TrimSuffix(strings.TrimPrefix(cfg.Request.URL, "http"), "/")
	}
	if cfg.MQTT != nil {
		r.Protocol, r.Method, r.URL = "mqtt", "PINGREQ", "mqtt"+strings.TrimSuffix(strings.TrimPrefix(cfg.Request.URL, "http"), "/")
	}
	if cfg.MongoDB != nil {
		r.Protocol, r.Method, r.URL = "mongodb", "PING", "mongodb://"+hostOf(cfg.Request.URL)
		if cfg.Service != "" {
			r.URL = "mongodb+srv://" + call.Host
		}
	}
	if cfg.AMQP != nil {
		r.Protocol, r.Method, r.URL = "amqp", "PING", "amqp"+strings.TrimSuffix(strings.TrimPrefix(cfg.Request.URL, "http"), "/")
	}
	if p := cfg.SSH; p != nil {
		r.Protocol, r.Method, r.URL = p.scheme(), "PING", p.scheme()+strings.TrimSuffix(strings.TrimPrefix(cfg.Request.URL, "http"), "/")
	}
	if cfg.SMTP != nil {
		r.nothing("smtp", cfg.SMTP.Secure, cfg.Request.URL)
	}
	if cfg.FTP != nil {
		r.nothing("ftp", cfg.FTP.Secure, cfg.Request.URL)
	}
	if p := cfg.MySQL; p != nil {
		r.Protocol, r.Method, r.URL = "mysql", "QUERY", "mysql"+strings.TrimSuffix(strings.TrimPrefix(cfg.Request.URL, "http"), "/")+"/"+p.Database
	}
	if p := cfg.Postgres; p != nil {
		r.Protocol, r.Method, r.URL = "postgres", "QUERY", "postgres"+strings.TrimSuffix(strings.TrimPrefix(cfg.Request.URL, "http"), "/")+"/"+p.Database
	}
	if cfg.Raw != nil {
		r.Protocol, r.Method = cfg.Raw.network(), strings.ToUpper(cfg.Raw.network())
		r.URL = r.Protocol + strings.TrimPrefix(strings.TrimSuffix(cfg.Request.URL, "/"), "http")
	}
	return r
}

func (r *Report) run(ctx context.Context, cfg Config, call *http1.Call) error {
	if cfg.Service != "" {
		return r.runCluster(ctx, cfg, call)
	}
	return r.runServer(ctx, cfg, call)
}

// runServer asks the server of a call.
func (r *Report) runServer(ctx context.Context, cfg Config, call *http1.Call) error {
	addrs, err := r.addressed(ctx, &cfg, call)
	if err != nil {
		return err
	}
	if cfg.HTTP == HTTP3 {
		return r.run3(ctx, cfg, call, addrs)
	}
	r.enter(message.PhaseConnect)
	tcp, err := r.connect(ctx, &cfg, addrs)
	if err != nil {
		return err
	}
	defer tcp.Close()
	stop := context.AfterFunc(ctx, func() { _ = tcp.SetDeadline(time.Unix(1, 0)) }) // it is open: a blocked call returns
	defer stop()
	stream := net.Conn(tcp)
	var session *sessions
	if call.Scheme == "https" {
		r.enter(message.PhaseTLS)
		session = newSessions()
		secure, err := r.secure(ctx, tcp, cfg, call, session)
		if err != nil {
			return err
		}
		stream = secure
	}
	if talk := r.greeted(cfg); talk != nil {
		r.enter(message.PhaseSend)
		return talk(ctx, stream, cfg, call)
	}
	if err := r.talk(stream, cfg, call); err != nil {
		return err
	}
	r.enter(message.PhaseNone)
	if session != nil && (cfg.GRPC == nil || !cfg.GRPC.Reflection) {
		r.TLS.Resumes = resumes(ctx, tcp.RemoteAddr().String(), cfg, call, session)
	}
	return nil
}

// greeted returns what speaks the protocol of a server that greets; nil: it is another one, or Redis, which
// resumes TLS as HTTP does.
func (r *Report) greeted(cfg Config) func(context.Context, net.Conn, Config, *http1.Call) error {
	switch {
	case cfg.NATS != nil:
		return r.talkNATS
	case cfg.Kafka != nil:
		return r.talkKafka
	case cfg.MQTT != nil:
		return r.talkMQTT
	case cfg.MongoDB != nil:
		return r.talkMongoDB
	case cfg.AMQP != nil:
		return r.talkAMQP
	case cfg.SSH != nil:
		return r.talkSSH
	case cfg.SMTP != nil:
		return r.talkSMTP
	case cfg.FTP != nil:
		return r.talkFTP
	case cfg.MySQL != nil:
		return r.talkMySQL
	case cfg.Postgres != nil:
		return r.talkPostgres
	}
	return nil
}
