package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// serverConfig says what a server is.
type serverConfig struct {
	Kind     string // http1, http2, websocket, tcp, udp, grpc, mongodb, sse, ftp, sftp
	Listen   string
	StallAt  time.Duration // after the first request
	StallFor time.Duration
	Capacity float64 // answers a second; 0: as many as it can
	Delay    time.Duration
	Arrivals int           // of how many requests the time of arrival is kept
	Ledger   string        // a file that keeps the count when the process is killed; empty: none
	Pings    time.Duration // between two to each connection; 0: none. Then a connection takes little memory
}

// counter is what a server tells of itself, whenever it is asked.
type counter struct {
	requests tallied
	stalled  atomic.Int64
	most     atomic.Int64 // connections at the same time
	pongs    atomic.Uint64
	base     time.Time
	arrivals []time.Duration // nil: not kept; the first `kept` are written
	kept     atomic.Int64
}

func (n *counter) arrive(at time.Duration) {
	if i := n.kept.Load(); int(i) < len(n.arrivals) {
		n.arrivals[i] = at
		n.kept.Store(i + 1)
	}
}

// tally is the answer to a line on a server's standard input.
type tally struct {
	Requests uint64
	Stalled  time.Duration
	Most     int64 // connections at the same time
	Pongs    uint64
	Arrivals []time.Duration
}

// serve is a server's process: it says where it listens, answers each line of its
// standard input with a tally and ends with it.
func serve(text string) error {
	var c serverConfig
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return err
	}
	n := &counter{base: time.Now()}
	if c.Arrivals > 0 {
		n.arrivals = make([]time.Duration, c.Arrivals)
	}
	if c.Ledger != "" {
		if err := n.requests.open(c.Ledger); err != nil {
			return err
		}
	}
	var loop func() error
	var address string
	var err error
	switch c.Kind {
	case "http1":
		var f *fast
		if f, err = newFast(c, n); err == nil {
			loop = f.serve
			address, err = f.address()
		}
	case "http2":
		var b *batching
		if b, err = newBatching(c, n); err == nil {
			loop, address = b.serve, b.listener.Addr().String()
		}
	case "websocket":
		var e *echoing
		if e, err = newEchoing(c, n); err == nil {
			loop, address = e.serve, e.listener.Addr().String()
		}
	case "grpc":
		var s *calling
		if s, err = newCalling(c, n); err == nil {
			loop, address = s.serve, s.listener.Addr().String()
		}
	case "tcp":
		var e *repeating
		if e, err = newRepeating(c, n); err == nil {
			loop, address = e.serve, e.listener.Addr().String()
		}
	case "mongodb":
		var f *finding
		if f, err = newFinding(c, n); err == nil {
			loop, address = f.serve, f.listener.Addr().String()
		}
	case "sse":
		var e *telling
		if e, err = newTelling(c, n); err == nil {
			loop, address = e.serve, e.listener.Addr().String()
		}
	case "ftp", "sftp":
		var f *filing
		if f, err = newFiling(c, n); err == nil {
			loop, address = f.serve, f.listener.Addr().String()
		}
	case "udp":
		var e *reflecting
		if e, err = newReflecting(c, n); err == nil {
			loop, address = e.serve, e.socket.LocalAddr().String()
		}
	default:
		err = fmt.Errorf("no server is called %q", c.Kind)
	}
	if err != nil {
		return err
	}
	fmt.Println(address)
	failed := make(chan error, 2)
	go func() { failed <- loop() }()
	go func() { failed <- n.answer(os.Stdin, os.Stdout) }()
	return <-failed
}

func (n *counter) answer(in io.Reader, out io.Writer) error {
	lines, answers := bufio.NewScanner(in), json.NewEncoder(out)
	for lines.Scan() {
		t := tally{Requests: n.requests.Load(), Stalled: time.Duration(n.stalled.Load()), Most: n.most.Load(), Pongs: n.pongs.Load(), Arrivals: n.arrivals[:n.kept.Load()]}
		if err := answers.Encode(t); err != nil {
			return err
		}
	}
	return lines.Err()
}

// server is a server's process from outside.
type server struct {
	cmd     *exec.Cmd
	in      io.WriteCloser // nil: a server that is not ours
	out     *bufio.Reader
	Address string
	tls     bool
	count   func() (uint64, error) // of a server that is not ours; nil: it does not count

	// Of a server that is killed.
	udp   bool            // it takes no connections of TCP
	ended <-chan struct{} // its process
	after func()          // cleans up; nil: there is nothing
}

func (s *server) url() string {
	if s.tls {
		return "https://" + s.Address + "/"
	}
	return "http://" + s.Address + "/"
}

// startServer starts one of our servers.
func startServer(c serverConfig, cpus []int) (*server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if c.Listen == "" {
		c.Listen = "127.0.0.1:0"
	}
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	s := &server{cmd: exec.Command(self, "serve", string(text))}
	s.cmd.Stderr = os.Stderr
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewReader(out)
	if err := startOn(s.cmd, cpus); err != nil {
		return nil, err
	}
	line, err := s.out.ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the %s server did not start: %w", c.Kind, err), s.close())
	}
	s.Address = strings.TrimSpace(line)
	return s, nil
}

// tally asks one of our servers; another's is always empty.
func (s *server) tally() (tally, error) {
	var t tally
	if s.count != nil {
		n, err := s.count()
		return tally{Requests: n}, err
	}
	if s.in == nil {
		return t, nil
	}
	if _, err := io.WriteString(s.in, "\n"); err != nil {
		return t, err
	}
	line, err := s.out.ReadBytes('\n')
	if err != nil {
		return t, err
	}
	return t, json.Unmarshal(line, &t)
}

func (s *server) close() error {
	if s.in != nil {
		_ = s.in.Close() // the kill comes anyway
	}
	_ = s.cmd.Process.Kill() // it may have gone
	_ = s.cmd.Wait()         // it was killed: there is nothing to tell
	return nil
}

// startNginx starts nginx with one worker; option is " http2", or empty for HTTP/1.1.
func startNginx(dir string, cpus []int, option string) (*server, error) {
	path := lookup("nginx", "/usr/sbin/nginx", "/usr/local/sbin/nginx")
	if path == "" {
		return nil, errors.New("nginx is missing: apt-get install nginx")
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "nginx.conf")
	text := fmt.Sprintf(`daemon off; master_process off; worker_processes 1; pid %[1]s/nginx.pid; error_log %[1]s/nginx.err;
events { worker_connections 4096; }
http { access_log off; keepalive_requests 1000000000; client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi;
 uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi; http2_max_concurrent_streams 256;
 server { listen %[2]s%[3]s; location / { default_type text/plain; return 200 "0123456789012345678901234567890123456789"; } } }
`, dir, address, option)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		return nil, err
	}
	s := &server{cmd: exec.Command(path, "-c", config, "-p", dir), Address: address}
	s.cmd.Stderr = io.Discard // it says again what is in its file
	if err := startOn(s.cmd, cpus); err != nil {
		return nil, err
	}
	for range 100 {
		if c, err := net.DialTimeout("tcp", address, time.Second); err == nil {
			return s, c.Close()
		}
		time.Sleep(20 * time.Millisecond)
	}
	said, _ := os.ReadFile(filepath.Join(dir, "nginx.err")) // without it the error is shorter
	return nil, errors.Join(fmt.Errorf("nginx does not answer at %s: %s", address, said), s.close())
}

// startTLS starts the program's own test server, with a certificate that it makes.
func startTLS(binary string, cpus []int) (*server, error) {
	s := &server{cmd: exec.Command(binary, "target", "--listen", "127.0.0.1:0", "--tls")}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := startOn(s.cmd, cpus); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	address, ok := strings.CutPrefix(word(line, 0), "https://")
	if err != nil || !ok {
		return nil, errors.Join(fmt.Errorf("hyperscale target --tls says %q: %w", line, err), s.close())
	}
	s.Address, s.tls = strings.TrimSuffix(address, "/"), true
	return s, nil
}

// lateness tells how late requests arrived that should have come evenly at a rate:
// beyond the one that came earliest for its number.
func lateness(arrivals []time.Duration, rate float64) []time.Duration {
	late := slices.Clone(arrivals)
	for i := range late {
		late[i] -= time.Duration(float64(i) / rate * float64(time.Second))
	}
	if len(late) == 0 {
		return nil
	}
	slices.Sort(late)
	first := late[0]
	for i := range late {
		late[i] -= first
	}
	return late
}

// at returns the value at quantile q of sorted values, nearest rank.
func at(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return untold
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}
