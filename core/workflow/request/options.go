package request

import (
	"hyperscale/core/workflow/builtin"
	"net/netip"
	"time"
)

// Options are the options of a workflow's HTTP client. They are plain data; the zero value is a
// client without options.
type Options struct {
	Insecure bool   // do not verify certificates
	Version  string // of HTTP: see Version11; empty is that
	Streams  int    // HTTP/2: concurrent requests on a connection; 0: 100, or what the server allows if that is less

	TLS         TLS
	Proxy       *Proxy         // nil: none
	Sources     []netip.Prefix // source addresses of connections, in turn; empty: the machine chooses
	DNS         DNS
	Headers     []builtin.Pair // of every request without a header of that name
	MaxBody     int64          // bytes of a response's body, as sent; 0: no bound but the engine's
	Compression bool           // send Accept-Encoding, and decode bodies when they are read
	NoKeepAlive bool           // each request has its own connection
}

// TLS says how to secure connections. Keys and certificates are PEM texts that were parsed
// once.
type TLS struct {
	MinVersion, MaxVersion string   // "1.0" to "1.3"; empty: the library's
	Ciphers                []string // of TLS 1.2 and below, by their standard names; empty: the library's
	Certificate, Key       []byte   // of the client; empty: none
	CA                     []byte   // authorities instead of the machine's; empty: those
	ServerName             string   // instead of the URL's host
	Resume                 bool     // keep and resume sessions
}

// Proxy is the destination of connections instead of the target.
type Proxy struct {
	Host           string
	Port           uint16
	User, Password string
}

// DNS says how to resolve names.
type DNS struct {
	TTL     time.Duration // how long an answer is valid; 0: for the whole run
	Answer  bool          // an answer is valid as long as it says
	Rotate  string        // see RotateNone
	Servers []netip.AddrPort
	Hosts   []Host // names that need no look-up
}

// Host is a name with its addresses.
type Host struct {
	Name      string
	Addresses []netip.Addr
}

// How connections rotate over the addresses of a name. The empty value is RotateNone.
const (
	RotateNone   = "none"        // the last good one
	RotateRobin  = "round_robin" // each in turn
	RotateRandom = "random"      // at random
)
