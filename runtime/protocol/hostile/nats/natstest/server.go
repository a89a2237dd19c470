package natstest

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"hyperscale/runtime/protocol/hostile/authority"
	"hyperscale/runtime/protocol/hostile/hostiletest"
)

// Server is a nats-server that runs.
type Server struct {
	tb            testing.TB
	port, monitor int
	process       *exec.Cmd
	ended         chan struct{}
}

// Start starts a server. Config is what its file has beside ports and, in place of STORE, CERT and KEY,
// paths of its own.
func Start(tb testing.TB, config string) *Server {
	tb.Helper()
	program, err := exec.LookPath("nats-server")
	if err != nil {
		if os.Getenv("HYPERSCALE_CI") != "" {
			tb.Fatal("nats-server is missing: .ci/run installs it")
		}
		tb.Skip("nats-server is missing")
	}
	for try := 1; ; try++ { // a port may be taken before the server has it
		s := &Server{tb: tb, port: hostiletest.FreePort(tb), monitor: hostiletest.FreePort(tb)}
		if err = s.run(program, config); err == nil {
			return s
		}
		if try == 5 {
			tb.Fatal(err)
		}
	}
}

func (s *Server) run(program, config string) error {
	dir := s.tb.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	certificate, key, _ := authority.Files()
	config = strings.NewReplacer("STORE", at("store"), "CERT", at("cert.pem"), "KEY", at("key.pem")).Replace(config)
	text := fmt.Sprintf("host: 127.0.0.1\nport: %d\nhttp: 127.0.0.1:%d\n%s\n", s.port, s.monitor, config)
	for name, b := range map[string][]byte{"server.conf": []byte(text), "cert.pem": certificate, "key.pem": key} {
		if err := os.WriteFile(at(name), b, 0o600); err != nil {
			return err
		}
	}
	log, err := os.Create(at("log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	s.process, s.ended = exec.Command(program, "-c", at("server.conf")), make(chan struct{})
	s.process.Stdout, s.process.Stderr = log, log
	if err := s.process.Start(); err != nil {
		return err
	}
	go func() {
		_ = s.process.Wait() // it is killed
		close(s.ended)
	}()
	s.tb.Cleanup(s.Kill)
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		if c, err := net.Dial("tcp", s.Address()); err == nil {
			return c.Close()
		}
		select {
		case <-s.ended:
			text, _ := os.ReadFile(log.Name())
			return fmt.Errorf("nats-server has ended: %s", text)
		default:
		}
	}
	return fmt.Errorf("nats-server does not listen at %s", s.Address())
}

// Kill ends the server.
func (s *Server) Kill() {
	_ = s.process.Process.Kill()
	<-s.ended
}

// Address is host:port.
func (s *Server) Address() string { return "127.0.0.1:" + strconv.Itoa(s.port) }

// URL is where clients connect, and SecureURL where they demand TLS.
func (s *Server) URL() string { return "nats://" + s.Address() }

// SecureURL is where clients connect and demand TLS.
func (s *Server) SecureURL() string { return "tls://" + s.Address() }

// counts is what the server tells of itself.
type counts struct {
	In       uint64 `json:"in_msgs"`
	Out      uint64 `json:"out_msgs"`
	Accepted uint64 `json:"total_connections"`
}

// Accepted counts the connections that the server has taken since it began.
func (s *Server) Accepted() uint64 {
	s.tb.Helper()
	return s.tells().Accepted
}

// Counts returns the messages that the server took, and those that it gave.
func (s *Server) Counts() (in, out uint64) {
	s.tb.Helper()
	v := s.tells()
	return v.In, v.Out
}

func (s *Server) tells() (v counts) {
	s.tb.Helper()
	r, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/varz", s.monitor))
	if err != nil {
		s.tb.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	if err := json.NewDecoder(r.Body).Decode(&v); err != nil {
		s.tb.Fatal(err)
	}
	return v
}

// Settled returns Counts when they do not change any more.
func (s *Server) Settled() (in, out uint64) {
	in, out = s.Counts()
	for range 500 { // a busy machine lets some connections of the server wait
		same := true
		for range 4 {
			time.Sleep(40 * time.Millisecond)
			moreIn, moreOut := s.Counts()
			same = same && moreIn == in && moreOut == out
			in, out = moreIn, moreOut
		}
		if same {
			break
		}
	}
	return in, out
}
