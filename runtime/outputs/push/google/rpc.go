package google

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/push"
	"hyperscale/runtime/protocol/grpc"
)

// Statuses of gRPC that package grpc does not name.
const (
	cancelled         grpc.Code = 1
	invalidArgument   grpc.Code = 3
	deadlineExceeded  grpc.Code = 4
	notFound          grpc.Code = 5
	resourceExhausted grpc.Code = 8
	aborted           grpc.Code = 10
)

// rpcMax bounds an answer, in bytes: one of 100,000 entries that all fail with a text has some 10 MB.
const rpcMax = 16 << 20

// rpc calls methods of gRPC over HTTP/2, as net/http speaks it: with TLS, or without it to http:// addresses. It is for one goroutine.
type rpc struct {
	http *http.Client
	base url.URL
}

func newRPC(base url.URL) *rpc { return &rpc{base: base, http: newHTTP2(base.Scheme)} }

// newHTTP2 is a client without connections.
func newHTTP2(scheme string) *http.Client {
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, DisableCompression: true,
		IdleConnTimeout: 90 * time.Second, Protocols: new(http.Protocols),
	}
	t.Protocols.SetHTTP2(scheme == "https")
	t.Protocols.SetUnencryptedHTTP2(scheme == "http")
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// leave lets the next call have another connection: HTTP/2 goes on with one on which a call had no answer, though it is perhaps dead.
func (c *rpc) leave() {
	c.http.CloseIdleConnections()
	c.http = newHTTP2(c.base.Scheme)
}

// told is the end of a call.
type told struct {
	messages [][]byte
	code     grpc.Code
	text     string
}

// call calls a method with one message. An outcome says why there is no status.
func (c *rpc) call(ctx context.Context, method, params, token string, message []byte) (*told, *outputs.Outcome) {
	hide := []string{token}
	var connected atomic.Bool // from another goroutine: the transport's
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	body := append(grpc.Begin(nil), message...)
	grpc.Put(body, 0, false)
	u := c.base
	u.Path = method
	r, err := http.NewRequestWithContext(traced, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, new(outputs.Rejected(nil, "the address cannot be asked: correct endpoint="))
	}
	r.Header = http.Header{
		"Content-Type": {"application/grpc"}, "Te": {"trailers"}, "User-Agent": {"hyperscale"}, "X-Goog-Request-Params": {params}, "Authorization": {"Bearer " + token},
	}
	if at, has := ctx.Deadline(); has {
		r.Header.Set("Grpc-Timeout", grpc.Timeout(time.Until(at)))
	}
	got, err := c.http.Do(r)
	if err != nil {
		c.leave()
		return nil, new(push.Unanswered(err, connected.Load(), hide))
	}
	defer func() { _ = got.Body.Close() }() // it is read whole
	b, err := io.ReadAll(io.LimitReader(got.Body, rpcMax))
	if err != nil {
		c.leave()
		return nil, new(outputs.Unclear("the answer of the service broke off"))
	}
	return verdictOf(got, b, hide)
}

// verdictOf reads an answer that is there whole.
func verdictOf(got *http.Response, body []byte, hide []string) (*told, *outputs.Outcome) {
	in := &grpc.Reader{}
	in.Begin(rpcMax, true)
	out := &told{}
	for len(body) > 0 && !in.Broken() {
		n, whole := in.Next(body)
		if body = body[n:]; whole {
			out.messages = append(out.messages, bytes.Clone(in.Last))
		}
	}
	heads := headsOf(got.Header)
	a := grpc.Answer{Status: got.StatusCode, Reader: in, Trailers: len(heads), Only: len(got.Trailer) == 0}
	heads = append(heads, headsOf(got.Trailer)...)
	a.Fields = heads
	code, text, err := a.Verdict()
	if err != nil {
		return nil, new(outputs.Unclear(push.Clean(err.Error(), hide)))
	}
	if in.Packed {
		return nil, new(outputs.Unclear("the service compresses its answer, though it was not asked to"))
	}
	out.code, out.text = code, push.Clean(code.String()+": "+text, hide)
	return out, nil
}

// heads are header fields as package grpc reads them.
type heads [][2]string

// Len implements codec.Fields.
func (h heads) Len() int { return len(h) }

// At implements codec.Fields.
func (h heads) At(i int) (name, value []byte) { return []byte(h[i][0]), []byte(h[i][1]) }

// headsOf are in the order of their names.
func headsOf(from http.Header) (all heads) {
	for name, values := range from { //lint:orderfree they are sorted
		for _, v := range values {
			all = append(all, [2]string{strings.ToLower(name), v})
		}
	}
	slices.SortFunc(all, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return all
}

// passing says that a status ends by itself.
func passing(code grpc.Code) bool {
	return slices.Contains([]grpc.Code{cancelled, grpc.Unknown, deadlineExceeded, resourceExhausted, aborted, grpc.Internal, grpc.Unavailable}, code)
}

// errAnswer is of a message that is none of its type.
var errAnswer = errors.New("the service answers something else than gRPC's messages")
