package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/api"
	"hyperscale/runtime/api/frames"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	asking = message.RequestID{Incarnation: 1, Counter: 1}
	job    = message.JobID{1}
)

// gate answers HTTP as a test says.
type gate struct {
	*httptest.Server
	mu    sync.Mutex
	asked []message.Body
	heads []http.Header
}

// behaves starts a server that answers each question by a function, with its number from 0.
func behaves(t *testing.T, f func(n int, w http.ResponseWriter, r *http.Request)) *gate {
	t.Helper()
	g := new(gate)
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m, _ := frames.NewReader(r.Body, func() {}).Only() // of whoami there is none
		g.mu.Lock()
		n := len(g.heads)
		g.asked, g.heads = append(g.asked, m), append(g.heads, r.Header.Clone())
		g.mu.Unlock()
		f(n, w, r)
	}))
	t.Cleanup(g.Close)
	return g
}

func (g *gate) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.heads)
}

// say writes answers as a gate does.
func say(w http.ResponseWriter, all ...node.Message) {
	w.Header().Set("Content-Type", frames.Type)
	_, _ = w.Write(frames.Beat()) // the client may be gone
	for _, m := range all {
		b, err := frames.Append(nil, m)
		if err != nil {
			panic(err)
		}
		_, _ = w.Write(b) // the client may be gone
	}
	w.(http.Flusher).Flush()
}

// refuse writes a fault as a gate does.
func refuse(w http.ResponseWriter, status int, text string, after int) {
	w.Header().Set("Content-Type", "application/json")
	if after > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(after))
	}
	w.WriteHeader(status)
	b, _ := json.Marshal(api.Failure{Error: api.Fault{Code: "some", Message: text}}) // of strings
	_, _ = w.Write(b)                                                                // the client may be gone
}

// noted is what a client notes.
type noted struct {
	mu   sync.Mutex
	text string
}

func (n *noted) note(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.text += fmt.Sprintf(format, args...) + "\n"
}

func (n *noted) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text
}

// dial makes a client of some gates.
func dial(t *testing.T, change func(*Config), gates ...*gate) *Client {
	t.Helper()
	c := Config{Token: "the-token", Reach: time.Minute, Answer: time.Minute}
	for _, g := range gates {
		c.URLs = append(c.URLs, g.URL)
	}
	if change != nil {
		change(&c)
	}
	out, err := New(c)
	require.NoError(t, err)
	t.Cleanup(out.Close)
	return out
}

// all asks, and returns every answer, and the error at the end.
func (c *Client) all(t *testing.T, m node.Message) (answers []node.Message, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	a := c.Command(ctx, m)
	defer a.Close()
	for m := range a.Answers() {
		answers = append(answers, m)
	}
	require.NoError(t, ctx.Err(), "the question does not end")
	return answers, a.Err()
}

// text writes a plain answer.
func text(status int, kind, body string) func(int, http.ResponseWriter, *http.Request) {
	return func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) // the client may be gone
	}
}
