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
}

// Sink is a service as the shell sees it.
type Sink struct {
	service service
	client  *client
}

func newSink(s service) *Sink { return &Sink{service: s, client: newClient()} }

// Check implements outputs.Sink.
func (s *Sink) Check(ctx context.Context) error {
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

// Deliver implements outputs.Sink.
func (s *Sink) Deliver(ctx context.Context, b outputs.Batch) outputs.Outcome {
	c, err := s.service.encode(b)
	if err != nil {
		return outputs.Rejected(nil, err.Error())
	}
	if c == nil {
		return outputs.Delivered()
	}
	if c.most > 0 && len(c.body) > c.most {
		return tooLarge(b, fmt.Sprintf("the request has %d bytes, and the service takes %d", len(c.body), c.most))
	}
	a, failed := s.client.do(ctx, c)
	if failed != nil {
		return *failed
	}
	return s.service.judge(b, a)
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
