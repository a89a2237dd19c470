package push

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"hyperscale/runtime/outputs"
)

// service is what one kind knows: how a batch becomes a call, and what an answer means.
type service interface {
	// probes are calls that add no row there and fail as a delivery would, in their order.
	probes() ([]*call, error)
	// encode returns nil if no row has a meaning there. Its error is about the rows, and lasting.
	encode(b outputs.Batch) (*call, error)
	// judge says what an answer to a batch means. A probe has no rows.
	judge(b outputs.Batch, a *answer) outputs.Outcome
}

// call is one request before it is signed.
type call struct {
	method string
	url    string
	header http.Header
	body   []byte
	most   int // bytes of body that the service takes; 0: any
	sign   func(r *http.Request, body []byte) (secrets []string, err error)
	next   *call // what the batch needs beside it; it is sent once this one was taken, and repeated alone
}

// preparer is a service that asks something before the first call, such as where it is.
type preparer interface {
	// prepare returns nil if calls can be made.
	prepare(ctx context.Context, c *client) *outputs.Outcome
}

// Sink is a service as the shell sees it.
type Sink struct {
	service service
	client  *client
	half    string // the digest of a batch whose first calls were taken
	taken   int    // how many of them
}

func newSink(s service) *Sink { return &Sink{service: s, client: newClient()} }

// Check implements outputs.Sink.
func (s *Sink) Check(ctx context.Context) error {
	if failed := s.prepare(ctx); failed != nil {
		return errors.New(failed.Why)
	}
	all, err := s.service.probes()
	if err != nil {
		return err
	}
	for _, c := range all {
		a, failed := s.client.do(ctx, c)
		if failed == nil {
			out := s.service.judge(outputs.Batch{}, a)
			failed = &out
		}
		if failed.Verdict != outputs.VerdictDelivered {
			return errors.New(failed.Why)
		}
	}
	return nil
}

func (s *Sink) prepare(ctx context.Context) *outputs.Outcome {
	if p, ok := s.service.(preparer); ok {
		return p.prepare(ctx, s.client)
	}
	return nil
}

// Deliver implements outputs.Sink.
func (s *Sink) Deliver(ctx context.Context, b outputs.Batch) outputs.Outcome {
	if failed := s.prepare(ctx); failed != nil {
		return *failed
	}
	first, err := s.service.encode(b)
	if err != nil {
		return outputs.Rejected(nil, err.Error())
	}
	for c := first; c != nil; c = c.next {
		if c.most > 0 && len(c.body) > c.most {
			return tooLarge(b, fmt.Sprintf("the request has %d bytes, and the service takes %d", len(c.body), c.most))
		}
	}
	if first == nil || first.next == nil {
		return s.one(ctx, b, first)
	}
	return s.several(ctx, b, first)
}

// one sends a call; nil: no row has a meaning there.
func (s *Sink) one(ctx context.Context, b outputs.Batch, c *call) outputs.Outcome {
	if c == nil {
		return outputs.Delivered()
	}
	a, failed := s.client.do(ctx, c)
	if failed != nil {
		return *failed
	}
	return s.service.judge(b, a)
}

// several sends calls in their order, but for those that the service took at an earlier try. Its kind has one try at once.
func (s *Sink) several(ctx context.Context, b outputs.Batch, first *call) outputs.Outcome {
	if digest := digestOf(b.Rows); s.half != digest {
		s.half, s.taken = digest, 0
	}
	n := 0
	for c := first; c != nil; c = c.next {
		if n++; n <= s.taken {
			continue
		}
		out := s.one(ctx, b, c)
		if out.Verdict == outputs.VerdictSmaller && s.taken > 0 {
			return outputs.Rejected(nil, out.Why+": the service has the other figures of these rows") // halves would repeat those
		}
		if out.Verdict != outputs.VerdictDelivered {
			return out
		}
		s.taken++
	}
	s.half = ""
	return outputs.Delivered()
}

// Close implements outputs.Sink.
func (s *Sink) Close() { s.client.http.CloseIdleConnections() }

// tooLarge halves a batch. One row that is too large alone is rejected.
func tooLarge(b outputs.Batch, why string) outputs.Outcome {
	if len(b.Rows) < 2 {
		return outputs.Rejected(nil, why)
	}
	return outputs.Smaller(why)
}

// addressOf reads the address of a place. A path, if the user gave none, is the service's own.
func addressOf(s *outputs.Settings, path string) (*url.URL, error) {
	u, err := url.Parse(s.Place)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("place = %q is no address: write %s", s.Place, s.Kind.Example)
	}
	if u.User != nil || u.Fragment != "" {
		return nil, fmt.Errorf("place = an address with a user or a fragment: leave it out, as in %s", s.Kind.Example)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = path
	}
	return u, nil
}
