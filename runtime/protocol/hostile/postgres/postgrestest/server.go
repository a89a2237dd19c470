package postgrestest

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"hyperscale/runtime/protocol/hostile/authority"
	"hyperscale/runtime/protocol/hostile/hostiletest"
)

// Server is a PostgreSQL server that runs.
type Server struct {
	tb      testing.TB
	bin     string
	port    int
	as      *syscall.Credential // nil: the test's own user
	process *exec.Cmd
}

// Password is that of the users scram, md5 and clear, which prove it as their name says, and of plus,
// which needs TLS. The user cert proves itself by a certificate of the authority, and app and postgres
// need nothing.
const Password = "geheim"

// Start starts a server with an empty database shop. Arguments are settings: "max_connections=400".
func Start(tb testing.TB, settings ...string) *Server {
	tb.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if path, err := exec.LookPath("initdb"); err == nil && len(found) == 0 {
		found = append(found, path)
	}
	if len(found) == 0 {
		hostiletest.Missing(tb, "initdb", "postgresql")
	}
	s := &Server{tb: tb, bin: filepath.Dir(found[len(found)-1])}
	dir, err := os.MkdirTemp("", "postgres")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	if os.Geteuid() == 0 {
		s.as = credential(tb)
		if err := os.Chown(dir, int(s.as.Uid), int(s.as.Gid)); err != nil {
			tb.Fatal(err)
		}
	}
	data := filepath.Join(dir, "data")
	if out, err := s.command("initdb", "-D", data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync").CombinedOutput(); err != nil {
		tb.Fatalf("initdb: %v: %s", err, out)
	}
	s.secure(data)
	const hosts = "hostssl all plus 127.0.0.1/32 scram-sha-256\nhostssl all cert 127.0.0.1/32 cert\nhost all plus,cert 127.0.0.1/32 reject\nhost all scram 127.0.0.1/32 scram-sha-256\nhost all md5 127.0.0.1/32 md5\nhost all clear 127.0.0.1/32 password\nhost all all 127.0.0.1/32 trust\n"
	if err := os.WriteFile(filepath.Join(data, "pg_hba.conf"), []byte(hosts), 0o644); err != nil {
		tb.Fatal(err)
	}
	for try := 1; ; try++ { // the port may be taken before the server has it
		if err = s.run(dir, data, settings); err == nil {
			break
		}
		if try == 5 {
			tb.Fatal(err)
		}
	}
	s.Ask("postgres", "create database shop", "create user app superuser", "create user scram password '"+Password+"'",
		"create user clear password '"+Password+"'", "create user plus password '"+Password+"'", "create user cert", "set password_encryption = 'md5'; create user md5 password '"+Password+"'")
	return s
}

// secure gives the server the certificate of the honest one.
func (s *Server) secure(data string) {
	certificate, key, root := authority.Files()
	for name, text := range map[string][]byte{"server.crt": certificate, "server.key": key, "root.crt": root} {
		path := filepath.Join(data, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			s.tb.Fatal(err)
		}
		if s.as != nil {
			if err := os.Chown(path, int(s.as.Uid), int(s.as.Gid)); err != nil {
				s.tb.Fatal(err)
			}
		}
	}
}

func credential(tb testing.TB) *syscall.Credential {
	u, err := user.Lookup("postgres")
	if err != nil {
		hostiletest.Missing(tb, "user postgres", "postgresql")
	}
	uid, _ := strconv.ParseUint(u.Uid, 10, 32)
	gid, _ := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// command is one of the server's programs.
func (s *Server) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(s.bin, name), args...)
	c.Dir = "/"
	c.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C", "TZ=UTC"}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: s.as}
	return c
}

func (s *Server) run(dir, data string, settings []string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.port = l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	args := []string{"-D", data, "-p", strconv.Itoa(s.port), "-h", "127.0.0.1", "-k", ""}
	for _, set := range append([]string{"fsync=off", "synchronous_commit=off", "full_page_writes=off", "autovacuum=off", "max_connections=150", "shared_buffers=32MB", "max_wal_senders=0", "wal_level=minimal", "ssl=on", "ssl_ca_file=root.crt"}, settings...) {
		args = append(args, "-c", set)
	}
	s.process = s.command("postgres", args...)
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
	go func() {
		_ = s.process.Wait() // it is stopped
		close(ended)
	}()
	s.tb.Cleanup(func() {
		_ = s.process.Process.Signal(syscall.SIGQUIT) // at once, its backends too
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			_ = s.process.Process.Kill()
			<-ended
		}
	})
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if s.command("pg_isready", "-q", "-h", "127.0.0.1", "-p", strconv.Itoa(s.port)).Run() == nil {
			return nil
		}
		select {
		case <-ended:
			text, _ := os.ReadFile(log.Name())
			return fmt.Errorf("postgres has ended: %s", text)
		default:
		}
	}
	return fmt.Errorf("postgres does not answer on port %d", s.port)
}

// URL is where a user connects.
func (s *Server) URL(user string) string {
	return fmt.Sprintf("postgres://%s@127.0.0.1:%d/shop", user, s.port)
}

// Address is host:port.
func (s *Server) Address() string { return "127.0.0.1:" + strconv.Itoa(s.port) }

// Relay takes TLS at once, as PostgreSQL 17 does, chooses one of the protocols by ALPN, and carries what is in TLS to
// the server. It returns its address, and how many connections came.
func (s *Server) Relay(protocols ...string) (address string, came *atomic.Int64) {
	s.tb.Helper()
	c := authority.Honest()
	c.NextProtos = protocols
	l, err := tls.Listen("tcp", "127.0.0.1:0", c)
	if err != nil {
		s.tb.Fatal(err)
	}
	s.tb.Cleanup(func() { _ = l.Close() })
	came = &atomic.Int64{}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			came.Add(1)
			go func() {
				defer func() { _ = c.Close() }()
				if c.(*tls.Conn).Handshake() != nil {
					return
				}
				to, err := net.Dial("tcp", s.Address())
				if err != nil {
					return
				}
				defer func() { _ = to.Close() }()
				go func() {
					_, _ = io.Copy(to, c)
					_ = to.(*net.TCPConn).CloseWrite()
				}()
				_, _ = io.Copy(c, to)
			}()
		}
	}()
	return l.Addr().String(), came
}

// Ask runs statements in a database, and returns what the last of them returns: a row a line, its
// values with a bar between.
func (s *Server) Ask(database string, statements ...string) string {
	s.tb.Helper()
	args := []string{"-h", "127.0.0.1", "-p", strconv.Itoa(s.port), "-U", "postgres", "-d", database, "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1"}
	for _, one := range statements {
		args = append(args, "-c", one)
	}
	out, err := s.command("psql", args...).Output()
	if err != nil {
		s.tb.Fatalf("%q: %v", statements, err)
	}
	return strings.TrimSpace(string(out))
}

// Counted is what the server counted for the database shop.
type Counted struct {
	Transactions uint64 // committed and rolled back, without those that begin a session
	Sessions     uint64
	Committed    uint64 // of Transactions
	RolledBack   uint64 // of Transactions
}

// Count waits until shop has no connection, and returns what the server counted for it.
func (s *Server) Count() (c Counted) {
	s.tb.Helper()
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		var open uint64
		text := s.Ask("postgres", "select numbackends || ' ' || xact_commit || ' ' || xact_rollback || ' ' || sessions from pg_stat_database where datname = 'shop'")
		if _, err := fmt.Sscan(text, &open, &c.Committed, &c.RolledBack, &c.Sessions); err != nil {
			s.tb.Fatalf("%q: %v", text, err)
		}
		if open == 0 {
			c.Committed -= c.Sessions
			c.Transactions = c.Committed + c.RolledBack
			return c
		}
	}
	s.tb.Fatal("connections to shop do not end")
	return c
}
