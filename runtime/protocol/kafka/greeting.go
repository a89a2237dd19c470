package kafka

import (
	"encoding/base64"
	"encoding/binary"
	"strings"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/kafka/group"
	"hyperscale/runtime/protocol/kafka/wire"
	"hyperscale/runtime/protocol/scram"
	"hyperscale/runtime/redact"
)

// Random is what a connection draws for its nonce.
type Random [18]byte

// Greeting is what one connection says before its first operation: ApiVersions, then SASL if a user has to
// prove itself, then InitProducerId if a broker has to count its records.
type Greeting struct {
	protocol *Protocol
	random   Random
	at       stage
	number   int32
	scram    *scram.Client
	works    bool   // the password is being salted
	refusal  string // what a broker says of a token that it does not take
	speaks   versions
	attends  Attendant // nil: none
}

// stage is what the broker answers next.
type stage uint8

const (
	stageVersions  stage = iota
	stageMechanism       // SaslHandshake
	stageFirst           // the challenge of SCRAM
	stageLast            // what ends SASL
	stageProducer
)

var (
	_ codec.Greeting = (*Greeting)(nil)
	_ codec.Worker   = (*Greeting)(nil)
)

// Greet begins a connection.
func (p *Protocol) Greet(r Random) *Greeting { return &Greeting{protocol: p, random: r} }

// Works implements codec.Worker.
func (g *Greeting) Works() bool { return g.works }

// Means is how the user proved itself; empty: it did not have to.
func (g *Greeting) Means() string { return g.protocol.config.Mechanism.name() }

// Speaks is the version of Produce, of Fetch and of Metadata that the connection speaks; below 0: none.
func (g *Greeting) Speaks() (produce, fetch, metadata int16) {
	return g.speaks.produce, g.speaks.fetch, g.speaks.metadata
}

// Begin appends what the client says first.
func (g *Greeting) Begin(dst []byte) []byte { return g.asks(dst, apiVersions, 0, nil) }

// asks appends a request with its body.
func (g *Greeting) asks(dst []byte, a api, version int16, body []byte) []byte {
	g.number++
	start := len(dst)
	dst = append(appendHead(dst, a, version, g.number), body...)
	putLength(dst, start)
	return dst
}

// Hear takes the broker's next answer, which begins b. Used is 0 if it is not whole, or while Works.
func (g *Greeting) Hear(dst, b []byte) (out []byte, used int, d codec.Dialogue, err error) {
	g.works = false
	if len(b) < 4 {
		return dst, 0, nil, nil
	}
	size := int64(int32(binary.BigEndian.Uint32(b)))
	if size < 4 || size > codec.GreetingBytes {
		return dst, 0, nil, errNoBroker
	}
	if int64(len(b)) < 4+size {
		return dst, 0, nil, nil
	}
	used = 4 + int(size)
	if number := int32(binary.BigEndian.Uint32(b[4:])); number != g.number {
		if g.at == stageVersions {
			return dst, used, nil, errNoBroker
		}
		return dst, used, nil, errNumber(number, g.number)
	}
	r := &wire.Reader{B: b[8:used]}
	switch g.at {
	case stageVersions:
		if err = g.meets(r); err == nil {
			err = g.protocol.config.mayBear()
		}
	case stageMechanism:
		err = g.mayProve(r)
	case stageProducer:
		return g.produces(dst, r, used)
	default:
		return g.proves(dst, r, used)
	}
	if err != nil {
		return dst, used, nil, err
	}
	if g.at == stageVersions && g.protocol.config.Mechanism == None {
		return g.settles(dst, used)
	}
	return g.next(dst), used, nil, nil
}

// next says what follows an answer that was good.
func (g *Greeting) next(dst []byte) []byte {
	c := &g.protocol.config
	if g.at == stageVersions {
		g.at = stageMechanism
		return g.asks(dst, apiHandshake, 1, wire.AppendText(nil, c.Mechanism.name()))
	}
	switch c.Mechanism {
	case PLAIN:
		g.at = stageLast
		return g.says(dst, []byte("\x00"+c.User+"\x00"+c.Password))
	case OAUTHBEARER:
		g.at = stageLast
		return g.says(dst, []byte("n,,\x01auth=Bearer "+c.Password+"\x01\x01"))
	}
	g.at = stageFirst
	g.scram = scram.New(c.Mechanism.hash(), c.User, c.Password, base64.RawURLEncoding.EncodeToString(g.random[:]), c.Keys).AtLeast(scram.IterationsLeast)
	return g.says(dst, g.scram.First(nil))
}

// says appends bytes of the mechanism.
func (g *Greeting) says(dst, b []byte) []byte {
	return g.asks(dst, apiAuthenticate, 0, append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...))
}

// settles ends the greeting of a user that may operate, or asks for the number of a producer.
func (g *Greeting) settles(dst []byte, used int) ([]byte, int, codec.Dialogue, error) {
	switch {
	case !g.protocol.config.Idempotent:
		return dst, used, g.begin(), nil
	case g.speaks.producer < 0:
		return dst, used, nil, errVersion(apiProducer)
	}
	g.at = stageProducer
	return g.asks(dst, apiProducer, g.speaks.producer, []byte{255, 255, 0, 0, ackMillis >> 8, ackMillis & 255}), used, nil, nil // of no transaction
}

// produces reads the answer to InitProducerId.
func (g *Greeting) produces(dst []byte, r *wire.Reader, used int) ([]byte, int, codec.Dialogue, error) {
	r.Int32() // how long it asks to wait
	number, id, epoch := r.Int16(), r.Int64(), r.Int16()
	if r.Bad || number == 0 && (id < 0 || epoch < 0) {
		return dst, used, nil, errShort(apiProducer)
	}
	if err := serverError(number, nil); err != nil {
		return dst, used, nil, err
	}
	c := g.begin()
	c.producer = &producer{id: id, epoch: epoch, next: map[placed]*int32{}}
	return dst, used, c, nil
}

func (g *Greeting) begin() *Conn {
	c := &Conn{most: g.protocol.most, speaks: g.speaks, pool: g.protocol.pool, number: g.number}
	if c.attends = g.attends; c.attends != nil {
		c.attends.Arrives()
	}
	return c
}

// meets reads the answer to ApiVersions.
func (g *Greeting) meets(r *wire.Reader) error {
	g.speaks = versions{produce: -1, fetch: -1, offsets: -1, metadata: -1, producer: -1}
	for i := range g.speaks.group {
		g.speaks.group[i] = -1
	}
	if number := r.Int16(); number != 0 {
		return serverError(number, nil)
	}
	for range r.List(6) {
		a, theirs := api(r.Int16()), span{r.Int16(), r.Int16()}
		switch v := choose(a, theirs); a {
		case apiProduce:
			g.speaks.produce = v
		case apiFetch:
			g.speaks.fetch = v
		case apiOffsets:
			g.speaks.offsets = v
		case apiMetadata:
			g.speaks.metadata = v
		case apiProducer:
			g.speaks.producer = v
		default:
			if _, _, is := group.API(a).Versions(); is {
				g.speaks.group[a] = v
			}
		}
	}
	if r.Bad {
		return errNoBroker
	}
	if g.speaks.metadata < 0 {
		return errVersion(apiMetadata)
	}
	return nil
}

// mayProve reads the answer to SaslHandshake.
func (g *Greeting) mayProve(r *wire.Reader) error {
	number := r.Int16()
	var offers []string
	for range r.List(2) {
		offers = append(offers, clip(r.Text(), g.protocol.config.Password))
	}
	switch {
	case r.Bad:
		return errShort(apiHandshake)
	case number == 0:
		return nil
	}
	err := serverError(number, nil)
	err.Kind = http1.KindAuth
	if len(offers) > 0 {
		err.Detail += ": it offers " + strings.Join(offers[:min(len(offers), 8)], ", ")
	}
	return err
}

// proves reads the answer to SaslAuthenticate, and goes on.
func (g *Greeting) proves(dst []byte, r *wire.Reader, used int) ([]byte, int, codec.Dialogue, error) {
	number, text, says := r.Int16(), r.Text(), r.Bytes()
	if r.Bad {
		return dst, used, nil, errShort(apiAuthenticate)
	}
	if err := serverError(number, text, g.protocol.config.Password); err != nil {
		err.Kind = http1.KindAuth
		if g.refusal != "" {
			err.Detail += ": " + g.refusal
		}
		return dst, used, nil, err
	}
	if g.protocol.config.Mechanism == OAUTHBEARER {
		return g.bears(dst, says, used)
	}
	if g.at == stageFirst {
		final, done, err := g.scram.Final(nil, says)
		switch {
		case err != nil:
			return dst, used, nil, err
		case !done:
			g.works = true
			return dst, 0, nil, nil
		}
		g.at = stageLast
		return g.says(dst, final), used, nil, nil
	}
	if g.scram != nil {
		if err := g.scram.Verify(says); err != nil {
			return dst, used, nil, err
		}
	}
	return g.settles(dst, used)
}

// bears goes on behind a token. A broker that does not take it says why, and gets one more message before its
// error (RFC 7628, 3.2.3).
func (g *Greeting) bears(dst, says []byte, used int) ([]byte, int, codec.Dialogue, error) {
	switch {
	case g.refusal != "":
		return dst, used, nil, &http1.Error{Kind: http1.KindAuth, Detail: "the broker does not take the token: " + g.refusal}
	case len(says) > 0:
		g.refusal = redact.Excerpt(string(says), redact.TextMost, g.protocol.config.Password)
		return g.says(dst, []byte{1}), used, nil, nil
	}
	return g.settles(dst, used)
}

// mayBear checks a token: what it has must not end its field.
func (c *Config) mayBear() error {
	odd := func(r rune) bool { return r <= ' ' || r > '~' }
	if c.Mechanism == OAUTHBEARER && (c.Password == "" || strings.ContainsFunc(c.Password, odd)) {
		return &http1.Error{Kind: http1.KindValue, Detail: "the token is empty, or has a blank or another character that no token has (RFC 6750): take the token alone"}
	}
	return nil
}
