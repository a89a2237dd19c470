package smtptest

import (
	"bufio"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/textproto"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hyperscale/runtime/protocol/hostile/authority"
)

//go:embed server.py
var script []byte

// User and Password are those that the server knows.
const (
	User     = "app"
	Password = "geheim"
)

// Server is an aiosmtpd that runs.
type Server struct {
	tb    testing.TB
	ports []string
}

// python is Debian's: it has Debian's packages.
const python = "/usr/bin/python3"

// lacks says that a program is missing.
func lacks(tb testing.TB, what string) {
	tb.Helper()
	if os.Getenv("HYPERSCALE_CI") != "" {
		tb.Fatal(what + " is missing: .ci/run installs it")
	}
	tb.Skip(what + " is missing")
}

// Start starts a server.
func Start(tb testing.TB) *Server {
	tb.Helper()
	if err := exec.Command(python, "-c", "import aiosmtpd").Run(); err != nil {
		lacks(tb, "python3-aiosmtpd")
	}
	dir := tb.TempDir()
	certificate, key, _ := authority.Files()
	for name, b := range map[string][]byte{"server.py": script, "cert.pem": certificate, "key.pem": key} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	process := exec.Command(python, "-W", "ignore", "server.py", "cert.pem", "key.pem")
	process.Dir = dir
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		tb.Fatal(err)
	}
	process.Stderr = log
	out, err := process.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := process.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = process.Process.Kill()
		_ = process.Wait() // it is killed
		_ = log.Close()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	s := &Server{tb, strings.Fields(line)}
	if err != nil || len(s.ports) != 4 {
		text, _ := os.ReadFile(log.Name())
		tb.Fatalf("aiosmtpd does not start: %v %s", err, text)
	}
	return s
}

// URL is where clients hand over in clear, by PIPELINING.
func (s *Server) URL() string { return "smtp://127.0.0.1:" + s.ports[0] }

// PlainURL is the same without PIPELINING.
func (s *Server) PlainURL() string { return "smtp://127.0.0.1:" + s.ports[1] }

// StartTLSURL is where clients begin TLS and prove their user.
func (s *Server) StartTLSURL() string { return "smtp://127.0.0.1:" + s.ports[2] }

// SecureURL is where they do in TLS from the first byte.
func (s *Server) SecureURL() string { return "smtps://127.0.0.1:" + s.ports[3] }

// Counts are what a server has accepted, and how many connections it greeted.
type Counts struct{ Messages, Recipients, Connections uint64 }

// ask asks the server by VRFY, on a connection that it does not count.
func (s *Server) ask(what string) string {
	s.tb.Helper()
	c, err := net.Dial("tcp", "127.0.0.1:"+s.ports[1])
	if err != nil {
		s.tb.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	t := textproto.NewConn(c)
	for _, say := range []string{"", "HELO test", "VRFY " + what} {
		if say != "" {
			err = t.PrintfLine("%s", say)
		}
		code, text, failed := t.ReadResponse(0)
		switch {
		case err != nil || failed != nil:
			s.tb.Fatal(err, failed)
		case code == 252:
			return text
		}
	}
	s.tb.Fatal("no answer to VRFY")
	return ""
}

// Counts returns what the server counts.
func (s *Server) Counts() (c Counts) {
	s.tb.Helper()
	if _, err := fmt.Sscan(s.ask("counts"), &c.Messages, &c.Recipients, &c.Connections); err != nil {
		s.tb.Fatal(err)
	}
	return c
}

// Last returns the message that came last.
func (s *Server) Last() string {
	s.tb.Helper()
	b, err := hex.DecodeString(s.ask("last"))
	if err != nil {
		s.tb.Fatal(err)
	}
	return string(b)
}

// Parts returns what Python's email parser makes of that: its subject, then of each part that holds no others its
// type, its disposition, its file name, its length and its SHA-256. Defects that it finds are the only line.
func (s *Server) Parts() (all []string) {
	s.tb.Helper()
	b, err := hex.DecodeString(s.ask("parts"))
	if err != nil {
		s.tb.Fatal(err)
	}
	if err := json.Unmarshal(b, &all); err != nil {
		s.tb.Fatal(err)
	}
	return all
}
