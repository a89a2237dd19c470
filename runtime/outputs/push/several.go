package push

import (
	"context"
	"net/http"
	"time"

	"hyperscale/runtime/outputs"
)

// Client sends requests of kinds that have packages of their own: those that need several for one batch.
type Client struct{ client *client }

// NewClient returns a client without connections. It follows no redirect.
func NewClient() *Client { return &Client{client: newClient()} }

// Request is one request, signed.
type Request struct {
	Method, URL string
	Header      http.Header
	Body        []byte
	Hide        []string // secrets of it, which no text repeats
}

// Answer is what a service said: a status, heads, and a body of at most 1 MiB.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	hide   []string
}

// Do sends a request once. An outcome says why there is no answer: Again, if it never left; else Unclear.
func (c *Client) Do(ctx context.Context, r *Request) (*Answer, *outputs.Outcome) {
	a, failed := c.client.do(ctx, &call{
		method: r.Method, url: r.URL, header: r.Header, body: r.Body, sign: func(*http.Request, []byte) ([]string, error) { return r.Hide, nil },
	})
	if failed != nil {
		return nil, failed
	}
	return &Answer{Status: a.status, Header: a.header, Body: a.body, hide: a.hide}, nil
}

// Close closes connections.
func (c *Client) Close() { c.client.http.CloseIdleConnections() }

func (a *Answer) inner() *answer {
	return &answer{status: a.Status, header: a.Header, body: a.Body, hide: a.hide}
}

// Text is what the service said, for people: short, and without secrets of its request.
func (a *Answer) Text() string { return a.inner().text() }

// After is when the service wants to be asked again, one hour at most; zero: it does not say.
func (a *Answer) After() time.Duration { return a.inner().after(time.Now()) }

// Standard is what an answer means where a service's page says nothing else.
func Standard(b outputs.Batch, a *Answer) outputs.Outcome { return standard(b, a.inner()) }

// Alone looks for the row that a service does not take, by halves. It is for answers after which a repeated row does no harm.
func Alone(b outputs.Batch, out outputs.Outcome) outputs.Outcome { return alone(b, out) }

// TooLarge halves a batch. One row that is too large alone is rejected.
func TooLarge(b outputs.Batch, why string) outputs.Outcome { return tooLarge(b, why) }

// Unanswered tells a request that never left from one that may have arrived, for clients of other protocols over HTTP.
func Unanswered(err error, connected bool, hide []string) outputs.Outcome {
	return unanswered(err, connected, hide)
}

// Clean is a text from outside for people: short, on one line, without secrets.
func Clean(text string, hide []string) string { return clean(text, hide) }

// Digest names a batch by the keys and versions of its rows, in 24 digits of hexadecimal.
func Digest(rows []outputs.Row) string { return digestOf(rows) }

// ObjectName is the name of an object that holds rows: JOB/FROM-TO-DIGEST.jsonl.gz.
func ObjectName(rows []outputs.Row) string { return objectName(rows) }

// ZippedLines are rows as lines of JSON, compressed by gzip.
func ZippedLines(rows []outputs.Row) ([]byte, error) { return zippedLines(rows) }

// Head reads a secret that goes into a head, which takes no line ends and no control characters.
func Head(from outputs.Secret) (string, error) { return readHead(from) }
