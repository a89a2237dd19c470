package mqtttest

import (
	"fmt"
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

// Server is a mosquitto that runs.
type Server struct {
	tb      testing.TB
	ports   [3]int // in clear, by TLS, and by TLS with a certificate of the client
	log     string // path
	process *exec.Cmd
	ended   chan struct{}
}

// Start starts a server without TLS, and beside it on other ports with. Config is what its file has in
// front: in place of DIR stands a directory with what Files names.
func Start(tb testing.TB, config string, files ...File) *Server {
	tb.Helper()
	program := programOf(tb, "mosquitto")
	for try := 1; ; try++ { // a port may be taken before the server has it
		s := &Server{tb: tb, ports: [3]int{hostiletest.FreePort(tb), hostiletest.FreePort(tb), hostiletest.FreePort(tb)}}
		err := s.run(program, config, files)
		if err == nil {
			return s
		}
		if try == 5 {
			tb.Fatal(err)
		}
	}
}

// File is a file that the server reads.
type File struct{ Name, Text string }

// Passwords is a file of users, each as "name:password" in a line.
func Passwords(tb testing.TB, users string) File {
	tb.Helper()
	at := filepath.Join(tb.TempDir(), "passwords")
	if err := os.WriteFile(at, []byte(users), 0o600); err != nil {
		tb.Fatal(err)
	}
	if out, err := exec.Command(programOf(tb, "mosquitto_passwd"), "-U", at).CombinedOutput(); err != nil {
		tb.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(at)
	if err != nil {
		tb.Fatal(err)
	}
	return File{"passwords", string(text)}
}

func programOf(tb testing.TB, name string) string {
	tb.Helper()
	for _, at := range []string{name, "/usr/sbin/" + name} {
		if program, err := exec.LookPath(at); err == nil {
			return program
		}
	}
	if os.Getenv("HYPERSCALE_CI") != "" {
		tb.Fatal(name + " is missing: .ci/run installs it")
	}
	tb.Skip(name + " is missing")
	return ""
}

// settings are behind what a test wants: a queue that drops nothing here. With no bound (0) this server ends connections behind each refusal.
const settings = `
user root
sys_interval 1
persistence false
max_queued_messages 1000000
max_inflight_messages 0
log_dest stderr
log_type all
connection_messages true
listener PORT 127.0.0.1
listener SECURE 127.0.0.1
cafile DIR/ca.pem
certfile DIR/cert.pem
keyfile DIR/key.pem
listener CERTIFIED 127.0.0.1
cafile DIR/ca.pem
certfile DIR/cert.pem
keyfile DIR/key.pem
require_certificate true
use_identity_as_username true
`

func (s *Server) run(program, config string, files []File) error {
	dir := s.tb.TempDir()
	certificate, key, ca := authority.Files()
	if !strings.Contains(config, "allow_anonymous") {
		config += "\nallow_anonymous true"
	}
	text := strings.NewReplacer("DIR", dir, "PORT", strconv.Itoa(s.ports[0]), "SECURE", strconv.Itoa(s.ports[1]), "CERTIFIED", strconv.Itoa(s.ports[2])).Replace(config + settings)
	files = append(files, File{"server.conf", text}, File{"cert.pem", string(certificate)}, File{"key.pem", string(key)}, File{"ca.pem", string(ca)})
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), []byte(f.Text), 0o600); err != nil {
			return err
		}
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	s.log = log.Name()
	s.process, s.ended = exec.Command(program, "-c", filepath.Join(dir, "server.conf")), make(chan struct{})
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
		if strings.Contains(s.text(), "running") {
			return nil
		}
		select {
		case <-s.ended:
			return fmt.Errorf("mosquitto has ended: %s", s.text())
		default:
		}
	}
	return fmt.Errorf("mosquitto does not run: %s", s.text())
}

// Kill ends the server.
func (s *Server) Kill() {
	_ = s.process.Process.Kill()
	<-s.ended
}

// Address is host:port.
func (s *Server) Address() string { return "127.0.0.1:" + strconv.Itoa(s.ports[0]) }

// URL is where clients connect.
func (s *Server) URL() string { return "mqtt://" + s.Address() }

// SecureURL is where clients connect by TLS.
func (s *Server) SecureURL() string { return "mqtts://127.0.0.1:" + strconv.Itoa(s.ports[1]) }

// CertifiedURL is where clients connect by TLS, and show a certificate that names them.
func (s *Server) CertifiedURL() string { return "mqtts://127.0.0.1:" + strconv.Itoa(s.ports[2]) }
