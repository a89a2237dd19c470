package request

import (
	"hyperscale/core/workflow/builtin"
	"net/netip"
	"time"
)

// Options are those of a workflow's HTTP client. They are plain data; the zero value
// is a client without any.
type Options struct {
	Insecure bool   // certificates are not verified
	Version  string // of HTTP: see Version11; empty is that
	Streams  int    // HTTP/2: requests under way at once on a connection; 0: 100, or what the server allows if that is less

	TLS         TLS
	Proxy       *Proxy         // nil: none
	Sources     []netip.Prefix // connections come from these addresses in turn; empty: from what the machine chooses
	DNS         DNS
	Headers     []builtin.Pair // of every request that has none of that name itself
	MaxBody     int64          // bytes of a response's body, as sent; 0: no bound but the engine's
	Compression bool           // Accept-Encoding is sent, and bodies are decoded when they are read
	NoKeepAlive bool           // each request has a connection of its own
}

// TLS says how connections are secured. Keys and certificates are PEM texts that have
// been read once.
type TLS struct {
	MinVersion, MaxVersion string   // "1.0" to "1.3"; empty: the library's
	Ciphers                []string // of TLS 1.2 and below, by their standard names; empty: the library's
	Certificate, Key       []byte   // of the client; empty: none
	CA                     []byte   // authorities instead of the machine's; empty: those
	ServerName             string   // instead of the URL's host
	Resume                 bool     // sessions are kept and resumed
}

// Proxy is where connections go instead of the target.
type Proxy struct {
	Host           string
	Port           uint16
	User, Password string
}

// DNS says how names become addresses.
type DNS struct {
	TTL     time.Duration // an answer is used so long; 0: for the whole run
	Answer  bool          // an answer is used as long as it says
	Rotate  string        // see RotateNone
	Servers []netip.AddrPort
	Hosts   []Host // names that are not asked for
}

// Host is a name with its addresses.
type Host struct {
	Name      string
	Addresses []netip.Addr
}

// How connections go over the addresses of a name. The empty one is RotateNone.
const (
	RotateNone   = "none"        // to the one that last did well
	RotateRobin  = "round_robin" // to each in turn
	RotateRandom = "random"      // by chance
)
