package http1

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// MaxRequestBody bounds the own bytes of a request's body, without inserts; they are held once for
// all virtual users.
const MaxRequestBody = 64 << 20

// UserAgent is sent unless the request names its own.
const UserAgent = "hyperscale"

// Pair is a name with its value: a header, a parameter or a cookie.
type Pair struct{ Name, Value string }

// Request describes a request as a workflow file does.
type Request struct {
	Method      string
	URL         string // absolute; user:password@ is taken as basic auth
	Params      []Pair // added to the URL's query, encoded
	Headers     []Pair
	Cookies     []Pair
	User        string // basic auth when User or Password is set
	Password    string
	Bearer      string
	Digest      bool // a proof is added when the request is sent: nothing else authorizes it
	Body        []byte
	Inserts     []Insert // in the body, by place
	ContentType string   // sent with a body unless Headers has Content-Type

	Placeholders []Placeholder // markers in the texts above; nil: the request is always the same
	Escape       Escape        // of values in the body
	Boundary     string        // of a multipart body: no value may hold it

	// Unsized: the body has no Content-Length, as frames of HTTP/2 say where it ends.
	Unsized bool
	// Encode appends the body with its values in place of Body; nil: Body is the body. An error is an
	// *InputError.
	Encode func(dst []byte, values [][]byte) ([]byte, error)
}

// Call is a compiled request: everything the loop needs to send it.
type Call struct {
	Bytes   []byte // head and body, ready to be written, but for the Inserts
	Inserts []Insert
	Method  string
	Scheme  string // "http" or "https"
	Host    string // without brackets: for DNS and for the TLS server name
	Port    uint16
	Path    string // path and query, as written in the request line
	HeadLen int    // Bytes[:HeadLen] is the head
	Close   bool   // the request asks the server to close the connection
	Open    bool   // over HTTP/2, more of its body follows

	// Template is of a request with placeholders: it is sent as Fill renders it. Until then there
	// are no Bytes, and Path is for people.
	Template *Template
}

// Message returns the request as it goes on the wire, if it has no Template.
func (c *Call) Message() Message { return Message{c.Bytes, c.HeadLen, c.Inserts} }

// Address is host:port, as dialled.
func (c Call) Address() string {
	if c.Port == 0 { // it is no host: a custom program
		return c.Host
	}
	return net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
}

// InputError names the part of a request that cannot be sent, and the remedy.
type InputError struct{ Field, Value, Remedy string }

func (e *InputError) Error() string {
	return fmt.Sprintf("%s = %s: %s", e.Field, excerpt(e.Value), e.Remedy)
}

func excerpt(s string) string {
	const most = 80
	if len(s) > most {
		return strconv.Quote(s[:most]) + "..."
	}
	return strconv.Quote(s)
}

// Compile checks the request and renders it.
func (r Request) Compile() (Call, error) {
	method, err := r.method()
	if err != nil {
		return Call{}, err
	}
	u, call, err := r.address()
	if err != nil {
		return Call{}, err
	}
	call.Method = method
	if call.Path, err = r.path(u); err != nil {
		return Call{}, err
	}
	fields, err := r.fields(u, &call)
	if err != nil {
		return Call{}, err
	}
	b := make([]byte, 0, 256+len(r.Body))
	b = append(append(append(b, method...), ' '), call.Path...)
	b = append(b, " HTTP/1.1\r\n"...)
	for _, f := range fields {
		b = append(append(append(append(b, f.Name...), ": "...), f.Value...), "\r\n"...)
	}
	b = append(b, "\r\n"...)
	if len(b) > MaxHeadBytes {
		return Call{}, headTooLarge(len(b))
	}
	call.HeadLen, call.Inserts = len(b), r.Inserts
	call.Bytes = append(b, r.Body...)
	if len(r.Placeholders) > 0 || r.Encode != nil {
		err = r.template(&call, fields)
	}
	return call, err
}

func headTooLarge(n int) error {
	return &InputError{"request head", strconv.Itoa(n) + " bytes", "keep URL and headers below 64 KiB"}
}

func bodyTooLarge(n int) error {
	return &InputError{"body", strconv.Itoa(n) + " bytes", "keep what is no file in it within 64 MiB"}
}

func (r Request) method() (string, error) {
	for _, known := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"} {
		if strings.EqualFold(r.Method, known) {
			return known, nil
		}
	}
	switch {
	case !isToken(r.Method) || len(r.Method) > 32:
		return "", &InputError{"method", r.Method, "use a name like GET or POST"}
	case strings.EqualFold(r.Method, "CONNECT"):
		return "", &InputError{"method", r.Method, "proxy tunnels are not offered: request the target itself"}
	}
	return r.Method, nil
}

func (r Request) address() (*url.URL, Call, error) {
	u, err := url.Parse(r.URL)
	if err != nil {
		return nil, Call{}, &InputError{"url", r.URL, "write it like http://host:port/path (" + reason(err) + ")"}
	}
	call := Call{Scheme: strings.ToLower(u.Scheme), Host: u.Hostname()}
	switch call.Scheme {
	case "http":
		call.Port = 80
	case "https":
		call.Port = 443
	default:
		return nil, Call{}, &InputError{"url", r.URL, "begin it with http:// or https://"}
	}
	if call.Host == "" {
		return nil, Call{}, &InputError{"url", r.URL, "name a host after " + call.Scheme + "://"}
	}
	if !isHost(call.Host) {
		return nil, Call{}, &InputError{"url", r.URL, "write the host in ASCII letters, digits, dots and dashes (punycode for others)"}
	}
	if text := u.Port(); text != "" {
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil || port == 0 {
			return nil, Call{}, &InputError{"url", r.URL, "use a port from 1 to 65535"}
		}
		call.Port = uint16(port)
	}
	return u, call, nil
}

func reason(err error) string {
	if parse, ok := err.(*url.Error); ok {
		return parse.Err.Error()
	}
	return err.Error()
}

// isHost accepts names and literal addresses, the only characters that can stand in a
// Host field without changing its meaning.
func isHost(host string) bool {
	for i := range len(host) {
		c := host[i]
		if lower(c) >= 'a' && lower(c) <= 'z' || c >= '0' && c <= '9' || strings.IndexByte(".-_:%~", c) >= 0 {
			continue
		}
		return false
	}
	return len(host) <= 255
}

func (r Request) path(u *url.URL) (string, error) {
	path := u.EscapedPath()
	if u.Opaque != "" {
		return "", &InputError{"url", r.URL, "write // after the scheme"}
	}
	if path == "" {
		path = "/"
	}
	query := encodeQuery(u.RawQuery)
	for _, pair := range r.Params {
		if pair.Name == "" {
			return "", &InputError{"params", "=" + pair.Value, "give every parameter a name"}
		}
		if query != "" {
			query += "&"
		}
		query += url.QueryEscape(pair.Name) + "=" + url.QueryEscape(pair.Value)
	}
	if query != "" {
		path += "?" + query
	}
	return path, nil
}

// encodeQuery encodes characters that would break the request line and leaves the rest as
// written.
func encodeQuery(raw string) string {
	var b strings.Builder
	for i := range len(raw) {
		if c := raw[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '<' || c == '>' {
			b.WriteByte('%')
			b.WriteByte(hexUpper[c>>4])
			b.WriteByte(hexUpper[c&15])
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
