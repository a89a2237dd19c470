package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"hyperscale/runtime/api"
	"hyperscale/runtime/api/frames"
)

// errSilent ends a try whose gate says nothing.
var errSilent = errors.New("it is silent")

// stream is the answer to one request.
type stream struct {
	*http.Response
	ctx    context.Context
	cancel context.CancelCauseFunc
	silent *time.Timer
}

// beat says that the stream lives.
func (s *stream) beat() { s.silent.Reset(silenceMax) }

func (s *stream) close() {
	s.silent.Stop()
	s.cancel(nil)
	if s.Response != nil {
		_ = s.Body.Close() // it was only read
	}
}

// send sends one request, and returns an answer of status 200 and of a media type.
func (c *Client) send(ctx context.Context, method, at, kind, key string, body []byte) (out *stream, err error) {
	s := new(stream)
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	s.silent = time.AfterFunc(beginMax+silenceMax, func() { s.cancel(errSilent) })
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	r, err := http.NewRequestWithContext(s.ctx, method, at, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("X-Hyperscale", "1") // no page of another site asks: an API that admits by certificate wants to know
	if c.config.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.config.Token)
	}
	if len(body) > 0 {
		r.Header.Set("Content-Type", kind)
	}
	if key != "" {
		r.Header.Set(api.KeyHeader, key)
	}
	if s.Response, err = c.http.Do(r); err != nil {
		return nil, unanswered(s.ctx, err)
	}
	if got, _, _ := strings.Cut(s.Header.Get("Content-Type"), ";"); s.StatusCode != http.StatusOK || got != kind {
		err = c.judge(s.Response, kind)
		c.http.CloseIdleConnections() // behind one address the next connection may lead to another gate
		return nil, err
	}
	return s, nil
}

// try implements exchange.
func (q *question) try(ctx context.Context, c *Client, base string) error {
	b, err := q.encode(c.newRequest())
	if err != nil {
		return err
	}
	s, err := c.send(ctx, http.MethodPost, base+"/v1/ask", frames.Type, q.key, b)
	if err != nil {
		return err
	}
	defer s.close()
	went, err := q.take(ctx, frames.NewReader(s.Body, s.beat))
	var f *failure
	if errors.As(err, &f) {
		if f.went = went; errors.Is(context.Cause(s.ctx), errSilent) {
			f.text = errSilent.Error()
		}
	}
	return err
}

// whoami asks which job a key names.
type whoami struct {
	key    string
	caller api.Caller
}

// try implements exchange.
func (a *whoami) try(ctx context.Context, c *Client, base string) error {
	s, err := c.send(ctx, http.MethodGet, base+"/v1/whoami", "application/json", a.key, nil)
	if err != nil {
		return err
	}
	defer s.close()
	b, err := io.ReadAll(io.LimitReader(s.Body, failureMax))
	if err != nil {
		return broken(err)
	}
	if err := json.Unmarshal(b, &a.caller); err != nil {
		return &failure{text: fmt.Sprintf("its answer is no JSON of an API (%v)", err), answered: true}
	}
	return nil
}
