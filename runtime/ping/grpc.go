package ping

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"hyperscale/core/workflow/schema"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/grpc"
	"hyperscale/runtime/protocol/grpc/reflection"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/http2"
)

// Service is what a gRPC server told of itself.
type Service struct {
	Health     string   `json:"health"`     // such as SERVING; empty: it has no health service
	Reflection string   `json:"reflection"` // v1 or v1alpha; empty: it has none
	Services   []string `json:"services"`   // by reflection
	Files      int      `json:"files"`      // descriptors that it told; 0: they were not wanted

	Descriptors []byte `json:"-"` // a FileDescriptorSet of them
}

// caller calls methods on one connection.
type caller struct {
	r    *Report
	conn net.Conn
	cfg  *Config
	two  http2.Conn
	say  *Service
}

// talkGRPC asks the health service, and then reflection.
func (r *Report) talkGRPC(c net.Conn, cfg Config) error {
	w := caller{r: r, conn: c, cfg: &cfg, say: &Service{Services: []string{}}}
	w.two.Reset(http2.Config{Streams: 1})
	r.Answer = &Answer{Protocol: "HTTP/2", Headers: [][2]string{}}
	if err := w.run(); err != nil {
		if r.Answer.Status == 0 {
			r.Answer = nil
		}
		return err
	}
	r.Service = w.say
	r.Answer.KeepAlive = w.two.Usable()
	w.two.Shutdown()
	_, _ = c.Write(w.two.Output()) // a goodbye; whether it arrives changes nothing
	return nil
}

func (w *caller) run() error {
	asks := w.cfg.GRPC
	if !asks.Reflection {
		health, err := w.call("grpc.health.v1.Health/Check", nil)
		switch code := codeOf(err); {
		case err == nil:
			w.say.Health = healthOf(health)
		case code != grpc.Unimplemented:
			return err
		}
		if err == nil && !asks.Descriptors {
			return nil
		}
	}
	t := reflection.New(reflection.Of{Files: asks.Descriptors, Services: asks.Services})
	for method, question, more := t.Next(); more; method, question, more = t.Next() {
		answer, err := w.call(method, question)
		unknown := codeOf(err) == grpc.Unimplemented
		if err != nil && !unknown {
			return err
		}
		switch err := t.Take(answer, unknown); {
		case errors.Is(err, reflection.ErrLarge):
			return &http1.Error{Kind: http1.KindTooLarge, Detail: err.Error()}
		case err != nil:
			return &http1.Error{Kind: http1.KindProtocol, Detail: err.Error()}
		}
	}
	w.say.Reflection, w.say.Services = t.Version, t.Services
	if !asks.Descriptors {
		return nil
	}
	w.say.Descriptors, w.say.Files = t.Set()
	if _, err := schema.Descriptors(w.say.Descriptors); err != nil {
		return &http1.Error{Kind: http1.KindProtocol, Detail: "the descriptors do not fit together: " + err.Error()}
	}
	return nil
}

// codeOf returns the status with which a call failed; OK: it has none.
func codeOf(err error) grpc.Code {
	known, ok := err.(*http1.Error)
	if !ok {
		return grpc.OK
	}
	for code := grpc.Code(1); code <= grpc.Unauthenticated; code++ {
		if known.Kind == http1.Kind("server "+code.String()) {
			return code
		}
	}
	return grpc.OK
}

// call calls a method with one message, and returns the first one of the answer.
func (w *caller) call(method string, message []byte) ([]byte, error) {
	request := w.cfg.Request
	request.Method, request.URL = "POST", strings.TrimSuffix(request.URL, "/")+"/"+method
	request.Headers = append(slices.Clone(request.Headers), http1.Pair{Name: "content-type", Value: "application/grpc"}, http1.Pair{Name: "te", Value: "trailers"},
		http1.Pair{Name: "grpc-timeout", Value: grpc.Timeout(w.cfg.Timeout)})
	request.Body = append(grpc.Begin(nil), message...)
	grpc.Put(request.Body, 0, false)
	request.ContentType, request.Unsized = "", true
	call, err := request.Compile()
	if err != nil {
		return nil, err
	}
	var operation codec.Operation
	http2.Render(&operation, &call)
	h := &heard{r: w.r}
	h.kept.Trailing = true
	w.r.carry(w.conn, &w.two, w.two.Open(&operation, 1, nil), h)
	if h.err != nil {
		return nil, h.err
	}
	w.r.Answer.Headers = w.r.Answer.Headers[:0]
	w.r.keep(&h.kept)
	var reader grpc.Reader
	reader.Begin(0, false)
	_, _ = reader.Feed(h.kept.Body) // the verdict says what is wrong
	a := grpc.Answer{Status: w.r.Answer.Status, Fields: &h.kept, Trailers: h.kept.HeadFields(), Reader: &reader, One: true}
	a.Only = a.Trailers == h.kept.Len() && len(h.kept.Body) == 0
	code, text, err := a.Verdict()
	if err != nil {
		return nil, err
	}
	if code != grpc.OK {
		return nil, &http1.Error{Kind: http1.Kind("server " + code.String()), Detail: strings.TrimSuffix("the server answered "+code.String()+": "+text, ": ")}
	}
	return h.kept.Body[grpc.HeadLen:], nil
}

// healthOf names the status of a HealthCheckResponse.
func healthOf(b []byte) string {
	status := uint64(0)
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			break
		}
		b = b[n:]
		if field == 1 && kind == protowire.VarintType {
			v, n := protowire.ConsumeVarint(b)
			if n < 0 {
				break
			}
			status, b = v, b[n:]
			continue
		}
		if n = protowire.ConsumeFieldValue(field, kind, b); n < 0 {
			break
		}
		b = b[n:]
	}
	if names := []string{"UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"}; status < uint64(len(names)) {
		return names[status]
	}
	return fmt.Sprintf("status %d", status)
}
