package target

import (
	"errors"
	"fmt"
	"net"
	"time"
)

// Limits that no option moves.
const (
	MaxSize = 64 << 20 // of a response body, in bytes
	maxBody = 1 << 40  // of a request body, which is counted and dropped
	maxWait = time.Hour
)

// Config says how the target behaves. Default fills it.
type Config struct {
	Listen     string        // host:port; port 0 lets the kernel choose
	TCP        string        // host:port that repeats what comes; empty: none does
	UDP        string        // host:port that repeats datagrams; empty: none does
	Latency    time.Duration // waited before each answer
	Jitter     time.Duration // latency varies evenly by up to this, both ways
	Size       int           // bytes of the body that "/" answers
	ErrorEvery int           // each N-th request gets status 500; 0 is never
	CloseEvery int           // each N-th request is read, then closed unanswered (HTTP/2: its stream is reset); 0 is never
	StallEvery int           // each N-th request waits StallFor; 0 is never
	StallFor   time.Duration
	TLS        bool // with a certificate signed by itself, made at start

	HeadTimeout time.Duration // from a head's first byte to its last; also a TLS handshake
	BodyTimeout time.Duration // a request's body, and for taking a response
	IdleTimeout time.Duration // between two requests
}

// Default is a small, fast and well-behaved target.
func Default() Config {
	return Config{
		Listen:   "127.0.0.1:8080",
		Size:     150,
		StallFor: 10 * time.Second,
		// Ten seconds is long for any honest client and short enough that a slow-loris
		// needs a new connection every ten seconds for each that it holds.
		HeadTimeout: 10 * time.Second,
		BodyTimeout: time.Minute,
		// Longer than the think time of any sensible test: a closed idle connection would
		// look like a failure of the target.
		IdleTimeout: 5 * time.Minute,
	}
}

// Validate reports all faults, each with the value and a remedy.
func (c Config) Validate() error {
	var faults []error
	add := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	_, _, err := net.SplitHostPort(c.Listen)
	add(err != nil, "listen = %q is not host:port: write it like 127.0.0.1:8080", c.Listen)
	if c.TCP != "" {
		_, _, err := net.SplitHostPort(c.TCP)
		add(err != nil, "tcp = %q is not host:port: write it like 127.0.0.1:7007", c.TCP)
	}
	if c.UDP != "" {
		_, _, err := net.SplitHostPort(c.UDP)
		add(err != nil, "udp = %q is not host:port: write it like 127.0.0.1:7007", c.UDP)
	}
	add(c.Size < 0 || c.Size > MaxSize, "size = %d is not within 0 and %d bytes: choose a size in between", c.Size, MaxSize)
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"latency", c.Latency}, {"jitter", c.Jitter}, {"stall_for", c.StallFor}} {
		add(d.value < 0 || d.value > maxWait, "%s = %v is not within 0s and %v: choose a duration in between", d.name, d.value, maxWait)
	}
	add(c.Jitter > c.Latency, "jitter = %v exceeds latency = %v: raise latency or lower jitter", c.Jitter, c.Latency)
	for _, n := range []struct {
		name  string
		value int
	}{{"error_every", c.ErrorEvery}, {"close_every", c.CloseEvery}, {"stall_every", c.StallEvery}} {
		add(n.value < 0, "%s = %d is negative: use 0 for never", n.name, n.value)
	}
	add(c.StallEvery > 0 && c.StallFor == 0, "stall_for = 0s makes stall_every = %d do nothing: set how long to stall", c.StallEvery)
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"head_timeout", c.HeadTimeout}, {"body_timeout", c.BodyTimeout}, {"idle_timeout", c.IdleTimeout}} {
		add(d.value <= 0 || d.value > 24*time.Hour, "%s = %v is not within 1ns and 24h: start from Default", d.name, d.value)
	}
	return errors.Join(faults...)
}
