package nats

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"hyperscale/runtime/protocol/http1"
)

// MessageMaxDefault bounds a message, in bytes, with its header. Less would cut real messages; more would
// let 1,000 users that each receive one fill the machine.
const MessageMaxDefault = http1.BodyLimitDefault

const (
	lineMost   = 64 << 10 // bytes of a control line, with its end; an INFO names the servers of a cluster
	idleMost   = 1024     // control lines in a row
	fieldsMost = 256      // of a message's header
	oweMost    = 64 << 10 // bytes of answers to pings that the server does not take
	bufferKept = 512      // bytes of a buffer that an idle connection keeps
	lateMost   = 16       // operations that are given up and whose answers are still told apart

	outboxMoved = 64 << 10 // bytes that are gone and worth to be moved over
)

// InboxDefault is where replies come unless a server's permissions want another prefix.
const InboxDefault = "_INBOX"

// Config is what a connection greets with and takes. At most one of User, Token, Seed and Credentials
// proves who it is.
type Config struct {
	User, Password string
	Token          string
	Seed           string // of an NKey: "SU..."
	Credentials    string // the text of a file with a JWT and a seed
	Inbox          string // the prefix of replies; empty: InboxDefault
	TLS            bool   // the connection begins TLS, or fails; else it does where the server wants it
	First          bool   // TLS stands before the server's INFO: the caller has begun it
	MessageMax     int64  // 0: MessageMaxDefault
	Subscription   *Subscription
	Consumer       *Consumer // in place of a subscription
}

// Subscription is what a connection receives in place of operations.
type Subscription struct {
	Subject string
	Queue   string // the group that shares its messages; empty: none
}

// Protocol greets for the connections of one goroutine. It is made before the clock runs.
type Protocol struct {
	config Config
	most   int64
	key    ed25519.PrivateKey // nil: nothing is signed
	public string             // of an NKey without a JWT
	jwt    string
}

// New reads the proofs of a user. Its error names the field, and holds nothing secret.
func New(c Config) (*Protocol, error) {
	p := &Protocol{config: c, most: c.MessageMax}
	if p.most <= 0 {
		p.most = MessageMaxDefault
	}
	p.most = min(p.most, 1<<40) // sums stay numbers
	if p.config.Inbox == "" {
		p.config.Inbox = InboxDefault
	}
	var err error
	switch {
	case c.Seed != "":
		if p.key, err = readSeed(c.Seed); err != nil {
			return nil, &http1.InputError{Field: "nkey", Value: hiddenText, Remedy: err.Error() + ": give the seed of a user, which begins with SU"}
		}
		p.public = publicKey(p.key)
	case c.Credentials != "":
		if p.jwt, p.key, err = readCredentials(c.Credentials); err != nil {
			return nil, &http1.InputError{Field: "credentials", Value: hiddenText, Remedy: err.Error() + ": give the text of a file that nsc generate creds wrote"}
		}
	}
	return p, nil
}

// Begin begins a connection behind its greeting.
func (p *Protocol) begin(inbox string, i *info) *Conn {
	return &Conn{most: p.most, inbox: inbox, payloadMost: i.MaxPayload, heads: i.Headers, subscribes: p.receives(), pull: p.config.Consumer.pull()}
}

// receives reports that a connection carries no operations.
func (p *Protocol) receives() bool { return p.config.Subscription != nil || p.config.Consumer != nil }

// proof is what of CONNECT's JSON proves the user.
type proof struct {
	User      string `json:"user,omitempty"`
	Password  string `json:"pass,omitempty"`
	Token     string `json:"auth_token,omitempty"`
	JWT       string `json:"jwt,omitempty"`
	NKey      string `json:"nkey,omitempty"`
	Signature string `json:"sig,omitempty"`
	Name      string `json:"name"`
}

// appendConnect appends CONNECT. The server's nonce is signed.
func (p *Protocol) appendConnect(dst []byte, secure bool, i *info) []byte {
	c := proof{User: p.config.User, Password: p.config.Password, Token: p.config.Token, JWT: p.jwt, NKey: p.public, Name: "hyperscale"}
	if p.key != nil {
		c.Signature = base64.RawURLEncoding.EncodeToString(ed25519.Sign(p.key, []byte(i.Nonce)))
	}
	text, _ := json.Marshal(c) // texts have a form
	dst = append(append(dst, "CONNECT "...), text[:len(text)-1]...)
	return fmt.Appendf(dst, `,"lang":"hyperscale","version":"1","protocol":1,"verbose":false,"pedantic":false,"echo":true,"tls_required":%t,"headers":%t,"no_responders":%t}`+"\r\n", secure, i.Headers, i.Headers)
}
