package grpc

import (
	"slices"

	"hyperscale/runtime/protocol/http1"
)

// Entry is one behaviour and the conclusion that a client must draw.
type Entry struct {
	Name   string
	Server Behaviour
	Want   Want
	Size   int  // of the text of its message, in bytes; 0: any
	Gzip   bool // the client says that it takes gzip
	Once   bool // nothing can be called afterwards: there is no server
}

// Behaviour is the server's script. The zero value behaves well.
type Behaviour struct {
	Accept func(*Conn) (stay bool)              // on the first connection, before its preface
	Begun  func(c *Conn, id uint32)             // when the first call's head has come
	Called func(c *Conn, id uint32) (stay bool) // when the first call is whole
}

// Want is the client's required conclusion.
type Want struct {
	Kind http1.Kind // KindNone: the call got its answer
	Read http1.Kind // the same, where the answer is read; empty: Kind
}

// Late says whether the client must give up by its own clock.
func (w Want) Late() bool {
	return w.Kind == http1.KindTimeout || w.Kind == http1.KindWriteTimeout || w.Kind == http1.KindConnectTimeout
}

// Of returns the conclusion of a client that reads answers, or only counts them.
func (w Want) Of(reads bool) http1.Kind {
	if reads && w.Read != "" {
		return w.Read
	}
	return w.Kind
}

// All returns the catalogue.
func All() []Entry {
	return slices.Concat(connections(), statuses(), messages(), heads(), resets(), endings(), flows())
}

// answers is the most common entry: frames that answer the first call, and a connection that stays.
func answers(name string, kind http1.Kind, play func(c *Conn, id uint32)) Entry {
	return Entry{Name: name, Want: Want{Kind: kind}, Server: Behaviour{Called: func(c *Conn, id uint32) bool { play(c, id); return true }}}
}

// reading is an entry with another conclusion where the answer is read.
func (e Entry) reading(kind http1.Kind) Entry {
	e.Want.Read = kind
	return e
}

// zipped is an entry whose client takes gzip.
func (e Entry) zipped() Entry {
	e.Gzip = true
	return e
}

// The service that every server has: a message of a text in field 1.
const (
	Proto  = "syntax = \"proto3\"; package hostile; service Any { rpc Call(Text) returns (Text); } message Text { string text = 1; Text inner = 2; }"
	Method = "hostile.Any/Call"
	Next   = "next" // the text of the answer that behaves well
)

// Evil is the text of hostile answers.
const Evil = "evil"

// text is a message with a text.
func text(s string) []byte { return append([]byte{1<<3 | 2, byte(len(s))}, s...) }

// framed is a message behind its head.
func framed(flag byte, m []byte) []byte {
	return append([]byte{flag, byte(len(m) >> 24), byte(len(m) >> 16), byte(len(m) >> 8), byte(len(m))}, m...)
}

// evil is a hostile answer's message.
func evil() []byte { return framed(0, text(Evil)) }
