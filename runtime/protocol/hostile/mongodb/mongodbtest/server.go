package mongodbtest

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"hyperscale/runtime/protocol/hostile/authority"
	"hyperscale/runtime/protocol/hostile/postgres/postgrestest"
)

// Password is that of the user app, whom a server with users knows.
const Password = "geheim"

// Server is a FerretDB that runs.
type Server struct {
	tb                    testing.TB
	plain, secure, metric string // addresses
	store                 *postgrestest.Server
}

// program builds FerretDB, and returns where it is.
var program = sync.OnceValues(func() (string, error) {
	_, file, _, _ := runtime.Caller(0)
	root := filepath.Join(filepath.Dir(file), "..", "..", "..", "..", "..")
	dir := filepath.Join(root, "out", "servers")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	lock, err := os.Create(filepath.Join(dir, "lock"))
	if err != nil {
		return "", err
	}
	defer func() { _ = lock.Close() }()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil { // of other packages' tests
		return "", err
	}
	if text, err := exec.Command(filepath.Join(root, "bench", "servers", "ferretdb", "build"), dir).CombinedOutput(); err != nil {
		return "", fmt.Errorf("bench/servers/ferretdb/build: %w: %s", err, text)
	}
	return filepath.Join(dir, "ferretdb"), nil
})

// Start starts a server that knows no users. With arguments "users" it knows app, by SCRAM.
func Start(tb testing.TB, args ...string) *Server {
	tb.Helper()
	path, err := program()
	if err != nil {
		if os.Getenv("HYPERSCALE_CI") != "" {
			tb.Fatal(err)
		}
		tb.Skip(err)
	}
	s := &Server{tb: tb, store: postgrestest.Start(tb)}
	for try := 1; ; try++ { // a port may be taken before the server has it
		if err = s.run(path, args); err == nil {
			return s
		}
		if try == 5 {
			tb.Fatal(err)
		}
	}
}

func (s *Server) run(path string, args []string) error {
	dir := s.tb.TempDir()
	certificate, key, _ := authority.Files()
	files := [2]string{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")}
	for i, b := range [][]byte{certificate, key} {
		if err := os.WriteFile(files[i], b, 0o600); err != nil {
			return err
		}
	}
	for _, address := range []*string{&s.plain, &s.secure, &s.metric} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		*address = l.Addr().String()
		_ = l.Close()
	}
	url := strings.Replace(s.store.URL("postgres"), "/shop", "/ferretdb", 1)
	s.store.Ask("postgres", "drop database if exists ferretdb", "create database ferretdb")
	given := []string{"--handler=postgresql", "--postgresql-url=" + url, "--listen-addr=" + s.plain, "--listen-tls=" + s.secure, "--listen-tls-cert-file=" + files[0],
		"--listen-tls-key-file=" + files[1], "--debug-addr=" + s.metric, "--telemetry=disable", "--state-dir=-", "--log-level=error"}
	for _, a := range args {
		if a == "users" {
			given = append(given, "--test-enable-new-auth", "--setup-database=admin", "--setup-username=app", "--setup-password="+Password)
		}
	}
	cmd := exec.Command(path, given...)
	cmd.Dir = dir
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it is killed
		close(ended)
	}()
	s.tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		select {
		case <-ended:
			text, _ := os.ReadFile(log.Name())
			return fmt.Errorf("ferretdb has ended: %s", text)
		default:
		}
		if _, err := s.metrics(); err != nil {
			continue
		}
		if answers(s.plain) {
			return nil
		}
	}
	return fmt.Errorf("ferretdb does not answer at %s", s.plain)
}

// Address is host:port, and SecureAddress is that behind TLS.
func (s *Server) Address() string { return s.plain }

// SecureAddress is host:port behind TLS.
func (s *Server) SecureAddress() string { return s.secure }

// URL is where the database shop is.
func (s *Server) URL() string { return "mongodb://" + s.plain + "/shop" }

// SecureURL is the same behind TLS.
func (s *Server) SecureURL() string { return "mongodb://" + s.secure + "/shop?tls=true" }

func (s *Server) metrics() (map[string]uint64, error) {
	r, err := http.Get("http://" + s.metric + "/debug/metrics")
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Body.Close() }()
	all := map[string]uint64{}
	for lines := bufio.NewScanner(r.Body); lines.Scan(); {
		rest, is := strings.CutPrefix(lines.Text(), "ferretdb_client_responses_total{")
		if !is {
			continue
		}
		at := strings.LastIndexByte(rest, ' ')
		n, err := strconv.ParseFloat(rest[at+1:], 64)
		if err != nil {
			return nil, err
		}
		_, command, _ := strings.Cut(rest, `command="`)
		command, _, _ = strings.Cut(command, `"`)
		all[command] += uint64(n)
	}
	return all, nil
}

// Commands is how many times the server has answered each command: it waits for two equal readings.
func (s *Server) Commands() map[string]uint64 {
	s.tb.Helper()
	last := ""
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		all, err := s.metrics()
		if err != nil {
			s.tb.Fatal(err)
		}
		if now := fmt.Sprint(all); now != last {
			last = now
			continue
		}
		return all
	}
	s.tb.Fatal("the server's counts do not settle")
	return nil
}

// Documents counts those of a collection of shop, as PostgreSQL has them.
func (s *Server) Documents(collection string) uint64 {
	s.tb.Helper()
	text := s.Store(collection, "count(*)", "true")
	if text == "" {
		return 0
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		s.tb.Fatal(err)
	}
	return n
}

// Store asks PostgreSQL for an expression over the documents of a collection of shop, which are its column _jsonb: a line for
// each that the condition holds for; empty: there is no such collection.
func (s *Server) Store(collection, expression, condition string) string {
	s.tb.Helper()
	table := s.store.Ask("ferretdb", "select tablename from pg_tables where schemaname = 'shop' and tablename like '"+collection+"\\_%'")
	if table == "" {
		return ""
	}
	return s.store.Ask("ferretdb", "select "+expression+` from shop."`+table+`" where `+condition)
}
