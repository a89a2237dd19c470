package http2

import (
	"bytes"

	"hyperscale/runtime/protocol/http1"
)

// class says what a field's name means for a response.
type class uint8

const (
	classPlain  class = iota
	classStatus       // :status
	classLength       // content-length
	classCookie       // set-cookie
	classBad          // the field makes the response malformed
)

// meaning says what a whole field means for a response. The decoder computes it once, when a
// field enters the dynamic table, and reads it at every hit. The number of a bad field is an
// index of badFields.
type meaning struct {
	class  class
	number int64
}

// badFields are the reasons for which a field makes its response malformed (RFC 9113, 8.2).
var badFields = [...]*http1.Error{
	{Kind: http1.KindProtocol, Detail: "a header name is empty or has characters that HTTP/2 forbids, upper case among them"},
	{Kind: http1.KindProtocol, Detail: "a header value holds a NUL or a line end"},
	{Kind: http1.KindProtocol, Detail: "a header of HTTP/1 connections (connection, transfer-encoding, upgrade) came over HTTP/2"},
	{Kind: http1.KindProtocol, Detail: "the response has a pseudo-header other than :status"},
	{Kind: http1.KindProtocol, Detail: ":status is not a number of three digits"},
	{Kind: http1.KindProtocol, Detail: "content-length is not a number"},
}

const (
	badName = iota
	badValue
	badConnection
	badPseudo
	badStatus
	badLength
	badNone
)

// nameChar marks the characters of a field name over HTTP/2: tokens without upper case.
var nameChar = func() (set [256]bool) {
	for _, c := range []byte("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz") {
		set[c] = true
	}
	return set
}()

// whyBad says why a name alone makes a response malformed; badNone if it does not.
func whyBad(name []byte) int64 {
	if len(name) > 0 && name[0] == ':' {
		if string(name) == ":status" {
			return badNone
		}
		return badPseudo
	}
	for _, c := range name {
		if !nameChar[c] {
			return badName
		}
	}
	switch string(name) {
	case "":
		return badName
	case "connection", "transfer-encoding", "upgrade", "keep-alive", "proxy-connection":
		return badConnection
	}
	return badNone
}

func classOfName(name []byte) class {
	switch {
	case whyBad(name) != badNone:
		return classBad
	case string(name) == ":status":
		return classStatus
	case string(name) == "content-length":
		return classLength
	case string(name) == "set-cookie":
		return classCookie
	}
	return classPlain
}

// meaningOf reads a value whose name has this class; for a bad name the caller gives the
// reason.
func meaningOf(c class, value []byte) meaning {
	switch c {
	case classBad:
		return meaning{c, badName}
	case classStatus:
		if n, ok := digits(value); ok && len(value) == 3 && n >= 100 {
			return meaning{c, n}
		}
		return meaning{classBad, badStatus}
	case classLength:
		if n, ok := digits(value); ok {
			return meaning{c, n}
		}
		return meaning{classBad, badLength}
	}
	if bytes.IndexByte(value, 0) >= 0 || bytes.IndexByte(value, '\n') >= 0 || bytes.IndexByte(value, '\r') >= 0 {
		return meaning{classBad, badValue}
	}
	return meaning{class: c}
}

// digits reads a decimal number and nothing else. One too large to be a length comes back
// as the largest, so that callers refuse it by their bound.
func digits(b []byte) (int64, bool) {
	const most = int64(1) << 60
	var n int64
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		if n = n*10 + int64(c-'0'); n > most/10 {
			n = most / 10
		}
	}
	return n, len(b) > 0
}

// head collects the header blocks of one message.
type head struct {
	status    int   // 0 until it is seen
	length    int64 // content-length, -1 if there is none
	size      int   // as RFC 7541 counts: 32 bytes more a field
	fields    int
	bad       *http1.Error // the first reason why the message is malformed
	regular   bool         // a field that is no pseudo-header was seen
	trailer   bool
	cookies   bool             // some field is Set-Cookie
	collector *http1.Collector // nil if the fields are not collected
}

func (h *head) reset(trailer bool, collector *http1.Collector) {
	*h = head{length: -1, trailer: trailer, collector: collector}
}

var (
	errTwoStatus     = &http1.Error{Kind: http1.KindProtocol, Detail: ":status came twice"}
	errLateStatus    = &http1.Error{Kind: http1.KindProtocol, Detail: ":status came after other headers"}
	errTrailerStatus = &http1.Error{Kind: http1.KindProtocol, Detail: "a trailer has a pseudo-header"}
	errTwoLengths    = &http1.Error{Kind: http1.KindProtocol, Detail: "two content-length headers differ"}
)

// field takes one field's meaning. The size is bounded by the decoder, not here.
func (h *head) field(m meaning) {
	if m.class == classPlain || m.class == classCookie {
		h.regular = true
		return
	}
	var bad *http1.Error
	switch m.class {
	case classStatus:
		switch {
		case h.trailer:
			bad = errTrailerStatus
		case h.status != 0:
			bad = errTwoStatus
		case h.regular:
			bad = errLateStatus
		}
		h.status = int(m.number)
	case classLength:
		h.regular = true
		if h.trailer {
			return // trailers are checked and never merged
		}
		if h.length >= 0 && h.length != m.number {
			bad = errTwoLengths
		}
		h.length = m.number
	case classBad:
		bad = badFields[m.number]
	}
	if h.bad == nil {
		h.bad = bad
	}
}
