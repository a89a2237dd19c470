package mongodb

import (
	"crypto/md5" //nolint:gosec // the protocol's own
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"

	"hyperscale/core/workflow/bson"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/scram"
)

// Random is what a connection draws for its nonce.
type Random [18]byte

// Greeting is what one connection says before its first operation: hello, then SASL if a user has to prove
// itself by a password, or authenticate if the certificate of TLS does.
type Greeting struct {
	protocol *Protocol
	random   Random
	number   int32
	at       turn
	scram    *scram.Client
	works    bool // the password is being salted
	said     Server
	source   string    // the database that knows the user
	set      string    // of replicas; empty: any
	balanced bool      // a load balancer stands before the servers
	by       [2]string // who says so of the set and the load balancer
}

// By whom an option is.
const (
	byURL = "the URL"
	byTXT = "the TXT record of the service"
)

// Server is what a server tells of itself.
type Server struct {
	WireVersion int64  // the highest one
	ObjectMax   int64  // bytes of a document; 0: it does not say
	MessageMax  int64  // bytes of a message; 0: it does not say
	Writable    bool   // it takes writes
	Set         string // of replicas; empty: none
	Primary     string // of the set, if it says so
	Router      bool   // mongos
	Balanced    bool   // it stands behind a load balancer
}

// turn is what the server answers next.
type turn uint8

const (
	turnHello turn = iota
	turnStart      // saslStart
	turnFinal      // saslContinue
	turnEmpty      // the same, with nothing
	turnKnown      // authenticate
)

var (
	_ codec.Greeting = (*Greeting)(nil)
	_ codec.Worker   = (*Greeting)(nil)
	_ codec.Told     = (*Greeting)(nil)
)

// Greet begins a connection.
func (p *Protocol) Greet(r Random) *Greeting {
	c := &p.config
	return &Greeting{protocol: p, random: r, source: c.Source, set: c.Set, balanced: c.Balanced, by: [2]string{byURL, byURL}}
}

// Works implements codec.Worker.
func (g *Greeting) Works() bool { return g.works }

// Means is how the user proved itself; empty: it did not have to.
func (g *Greeting) Means() string { return strings.ToLower(g.protocol.config.Mechanism.name()) }

// Server is what the server tells of itself.
func (g *Greeting) Server() Server { return g.said }

// Tell implements codec.Told: of a connection string's options a TXT record has three, and those of the URL go first.
func (g *Greeting) Tell(text string, servers int) error {
	wrong := func(format string, values ...any) error {
		return &http1.Error{Kind: http1.KindDNS, Detail: fmt.Sprintf(format, values...)}
	}
	if text != "" {
		for one := range strings.SplitSeq(text, "&") {
			name, escaped, _ := strings.Cut(one, "=")
			value, err := url.QueryUnescape(escaped)
			if err != nil || value == "" {
				return wrong("%s has the option %.40q without a value that can be read", byTXT, name)
			}
			if !g.option(strings.ToLower(name), value) {
				return wrong("%s has the option %.40q with the value %.20q: authSource, replicaSet, and loadBalanced with true or false may stand there", byTXT, name, value)
			}
		}
	}
	switch {
	case g.balanced && g.set != "":
		return wrong("%s has loadBalanced=true, and %s replicaSet=%.60q: take one of them out, as a load balancer chooses the server", g.by[1], g.by[0], g.set)
	case g.balanced && servers != 1:
		return wrong("%s has loadBalanced=true, and the SRV record of the service names %d servers: name the load balancer alone, or write loadBalanced=false into the URL", g.by[1], servers)
	}
	return nil
}

// option takes one of a TXT record, unless the URL has it. False: there is none such.
func (g *Greeting) option(name, value string) bool {
	c := &g.protocol.config
	switch name {
	case "authsource":
		if c.Assumed && c.Mechanism != X509 {
			g.source = value
		}
	case "replicaset":
		if c.Set == "" {
			g.set, g.by[0] = value, byTXT
		}
	case "loadbalanced":
		if !c.Balanced && !c.Unbalanced {
			g.balanced, g.by[1] = value == "true", byTXT
		}
		return value == "true" || value == "false"
	default:
		return false
	}
	return true
}

// hello asks a server what it is, and balancedHello one behind a load balancer.
var hello, balancedHello = asksHello(""), asksHello(`"loadBalanced": true, `)

func asksHello(more string) []byte {
	text := `{"hello": 1, "helloOk": true, ` + more + `"client": {"application": {"name": "hyperscale"}, "driver": {"name": "hyperscale", "version": "1"}, "os": {"type": "linux"}}, "$db": "admin"}`
	t, err := bson.Compile(text, nil)
	if err != nil {
		panic(err) // it is above
	}
	b, _ := t.Append(nil, nil) // it has no values
	return b
}

// Begin appends what the client says first.
func (g *Greeting) Begin(dst []byte) []byte {
	if g.balanced {
		return g.asks(dst, balancedHello)
	}
	return g.asks(dst, hello)
}

func (g *Greeting) asks(dst, body []byte) []byte {
	g.number++
	start := len(dst)
	dst = append(beginFrame(dst, g.number), body...)
	endFrame(dst, start)
	return dst
}

// Hear takes the server's next message, which begins b. Used is 0 if it is not whole, or while Works.
func (g *Greeting) Hear(dst, b []byte) (out []byte, used int, d codec.Dialogue, err error) {
	g.works = false
	used, wrong := length(b, codec.GreetingBytes, codec.GreetingBytes)
	if wrong != nil {
		return dst, 0, nil, g.foreign(wrong)
	}
	if used == 0 || used > len(b) {
		return dst, 0, nil, nil
	}
	body, wrong := documentOf(b[:used], g.number)
	if wrong != nil {
		return dst, used, nil, wrong
	}
	var a answer
	if wrong := a.read(body); wrong != nil {
		return dst, used, nil, wrong
	}
	if g.at == turnHello {
		return g.meets(dst, body, used, &a)
	}
	return g.proves(dst, body, used, &a)
}

// foreign says of what is no message that it is of another protocol, as long as the server has said nothing
// that is of this one.
func (g *Greeting) foreign(wrong *http1.Error) error {
	if g.at == turnHello {
		return errNoServer
	}
	return wrong
}

// meets takes the answer to hello.
func (g *Greeting) meets(dst, body []byte, used int, a *answer) ([]byte, int, codec.Dialogue, error) {
	if !a.ok {
		return dst, used, nil, a.told.fault("hello: ")
	}
	g.said = readServer(body)
	switch c := &g.protocol.config; {
	case g.said.WireVersion < wireLeast:
		return dst, used, nil, breach("the server speaks version %d of the wire: it is older than MongoDB 3.6, whose is %d", g.said.WireVersion, wireLeast)
	case g.set != "" && g.said.Set != g.set:
		return dst, used, nil, &http1.Error{Kind: http1.KindMoved, Detail: fmt.Sprintf("the server is of the set %.60q, and %s names %.60q", g.said.Set, g.by[0], g.set)}
	case g.balanced && !g.said.Balanced:
		return dst, used, nil, breach("%s has loadBalanced=true, and the server names no serviceId: no load balancer stands before it", g.by[1])
	case !g.said.Writable && g.said.Set != "":
		detail := fmt.Sprintf("the server is not the primary of the set %.60q", g.said.Set)
		if g.said.Primary != "" {
			detail += fmt.Sprintf(": write mongodb://%.100s", g.said.Primary)
		}
		return dst, used, nil, &http1.Error{Kind: http1.KindMoved, Detail: detail}
	case c.Mechanism == None:
		return dst, used, g.begin(), nil
	case c.Mechanism == X509:
		g.at = turnKnown
		return g.asks(dst, g.authenticate()), used, nil, nil
	default:
		password := c.Password
		if c.Mechanism == SCRAMSHA1 { // the specification's own digest
			sum := md5.Sum([]byte(c.User + ":mongo:" + c.Password))
			password = hex.EncodeToString(sum[:])
		}
		g.scram = scram.New(c.Mechanism.hash(), c.User, password, base64.RawURLEncoding.EncodeToString(g.random[:]), c.Keys).AtLeast(scram.IterationsLeast)
		g.at = turnStart
		return g.asks(dst, g.sasl("saslStart", g.scram.First(nil), 0)), used, nil, nil
	}
}

// authenticate is the command that has the server take the user of the certificate.
func (g *Greeting) authenticate() []byte {
	c := &g.protocol.config
	b := append([]byte{0, 0, 0, 0, byte(bson.Int)}, "authenticate\x00\x01\x00\x00\x00"...)
	b = appendTextField(b, "mechanism", []byte(c.Mechanism.name()))
	if c.User != "" {
		b = appendTextField(b, "user", []byte(c.User))
	}
	b = append(appendTextField(b, "$db", []byte(c.Source)), 0)
	binary.LittleEndian.PutUint32(b, uint32(len(b)))
	return b
}

// sasl is a command with a part of SCRAM.
func (g *Greeting) sasl(name string, payload []byte, conversation int64) []byte {
	b := append([]byte{0, 0, 0, 0, byte(bson.Int)}, name...)
	b = append(b, 0, 1, 0, 0, 0)
	if name == "saslStart" {
		b = appendTextField(b, "mechanism", []byte(g.protocol.config.Mechanism.name()))
		b = append(append(b, byte(bson.Document)), "options\x00\x19\x00\x00\x00\x08skipEmptyExchange\x00\x01\x00"...)
	} else {
		b = append(append(b, byte(bson.Int)), "conversationId\x00"...)
		b = binary.LittleEndian.AppendUint32(b, uint32(conversation))
	}
	b = append(append(b, byte(bson.Binary)), "payload\x00"...)
	b = append(binary.LittleEndian.AppendUint32(b, uint32(len(payload))), 0)
	b = append(b, payload...)
	b = append(appendTextField(b, "$db", []byte(g.source)), 0)
	binary.LittleEndian.PutUint32(b, uint32(len(b)))
	return b
}

// proves takes an answer of SASL or authenticate.
func (g *Greeting) proves(dst, body []byte, used int, a *answer) ([]byte, int, codec.Dialogue, error) {
	if !a.ok {
		return dst, used, nil, g.refused(a)
	}
	if g.at == turnKnown {
		return dst, used, g.begin(), nil
	}
	says, conversation, done := readSASL(body)
	switch g.at {
	case turnStart:
		if done {
			return dst, used, nil, refusal("the server ends SCRAM without its own proof")
		}
		final, whole, err := g.scram.Final(nil, says)
		if g.works = !whole && err == nil; g.works || err != nil {
			return dst, 0, nil, err
		}
		g.at = turnFinal
		return g.asks(dst, g.sasl("saslContinue", final, conversation)), used, nil, nil
	case turnFinal:
		if err := g.scram.Verify(says); err != nil {
			return dst, used, nil, err
		}
		if !done {
			g.at = turnEmpty
			return g.asks(dst, g.sasl("saslContinue", nil, conversation)), used, nil, nil
		}
	default:
		if !done {
			return dst, used, nil, breach("the server does not end SCRAM")
		}
	}
	return dst, used, g.begin(), nil
}

// refused is the error of a user that the server does not take.
func (g *Greeting) refused(a *answer) error {
	c := &g.protocol.config
	text := clip(a.told.text, c.Password)
	if c.Mechanism == X509 {
		return refusal("%s refuses the user of the certificate: %s: create the user of its subject in %s", c.Mechanism.name(), text, c.Source)
	}
	return refusal("%s refuses the user %q of the database %s: %s: a user of another database needs auth_source", c.Mechanism.name(), c.User, g.source, text)
}

func (g *Greeting) begin() *Conn {
	object := int64(objectMost)
	if g.said.ObjectMax > 0 {
		object = min(g.said.ObjectMax, frameMost)
	}
	object += objectBeside
	if g.said.MessageMax > 0 {
		object = min(object, g.said.MessageMax-bodyAt)
	}
	c := &g.protocol.config
	return &Conn{pool: c.Pool, most: c.AnswerMax, object: int(min(object, frameMost-bodyAt)), number: g.number}
}

// readServer reads the answer to hello.
func readServer(b []byte) (s Server) {
	rest, err := bson.Fields(b)
	for err == nil && len(rest) > 0 {
		var e bson.Element
		if e, rest, err = bson.Next(rest); err != nil {
			break
		}
		n, _ := e.Whole()
		switch string(e.Name) {
		case "maxWireVersion":
			s.WireVersion = n
		case "maxBsonObjectSize":
			s.ObjectMax = n
		case "maxMessageSizeBytes":
			s.MessageMax = n
		case "isWritablePrimary", "ismaster":
			s.Writable = s.Writable || n == 1
		case "setName":
			s.Set = clip(e.Text())
		case "primary":
			s.Primary = clip(e.Text())
		case "serviceId":
			s.Balanced = true
		case "msg":
			s.Router = string(e.Text()) == "isdbgrid"
		}
	}
	return s
}

// readSASL reads an answer of SASL.
func readSASL(b []byte) (payload []byte, conversation int64, done bool) {
	rest, err := bson.Fields(b)
	for err == nil && len(rest) > 0 {
		var e bson.Element
		if e, rest, err = bson.Next(rest); err != nil {
			break
		}
		switch string(e.Name) {
		case "payload":
			if payload = e.Text(); e.Type == bson.Binary {
				payload = e.Value[5:]
			}
		case "conversationId":
			conversation, _ = e.Whole()
		case "done":
			n, _ := e.Whole()
			done = n == 1
		}
	}
	return payload, conversation, done
}
