package http1

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestCompile(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   Request
		want string
	}{
		{"the smallest", Request{Method: "get", URL: "http://127.0.0.1:8080"},
			"GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: hyperscale\r\n\r\n"},
		{"params are encoded and appended", Request{Method: "GET", URL: "http://h/a b?x=1 2#part", Params: []Pair{{"q", "ä&=\r\n"}}},
			"GET /a%20b?x=1%202&q=%C3%A4%26%3D%0D%0A HTTP/1.1\r\nHost: h\r\nUser-Agent: hyperscale\r\n\r\n"},
		{"body, type, own headers", Request{Method: "POST", URL: "https://h:8443/p", Headers: []Pair{{"user-agent", "me"}, {"X", " y "}}, Body: []byte("{}"), ContentType: "application/json"},
			"POST /p HTTP/1.1\r\nHost: h:8443\r\nuser-agent: me\r\nX: y\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"},
		{"an empty post tells its length", Request{Method: "POST", URL: "http://h/"},
			"POST / HTTP/1.1\r\nHost: h\r\nUser-Agent: hyperscale\r\nContent-Length: 0\r\n\r\n"},
		{"basic auth from the url, cookies", Request{Method: "GET", URL: "http://u:p@h/", Cookies: []Pair{{"a", "1"}, {"b", "2"}}},
			"GET / HTTP/1.1\r\nHost: h\r\nUser-Agent: hyperscale\r\nAuthorization: Basic dTpw\r\nCookie: a=1; b=2\r\n\r\n"},
		{"bearer, other host", Request{Method: "GET", URL: "http://[::1]:80/", Bearer: "t", Headers: []Pair{{"Host", "shop.test"}}},
			"GET / HTTP/1.1\r\nHost: shop.test\r\nUser-Agent: hyperscale\r\nAuthorization: Bearer t\r\n\r\n"},
		{"an address of version 6", Request{Method: "GET", URL: "http://[::1]:81/"},
			"GET / HTTP/1.1\r\nHost: [::1]:81\r\nUser-Agent: hyperscale\r\n\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			call, err := tt.in.Compile()
			if err != nil {
				t.Fatalf("Compile: %v", err)
			}
			if diff := cmp.Diff(tt.want, string(call.Bytes)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got := string(call.Bytes[call.HeadLen:]); got != string(tt.in.Body) {
				t.Errorf("after the head: got %q, want %q", got, tt.in.Body)
			}
		})
	}
}

func TestCompileTarget(t *testing.T) {
	call, err := Request{Method: "GET", URL: "https://[::1]/x?y", Headers: []Pair{{"Connection", "te, Close"}}}.Compile()
	if err != nil {
		t.Fatal(err)
	}
	call.Bytes, call.HeadLen = nil, 0
	want := Call{Method: "GET", Scheme: "https", Host: "::1", Port: 443, Path: "/x?y", Close: true}
	if diff := cmp.Diff(want, call); diff != "" || call.Address() != "[::1]:443" {
		t.Errorf("address %s (-want +got):\n%s", call.Address(), diff)
	}
}

func TestCompileRefuses(t *testing.T) {
	get := func(change func(*Request)) Request {
		r := Request{Method: "GET", URL: "http://h/"}
		change(&r)
		return r
	}
	for _, tt := range []struct {
		in   Request
		want string
	}{
		{get(func(r *Request) { r.Method = "GE T" }), `method = "GE T": use a name`},
		{get(func(r *Request) { r.Method = "connect" }), `method = "connect": proxy tunnels`},
		{get(func(r *Request) { r.URL = "ftp://h/" }), `url = "ftp://h/": begin it with http://`},
		{get(func(r *Request) { r.URL = "localhost:80" }), `begin it with http://`},
		{get(func(r *Request) { r.URL = "http:h" }), `url = "http:h"`},
		{get(func(r *Request) { r.URL = "http:///x" }), `name a host`},
		{get(func(r *Request) { r.URL = "http://h:70000/" }), `use a port from 1 to 65535`},
		{get(func(r *Request) { r.URL = "http://h/\r\nX: y" }), `write it like`},
		{get(func(r *Request) { r.URL = "http://bücher.test/" }), `punycode`},
		{get(func(r *Request) { r.Headers = []Pair{{"X y", "z"}} }), `header name = "X y"`},
		{get(func(r *Request) { r.Headers = []Pair{{"X", "a\r\nB: c"}} }), `header X = "a\r\nB: c": remove line ends`},
		{get(func(r *Request) { r.Headers = []Pair{{"X", "a\x00"}} }), `remove line ends`},
		{get(func(r *Request) { r.Headers = []Pair{{"content-length", "3"}} }), `computed from the body`},
		{get(func(r *Request) { r.Headers = []Pair{{"Transfer-Encoding", "chunked"}} }), `computed from the body`},
		{get(func(r *Request) { r.Headers = []Pair{{"Host", "a b"}} }), `give one host`},
		{get(func(r *Request) { r.Headers = []Pair{{"Expect", "100-continue"}} }), `sent at once`},
		{get(func(r *Request) { r.Headers, r.Bearer = []Pair{{"Authorization", "x"}}, "t" }), `given twice`},
		{get(func(r *Request) { r.Headers = []Pair{{"X", strings.Repeat("x", 70000)}} }), `below 64 KiB`},
		{get(func(r *Request) { r.Cookies = []Pair{{"a", "b; c"}} }), `cookie a`},
		{get(func(r *Request) { r.Bearer = "se cret" }), `bearer token = "7 bytes"`},
		{get(func(r *Request) { r.Bearer, r.User = "t", "u" }), `not both`},
		{get(func(r *Request) { r.Body, r.ContentType = []byte("x"), "a\nb" }), `content type`},
	} {
		_, err := tt.in.Compile()
		var input *InputError
		if err == nil || !strings.Contains(err.Error(), tt.want) || !errors.As(err, &input) {
			t.Errorf("Compile(%.100q): got %v, want %q", fmt.Sprint(tt.in), err, tt.want)
		}
	}
}

// What compiles is read by another implementation as exactly one request with these values.
func TestCompiledIsOneRequest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("ab /?&=#%\r\n\x00:;,\"ä~")), 0, 12, -1)
		r := Request{
			Method: "POST", URL: "http://h/" + text.Draw(t, "path"),
			Params:  []Pair{{"p" + text.Draw(t, "name"), text.Draw(t, "value")}},
			Headers: []Pair{{"X-Own", text.Draw(t, "header")}},
			Bearer:  text.Draw(t, "bearer"), Body: []byte(text.Draw(t, "body")),
		}
		call, err := r.Compile()
		if err != nil {
			return
		}
		reader := bufio.NewReader(bytes.NewReader(call.Bytes))
		got, err := http.ReadRequest(reader)
		if err != nil {
			t.Fatalf("net/http refuses %q: %v", call.Bytes, err)
		}
		body, _ := io.ReadAll(got.Body)
		if string(body) != string(r.Body) || got.Header.Get("X-Own") != strings.Trim(r.Headers[0].Value, " \t") || reader.Buffered() > 0 {
			t.Fatalf("%q was read as %q, %q with %d bytes left", call.Bytes, got.Header, body, reader.Buffered())
		}
		if want := r.Params[0]; got.URL.Query().Get(want.Name) != want.Value && !strings.Contains(r.URL, "?") {
			t.Fatalf("%q: parameter %q is %q", call.Path, want, got.URL.Query().Get(want.Name))
		}
	})
}

type timeoutError struct{ error }

func (timeoutError) Timeout() bool   { return true }
func (timeoutError) Temporary() bool { return true }

func TestKindOf(t *testing.T) {
	wrapped := func(err error) error {
		return fmt.Errorf("get /: %w", &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", err)})
	}
	for _, tt := range []struct {
		err  error
		want Kind
	}{
		{nil, KindNone},
		{fmt.Errorf("step: %w", errTruncated), KindTruncated},
		{wrapped(syscall.ECONNREFUSED), KindRefused},
		{wrapped(syscall.ECONNRESET), KindReset},
		{syscall.EPIPE, KindReset},
		{syscall.ETIMEDOUT, KindConnectTimeout},
		{syscall.ENETUNREACH, KindUnreachable},
		{syscall.EMFILE, KindLocal},
		{syscall.EADDRNOTAVAIL, KindLocal},
		{syscall.EINVAL, KindOther},
		{io.EOF, KindClosed},
		{net.ErrClosed, KindClosed},
		{io.ErrUnexpectedEOF, KindTruncated},
		{&net.DNSError{Name: "nowhere", IsNotFound: true}, KindDNS},
		{&net.DNSError{Name: "slow", IsTimeout: true}, KindDNS},
		{context.DeadlineExceeded, KindTimeout},
		{os.ErrDeadlineExceeded, KindTimeout},
		{context.Canceled, KindCancelled},
		{timeoutError{errors.New("slow")}, KindTimeout},
		{&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, KindTLSAuthority},
		{&tls.CertificateVerificationError{Err: x509.HostnameError{Certificate: &x509.Certificate{}}}, KindTLSName},
		{&tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: x509.Expired}}, KindTLSExpired},
		{&tls.CertificateVerificationError{Err: errors.New("odd")}, KindTLS},
		{tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, KindTLS},
		{&net.OpError{Op: "remote error", Err: tls.AlertError(40)}, KindTLSAlert},
		{errors.New("odd"), KindOther},
	} {
		if got := KindOf(tt.err); got != tt.want {
			t.Errorf("KindOf(%v): got %q, want %q", tt.err, got, tt.want)
		}
	}
}

func TestKindsAreListedOnce(t *testing.T) {
	seen := map[Kind]bool{}
	for _, k := range Kinds() {
		if seen[k.Kind] || k.Text == "" || k.Kind == KindNone {
			t.Errorf("kind %q is listed twice, empty or without text", k.Kind)
		}
		seen[k.Kind] = true
	}
	if len(seen) != 39 {
		t.Errorf("got %d kinds, want 39: list the new one in Kinds and here", len(seen))
	}
}

func TestParserIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(Parser{}); size > 96 {
		t.Errorf("a parser has %d bytes, want at most 96: ten thousand users own one each", size)
	}
}
