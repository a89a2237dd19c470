package sshtest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hyperscale/runtime/protocol/hostile/hostiletest"

	gossh "golang.org/x/crypto/ssh"
)

// Server is a server that runs.
type Server struct {
	Dir     string // for files
	tb      testing.TB
	folder  string // for keys and logs
	port    int
	user    string
	process *exec.Cmd
	ended   chan struct{}
}

// program finds a server.
func program(tb testing.TB, name string) string {
	tb.Helper()
	for _, dir := range []string{"/usr/sbin/", "/usr/bin/", "/usr/lib/openssh/"} {
		if _, err := os.Stat(dir + name); err == nil {
			return dir + name
		}
	}
	if os.Getenv("HYPERSCALE_CI") != "" {
		tb.Fatalf("%s is missing: .ci/run installs it", name)
	}
	tb.Skipf("%s is missing", name)
	return ""
}

// keyTypes are those of which a server and a user have one each.
func keyTypes() []string { return []string{"ed25519", "rsa", "ecdsa"} }

func newServer(tb testing.TB) *Server {
	tb.Helper()
	me, err := user.Current()
	if err != nil {
		tb.Fatal(err)
	}
	s := &Server{tb: tb, folder: tb.TempDir(), Dir: tb.TempDir(), user: me.Username}
	var authorized strings.Builder
	for name, k := range keys() {
		s.write(name, k.private)
		s.write(name+".pub", k.public)
		if strings.HasPrefix(name, "id_") {
			authorized.WriteString(k.public)
		}
	}
	s.write("authorized_keys", authorized.String())
	return s
}

// pair is a key with its public part, each as a file has it.
type pair struct{ private, public string }

// keys are those of servers and users, made once: an RSA key takes long. Another one is neither's.
var keys = sync.OnceValue(func() map[string]pair {
	all := map[string]pair{}
	for _, whose := range []string{"host_", "id_", "other_"} {
		for _, kind := range keyTypes() {
			all[whose+kind] = newPair(kind)
		}
	}
	return all
})

func newPair(kind string) pair {
	var key crypto.Signer
	var err error
	switch kind {
	case "ed25519":
		_, key, err = ed25519.GenerateKey(rand.Reader)
	case "rsa":
		key, err = rsa.GenerateKey(rand.Reader, 2048)
	case "ecdsa":
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	}
	if err != nil {
		panic(err)
	}
	block, err := gossh.MarshalPrivateKey(key, "")
	if err != nil {
		panic(err)
	}
	public, err := gossh.NewPublicKey(key.Public())
	if err != nil {
		panic(err)
	}
	return pair{string(pem.EncodeToMemory(block)), string(gossh.MarshalAuthorizedKey(public))}
}

func (s *Server) at(name string) string { return filepath.Join(s.folder, name) }

func (s *Server) read(name string) string {
	b, err := os.ReadFile(s.at(name))
	if err != nil {
		s.tb.Fatal(err)
	}
	return string(b)
}

func (s *Server) write(name, text string) {
	if err := os.WriteFile(s.at(name), []byte(text), 0o600); err != nil {
		s.tb.Fatal(err)
	}
}

func (s *Server) do(name string, args ...string) {
	s.tb.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		s.tb.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
}

// Start starts sshd. More is what its file has beside ports and keys.
func Start(tb testing.TB, more string) *Server {
	tb.Helper()
	sshd, files := program(tb, "sshd"), program(tb, "sftp-server")
	s := newServer(tb)
	if os.Getuid() == 0 {
		_ = os.MkdirAll("/run/sshd", 0o755) // sshd wants it, as its package makes it at the system's start
	}
	s.run(func() *exec.Cmd {
		config := fmt.Sprintf("ListenAddress 127.0.0.1:%d\nAuthorizedKeysFile %s\nPidFile none\nUsePAM no\nStrictModes no\nPermitRootLogin yes\nPasswordAuthentication no\nLogLevel VERBOSE\nMaxStartups 4000\nSubsystem sftp %s -e -l VERBOSE 2>>%s\n%s\n",
			s.port, s.at("authorized_keys"), files, s.at("files.log"), more)
		for _, kind := range keyTypes() {
			config += "HostKey " + s.at("host_"+kind) + "\n"
		}
		s.write("config", config)
		return exec.Command(sshd, "-D", "-e", "-f", s.at("config"))
	})
	return s
}

// Dropbear starts the other server.
func Dropbear(tb testing.TB) *Server {
	tb.Helper()
	server, convert := program(tb, "dropbear"), program(tb, "dropbearconvert")
	if err := exec.Command("unshare", "-m", "true").Run(); err != nil {
		tb.Skipf("dropbear needs a home of its own, and nothing may be mounted here: %v", err)
	}
	s := newServer(tb)
	for _, kind := range keyTypes() {
		s.do("ssh-keygen", "-q", "-p", "-m", "PEM", "-N", "", "-f", s.at("host_"+kind))
		s.do(convert, "openssh", "dropbear", s.at("host_"+kind), s.at("dropbear_"+kind))
	}
	s.run(func() *exec.Cmd {
		line := fmt.Sprintf("cp %s /tmp/.authorized_$$ && mount -t tmpfs -o mode=0700 none $HOME && mkdir -m 700 $HOME/.ssh && mv /tmp/.authorized_$$ $HOME/.ssh/authorized_keys && exec %s -F -E -m -p 127.0.0.1:%d -P %s",
			s.at("authorized_keys"), server, s.port, s.at("pid"))
		for _, kind := range keyTypes() {
			line += " -r " + s.at("dropbear_"+kind)
		}
		return exec.Command("unshare", "-m", "sh", "-c", line)
	})
	return s
}

// run starts a process, on another port if the first one is taken meanwhile.
func (s *Server) run(command func() *exec.Cmd) {
	s.tb.Helper()
	var err error
	for range 5 {
		s.port = hostiletest.FreePort(s.tb)
		if err = s.begin(command()); err == nil {
			s.tb.Cleanup(s.Kill)
			return
		}
	}
	s.tb.Fatalf("%v: %s", err, s.read("log"))
}

func (s *Server) begin(process *exec.Cmd) error {
	log, err := os.Create(s.at("log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	s.process, s.ended = process, make(chan struct{})
	process.Stdout, process.Stderr = log, log
	if err := process.Start(); err != nil {
		return err
	}
	ended := s.ended
	go func() {
		_ = process.Wait() // Kill ends it
		close(ended)
	}()
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		if c, err := net.Dial("tcp", s.Address()); err == nil {
			return c.Close()
		}
		select {
		case <-ended:
			return fmt.Errorf("%s ended", process.Path)
		default:
		}
	}
	s.Kill()
	return fmt.Errorf("%s does not listen", process.Path)
}

// Kill ends the server.
func (s *Server) Kill() {
	_ = s.process.Process.Kill() // it may have ended
	<-s.ended
}

// Address is host and port, Host the host alone, and Port the port.
func (s *Server) Address() string { return fmt.Sprintf("127.0.0.1:%d", s.port) }

// Port is the server's.
func (s *Server) Port() uint16 { return uint16(s.port) }

// User is who may log in, by a key of any type.
func (s *Server) User() string { return s.user }

// URL is the server with its user.
func (s *Server) URL() string { return "sftp://" + s.user + "@" + s.Address() }

// Key is the user's private key of a type: ed25519, rsa or ecdsa.
func (s *Server) Key(kind string) []byte { return []byte(s.read("id_" + kind)) }

// KnownHosts are lines with the server's keys of some types.
func (s *Server) KnownHosts(kinds ...string) []byte {
	var out strings.Builder
	for _, kind := range kinds {
		fmt.Fprintf(&out, "[127.0.0.1]:%d %s", s.port, s.read("host_"+kind+".pub"))
	}
	return []byte(out.String())
}

// Other is a key of a type that is neither the user's nor the server's.
func (s *Server) Other(kind string) []byte { return []byte(keys()["other_"+kind].private) }

// Changed are lines with keys that the server does not have.
func (s *Server) Changed(kind string) []byte {
	return fmt.Appendf(nil, "[127.0.0.1]:%d %s", s.port, keys()["other_"+kind].public)
}

// Hashed are the same lines with their names hidden.
func (s *Server) Hashed(kinds ...string) []byte {
	s.write("known", string(s.KnownHosts(kinds...)))
	s.do("ssh-keygen", "-q", "-H", "-f", s.at("known"))
	return []byte(s.read("known"))
}

// Logged counts the lines of the server's logs in which a text stands, once two readings are equal.
func (s *Server) Logged(text string) int {
	last := -1
	for range 200 {
		files, _ := os.ReadFile(s.at("files.log")) // there is none before the first session
		n := strings.Count(s.read("log")+string(files), text)
		if n == last {
			return n
		}
		last = n
		time.Sleep(50 * time.Millisecond)
	}
	return last
}

// Keys are the public keys of servers and users, by name: host_rsa, id_ed25519.
func Keys() map[string]string {
	all := map[string]string{}
	//lint:orderfree each by itself
	for name, k := range keys() {
		all[name] = k.public
	}
	return all
}
