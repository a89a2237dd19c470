package websocket

import (
	"slices"
	"strings"

	"hyperscale/runtime/protocol/http1"
)

// Compression says what is asked of permessage-deflate (RFC 7692).
type Compression uint8

// The choices.
const (
	CompressionOff Compression = iota
	// CompressionFresh asks that no side keeps its context between messages. A server that keeps
	// it is an error, as it would cost 32 KiB a connection.
	CompressionFresh
	// CompressionTakeover lets the server keep its context, as browsers do.
	CompressionTakeover
)

// MessageMaxDefault bounds a message that is received, in bytes, also after inflation. Less would
// cut real messages; more would let 1,000 users that each receive one fill the machine.
const MessageMaxDefault = http1.BodyLimitDefault

// idleMost is how many frames in a row may carry nothing: control frames and empty fragments.
const idleMost = 1024

// Config is what a connection asks for and takes.
type Config struct {
	Protocols   []string // that are offered, the best one first
	Compression Compression
	MessageMax  int64 // 0: MessageMaxDefault
	// Pool has the memory of all connections that one goroutine serves. Nil: one of its own.
	Pool *Pool
}

// Protocol greets for the connections of one goroutine. It is made before the clock runs.
type Protocol struct {
	protocols   []string
	compression Compression
	messageMax  int64
	pool        *Pool
	fields      string // of the request, up to the key
	more        string // behind it
}

// New checks the configuration and makes the request's fields.
func New(c Config) (*Protocol, error) {
	p := &Protocol{protocols: slices.Clone(c.Protocols), compression: c.Compression, messageMax: c.MessageMax, pool: c.Pool}
	if p.messageMax <= 0 {
		p.messageMax = MessageMaxDefault
	}
	p.messageMax = min(p.messageMax, 1<<62) // sums stay numbers
	if p.pool == nil {
		p.pool = new(Pool)
	}
	for i, name := range p.protocols {
		switch {
		case !isToken(name):
			return nil, &http1.InputError{Field: "protocols", Value: name, Remedy: "use letters, digits and dashes only"}
		case slices.Contains(p.protocols[:i], name):
			return nil, &http1.InputError{Field: "protocols", Value: name, Remedy: "name each protocol once"}
		}
	}
	p.fields = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
	p.more = "\r\n"
	if len(p.protocols) > 0 {
		p.more += "Sec-WebSocket-Protocol: " + strings.Join(p.protocols, ", ") + "\r\n"
	}
	switch p.compression {
	case CompressionFresh:
		p.more += "Sec-WebSocket-Extensions: permessage-deflate; client_no_context_takeover; server_no_context_takeover\r\n"
	case CompressionTakeover:
		p.more += "Sec-WebSocket-Extensions: permessage-deflate; client_no_context_takeover\r\n"
	}
	return p, nil
}

// Reserved reports whether the upgrade itself sets the header field: a user may not.
func Reserved(name string) bool {
	name = strings.ToLower(name)
	return name == "upgrade" || name == "connection" || strings.HasPrefix(name, "sec-websocket-")
}

// Address returns the URL of the HTTP request that upgrades, of a URL with ws:// or wss://.
func Address(url string) (string, error) {
	scheme, rest, found := strings.Cut(url, "://")
	switch {
	case found && strings.Contains(rest, "#"):
		return "", &http1.InputError{Field: "url", Value: url, Remedy: "leave out the fragment: WebSocket has none"}
	case found && strings.EqualFold(scheme, "ws"):
		return "http://" + rest, nil
	case found && strings.EqualFold(scheme, "wss"):
		return "https://" + rest, nil
	}
	return "", &http1.InputError{Field: "url", Value: url, Remedy: "begin it with ws:// or wss://"}
}

// isToken accepts the characters of a token (RFC 9110, 5.6.2).
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}
