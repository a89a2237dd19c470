package ftptest

import (
	"bytes"
	"fmt"
	"net"
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

// Who may log in.
const (
	User     = "anonymous"
	Password = "geheim@load.test"
)

const program = "/usr/sbin/vsftpd"

// Server is a server that runs.
type Server struct {
	Dir    string // for files
	tb     testing.TB
	folder string // for keys and logs
	port   int
}

// secured is how a server protects both connections; a data connection has to take up the session of its control
// connection.
const secured = `
ssl_enable=YES
allow_anon_ssl=YES
force_anon_logins_ssl=YES
force_anon_data_ssl=YES
require_ssl_reuse=YES
ssl_ciphers=HIGH
rsa_cert_file=%s
rsa_private_key_file=%s
%s
`

// Start starts a server, with more lines of its configuration.
func Start(tb testing.TB, more string) *Server {
	tb.Helper()
	if _, err := os.Stat(program); err != nil {
		if os.Getenv("HYPERSCALE_CI") != "" {
			tb.Fatalf("%s is missing: .ci/run installs it", program)
		}
		tb.Skipf("%s is missing", program)
	}
	s := &Server{tb: tb, folder: tb.TempDir(), Dir: tb.TempDir(), port: hostiletest.FreePort(tb)}
	s.write("passwords", Password+"\n")
	s.write("conf", fmt.Sprintf(`listen=YES
listen_address=127.0.0.1
listen_port=%d
background=NO
run_as_launching_user=YES
anonymous_enable=YES
secure_email_list_enable=YES
email_password_file=%s
anon_root=%s
anon_upload_enable=YES
anon_mkdir_write_enable=YES
anon_other_write_enable=YES
anon_world_readable_only=NO
anon_umask=022
write_enable=YES
max_clients=0
max_per_ip=0
seccomp_sandbox=NO
isolate=NO
isolate_network=NO
xferlog_enable=YES
xferlog_std_format=YES
xferlog_file=%s
dual_log_enable=YES
vsftpd_log_file=%s
log_ftp_protocol=YES
%s
`, s.port, s.at("passwords"), s.Dir, s.at("xferlog"), s.at("log"), more))
	c := exec.Command(program, s.at("conf"))
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		tb.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = c.Wait(); close(ended) }()
	tb.Cleanup(func() {
		_ = c.Process.Kill()
		<-ended
	})
	for range 400 {
		if conn, err := net.Dial("tcp", s.Address()); err == nil {
			_ = conn.Close()
			return s
		}
		select {
		case <-ended:
			tb.Fatalf("vsftpd: %s", said.String())
		case <-time.After(25 * time.Millisecond):
		}
	}
	tb.Fatal("vsftpd does not answer within ten seconds")
	return nil
}

// StartTLS starts a server that wants TLS on both connections. Implicit: from the first byte.
func StartTLS(tb testing.TB, implicit bool, more string) *Server {
	tb.Helper()
	certificate, key, _ := authority.Files()
	folder := tb.TempDir()
	for name, text := range map[string][]byte{"cert": certificate, "key": key} {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	if implicit {
		more += "\nimplicit_ssl=YES"
	}
	return Start(tb, fmt.Sprintf(secured, filepath.Join(folder, "cert"), filepath.Join(folder, "key"), more))
}

func (s *Server) at(name string) string { return filepath.Join(s.folder, name) }

func (s *Server) write(name, text string) {
	if err := os.WriteFile(s.at(name), []byte(text), 0o600); err != nil {
		s.tb.Fatal(err)
	}
}

// Address is host:port.
func (s *Server) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// URL is its address with the user; Secure is that of TLS from the first byte.
func (s *Server) URL() string { return "ftp://" + User + "@" + s.Address() }

// Secure is the same of TLS from the first byte.
func (s *Server) Secure() string { return "ftps" + strings.TrimPrefix(s.URL(), "ftp") }

// Files are the lines of xferlog: files that were transferred whole, and those that were cut, in a direction: "o"
// from the server, "i" to it.
func (s *Server) Files(way string) (whole, cut uint64, moved uint64) {
	b, err := os.ReadFile(s.at("xferlog"))
	if err != nil && !os.IsNotExist(err) {
		s.tb.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		words := strings.Fields(line)
		if len(words) < 18 || words[len(words)-7] != way {
			continue
		}
		n, _ := strconv.ParseUint(words[7], 10, 64)
		if moved += n; words[len(words)-1] == "c" {
			whole++
		} else {
			cut++
		}
	}
	return whole, cut, moved
}

// Logged counts the lines of the server's log that have a text in them.
func (s *Server) Logged(text string) uint64 {
	b, err := os.ReadFile(s.at("log"))
	if err != nil && !os.IsNotExist(err) {
		s.tb.Fatal(err)
	}
	return uint64(strings.Count(string(b), text))
}
