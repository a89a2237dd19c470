package grpc

import (
	"bytes"
	"fmt"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// Answer is a whole answer to a call.
type Answer struct {
	Status   int          // of HTTP
	Fields   codec.Fields // of the head, and behind them the trailers
	Trailers int          // index of the first field that is one
	Only     bool         // the head ended the answer: its fields are the trailers
	Reader   *Reader
	One      bool // exactly one message belongs to status OK
}

// Verdict returns the status of an answer with its text. An error is *http1.Error: what it has is no
// answer of gRPC.
func (a *Answer) Verdict() (code Code, text string, err error) {
	kind, hasKind := a.field("content-type", 0, a.Fields.Len())
	status, has := a.field("grpc-status", a.from(), a.Fields.Len())
	if a.Status != 200 {
		if !has { // a proxy, or a server that knows no gRPC
			return FromHTTP(a.Status), fmt.Sprintf("HTTP status %d and no grpc-status: %s", a.Status, shown(kind)), nil
		}
	} else if !hasKind || !isGRPC(kind) {
		return 0, "", wrong("the content-type is %s, and not application/grpc", shown(kind))
	}
	if e := a.Reader.End(); e != nil {
		if e == errCut && has {
			if c, ok := parseCode(status); ok && c != OK {
				return a.told(c) // it failed in the middle, and says why
			}
		}
		return 0, "", e
	}
	if !has {
		if _, early := a.field("grpc-status", 0, a.Trailers); early {
			return 0, "", wrong("grpc-status is in the head, and not in the trailers")
		}
		return 0, "", wrong("the answer has no grpc-status in its trailers")
	}
	c, ok := parseCode(status)
	if !ok {
		return 0, "", wrong("grpc-status is %.20q, which is no number", status)
	}
	if c != OK {
		return a.told(c)
	}
	if a.Reader.Packed {
		if coding, _ := a.field("grpc-encoding", 0, a.Trailers); len(coding) == 0 || string(coding) == "identity" {
			return 0, "", wrong("a message is compressed, and there is no grpc-encoding")
		}
	}
	switch {
	case a.One && a.Reader.Count == 0:
		return 0, "", wrong("status OK came without a message")
	case a.One && a.Reader.Count > 1:
		return 0, "", wrong("%d messages answer a call that has one", a.Reader.Count)
	}
	return OK, "", nil
}

// from is where trailers begin.
func (a *Answer) from() int {
	if a.Only {
		return 0
	}
	return a.Trailers
}

// told returns a status with its text.
func (a *Answer) told(c Code) (Code, string, error) {
	text, _ := a.field("grpc-message", a.from(), a.Fields.Len())
	return c, message(text), nil
}

// Coding is the compression of the answer's messages.
func (a *Answer) Coding() string {
	coding, _ := a.field("grpc-encoding", 0, a.Trailers)
	return string(coding)
}

// field returns the first field of that name in a range of them.
func (a *Answer) field(name string, from, to int) ([]byte, bool) {
	for i := from; i < to; i++ {
		if n, v := a.Fields.At(i); string(n) == name {
			return v, true
		}
	}
	return nil, false
}

var contentType = []byte("application/grpc")

// isGRPC accepts application/grpc, with +proto or parameters behind it.
func isGRPC(kind []byte) bool {
	rest, ok := bytes.CutPrefix(bytes.ToLower(kind), contentType)
	return ok && (len(rest) == 0 || rest[0] == '+' || rest[0] == ';')
}

func shown(kind []byte) string {
	if len(kind) == 0 {
		return "missing"
	}
	return fmt.Sprintf("%.40q", kind)
}

func wrong(format string, args ...any) *http1.Error {
	return &http1.Error{Kind: http1.KindProtocol, Detail: fmt.Sprintf(format, args...)}
}
