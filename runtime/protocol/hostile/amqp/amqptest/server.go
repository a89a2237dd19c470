package amqptest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hyperscale/runtime/protocol/hostile/authority"
	"hyperscale/runtime/protocol/hostile/hostiletest"
)

// User and Password are those of a user beside guest, which a certificate of that name proves, too.
const (
	User     = "app"
	Password = "geheim"
)

// Server is a RabbitMQ that runs.
type Server struct {
	tb              testing.TB
	port, tls, epmd int
	dir             string
	program         string
	broker          *process // nil: it has not started
}

// home is where Debian's package has what its command runs as a user of its own.
const home = "/usr/lib/rabbitmq/bin/rabbitmq-server"

const definitions = `{"vhosts":[{"name":"/"},{"name":"other"}],
"users":[{"name":"guest","password":"guest","tags":""},{"name":"app","password":"geheim","tags":""},{"name":"reader","password":"geheim","tags":""}],
"permissions":[{"user":"guest","vhost":"/","configure":".*","write":".*","read":".*"},{"user":"app","vhost":"/","configure":".*","write":".*","read":".*"},
{"user":"app","vhost":"other","configure":".*","write":".*","read":".*"},{"user":"reader","vhost":"/","configure":"","write":"","read":".*"}]}`

// Start starts a server, and ends it with the test.
func Start(tb testing.TB) *Server {
	tb.Helper()
	hostiletest.Need(tb, "rabbitmq-server", "rabbitmq-server")
	program := home
	if _, err := os.Stat(program); err != nil {
		program = "rabbitmq-server"
	}
	var err error
	for range 3 { // a port may be taken before the server has it
		s := &Server{tb: tb, port: hostiletest.FreePort(tb), tls: hostiletest.FreePort(tb), epmd: hostiletest.FreePort(tb), dir: tb.TempDir(), program: program}
		if err = s.run(); err == nil {
			return s
		}
	}
	tb.Fatal(err)
	return nil
}

func (s *Server) at(name string) string { return filepath.Join(s.dir, name) }

// files writes what the server reads.
func (s *Server) files() error {
	certificate, key, ca := authority.Files()
	config := fmt.Sprintf(`listeners.tcp.1 = 127.0.0.1:%d
listeners.ssl.1 = 127.0.0.1:%d
ssl_options.cacertfile = %s
ssl_options.certfile = %s
ssl_options.keyfile = %s
ssl_options.verify = verify_peer
ssl_options.fail_if_no_peer_cert = false
auth_mechanisms.1 = PLAIN
auth_mechanisms.2 = EXTERNAL
ssl_cert_login_from = common_name
load_definitions = %s
loopback_users = none
`, s.port, s.tls, s.at("ca.pem"), s.at("cert.pem"), s.at("key.pem"), s.at("definitions.json"))
	for name, b := range map[string][]byte{
		"rabbit.conf": []byte(config), "plugins": []byte("[rabbitmq_auth_mechanism_ssl].\n"), "definitions.json": []byte(definitions),
		"cert.pem": certificate, "key.pem": key, "ca.pem": ca,
	} {
		if err := os.WriteFile(s.at(name), b, 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) run() error {
	if err := s.files(); err != nil {
		return err
	}
	// The node is entered in a directory of nodes, epmd, which would outlive it if it started one itself.
	epmd, err := s.start("epmd", "epmd", "-port", strconv.Itoa(s.epmd), "-address", "127.0.0.1")
	if err != nil {
		return err
	}
	s.tb.Cleanup(func() {
		for _, p := range []*process{s.broker, epmd} {
			p.kill()
		}
	})
	return s.begin()
}

// Kill ends the server at once, with all that it has not written.
func (s *Server) Kill() { s.broker.kill() }

// Again starts a server that was killed, with what it had written.
func (s *Server) Again() {
	s.tb.Helper()
	if err := s.begin(); err != nil {
		s.tb.Fatal(err)
	}
}

// begin starts the broker itself, and waits until it is ready.
func (s *Server) begin() (err error) {
	if s.broker, err = s.start("log", s.program); err != nil {
		return err
	}
	for until := time.Now().Add(60 * time.Second); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		if text, _ := os.ReadFile(s.at("log")); strings.Contains(string(text), "completed with") {
			return nil // its ports are open, and its users are there
		}
		select {
		case <-s.broker.ended:
			text, _ := os.ReadFile(s.at("log"))
			return fmt.Errorf("rabbitmq-server has ended: %s", text)
		default:
		}
	}
	return fmt.Errorf("rabbitmq-server does not start at %s", s.Address())
}

// process is a program with what it has started.
type process struct {
	*exec.Cmd
	ended chan struct{}
}

// start starts a program in a group of its own, as the server is a child of a shell.
func (s *Server) start(log, program string, args ...string) (*process, error) {
	p := &process{exec.Command(program, args...), make(chan struct{})}
	out, err := os.Create(s.at(log))
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Close() }()
	p.Stdout, p.Stderr, p.SysProcAttr = out, out, &syscall.SysProcAttr{Setpgid: true}
	p.Env = append(os.Environ(), "HOME="+s.dir, "RABBITMQ_NODENAME=n"+strconv.Itoa(s.port)+"@localhost", "RABBITMQ_MNESIA_BASE="+s.at("mnesia"), "RABBITMQ_LOG_BASE="+s.at("logs"),
		"RABBITMQ_NODE_PORT="+strconv.Itoa(s.port), "RABBITMQ_DIST_PORT="+strconv.Itoa(hostiletest.FreePort(s.tb)), "RABBITMQ_CONFIG_FILE="+s.at("rabbit.conf"), "RABBITMQ_PID_FILE="+s.at("pid"),
		"RABBITMQ_ENABLED_PLUGINS_FILE="+s.at("plugins"), "RABBITMQ_CONF_ENV_FILE=/dev/null", "ERL_EPMD_PORT="+strconv.Itoa(s.epmd), "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=+sbwt none +sbwtdcpu none +sbwtdio none")
	if err := p.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.Wait() // it is killed
		close(p.ended)
	}()
	return p, nil
}

// kill ends a program and what it has started.
func (p *process) kill() {
	if p != nil {
		_ = syscall.Kill(-p.Process.Pid, syscall.SIGKILL)
		<-p.ended
	}
}

// Address is host:port.
func (s *Server) Address() string { return "127.0.0.1:" + strconv.Itoa(s.port) }

// URL is where clients connect, and SecureURL where they do so by TLS.
func (s *Server) URL() string { return "amqp://" + s.Address() }

// SecureURL is where clients connect by TLS.
func (s *Server) SecureURL() string { return "amqps://127.0.0.1:" + strconv.Itoa(s.tls) }
