package push

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"hyperscale/runtime/outputs"
)

// Bounds of an answer.
const (
	answerMax = 1 << 20 // bytes that are read: what a service says of 1,000 rows
	lineMax   = 4 << 20 // bytes of one row that is read back
	headMax   = 64 << 10
	shownMax  = 300 // bytes of a service's text that people see
	afterMax  = time.Hour
)

// client sends calls and follows nothing.
type client struct{ http *http.Client }

func newClient() *client {
	return &client{http: &http.Client{
		Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
			ForceAttemptHTTP2:      true,
			MaxIdleConnsPerHost:    4,
			IdleConnTimeout:        90 * time.Second,
			MaxResponseHeaderBytes: headMax,
			DisableCompression:     true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// answer is what a service said.
type answer struct {
	status int
	header http.Header
	body   []byte
	hide   []string // secrets of the request, which its text may repeat
}

// do sends a call once. An outcome says why there is no answer.
func (c *client) do(ctx context.Context, what *call) (*answer, *outputs.Outcome) {
	a, from, failed := c.send(ctx, what)
	if failed != nil {
		return nil, failed
	}
	defer func() { _ = from.Close() }() // it is read as far as it matters
	body, err := io.ReadAll(io.LimitReader(from, answerMax))
	if err != nil && a.status/100 == 2 {
		return nil, new(outputs.Unclear("the answer of the service broke off"))
	}
	if err == nil { // one that breaks off may end within a secret
		a.body = body
	}
	return a, nil
}

// send sends a call once, and leaves the body of its answer to the caller.
func (c *client) send(ctx context.Context, what *call) (*answer, io.ReadCloser, *outputs.Outcome) {
	var connected atomic.Bool // from another goroutine: the transport's
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	r, err := http.NewRequestWithContext(ctx, what.method, what.url, bytes.NewReader(what.body))
	if err != nil {
		return nil, nil, new(outputs.Rejected(nil, "the address cannot be asked: correct it"))
	}
	for name, values := range what.header {
		r.Header[name] = values
	}
	r.Header.Set("User-Agent", "hyperscale")
	var hide []string
	if what.sign != nil {
		if hide, err = what.sign(r, what.body); err != nil {
			return nil, nil, new(outputs.Denied(err.Error()))
		}
	}
	got, err := c.http.Do(r)
	if err != nil {
		return nil, nil, new(unanswered(err, connected.Load(), hide))
	}
	return &answer{status: got.StatusCode, header: got.Header, hide: hide}, got.Body, nil
}

// lines gives each line of an answer of any length to a function. An answer that is no success, and one that breaks
// off, is an error.
func (c *client) lines(ctx context.Context, what *call, judge func(outputs.Batch, *answer) outputs.Outcome, each func(line []byte) error) error {
	a, from, failed := c.send(ctx, what)
	if failed != nil {
		return errors.New(failed.Why)
	}
	defer func() { _ = from.Close() }() // it is read as far as it matters
	if a.status/100 != 2 {
		if body, err := io.ReadAll(io.LimitReader(from, answerMax)); err == nil { // one that breaks off may end within a secret
			a.body = body
		}
		return errors.New(judge(outputs.Batch{}, a).Why)
	}
	in := bufio.NewScanner(from)
	in.Buffer(nil, lineMax)
	for in.Scan() {
		if err := each(in.Bytes()); err != nil {
			return err
		}
	}
	if err := in.Err(); err != nil {
		return errors.New("the answer of the service broke off: " + clean(err.Error(), a.hide))
	}
	return nil
}

// unanswered tells a request that never left from one that may have arrived.
func unanswered(err error, connected bool, hide []string) outputs.Outcome {
	var outer *url.Error // it repeats the address
	if errors.As(err, &outer) {
		err = outer.Err
	}
	why := clean(err.Error(), hide)
	if errors.Is(err, context.DeadlineExceeded) {
		why = "it did not answer in time"
	}
	if connected {
		return outputs.Unclear(why)
	}
	return outputs.Again(0, "the service cannot be reached: start it, or correct the address: "+why)
}

// clean cuts a text from outside, and strikes secrets and what no line may have.
func clean(text string, hide []string) string {
	for _, secret := range hide {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	text = strings.ToValidUTF8(text, "?")
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || !unicode.IsGraphic(r) {
			return ' '
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > shownMax {
		text = strings.ToValidUTF8(text[:shownMax], "") + "..."
	}
	return text
}

// text is what a service said, for people.
func (a *answer) text() string {
	said := clean(string(a.body), a.hide)
	if strings.HasPrefix(said, "<") || len(a.body) == answerMax {
		said = "" // a page, or an answer that is cut, perhaps within a secret
	}
	text := fmt.Sprintf("the service answered %d %s", a.status, http.StatusText(a.status))
	if said != "" {
		text += " (" + said + ")"
	}
	return text
}

// after is when the service wants to be asked again: seconds, or a date.
func (a *answer) after(now time.Time) time.Duration {
	v := strings.TrimSpace(a.header.Get("Retry-After"))
	if n, err := strconv.ParseUint(v, 10, 31); err == nil {
		return min(time.Duration(n)*time.Second, afterMax)
	}
	if at, err := http.ParseTime(v); err == nil {
		return min(max(at.Sub(now), 0), afterMax)
	}
	return 0
}
