package codec

import (
	"errors"
	"fmt"
	"io"

	"hyperscale/runtime/protocol/http1"
)

// Greeting is what both sides say before a dialogue: it chooses a version, proves a user. One
// Greeting serves one connection.
type Greeting interface {
	// Begin appends what the client says first; nothing: the server begins.
	Begin(dst []byte) []byte
	// Hear takes the server's next message, which begins b, and appends to dst what the client
	// answers. Used is the message's length. It is 0 if b has only a part of a message: then the same
	// bytes come again, with more behind them. A dialogue says that the greeting is over; what
	// follows in b is the dialogue's. An error is *http1.Error with a kind.
	Hear(dst, b []byte) (out []byte, used int, d Dialogue, err error)
}

// Worker is a greeting that computes for long, and does so in slices: as long as it works, Hear takes
// nothing, and wants the same bytes again in a later turn.
type Worker interface{ Works() bool }

// Securer is a greeting that begins TLS in its middle.
type Securer interface {
	// Secures reports that TLS begins behind what the client has said up to now: until it stands, the
	// greeting hears nothing.
	Secures() bool
	// Secured says that TLS stands, and appends what the client says first in it. Binding is the
	// certificate as SCRAM binds it (see scram.EndPoint); nil: it cannot be bound.
	Secured(dst, binding []byte) []byte
}

// Told is a greeting that hears what the TXT record of its service says, and how many servers the SRV records name, before
// Begin. An empty text: there is no TXT record. An error is *http1.Error with a kind.
type Told interface {
	Tell(text string, servers int) error
}

// Dropped is a greeting that hears when its connection ends before there is a dialogue.
type Dropped interface{ Drop() }

// Bounds of what a server may say in a greeting.
const (
	GreetingBytes    = 64 << 10
	GreetingMessages = 64
)

// Rounds drives the greeting of one connection, within its bounds:
//
//	GREETING-1 However the bytes that Feed takes are cut, the outcome is the same.
//	GREETING-2 A server that says more than GreetingBytes or GreetingMessages ends the greeting with
//	           http1.KindTooLarge.
//	GREETING-3 What a server says in clear behind the message that begins TLS ends the greeting with
//	           http1.KindProtocol, and the greeting hears none of it.
type Rounds struct {
	greeting Greeting
	held     []byte // a message that is not whole
	bytes    int    // heard
	messages int
	secured  bool
}

// NewRounds begins a greeting, and returns the bytes to write first.
func NewRounds(g Greeting) (*Rounds, []byte) {
	return &Rounds{greeting: g}, g.Begin(nil)
}

// Works reports that the greeting computes: feed it in a later turn, even if nothing was read.
func (r *Rounds) Works() bool {
	w, ok := r.greeting.(Worker)
	return ok && w.Works()
}

// Secures reports that TLS begins as soon as all that Feed has returned is written.
func (r *Rounds) Secures() bool {
	s, ok := r.greeting.(Securer)
	return ok && !r.secured && s.Secures()
}

// Secured goes on in TLS, and appends what to write to dst.
func (r *Rounds) Secured(dst, binding []byte) []byte {
	r.secured = true
	return r.greeting.(Securer).Secured(dst, binding)
}

// Feed takes what was read, and appends what to write to dst. Once there is a dialogue, rest is what
// belongs to it, valid until the next call.
func (r *Rounds) Feed(dst, b []byte) (out, rest []byte, d Dialogue, err error) {
	if r.Island() != nil {
		return r.hear(dst, b)
	}
	if len(r.held) > 0 {
		r.held = append(r.held, b...)
		b = r.held
	}
	for len(b) > 0 {
		seen := b[:min(len(b), GreetingBytes-r.bytes)] // what lies beyond cannot belong to it
		var used int
		dst, used, d, err = r.greeting.Hear(dst, seen)
		if err != nil {
			return dst, nil, nil, err
		}
		if used == 0 && d == nil {
			if r.Works() {
				break
			}
			if len(seen) < len(b) || len(seen) == GreetingBytes-r.bytes {
				return dst, nil, nil, tooMuch("%d KiB", GreetingBytes>>10)
			}
			break
		}
		r.bytes += used
		if b = b[used:]; d != nil {
			return dst, b, d, nil
		}
		if r.messages++; r.messages == GreetingMessages {
			return dst, nil, nil, tooMuch("%d messages", GreetingMessages)
		}
		if r.Secures() {
			r.held = r.held[:0]
			if len(b) > 0 {
				r.secured = true // it never begins
				return dst, nil, nil, &http1.Error{Kind: http1.KindProtocol, Detail: fmt.Sprintf("the server sent %d bytes in clear before TLS began: perhaps another one injected them", len(b))}
			}
			return dst, nil, nil, nil
		}
	}
	r.held = append(r.held[:0], b...)
	return dst, nil, nil, nil
}

// Drop says that the connection ends before the greeting is over; nil: there is none.
func (r *Rounds) Drop() {
	if r == nil {
		return
	}
	if d, ok := r.greeting.(Dropped); ok {
		d.Drop()
	}
}

func tooMuch(format string, n int) error {
	return &http1.Error{Kind: http1.KindTooLarge, Detail: "the server's greeting does not end within " + fmt.Sprintf(format, n)}
}

// End says what the end of the connection means in the middle of the greeting: err is the error of
// the read, io.EOF an orderly end.
func (r *Rounds) End(err error) error {
	switch {
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("read the server's greeting: %w", err)
	case len(r.held) > 0:
		return &http1.Error{Kind: http1.KindTruncated, Detail: "the server closed the connection in the middle of its greeting"}
	}
	return &http1.Error{Kind: http1.KindClosed, Detail: "the server closed the connection before its greeting was over"}
}
