package mysqltest

import (
	"fmt"
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

// Server is a MariaDB server that runs.
type Server struct {
	tb      testing.TB
	port    int
	as      []string // --user, as root
	owner   [2]int   // user and group, as root
	process *exec.Cmd
	asked   atomic.Uint64 // statements of Ask and Count
}

// Password is that of the users native and ed25519, which prove it as their name says. The user secure
// needs TLS, cert a certificate of the authority with its name, and app and root need nothing.
const Password = "geheim"

// Start starts a server with an empty database shop. Arguments are options: "--max-connections=400".
func Start(tb testing.TB, options ...string) *Server {
	tb.Helper()
	for _, name := range []string{"mariadbd", "mariadb-install-db", "mariadb"} {
		if _, err := exec.LookPath(sbin(name)); err != nil {
			hostiletest.Missing(tb, name, "mariadb-server")
		}
	}
	s := &Server{tb: tb}
	dir, err := os.MkdirTemp("", "mysql")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	if os.Geteuid() == 0 {
		u, err := user.Lookup("mysql")
		if err != nil {
			hostiletest.Missing(tb, "user mysql", "mariadb-server")
		}
		s.as = []string{"--user=mysql"}
		s.owner[0], _ = strconv.Atoi(u.Uid)
		s.owner[1], _ = strconv.Atoi(u.Gid)
		if err := os.Chown(dir, s.owner[0], s.owner[1]); err != nil {
			tb.Fatal(err)
		}
	}
	options = append(s.secure(dir), options...)
	data := "--datadir=" + filepath.Join(dir, "data")
	const small = "--innodb-log-file-size=8M"
	if out, err := s.command("mariadb-install-db", append([]string{"--no-defaults", data, small, "--auth-root-authentication-method=normal", "--skip-test-db"}, s.as...)...).CombinedOutput(); err != nil {
		tb.Fatalf("mariadb-install-db: %v: %s", err, out)
	}
	for try := 1; ; try++ { // the port may be taken before the server has it
		if err = s.run(dir, append([]string{data, small}, options...)); err == nil {
			break
		}
		if try == 5 {
			tb.Fatal(err)
		}
	}
	s.Ask("create database shop", "create user app@'127.0.0.1'", "create user native@'127.0.0.1' identified by '"+Password+"'",
		"install soname 'auth_ed25519'", "create user ed25519@'127.0.0.1' identified via ed25519 using password('"+Password+"')",
		"create user secure@'127.0.0.1' require ssl", "create user cert@'127.0.0.1' require subject '/CN=cert'",
		"grant all on shop.* to secure@'127.0.0.1'", "grant all on shop.* to cert@'127.0.0.1'", "grant all on *.* to app@'127.0.0.1'", "grant all on shop.* to native@'127.0.0.1'", "grant all on shop.* to ed25519@'127.0.0.1'")
	return s
}

// secure gives the server the certificate of the honest one.
func (s *Server) secure(dir string) []string {
	certificate, key, root := authority.Files()
	for name, text := range map[string][]byte{"server.crt": certificate, "server.key": key, "root.crt": root} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			s.tb.Fatal(err)
		}
		if os.Geteuid() == 0 {
			if err := os.Chown(path, s.owner[0], s.owner[1]); err != nil {
				s.tb.Fatal(err)
			}
		}
	}
	return []string{"--ssl-cert=" + filepath.Join(dir, "server.crt"), "--ssl-key=" + filepath.Join(dir, "server.key"), "--ssl-ca=" + filepath.Join(dir, "root.crt")}
}

// sbin finds a program that is not on everyone's path.
func sbin(name string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	return "/usr/sbin/" + name
}

// command is one of the server's programs.
func (s *Server) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(sbin(name), args...)
	c.Dir = "/"
	c.Env = []string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL=C", "TZ=UTC"}
	return c
}

func (s *Server) run(dir string, options []string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.port = l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	args := append([]string{"--no-defaults", "--port=" + strconv.Itoa(s.port), "--bind-address=127.0.0.1", "--socket=" + filepath.Join(dir, "s"), "--pid-file=" + filepath.Join(dir, "pid"),
		"--skip-name-resolve", "--max-connections=500", "--innodb-buffer-pool-size=16M", "--innodb-flush-log-at-trx-commit=0", "--skip-innodb-doublewrite", "--thread-cache-size=64"}, s.as...)
	s.process = s.command("mariadbd", append(args, options...)...)
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
		_ = s.process.Process.Signal(syscall.SIGKILL) // its data is thrown away
		<-ended
	})
	for until := time.Now().Add(30 * time.Second); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if s.client("select 1").Run() == nil {
			return nil
		}
		select {
		case <-ended:
			text, _ := os.ReadFile(log.Name())
			return fmt.Errorf("mariadbd has ended: %s", text)
		default:
		}
	}
	return fmt.Errorf("mariadbd does not answer on port %d", s.port)
}

func (s *Server) client(statement string) *exec.Cmd {
	return s.command("mariadb", "--no-defaults", "-h127.0.0.1", "-P"+strconv.Itoa(s.port), "-uroot", "--default-character-set=utf8mb4", "-N", "-B", "-e", statement)
}

// URL is where a user connects.
func (s *Server) URL(user string) string {
	return fmt.Sprintf("mysql://%s@127.0.0.1:%d/shop", user, s.port)
}

// Address is host:port.
func (s *Server) Address() string { return "127.0.0.1:" + strconv.Itoa(s.port) }

// Ask runs statements as root, and returns what they return: a row a line, its values with a tab
// between.
func (s *Server) Ask(statements ...string) string {
	s.tb.Helper()
	out, err := s.client(strings.Join(statements, ";")).CombinedOutput()
	if err != nil {
		s.tb.Fatalf("%q: %v: %s", statements, err, out)
	}
	s.asked.Add(uint64(len(statements)))
	return strings.TrimSpace(string(out))
}

// Counted is what the server counted for everyone but Ask.
type Counted struct {
	Questions  uint64 // statements, of text and prepared, without the goodbye of each connection
	Executed   uint64 // prepared ones
	Prepared   uint64 // preparations
	Kept       uint64 // statements that are prepared now
	Begun      uint64
	Committed  uint64
	RolledBack uint64
	Sessions   uint64 // connections, admitted or not
}

// Count waits until no one else is connected, and returns what the server counted.
func (s *Server) Count() Counted {
	s.tb.Helper()
	for until := time.Now().Add(30 * time.Second); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		all := map[string]uint64{}
		for line := range strings.Lines(s.Ask("show global status where variable_name in ('Questions', 'Com_stmt_execute', 'Com_stmt_prepare', 'Prepared_stmt_count', 'Com_begin', 'Com_commit', 'Com_rollback', 'Connections', 'Threads_connected')")) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), "\t")
			n, err := strconv.ParseUint(value, 10, 64)
			if err != nil {
				s.tb.Fatalf("%q: %v", line, err)
			}
			all[name] = n
		}
		if all["Threads_connected"] == 1 {
			return Counted{
				Questions: all["Questions"] - s.asked.Load() - all["Connections"], Executed: all["Com_stmt_execute"], Prepared: all["Com_stmt_prepare"], Kept: all["Prepared_stmt_count"],
				Begun: all["Com_begin"], Committed: all["Com_commit"], RolledBack: all["Com_rollback"], Sessions: all["Connections"],
			}
		}
	}
	s.tb.Fatal("connections do not end")
	return Counted{}
}
