package pool

import (
	"crypto/tls"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// TalkHost is a destination of exchanges. Only those with the same key share its connections: they
// asked for the same.
type TalkHost struct {
	Key    string
	Secure bool
	Offer  []string // for ALPN; nil: it offers none
	// TLS are the options of connections that are secure, also of those whose greeting begins TLS, and
	// Resume says that a user's next connection takes up the session. Nil: the workflow's.
	TLS    *tls.Config
	Resume bool
}

// NewTalkHost returns the destination of exchanges, where a call goes.
func NewTalkHost(c *http1.Call, t TalkHost) *Host {
	return &Host{Key: t.Key, Name: c.Host, port: c.Port, Authority: authorityOf(c), Secure: t.Secure, offer: t.Offer, tls: t.TLS, resume: t.Resume, version: versionTalk}
}

// dialogue is a connection that carries messages, or is about to.
type dialogue struct {
	codec.Dialogue // nil: the connection is not open for it yet
	upgrade        codec.Upgrade
	rounds         *codec.Rounds    // of its greeting; nil: it has none
	head           []byte           // of the upgrade or greeting, as far as it is not written
	answer         *http1.Collector // of the upgrade; nil: there is none
	unnamed        codec.Unnamed    // the dialogue, if its answers carry no name
	left           error            // the server has said goodbye
	size           int64            // of what the exchange received, in bytes
	rested         int64
	asked          []byte // the upgrade, where it is shown
	heard          int64  // when it was read last
	exchangeState
}

// exchangeState is what of the exchange under way is done.
type exchangeState struct {
	got   int // messages of its answer
	state talkState
}

// talkState says several things at once.
type talkState uint8

const (
	talkQueued talkState = 1 << iota // the messages are queued, and not all written
	talkHeard                        // something has come since the exchange began
	talkDeaf                         // what comes is dropped
	talkAgain                        // another exchange was before it
	talkExtra                        // a message came that no exchange asked for
	talkMute                         // writing failed: a read will report why
)

func (s talkState) is(of talkState) bool { return s&of != 0 }

// upgraded reports that a connection carries messages.
func (c *conn) upgraded() bool { return c.talk != nil && c.talk.Dialogue != nil }

// greets reports that a connection is in a greeting of its protocol's own.
func (c *conn) greets() bool { return c.talk != nil && c.talk.Dialogue == nil && c.talk.rounds != nil }

// web reports that HTTP begins on a connection.
func (c *conn) web() bool { return c.talk == nil || c.talk.upgrade != nil }

// securing reports that a connection is in a greeting that begins TLS.
func (c *conn) securing() bool { return c.greets() && c.talk.rounds.Secures() }

// works reports that a connection is in a greeting that computes.
func (c *conn) works() bool { return c.greets() && c.talk.rounds.Works() }

// out returns what is to be written next.
func (d *dialogue) out() []byte {
	if len(d.head) > 0 || d.Dialogue == nil {
		return d.head
	}
	return d.Output()
}

func (d *dialogue) took(n int) {
	if len(d.head) > 0 {
		d.head = d.head[n:]
	} else if d.Dialogue != nil {
		d.Sent(n)
	}
}
