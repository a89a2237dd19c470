package request

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/schema"
	"hyperscale/core/workflow/secret"
)

// GRPC says what a request calls. Its Body is a list of messages in JSON, and its URL the method's.
type GRPC struct {
	Method   *schema.Method
	Source   string // of the schema
	Compress bool   // messages go out as gzip, and answers may
	Open     bool   // a session sends the messages
}

const (
	grpcMessagesMax = 1000
	grpcBytesMax    = 4 << 20 // of a message in JSON
)

// GRPCSchemes are those of grpc.client.
func GRPCSchemes() Schemes { return Schemes{Plain: "grpc", Secure: "grpcs", Port: 443} }

// GRPCClientArguments are those of grpc.client.
func GRPCClientArguments() []string { return []string{"url", "schema", "metadata", "compression"} }

// GRPCArguments are those of grpc.call.
func GRPCArguments() []string {
	return []string{"target", "method", "message", "messages", "metadata", "timeout", "retry"}
}

// GRPCOpenArguments are those of vu.grpc.open.
func GRPCOpenArguments() []string { return []string{"target", "method", "metadata", "timeout"} }

// OpenGRPC is vu.grpc.open: a call whose messages its function sends and receives one by one.
func OpenGRPC(under string, own []string, use Use) *guard.Func {
	fn := under + ".open"
	names := append(GRPCOpenArguments(), own...)
	return &guard.Func{Word: "open", Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		in := make([]starlark.Value, len(names))
		if err := language.Bind(fn, names, 2, args, kwargs, in); err != nil {
			return nil, err
		}
		c := &grpcCall{thread: thread, fn: fn, opens: true}
		r, err := c.request([]starlark.Value{in[0], in[1], nil, nil, in[2], in[3], nil})
		if err != nil {
			return nil, err
		}
		if m := r.GRPC.Method; !m.ClientStreams && !m.ServerStreams {
			return nil, language.Faultf("%s: %s streams nothing: one message has one answer", fn, m.Name).In("method").Do("write %s.call(target, %q, {...})", under, m.Name)
		}
		return use(thread, r, nil, in[len(GRPCOpenArguments()):])
	}}
}

// SchemaValue is the result of grpc.proto and grpc.descriptors, or what a Reflection has told.
type SchemaValue struct {
	language.Opaque
	Source string // the file, or the server
	Schema *schema.Schema
}

// Reflection is the result of grpc.reflect: a server tells its own descriptors. Its copy for a client has
// the client's URL and metadata.
type Reflection struct {
	language.Opaque
	URL      string   // grpc://host:port
	Services []string // of which it tells; empty: of all
	Metadata []builtin.Pair
	TLS      TLS
	Insecure bool // no certificate is verified
	Timeout  time.Duration
	metadata starlark.Value
	from     Reflector
}

// Reflector has the descriptors that servers have told.
type Reflector interface {
	Reflected(*Reflection) (*schema.Schema, error)
}

// reflectionTimeout is for all questions to a server, and servicesMost bounds those that a file names.
const (
	reflectionTimeout = 10 * time.Second
	servicesMost      = 100
)

// NewReflection is grpc.reflect.
func NewReflection(from Reflector, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	const fn = "grpc.reflect"
	var in [4]starlark.Value
	if err := language.Bind(fn, []string{"services", "metadata", "tls", "timeout"}, 0, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	r := &Reflection{Opaque: language.Opaque{Kind: fn}, metadata: in[1], Timeout: reflectionTimeout, from: from}
	var err error
	if r.Services, err = language.Names(fn, "services", "services", in[0]); err != nil {
		return nil, err
	}
	if len(r.Services) > servicesMost {
		return nil, language.Faultf("%s: services has %d names, at most %d fit", fn, len(r.Services), servicesMost).In("services").Do("leave it out: the server lists its services")
	}
	for i, name := range r.Services {
		if name == "" || len(name) > 255 || strings.ContainsAny(name, "/ ") {
			return nil, language.Faultf("%s: services has %q in it, which is no service", fn, language.Clip(name, 80)).In("services").At(i).Do("write \"shop.v1.Orders\", without a method")
		}
	}
	if _, err := grpcMetadata(fn, in[1]); err != nil {
		return nil, err
	}
	if in[2] != nil {
		t, ok := in[2].(*tlsValue)
		if !ok {
			return nil, language.WrongType(fn, "tls", "tls(ca = file(\"ca.pem\"))", in[2])
		}
		r.TLS, r.Insecure = t.options, !t.verify
	}
	if in[3] != nil {
		if r.Timeout, err = language.Duration(fn, "timeout", in[3]); err != nil {
			return nil, err
		}
		if r.Timeout < time.Millisecond || r.Timeout > time.Minute {
			return nil, language.Faultf("%s: timeout = %v is not between a millisecond and a minute", fn, r.Timeout).In("timeout").Do("write timeout = \"10s\"")
		}
	}
	return r, nil
}

// schemaOf returns the schema that a client's server has told.
func (r *Reflection) schemaOf(client *grpcValue) (*SchemaValue, error) {
	const fn = "grpc.client"
	out := *r
	out.URL = client.target.URL()
	if len(out.TLS.CA)+len(out.TLS.Certificate) > 0 || out.Insecure {
		if !client.target.Secure {
			return nil, language.Faultf("%s: grpc.reflect has tls, and %s has none", fn, out.URL).In("url").Do("write grpcs://, or take tls out of grpc.reflect")
		}
	}
	var err error
	if out.Metadata, err = grpcMetadata(fn, client.metadata); err != nil {
		return nil, err
	}
	own, err := grpcMetadata(fn, r.metadata)
	if err != nil {
		return nil, err
	}
	if err := client.guards("grpc.reflect", r.metadata); err != nil {
		return nil, err
	}
	for _, h := range own {
		out.Metadata = slices.DeleteFunc(out.Metadata, func(known builtin.Pair) bool { return known.Name == h.Name })
	}
	out.Metadata = append(out.Metadata, own...)
	s, err := r.from.Reflected(&out)
	if err != nil {
		return nil, err
	}
	return &SchemaValue{Opaque: language.Opaque{Kind: "grpc.reflect"}, Source: "what " + out.URL + " tells by reflection", Schema: s}, nil
}

// grpcValue is the result of grpc.client.
type grpcValue struct {
	language.Opaque
	target   *Target
	schema   *SchemaValue
	metadata starlark.Value
	compress bool
}

// guards rejects secrets in metadata that would go out in clear. Loopback is exempt: a proxy
// beside the load ends TLS there, and no network carries the secret.
func (g *grpcValue) guards(fn string, metadata starlark.Value) error {
	if d, ok := metadata.(*starlark.Dict); ok && !g.target.Secure && !g.target.near() {
		for _, kv := range d.Items() {
			if name, _ := starlark.AsString(kv[0]); hidden(kv[1]) {
				return language.Faultf("%s: the metadata %q has a secret in it, and %s sends it in clear", fn, language.Clip(name, 40), g.target.URL()).In("metadata").Do("write grpcs:// for TLS; in clear a secret goes to 127.0.0.1, [::1] or localhost alone")
			}
		}
	}
	return nil
}

// hidden reports whether a value of metadata is a secret, or a list with one.
func hidden(v starlark.Value) bool {
	if l, ok := v.(*starlark.List); ok {
		for i := range l.Len() {
			if _, is := l.Index(i).(*secret.Text); is {
				return true
			}
		}
	}
	_, is := v.(*secret.Text)
	return is
}

// newGRPCClient is grpc.client.
func newGRPCClient(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	const fn = "grpc.client"
	var in [4]starlark.Value
	if err := language.Bind(fn, GRPCClientArguments(), 2, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	out := &grpcValue{Opaque: language.Opaque{Kind: fn}, metadata: in[2]}
	var err error
	if out.target, err = GRPCSchemes().Read(fn, in[0]); err != nil {
		return nil, err
	}
	if _, err := grpcMetadata(fn, in[2]); err != nil {
		return nil, err
	}
	if err := out.guards(fn, in[2]); err != nil {
		return nil, err
	}
	if out.compress, err = builtin.Flag(fn, "compression", in[3], false); err != nil {
		return nil, err
	}
	switch given := in[1].(type) {
	case nil:
		return nil, language.Faultf("%s: the schema is missing", fn).Do("write schema = grpc.proto(\"shop.proto\"), grpc.descriptors(\"shop.binpb\") or grpc.reflect()")
	case *SchemaValue:
		out.schema = given
	case *Reflection:
		if out.schema, err = given.schemaOf(out); err != nil {
			return nil, err
		}
	default:
		return nil, language.WrongType(fn, "schema", "the result of grpc.proto, grpc.descriptors or grpc.reflect", in[1]).Do("write schema = grpc.proto(\"shop.proto\")")
	}
	return out, nil
}

// grpcMetadata reads metadata, and rejects what the protocol itself sends.
func grpcMetadata(fn string, v starlark.Value) ([]builtin.Pair, error) {
	all, err := builtin.SentPairs(fn, "metadata", v)
	if err != nil {
		return nil, err
	}
	for _, h := range all {
		if err := checkHeader(fn, h); err != nil {
			if f, ok := err.(*language.Fault); ok {
				return nil, f.In("metadata")
			}
			return nil, err
		}
		switch low := strings.ToLower(h.Name); {
		case low != h.Name:
			return nil, language.Faultf("%s: the metadata %q has a capital letter", fn, language.Clip(h.Name, 40)).In("metadata").Do("write %q", low)
		case strings.HasPrefix(low, "grpc-") || slices.Contains([]string{"content-type", "te", "host", "connection", "content-length", "transfer-encoding", "expect", "cookie"}, low):
			return nil, language.Faultf("%s: metadata has %s in it, which belongs to the protocol", fn, low).In("metadata").Do("take it out; timeout = \"1s\" sets the deadline")
		}
	}
	return all, nil
}

// GRPCNamespace is grpc and vu.grpc: call is one call of a method. More are its other members.
func GRPCNamespace(under string, own []string, use Use, more starlark.StringDict) *language.Namespace {
	fn := under + ".call"
	members := starlark.StringDict{
		"call": &guard.Func{Word: "call", Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			names := append(GRPCArguments(), own...)
			in := make([]starlark.Value, len(names))
			if err := language.Bind(fn, names, 3, args, kwargs, in); err != nil {
				return nil, err
			}
			c := grpcCall{thread: thread, fn: fn}
			if w := wordsOf(thread); w != nil {
				c.b = &Placeholders{words: w, thread: thread}
			}
			r, err := c.request(in)
			if err != nil {
				return nil, c.b.Explain(err)
			}
			given := in[len(GRPCArguments()):]
			if !slices.ContainsFunc(given, func(v starlark.Value) bool { return v != nil }) {
				given = nil
			}
			return use(thread, r, c.b, given)
		}},
	}
	if under == "grpc" {
		members["client"] = &guard.Func{Word: "client", Call: newGRPCClient}
	}
	//lint:orderfree a dict has no order either
	for name, v := range more {
		members[name] = v
	}
	return language.NewNamespace(under, members)
}

// grpcCall makes a request of a call.
type grpcCall struct {
	thread *starlark.Thread
	fn     string
	b      *Placeholders
	opens  bool // it opens a session, which sends the messages
}

func (c *grpcCall) request(in []starlark.Value) (*Request, error) {
	target, ok := in[0].(*grpcValue)
	if !ok {
		return nil, language.WrongType(c.fn, "target", "the result of grpc.client", in[0]).Do("write shop = grpc.client(\"grpcs://shop\", schema = grpc.proto(\"shop.proto\"))")
	}
	method, err := c.method(target, in[1])
	if err != nil {
		return nil, err
	}
	at := *target.target
	at.Path = method.Name
	r := &Request{Method: "POST", URL: at.URL(), Exchange: Exchange{GRPC: &GRPC{Method: method, Source: target.schema.Source, Compress: target.compress, Open: c.opens}}}
	if c.opens {
		r.Body = []byte("[]")
	} else if err := c.messages(r, method, in[2], in[3]); err != nil {
		return nil, err
	}
	all, err := grpcMetadata(c.fn, target.metadata) // a function's secrets have values
	if err != nil {
		return nil, err
	}
	own, err := grpcMetadata(c.fn, in[4])
	if err != nil {
		return nil, err
	}
	if err := target.guards(c.fn, in[4]); err != nil {
		return nil, err
	}
	for _, h := range own {
		all = slices.DeleteFunc(all, func(known builtin.Pair) bool { return known.Name == h.Name })
	}
	all = append(all, own...)
	if err := c.b.putAll(c.fn, "metadata", all, false); err != nil {
		return nil, err
	}
	for _, h := range all {
		if err := c.b.none(c.fn, "metadata", "the name of metadata", h.Name); err != nil {
			return nil, err
		}
	}
	r.Headers = all
	if in[5] != nil {
		if r.Timeout, err = language.Duration(c.fn, "timeout", in[5]); err != nil {
			return nil, err
		}
		if r.Timeout < time.Millisecond {
			return nil, language.Faultf("%s: timeout = %v is shorter than a millisecond", c.fn, r.Timeout).In("timeout").Do("write timeout = \"250ms\"")
		}
	}
	if r.Retry, err = retryOf(c.fn, in[6]); err != nil {
		return nil, err
	}
	return r, guard.MeterOf(c.thread).Charge(c.thread, len(r.Body)+256+128*c.b.count())
}

// method finds the method that a call names.
func (c *grpcCall) method(target *grpcValue, v starlark.Value) (*schema.Method, error) {
	name, ok := v.(starlark.String)
	if !ok {
		if v == nil {
			return nil, language.Faultf("%s: the method is missing", c.fn).Do("write %s(shop, \"shop.v1.Orders/Get\", {...})", c.fn)
		}
		return nil, language.WrongType(c.fn, "method", "a text", v).Do("write \"shop.v1.Orders/Get\"")
	}
	of := target.schema.Schema
	if m := of.Method(string(name)); m != nil {
		return m, nil
	}
	if at := strings.LastIndexByte(string(name), '.'); at >= 0 {
		if slashed := string(name[:at] + "/" + name[at+1:]); of.Method(slashed) != nil {
			return nil, language.Faultf("%s: the method %q has a dot before its last part", c.fn, language.Clip(string(name), 80)).In("method").Do("write %q", slashed)
		}
	}
	f := language.Faultf("%s: %s has no method %q", c.fn, target.schema.Source, language.Clip(string(name), 80)).In("method").Meant(string(name), of.Names())
	if f.Remedy == "" {
		some := of.Names()
		if len(some) == 0 {
			return nil, f.Do("it has no service: name the file that has one")
		}
		f.Do("write one of its methods, such as %q", some[0])
	}
	return nil, f
}

// messages encodes what the call sends, and checks it against the method's type.
func (c *grpcCall) messages(r *Request, method *schema.Method, one, many starlark.Value) error {
	var all []starlark.Value
	switch {
	case one != nil && many != nil:
		return language.Faultf("%s has both message and messages", c.fn).In("messages").Do("keep one of them")
	case many != nil && !method.ClientStreams:
		return language.Faultf("%s: %s takes one message", c.fn, method.Name).In("messages").Do("write message = {...}")
	case many != nil:
		list, err := language.List(c.fn, "messages", "dicts", many)
		if err != nil {
			return err
		}
		if all = list; len(all) > grpcMessagesMax {
			return language.Faultf("%s has %d messages, at most %d fit", c.fn, len(all), grpcMessagesMax).In("messages")
		}
	case one != nil:
		all = []starlark.Value{one}
	case !method.ClientStreams:
		return language.Faultf("%s: the message is missing", c.fn).Do("write %s(target, %q, {...}); {} is an empty one", c.fn, method.Name)
	default:
		return language.Faultf("%s: the messages are missing", c.fn).Do("write messages = [{...}, {...}]; [] sends none")
	}
	body := []byte{'['}
	for i, v := range all {
		argument := "message"
		if many != nil {
			argument = "messages[" + strconv.Itoa(i) + "]"
		}
		text, err := c.json(argument, v)
		if err != nil {
			return err
		}
		if text, err = c.b.put(c.fn, "message", text); err != nil {
			return err
		}
		if c.b != nil { // a function's call is encoded once, as it is sent
			if _, err := method.Compile([]byte(text), c.holes()); err != nil {
				return language.Faultf("%s: %s: %v", c.fn, argument, err).In(strings.TrimRight(argument, "[]0123456789"))
			}
		}
		if i > 0 {
			body = append(body, ',')
		}
		if body = append(body, text...); len(body) > grpcBytesMax {
			return language.Faultf("%s sends more than %d MiB", c.fn, grpcBytesMax>>20).In("message")
		}
	}
	r.Body, r.ContentType, r.Escape = append(body, ']'), "application/json", EscapeJSON
	return nil
}

// json returns a message as JSON: of a dict, or of a text that is JSON.
func (c *grpcCall) json(argument string, v starlark.Value) (string, error) {
	switch v := v.(type) {
	case starlark.String:
		if !json.Valid([]byte(v)) {
			return "", language.Faultf("%s: %s is a text, and not JSON", c.fn, argument).In("message").Do("write a dict: {\"id\": \"7\"}")
		}
		return string(v), nil
	case *starlark.Dict:
		b, err := builtin.EncodeBody(c.thread, v)
		if f, ok := err.(*language.Fault); ok {
			f.In("message")
		}
		return string(b), err
	case *secret.Text:
		return "", language.Faultf("%s: %s is a secret", c.fn, argument).In("message").Do("put it into a field: {\"token\": secret(\"token\")}")
	}
	return "", language.WrongType(c.fn, argument, "a dict, or a text of JSON", v)
}

// holes are the places of values so far. Words of secrets are letters and digits, as a text is.
func (c *grpcCall) holes() []schema.Hole {
	var all []schema.Hole
	for i, h := range c.b.List {
		all = append(all, schema.Hole{Word: h.Word, Name: h.Name, Value: i})
	}
	return all
}
