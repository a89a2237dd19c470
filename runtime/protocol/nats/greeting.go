package nats

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/redact"
)

// info is what of the server's INFO is read.
type info struct {
	ServerName string `json:"server_name"`
	Version    string `json:"version"`
	MaxPayload int64  `json:"max_payload"`
	Nonce      string `json:"nonce"`
	Headers    bool   `json:"headers"`
	JetStream  bool   `json:"jetstream"`
	infoTLS
}

// infoTLS is what INFO says of TLS.
type infoTLS struct {
	TLSNeeded  bool `json:"tls_required"`
	TLSOffered bool `json:"tls_available"`
}

// Random is what a connection draws for the subject of its replies.
type Random [12]byte

// Greeting is what one connection says before its first operation: INFO, then TLS if there is any and it
// does not stand already, then CONNECT and a PING, whose PONG says that the user may stay.
type Greeting struct {
	protocol *Protocol
	random   Random
	met      bool // INFO came
	secure   security
	said     info
}

// security is how far TLS is.
type security uint8

const (
	securityNone   security = iota // in clear, or not begun
	securityBegins                 // it begins
	securityStands
)

var (
	_ codec.Greeting = (*Greeting)(nil)
	_ codec.Securer  = (*Greeting)(nil)
)

// Greet begins a connection.
func (p *Protocol) Greet(r Random) *Greeting {
	g := &Greeting{protocol: p, random: r}
	if p.config.First {
		g.secure = securityStands
	}
	return g
}

// Begin appends nothing: the server begins.
func (g *Greeting) Begin(dst []byte) []byte { return dst }

// Server is what the server tells of itself.
func (g *Greeting) Server() (version, name string, maxPayload int64, jetStream bool) {
	return g.said.Version, g.said.ServerName, g.said.MaxPayload, g.said.JetStream
}

// Secures implements codec.Securer.
func (g *Greeting) Secures() bool { return g.secure == securityBegins }

// Secured implements codec.Securer.
func (g *Greeting) Secured(dst, _ []byte) []byte {
	g.secure = securityStands
	return g.introduce(dst)
}

// introduce says who the client is, and what it receives.
func (g *Greeting) introduce(dst []byte) []byte {
	dst = g.protocol.appendConnect(dst, g.secure == securityStands, &g.said)
	if g.protocol.config.Consumer != nil {
		dst = append(append(append(dst, "SUB "...), g.inbox()...), "* 1\r\n"...)
	}
	if s := g.protocol.config.Subscription; s != nil {
		dst = append(append(dst, "SUB "...), s.Subject...)
		if s.Queue != "" {
			dst = append(append(dst, ' '), s.Queue...)
		}
		dst = append(dst, " 1\r\n"...)
	}
	return append(dst, "PING\r\n"...)
}

// Hear takes the server's next line, which begins b. Used is 0 if it is not whole.
func (g *Greeting) Hear(dst, b []byte) (out []byte, used int, d codec.Dialogue, err error) {
	if !plausible(b) {
		return dst, 0, nil, errNoServer
	}
	end := bytes.IndexByte(b, '\n')
	if end < 0 {
		return dst, 0, nil, nil
	}
	used = end + 1
	line := bytes.TrimSuffix(b[:end], []byte("\r"))
	if !g.met {
		out, err := g.meet(dst, line)
		return out, used, nil, err
	}
	word, rest := cutWord(line)
	switch string(word) {
	case "PING":
		return append(dst, "PONG\r\n"...), used, nil, nil
	case "+OK":
		return dst, used, nil, nil
	case "INFO":
		return dst, used, nil, g.inform(rest)
	case "-ERR":
		return dst, used, nil, g.refused(quoted(rest))
	case "PONG":
		return dst, used, g.begin(), nil
	case "MSG", "HMSG":
		if g.protocol.config.Subscription != nil { // it came between SUB and PING
			c := g.begin()
			c.pings.push(pinged{kind: pingConfirms})
			return dst, 0, c, nil
		}
	}
	return dst, used, nil, breach("the server said %q in its greeting", redact.Excerpt(string(line), shownMost, g.protocol.secrets()...))
}

func (g *Greeting) begin() *Conn {
	return g.protocol.begin(g.inbox(), &g.said)
}

// inbox is what the subjects of replies begin with.
func (g *Greeting) inbox() string {
	return g.protocol.config.Inbox + "." + base64.RawURLEncoding.EncodeToString(g.random[:]) + "."
}

// plausible reports whether b may begin a line of a server.
func plausible(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	word := ""
	switch b[0] {
	case 'P':
		if word = "PONG"; len(b) > 1 && b[1] == 'I' {
			word = "PING"
		}
	case 'M':
		word = "MSG "
	case 'H':
		word = "HMSG "
	case '+':
		word = "+OK"
	case '-':
		word = "-ERR "
	case 'I':
		word = "INFO "
	}
	n := min(len(b), len(word))
	return n > 0 && string(b[:n]) == word[:n]
}

// meet takes the server's first line.
func (g *Greeting) meet(dst, line []byte) ([]byte, error) {
	word, rest := cutWord(line)
	switch {
	case string(word) == "-ERR":
		return dst, g.refused(quoted(rest))
	case string(word) != "INFO":
		return dst, errNoServer
	}
	if err := g.inform(rest); err != nil {
		return dst, err
	}
	g.met = true
	stands := g.secure == securityStands
	switch {
	case !stands && g.protocol.config.TLS && !g.said.TLSNeeded && !g.said.TLSOffered:
		return dst, &http1.Error{Kind: http1.KindTLS, Detail: "the server offers no TLS, and tls:// demands it: write nats://, or configure tls in the server"}
	case g.protocol.key != nil && g.said.Nonce == "":
		return dst, &http1.Error{Kind: http1.KindAuth, Detail: "the server sends no nonce to sign: it knows neither NKeys nor credentials"}
	case !stands && (g.protocol.config.TLS || g.said.TLSNeeded):
		g.secure = securityBegins
		return dst, nil
	}
	return g.introduce(dst), nil
}

// inform reads an INFO.
func (g *Greeting) inform(text []byte) error {
	i, err := readInfo(text)
	if err == nil {
		g.said = *i
	}
	return err
}

func readInfo(text []byte) (*info, error) {
	var i info
	if err := json.Unmarshal(text, &i); err != nil {
		return nil, breach("the server's INFO is not JSON: %v", err)
	}
	if i.MaxPayload < 0 {
		return nil, breach("the server's max_payload is %d", i.MaxPayload)
	}
	return &i, nil
}

// refused is the error of a connection that the server does not take.
func (g *Greeting) refused(text string) error {
	err := serverError(text, g.protocol.secrets()...)
	low := strings.ToLower(text)
	switch {
	case strings.Contains(low, "authorization") || strings.Contains(low, "authentication"):
		err.Kind = http1.KindAuth
	case strings.Contains(low, "tls required"):
		err.Kind = http1.KindTLS
	}
	return err
}

// secrets are what proves the user: no error shows them.
func (p *Protocol) secrets() []string {
	return []string{p.config.Password, p.config.Token, p.config.Seed, p.jwt}
}

// cutWord cuts the first word of a line.
func cutWord(line []byte) (word, rest []byte) {
	word, rest, _ = bytes.Cut(line, []byte(" "))
	return word, rest
}

// quoted is the text of an error, without its quotes.
func quoted(rest []byte) string {
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(string(rest)), "'"), "'")
}
