package target

import "bytes"

const (
	maxHead   = 64 << 10
	maxFields = 1000
)

// head is a request's head; its slices are parts of the parsed bytes.
type head struct {
	method  []byte
	path    []byte // without scheme, host and query
	bearer  []byte
	digest  []byte // what proves a user
	target  []byte // of the request line
	key     []byte // of WebSocket
	length  int64  // -1 without Content-Length
	hosts   int
	wish    wish
	old     bool // HTTP/1.0
	chunked bool
	expect  bool // 100-continue
}

// wish is what the Connection field asks for; close wins.
type wish uint8

const (
	wishNone wish = iota
	wishKeep
	wishClose
)

// persistence is what becomes of the connection after the answer.
func (h *head) persistence() persistence {
	switch {
	case h.wish == wishClose, h.old && h.wish == wishNone:
		return closes
	case h.old:
		return persistsSaid
	}
	return persists
}

// refusal is an answer to bytes that are no acceptable request; the connection ends.
type refusal struct {
	status int
	text   string
}

var (
	badLine     = &refusal{400, "the request line is malformed"}
	badVersion  = &refusal{505, "only HTTP/1.0 and HTTP/1.1 are spoken here"}
	badField    = &refusal{400, "a header line is malformed"}
	badLength   = &refusal{400, "Content-Length is malformed or given twice"}
	badBoth     = &refusal{400, "Content-Length and Transfer-Encoding exclude each other"}
	badCoding   = &refusal{501, "the only transfer coding understood is chunked"}
	badHost     = &refusal{400, "exactly one Host header is needed"}
	badExpect   = &refusal{417, "the only expectation understood is 100-continue"}
	badChunk    = &refusal{400, "the chunked body is malformed"}
	badHeadSize = &refusal{431, "the head exceeds 64 KiB or 1000 fields"}
	badBodySize = &refusal{413, "the body exceeds 1 TiB"}
)

// parseHead reads a head from the beginning of b and returns its size, 0 if it is not yet
// complete. Lines may end in a bare line feed; empty lines before the head are skipped.
func parseHead(b []byte) (h head, size int, bad *refusal) {
	h.length = -1
	at := 0
	for at < len(b) && (b[at] == '\r' || b[at] == '\n') {
		at++
	}
	for fields := -1; ; fields++ {
		end := bytes.IndexByte(b[at:], '\n')
		if end < 0 || at+end >= maxHead {
			if len(b) > maxHead {
				return h, 0, badHeadSize
			}
			return h, 0, nil
		}
		line := b[at : at+end]
		at += end + 1
		if len(line) > 0 && line[len(line)-1] == '\r' {
			line = line[:len(line)-1]
		}
		switch {
		case fields >= maxFields:
			return h, 0, badHeadSize
		case fields < 0:
			bad = h.requestLine(line)
		case len(line) == 0:
			return h, at, h.check()
		default:
			bad = h.field(line)
		}
		if bad != nil {
			return h, 0, bad
		}
	}
}

func (h *head) requestLine(line []byte) *refusal {
	first := bytes.IndexByte(line, ' ')
	last := bytes.LastIndexByte(line, ' ')
	if first <= 0 || last == first || !isToken(line[:first]) {
		return badLine
	}
	h.method = line[:first]
	switch version := line[last+1:]; {
	case string(version) == "HTTP/1.1":
	case string(version) == "HTTP/1.0":
		h.old = true
	case bytes.HasPrefix(version, []byte("HTTP/")):
		return badVersion
	default:
		return badLine
	}
	path := line[first+1 : last]
	for _, c := range path {
		if c <= ' ' || c == 0x7f {
			return badLine
		}
	}
	h.target = path
	if query := bytes.IndexByte(path, '?'); query >= 0 {
		path = path[:query]
	}
	if len(path) == 0 {
		return badLine
	}
	if path[0] != '/' && string(path) != "*" {
		_, rest, found := bytes.Cut(path, []byte("://"))
		if !found || len(rest) == 0 {
			return badLine
		}
		slash := bytes.IndexByte(rest, '/')
		if slash < 0 {
			path = []byte{'/'}
		} else {
			path = rest[slash:]
		}
	}
	h.path = path
	return nil
}

func (h *head) field(line []byte) *refusal {
	colon := bytes.IndexByte(line, ':')
	if colon <= 0 || !isToken(line[:colon]) || bytes.IndexByte(line, 0) >= 0 || bytes.IndexByte(line, '\r') >= 0 {
		return badField
	}
	name, value := line[:colon], bytes.Trim(line[colon+1:], " \t")
	switch len(name) {
	case len("host"):
		if is(name, "host") {
			h.hosts++
		}
	case len("expect"):
		if is(name, "expect") {
			if !is(value, "100-continue") {
				return badExpect
			}
			h.expect = true
		}
	case len("connection"):
		if is(name, "connection") {
			if hasOption(value, "keep-alive") {
				h.wish = max(h.wish, wishKeep)
			}
			if hasOption(value, "close") {
				h.wish = wishClose
			}
		}
	case len("authorization"):
		const scheme = "bearer "
		if is(name, "authorization") && len(value) > len(scheme) && is(value[:len(scheme)], scheme) {
			h.bearer = value[len(scheme):]
		} else if is(name, "authorization") {
			h.digest = digestOf(value)
		}
	case len("content-length"):
		if is(name, "content-length") {
			return h.contentLength(value)
		}
	case len("transfer-encoding"):
		if is(name, "transfer-encoding") {
			if h.chunked || !is(value, "chunked") {
				return badCoding
			}
			h.chunked = true
		} else if is(name, "sec-websocket-key") {
			h.key = value
		}
	}
	return nil
}

func (h *head) contentLength(value []byte) *refusal {
	var n int64
	for _, c := range value {
		if c < '0' || c > '9' {
			return badLength
		}
		if n = n*10 + int64(c-'0'); n > maxBody {
			return badBodySize
		}
	}
	if len(value) == 0 || h.length >= 0 && h.length != n {
		return badLength
	}
	h.length = n
	return nil
}

// check judges what only the complete head shows.
func (h *head) check() *refusal {
	switch {
	case h.chunked && h.length >= 0:
		return badBoth // two lengths are how requests are smuggled
	case h.chunked && h.old:
		return badCoding
	case h.hosts > 1 || h.hosts == 0 && !h.old:
		return badHost
	}
	return nil
}

// is compares ASCII without regard to case; want is lower case.
func is(b []byte, want string) bool {
	if len(b) != len(want) {
		return false
	}
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != want[i] {
			return false
		}
	}
	return true
}

func hasOption(list []byte, want string) bool {
	for len(list) > 0 {
		var option []byte
		option, list, _ = bytes.Cut(list, []byte{','})
		if is(bytes.Trim(option, " \t"), want) {
			return true
		}
	}
	return false
}

// tokenChar marks the characters of methods and field names (RFC 9110, 5.6.2).
var tokenChar = func() (set [256]bool) {
	for _, c := range []byte("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		set[c] = true
	}
	return set
}()

func isToken(b []byte) bool {
	for _, c := range b {
		if !tokenChar[c] {
			return false
		}
	}
	return true
}
