package request

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/language"
)

// Versions of HTTP of a client. The empty one is Version11.
const (
	Version11   = "1.1"
	Version2    = "2"    // https: the server must choose it by ALPN; http: by prior knowledge
	Version3    = "3"    // https: over QUIC alone
	VersionAuto = "auto" // https: the server chooses; http: 1.1
)

func versions() []string { return []string{Version11, Version2, Version3, VersionAuto} }

// streamsMax bounds the concurrent requests on one connection.
const streamsMax = 10_000

// maxBodyMax bounds max_body: 1 TiB.
const maxBodyMax = 1 << 40

// clientArguments are those of http.client.
func clientArguments() []string {
	return []string{"tls", "version", "streams", "headers", "user_agent", "proxy", "addresses", "dns", "compression", "keep_alive", "max_body"}
}

// NewClient returns the value of http.client.
func NewClient(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	const fn = "http.client"
	names := clientArguments()
	in := make([]starlark.Value, len(names))
	if err := language.Bind(fn, names, 0, args, kwargs, in); err != nil {
		return nil, err
	}
	of := func(name string) starlark.Value { return in[slices.Index(names, name)] }
	client := &Client{Opaque: language.Opaque{Kind: fn}}
	o := &client.Options
	if v := of("tls"); v != nil {
		t, ok := v.(*tlsValue)
		if !ok {
			return nil, language.WrongType(fn, "tls", "tls(verify = False)", v)
		}
		o.Insecure, o.TLS = !t.verify, t.options
	}
	if v := of("dns"); v != nil {
		d, ok := v.(*dnsValue)
		if !ok {
			return nil, language.WrongType(fn, "dns", "dns(ttl = \"30s\")", v)
		}
		o.DNS = d.options
	}
	if err := o.protocol(fn, of("version"), of("streams")); err != nil {
		return nil, err
	}
	if err := o.route(fn, of("proxy"), of("addresses")); err != nil {
		return nil, err
	}
	if err := o.connections(fn, of); err != nil {
		return nil, err
	}
	if o.Proxy != nil && o.Version == Version2 {
		return nil, language.Faultf("%s: version = \"2\" begins without TLS where no proxy understands it", fn).In("version").Do("write version = \"auto\": https:// targets choose HTTP/2 through the proxy")
	}
	if o.Version == Version3 {
		if err := o.overQUIC(fn); err != nil {
			return nil, err
		}
	}
	return client, o.defaults(fn, of("headers"), of("user_agent"))
}

// protocol reads the version of HTTP, and how many requests share a connection.
func (o *Options) protocol(fn string, version, streams starlark.Value) error {
	if version != nil {
		s, ok := version.(starlark.String)
		if !ok {
			f := language.WrongType(fn, "version", "\"1.1\", \"2\", \"3\" or \"auto\"", version)
			return f.Do("write version = \"2\"")
		}
		if !slices.Contains(versions(), string(s)) {
			return language.Faultf("%s: version must not be %q", fn, language.Clip(string(s), 40)).In("version").Do("write \"1.1\", \"2\", \"3\" or \"auto\"")
		}
		o.Version = string(s)
	}
	if streams == nil {
		return nil
	}
	n, err := language.Integer(fn, "streams", streams, 1, streamsMax)
	if err != nil {
		return err
	}
	if o.Version == "" || o.Version == Version11 {
		return language.Faultf("%s: streams = %d, but HTTP/1.1 has one request at a time on a connection", fn, n).In("streams").Do("add version = \"2\"")
	}
	o.Streams = n
	return nil
}

// overQUIC checks what HTTP/3 has no way for.
func (o *Options) overQUIC(fn string) error {
	switch v := o.TLS.MaxVersion; {
	case o.Proxy != nil:
		return language.Faultf("%s: version = \"3\" goes over UDP, which no proxy of HTTP forwards", fn).In("version").Do("write version = \"auto\", or take proxy out")
	case v != "" && v != "1.3":
		return language.Faultf("%s: version = \"3\" has TLS 1.3 always, and tls allows %s at most", fn, v).In("version").Do("take max_version out of tls")
	}
	return nil
}

// Bare reports whether a request goes to http:// although the version has TLS always.
func (o *Options) Bare(r *Request) bool {
	return o.Version == Version3 && r.GRPC == nil && !r.Exchanges() && strings.HasPrefix(strings.ToLower(r.URL), "http://")
}

// shares is the version of HTTP whose requests share connections.
func (o *Options) shares() string {
	if o.Version == Version3 {
		return "3"
	}
	return "2"
}

// connections reads the switches, and the bound of a response.
func (o *Options) connections(fn string, of func(string) starlark.Value) (err error) {
	if o.Compression, err = builtin.Flag(fn, "compression", of("compression"), false); err != nil {
		return err
	}
	keep, err := builtin.Flag(fn, "keep_alive", of("keep_alive"), true)
	if err != nil {
		return err
	}
	if o.NoKeepAlive = !keep; o.NoKeepAlive && o.Version != "" && o.Version != Version11 {
		return language.Faultf("%s: keep_alive = False, but HTTP/%s is made to share a connection", fn, o.shares()).In("keep_alive").Do("take it out, or version")
	}
	if v := of("max_body"); v != nil {
		if o.MaxBody, err = Bytes(fn, "max_body", v, maxBodyMax); err != nil {
			return err
		}
	}
	return nil
}

// defaults reads the headers of every request.
func (o *Options) defaults(fn string, headers, agent starlark.Value) error {
	all, err := builtin.SentPairs(fn, "headers", headers)
	if err != nil {
		return err
	}
	for _, h := range all {
		if err := checkHeader(fn, h); err != nil {
			return err
		}
		switch low := strings.ToLower(h.Name); {
		case strings.Contains(h.Value, "${"):
			return language.Faultf("%s: the header %s has ${ in it, and values go into requests only", fn, h.Name).In("headers").Do("write the header into each request")
		case low == "cookie":
			return language.Faultf("%s: headers has Cookie in it", fn).In("headers").Do("give cookies = {...} to the first request: a virtual user keeps them")
		case low == "user-agent" && agent != nil:
			return language.Faultf("%s has both user_agent and a header User-Agent", fn).In("user_agent").Do("keep one of them")
		case low == "connection" || low == "host" || low == "content-length" || low == "transfer-encoding" || low == "expect":
			return language.Faultf("%s: headers has %s in it, which belongs to one request", fn, h.Name).In("headers").Do("take it out; keep_alive = False closes connections")
		}
	}
	if agent != nil {
		s, ok := agent.(starlark.String)
		if !ok {
			return language.WrongType(fn, "user_agent", "a text", agent)
		}
		h := builtin.Pair{Name: "User-Agent", Value: string(s)}
		if err := checkHeader(fn, h); err != nil {
			return err.(*language.Fault).In("user_agent")
		}
		all = append(all, h)
	}
	if o.Compression {
		all = append(all, builtin.Pair{Name: "Accept-Encoding", Value: AcceptEncoding})
	}
	if o.NoKeepAlive {
		all = append(all, builtin.Pair{Name: "Connection", Value: "close"})
	}
	o.Headers = all
	return nil
}

// AcceptEncoding is the header of a client with compression.
const AcceptEncoding = "gzip, deflate, br, zstd"

func checkHeader(fn string, h builtin.Pair) error {
	if !language.IsToken(h.Name) {
		return language.Faultf("%s: %q is not a header's name", fn, language.Clip(h.Name, 40)).In("headers")
	}
	if strings.ContainsAny(h.Value, "\r\n\x00") {
		return language.Faultf("%s: the header %s has a line break in its value", fn, h.Name).In("headers")
	}
	return nil
}

// Apply adds the client's common settings to a request that lacks them. It does not change its
// argument.
func (o *Options) Apply(r *Request) *Request {
	if r == nil || len(o.Headers) == 0 || r.Made != nil || r.Redis != nil || r.SQL != nil || r.NATS != nil || r.Kafka != nil || r.MQTT != nil || r.AMQP != nil || r.FTP != nil || r.SFTP != nil || r.SMTP != nil || r.MongoDB != nil || r.Raw != nil || r.Datagram != nil {
		return r
	}
	out := *r
	out.Headers = make([]builtin.Pair, 0, len(r.Headers)+len(o.Headers))
	for _, h := range o.Headers {
		if r.Stream != nil && strings.EqualFold(h.Name, "Accept-Encoding") {
			continue // an encoding holds events back
		}
		if r.GRPC != nil && !strings.EqualFold(h.Name, "User-Agent") {
			continue // metadata is of its client, and what is for pages is not for calls
		}
		if r.Socket != nil && (strings.EqualFold(h.Name, "Accept-Encoding") || strings.EqualFold(h.Name, "Connection")) {
			continue // messages have a compression of their own, and the upgrade sets Connection
		}
		same := func(own builtin.Pair) bool { return strings.EqualFold(own.Name, h.Name) }
		if !slices.ContainsFunc(r.Headers, same) && (r.Auth == nil || !strings.EqualFold(h.Name, "Authorization")) {
			out.Headers = append(out.Headers, h)
		}
	}
	out.Headers = append(out.Headers, r.Headers...)
	return &out
}

// Options are the options of a workflow's HTTP client. They are plain data; the zero value is a
// client without options.
type Options struct {
	Insecure bool   // do not verify certificates
	Version  string // of HTTP: see Version11; empty is that
	Streams  int    // HTTP/2 and HTTP/3: concurrent requests on a connection; 0: 100, or what the server allows if that is less

	TLS         TLS
	Proxy       *Proxy         // nil: none
	Sources     []netip.Prefix // source addresses of connections, in turn; empty: the machine chooses
	DNS         DNS
	Headers     []builtin.Pair // of every request without a header of that name
	MaxBody     int64          // bytes of a response's body, as sent; 0: no bound but the engine's
	Compression bool           // send Accept-Encoding, and decode bodies when they are read
	NoKeepAlive bool           // each request has its own connection
}

// TLS says how to secure connections. Keys and certificates are PEM texts that were parsed
// once.
type TLS struct {
	MinVersion, MaxVersion string   // "1.0" to "1.3"; empty: the library's
	Ciphers                []string // of TLS 1.2 and below, by their standard names; empty: the library's
	Certificate, Key       []byte   // of the client; empty: none
	CA                     []byte   // authorities instead of the machine's; empty: those
	ServerName             string   // instead of the URL's host
	Resume                 bool     // keep and resume sessions
}

// Proxy is the destination of connections instead of the target.
type Proxy struct {
	Host           string
	Port           uint16
	User, Password string
}

// DNS says how to resolve names.
type DNS struct {
	TTL     time.Duration // how long an answer is valid; 0: for the whole run
	Answer  bool          // an answer is valid as long as it says
	Rotate  string        // see RotateNone
	Servers []netip.AddrPort
	Hosts   []Host // names that need no look-up
}

// Host is a name with its addresses.
type Host struct {
	Name      string
	Addresses []netip.Addr
}

// How connections rotate over the addresses of a name. The empty value is RotateNone.
const (
	RotateNone   = "none"        // the last good one
	RotateRobin  = "round_robin" // each in turn
	RotateRandom = "random"      // at random
)
