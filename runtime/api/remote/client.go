package remote

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/retry"
	"hyperscale/runtime/api/frames"
)

// Bounds of a client.
const (
	gatesMax    = 64
	tokenMax    = 4 << 10         // bytes of a file
	authMax     = 1 << 20         // bytes of a file
	connectMax  = 5 * time.Second // for TCP, and again for TLS
	beginMax    = 15 * time.Second
	silenceMax  = 4 * frames.BeatEvery
	failureMax  = 64 << 10 // bytes of an answer that is an error
	saidMax     = 300      // bytes of it that are shown
	keysMax     = 1000     // jobs whose keys a client remembers
	answersRoom = 64
)

// Config says which gates to ask, and how long.
type Config struct {
	URLs   []string // of APIs of gates of one cluster, or of what leads to them; tried in turn
	Token  string   // empty: the certificate names the caller
	Cert   string   // PEM file of a client's certificate, and of its key; empty: none
	Key    string
	CA     string                           // PEM file of authorities beside the system's; empty: none
	Note   func(format string, args ...any) // tells people what the client waits for; nil: it tells none
	Reach  time.Duration                    // a question ends so long after its beginning if no gate has answered at all
	Answer time.Duration                    // a question ends within it
}

// Client asks the HTTP API of gates. Its methods may be called by any goroutine.
type Client struct {
	config Config
	http   http.Client
	gates  []string      // base URLs
	waits  retry.Backoff // between two rounds over all gates, as core/client has them

	mu      sync.Mutex
	current int                      // the gate that is asked first
	keys    map[message.JobID]string // of jobs that this client submits, the newest
	owned   []message.JobID          // of keys, in the order of Own
	random  *node.Rand
	request message.RequestID // of the newest try
}

// New returns a client. It connects when it is first asked something. An error names the flag to correct.
func New(c Config) (*Client, error) {
	if len(c.URLs) > gatesMax {
		return nil, fmt.Errorf("--api has %d addresses, %d is the bound: name fewer", len(c.URLs), gatesMax)
	}
	if c.Note == nil {
		c.Note = func(string, ...any) {}
	}
	out := &Client{config: c, keys: map[message.JobID]string{}, random: node.NewRand(rand.Uint64(), "api", node.PurposeJitter)}
	out.waits = retry.Backoff{Base: 500 * time.Millisecond, Cap: 5 * time.Second, Least: 100 * time.Millisecond}
	out.request.Incarnation = rand.Uint64() | 1
	for _, text := range c.URLs {
		base, err := baseOf(text)
		if err != nil {
			return nil, err
		}
		out.gates = append(out.gates, base)
	}
	roots, err := rootsOf(c.CA)
	if err != nil {
		return nil, err
	}
	var own []tls.Certificate
	if c.Cert != "" {
		pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
		if err != nil {
			return nil, fmt.Errorf("--tls-cert %s, --tls-key %s: %w: name the files of a client's certificate and of its key", c.Cert, c.Key, err)
		}
		own = append(own, pair)
	}
	out.http = http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the token goes to no other server
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: connectMax}).DialContext,
			TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, Certificates: own},
			TLSHandshakeTimeout: connectMax, ResponseHeaderTimeout: beginMax,
			MaxResponseHeaderBytes: failureMax, DisableCompression: true,
		},
	}
	return out, nil
}

// Close ends connections that nothing uses.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// baseOf reads an address of --api.
func baseOf(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("--api %q is no address of an API: write https://HOST:PORT", hidden(text))
	}
	port := u.Port()
	if port == "" {
		port = "80"
	}
	if u.Scheme == "http" && !node.Addr(net.JoinHostPort(u.Hostname(), port)).Near() {
		return "", fmt.Errorf("--api %s: tokens leave no machine in clear text: write https://, or forward a port of this machine to the gate", u.Redacted())
	}
	return strings.TrimSuffix(u.String(), "/"), nil
}

// hidden is an address as errors have it: what stands before @ may be a password.
func hidden(text string) string {
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		return "..." + text[at:]
	}
	return text
}

// rootsOf are the authorities that may sign a gate's certificate: those of the system, and those of a file.
func rootsOf(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	b, err := read(file, authMax)
	if err != nil {
		return nil, fmt.Errorf("--api-ca: %w: name a file that can be read", err)
	}
	if !roots.AppendCertsFromPEM(b) {
		return nil, fmt.Errorf("--api-ca %s has no certificate: name a PEM file of the authority that signed the API's certificate", file)
	}
	return roots, nil
}

// ReadToken reads the file of a token.
func ReadToken(file string) (string, error) {
	b, err := read(file, tokenMax)
	if err != nil {
		return "", fmt.Errorf("--token-file: %w: name the file of a token that `hyperscale token new` printed", err)
	}
	token := strings.TrimSpace(string(b))
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("--token-file %s has no token: it must have one line, which `hyperscale token new` printed", file)
	}
	return token, nil
}

// read reads a file of at most a number of bytes.
func read(file string, most int64) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if info.Size() > most {
		return nil, fmt.Errorf("%s has %d bytes, %d is the bound", file, info.Size(), most)
	}
	return os.ReadFile(file)
}

// Own remembers the key that submitted a job: a submitter shows by it that the job is its own. Beyond keysMax the client
// forgets the oldest.
func (c *Client) Own(job message.JobID, key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, had := c.keys[job]; !had {
		if len(c.owned) == keysMax {
			delete(c.keys, c.owned[0])
			c.owned = c.owned[1:]
		}
		c.owned = append(c.owned, job)
	}
	c.keys[job] = key
}

// Job asks which job a key names for this token, and remembers the key.
func (c *Client) Job(ctx context.Context, key string) (job message.JobID, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a := c.newAsked(cancel, nil)
	w := whoami{key: key}
	a.run(ctx, &w)
	if err := errors.Join(ctx.Err(), a.Err()); err != nil {
		return job, err
	}
	if job, err = message.ParseJobID(w.caller.Job); err != nil {
		return job, &Error{Setup: true, text: "the API does not say which job a key names: use the same version of hyperscale at both ends"}
	}
	c.Own(job, key)
	return job, nil
}

// newRequest returns an id that no earlier try has.
func (c *Client) newRequest() message.RequestID {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.request.Counter++
	return c.request
}

// keyOf is the key that submitted a job; empty: it is not known here.
func (c *Client) keyOf(job message.JobID) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.keys[job]
}

// first is the gate that is asked first.
func (c *Client) first() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current
}

// prefer makes a gate the first, or the next one if it has failed.
func (c *Client) prefer(gate int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current = gate % len(c.gates)
}
