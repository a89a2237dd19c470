package operator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Bounds of the two sides.
const (
	callMax   = 10 * time.Second
	answerMax = 96 << 20 // bytes of a page of a list: 100 objects, none of which is larger than the API server takes
	shortMax  = 8 << 20  // bytes of another answer
	tokenMax  = 64 << 10 // bytes of a file with a token
	saidMax   = 512      // bytes of an answer that an error repeats
)

// Side is how the operator reaches one of its two sides.
type Side struct {
	URL       string            // scheme, host and port
	Token     string            // the file with the bearer token; read with each request
	Transport http.RoundTripper // with the authorities that the server's certificate needs
}

// check names what is wrong with a side.
func (s *Side) check(name string) error {
	u, err := url.Parse(s.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return fmt.Errorf("%s: want scheme, host and port alone, like https://gate:8443", name)
	}
	if s.Token == "" {
		return fmt.Errorf("%s: the file with its token is missing", name)
	}
	return nil
}

// refusal is an answer that is none.
type refusal struct {
	Status  int
	Code    string // of the gates, or the reason of the API server
	Message string
	After   time.Duration // the same call can succeed then; zero: it does not say
	Name    string        // of the object that is missing
}

func (r *refusal) Error() string {
	return fmt.Sprintf("HTTP %d %s: %s", r.Status, r.Code, r.Message)
}

// statusOf is the status of a refusal; 0: the server did not answer.
func statusOf(err error) int {
	var r *refusal
	if errors.As(err, &r) {
		return r.Status
	}
	return 0
}

// waitOf is how long an error asks its caller to wait, or usual.
func waitOf(err error, usual time.Duration) time.Duration {
	var r *refusal
	if errors.As(err, &r) && r.After > 0 {
		return min(r.After, afterMax)
	}
	return usual
}

// caller sends requests to one side.
type caller struct {
	side   Side
	client http.Client
	pace   pace
	refuse func(b []byte, r *refusal) // reads the body of a refusal
}

func newCaller(s Side, gap time.Duration, refuse func([]byte, *refusal)) *caller {
	s.URL = strings.TrimSuffix(s.URL, "/")
	return &caller{
		side: s, pace: pace{gap: gap}, refuse: refuse,
		client: http.Client{Transport: s.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, // a redirect would take the token along
	}
}

// open sends a request, and returns the answer's body if its status is 2xx.
func (c *caller) open(ctx context.Context, method, path string, body []byte, header ...string) (io.ReadCloser, error) {
	if err := c.pace.wait(ctx); err != nil {
		return nil, err
	}
	token, err := tokenIn(c.side.Token)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, method, c.side.URL+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Accept", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w, err := c.client.Do(r)
	if err != nil {
		return nil, err
	}
	if w.StatusCode/100 == 2 {
		return w.Body, nil
	}
	defer func() { _ = w.Body.Close() }() // it was only read
	b, err := io.ReadAll(io.LimitReader(w.Body, shortMax))
	if err != nil {
		return nil, err
	}
	f := &refusal{Status: w.StatusCode, Message: string(b[:min(len(b), saidMax)])}
	if n, err := strconv.Atoi(w.Header.Get("Retry-After")); err == nil && n > 0 {
		f.After = time.Duration(min(n, int(afterMax/time.Second))) * time.Second
	}
	c.refuse(b, f)
	return nil, f
}

// ask sends a request and decodes its answer; into may be nil.
func (c *caller) ask(ctx context.Context, most int64, into any, method, path string, body []byte, header ...string) error {
	ctx, end := context.WithTimeout(ctx, callMax)
	defer end()
	w, err := c.open(ctx, method, path, body, header...)
	if err != nil {
		return err
	}
	defer func() { _ = w.Close() }() // it was only read
	b, err := io.ReadAll(io.LimitReader(w, most+1))
	switch {
	case err != nil:
		return err
	case int64(len(b)) > most:
		return fmt.Errorf("%s %s: the answer has more than %d bytes", method, path, most)
	case into == nil:
		return nil
	}
	return json.Unmarshal(b, into)
}

// tokenIn reads a token: the kubelet and people replace these files while the operator runs.
func tokenIn(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("the token cannot be read: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	b, err := io.ReadAll(io.LimitReader(f, tokenMax))
	if err != nil {
		return "", fmt.Errorf("the token cannot be read: %w", err)
	}
	text := strings.TrimSpace(string(b))
	if text == "" || strings.ContainsAny(text, "\r\n") {
		return "", fmt.Errorf("%s has no token: want one line", path)
	}
	return text, nil
}

// pace keeps requests apart.
type pace struct {
	gap  time.Duration
	mu   sync.Mutex
	next time.Time
}

func (p *pace) wait(ctx context.Context) error {
	p.mu.Lock()
	now := time.Now()
	at := now
	if p.next.After(now) {
		at = p.next
	}
	p.next = at.Add(p.gap)
	p.mu.Unlock()
	return sleep(ctx, at.Sub(now))
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
