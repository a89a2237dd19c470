package redistest

import (
	"bufio"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hyperscale/runtime/protocol/hostile/authority"
	"hyperscale/runtime/protocol/hostile/hostiletest"
)

// Server is a redis-server that runs.
type Server struct {
	tb      testing.TB
	port    int
	process *exec.Cmd
	ended   chan struct{} // closed when the process has
	conn    net.Conn
	reader  *bufio.Reader
	args    []string
	TLS     string // the address that speaks TLS; empty: none
}

// Start starts a server without data. Arguments are those of redis-server, such as "--requirepass".
func Start(tb testing.TB, args ...string) *Server {
	tb.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("HYPERSCALE_CI") != "" {
			tb.Fatal("redis-server is missing: .ci/run installs it")
		}
		tb.Skip("redis-server is missing")
	}
	for try := 1; ; try++ { // a port may be taken before the server has it
		s := &Server{tb: tb, port: hostiletest.FreePort(tb), args: slices.Clone(args)}
		for i, a := range s.args {
			if a == anyPort {
				s.args[i] = strconv.Itoa(hostiletest.FreePort(tb))
			}
		}
		if err = s.run(program, s.args); err == nil {
			return s
		}
		if try == 5 {
			tb.Fatal(err)
		}
	}
}

// anyPort is an argument that stands for a free port.
const anyPort = "any-port"

func (s *Server) run(program string, args []string) error {
	dir := s.tb.TempDir()
	own := []string{"--port", strconv.Itoa(s.port), "--bind", "127.0.0.1", "--dir", dir, "--save", "", "--appendonly", "no", "--maxclients", "4000"}
	s.process = exec.Command(program, append(own, args...)...)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	s.process.Stdout, s.process.Stderr = log, log
	if err := s.process.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	s.ended = ended
	go func() {
		_ = s.process.Wait() // it is killed
		close(ended)
	}()
	s.tb.Cleanup(s.Kill)
	for until := time.Now().Add(10 * time.Second); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		if s.conn, err = net.Dial("tcp", s.Address()); err == nil {
			s.reader = bufio.NewReader(s.conn)
			s.tb.Cleanup(func() { _ = s.conn.Close() })
			if s.serves() {
				return nil
			}
			err = errors.New("it takes a connection, and answers nothing")
		}
		select {
		case <-ended:
			text, _ := os.ReadFile(log.Name())
			return fmt.Errorf("redis-server has ended: %s", text)
		default:
		}
	}
	return fmt.Errorf("redis-server does not listen: %w", err)
}

// serves reports that the server answers: one that finds its second port taken ends after it listened.
func (s *Server) serves() bool {
	_ = s.conn.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := io.WriteString(s.conn, "ready\r\n"); err != nil { // no command: no statistic counts it
		return false
	}
	if _, err := s.reader.ReadString('\n'); err != nil {
		return false
	}
	return s.conn.SetDeadline(time.Time{}) == nil
}

// Secure starts a server that also speaks TLS, with the certificate of an honest server.
func Secure(tb testing.TB, args ...string) *Server {
	tb.Helper()
	own := authority.Honest().Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(own.PrivateKey)
	if err != nil {
		tb.Fatal(err)
	}
	dir := tb.TempDir()
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: own.Certificate[0]}, "key.pem": {Type: "PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	s := Start(tb, append([]string{"--tls-port", anyPort, "--tls-cert-file", filepath.Join(dir, "cert.pem"), "--tls-key-file", filepath.Join(dir, "key.pem"), "--tls-ca-cert-file", filepath.Join(dir, "cert.pem"), "--tls-auth-clients", "no"}, args...)...)
	s.TLS = "127.0.0.1:" + s.args[1]
	return s
}

// Kill ends the server, and waits for that.
func (s *Server) Kill() {
	_ = s.process.Process.Kill() // it may have ended
	<-s.ended
}

// Address is host:port, without TLS.
func (s *Server) Address() string { return "127.0.0.1:" + strconv.Itoa(s.port) }

// URL is where clients connect, without TLS.
func (s *Server) URL() string { return "redis://" + s.Address() }

// SecureURL is where clients connect with TLS.
func (s *Server) SecureURL() string { return "rediss://" + s.TLS }

// Ask asks a command and returns its answer as text; an array's values stand in a line each.
func (s *Server) Ask(words ...string) string {
	s.tb.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	if _, err := io.WriteString(s.conn, b.String()); err != nil {
		s.tb.Fatal(err)
	}
	return s.answer()
}

func (s *Server) answer() string {
	line, err := s.reader.ReadString('\n')
	if err != nil {
		s.tb.Fatal(err)
	}
	line = strings.TrimSpace(line)
	n, _ := strconv.Atoi(line[1:])
	switch {
	case line[0] == '$' && n >= 0:
		text := make([]byte, n+2)
		if _, err := io.ReadFull(s.reader, text); err != nil {
			s.tb.Fatal(err)
		}
		return string(text[:n])
	case line[0] == '*':
		var all []string
		for range n {
			all = append(all, s.answer())
		}
		return strings.Join(all, "\n")
	}
	return line
}

// Calls returns how often clients called each command, by its name in upper case, with those that
// the server rejected. Its own commands are not in it, nor those of greetings.
func (s *Server) Calls() map[string]uint64 {
	s.tb.Helper()
	all := map[string]uint64{}
	for _, line := range strings.Split(s.Ask("INFO", "commandstats"), "\r\n") {
		name, figures, found := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":")
		if !found {
			continue
		}
		switch name, _, _ = strings.Cut(strings.ToUpper(name), "|"); name {
		case "INFO", "CONFIG", "AUTH", "HELLO", "SELECT", "CLIENT", "ACL", "CLUSTER", "READONLY":
			continue
		}
		for _, figure := range strings.Split(figures, ",") {
			key, value, _ := strings.Cut(figure, "=")
			if key == "calls" || key == "rejected_calls" {
				n, err := strconv.ParseUint(value, 10, 64)
				if err != nil {
					s.tb.Fatal(line)
				}
				all[name] += n
			}
		}
	}
	return all
}

// Called is the sum of Calls.
func (s *Server) Called() (n uint64) {
	for _, calls := range s.Calls() {
		n += calls
	}
	return n
}

// Settled is Called once the server has read all that clients sent before they closed.
func (s *Server) Settled() uint64 {
	for until := time.Now().Add(10 * time.Second); time.Now().Before(until); time.Sleep(2 * time.Millisecond) {
		if s.Clients() == 1 {
			break
		}
	}
	return s.Called()
}

// Clients is how many connections the server has, with the test's own.
func (s *Server) Clients() int {
	for _, line := range strings.Split(s.Ask("INFO", "clients"), "\r\n") {
		if n, found := strings.CutPrefix(line, "connected_clients:"); found {
			count, _ := strconv.Atoi(n)
			return count
		}
	}
	return 0
}
