package controlplane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// process is a component that runs.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
}

// Resume starts a component, and waits until it answers.
func (c *Cluster) Resume(t testing.TB, name string) {
	t.Helper()
	if c.running(name) {
		t.Fatalf("%s runs already", name)
	}
	log, err := os.OpenFile(c.path(name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }() // the process has its own
	p := &process{cmd: exec.Command(filepath.Join(c.binaries, name), c.flags(name)...), done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // how it ends is asked where it matters
		close(p.done)
	}()
	c.processes[name] = p
	began := time.Now()
	Within(t, startMax, name+" answers", func() bool {
		if !c.running(name) {
			t.Fatalf("%s has ended: %v", name, p.cmd.ProcessState)
		}
		return c.ready(t, name)
	})
	t.Logf("%s answers after %v", name, time.Since(began).Round(10*time.Millisecond))
}

// Kill kills a component, which has no time to say goodbye.
func (c *Cluster) Kill(t testing.TB, name string) {
	t.Helper()
	if !c.running(name) {
		t.Fatalf("%s does not run", name)
	}
	p := c.processes[name]
	_ = p.cmd.Process.Kill() // it may have ended by itself
	<-p.done
}

func (c *Cluster) running(name string) bool {
	p := c.processes[name]
	if p == nil {
		return false
	}
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// probe is what says that a component answers, without a token.
var probe = map[string]string{Etcd: "/health", APIServer: "/readyz", ControllerManager: "/healthz", Scheduler: "/readyz"}

// ready asks a component whether it answers.
func (c *Cluster) ready(t testing.TB, name string) bool {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	p, err := c.authority.client(Admin, []string{Admins})
	if err != nil {
		t.Fatal(err)
	}
	own, err := tls.X509KeyPair(p.certificate, p.key)
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(c.authority.certificate)
	settings := &tls.Config{RootCAs: trusted, Certificates: []tls.Certificate{own}}
	if name == ControllerManager || name == Scheduler { // they make their certificates, which nothing else asks for
		settings = &tls.Config{InsecureSkipVerify: true}
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: settings, DisableKeepAlives: true}}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+c.address(name)+probe[name], nil)
	if err != nil {
		t.Fatal(err)
	}
	w, err := client.Do(r)
	if err != nil {
		return false
	}
	_ = w.Body.Close() // the status says it
	return w.StatusCode == http.StatusOK
}

// stop kills what runs, the last one first, and shows the logs of a test that failed.
func (c *Cluster) stop(t testing.TB) {
	for _, name := range slices.Backward(c.only) {
		if c.running(name) {
			c.Kill(t, name)
		}
	}
	if !t.Failed() {
		return
	}
	for _, name := range c.only {
		text, err := os.ReadFile(c.path(name + ".log"))
		if err == nil {
			t.Logf("the end of %s.log:\n%s", name, text[max(0, len(text)-logMax):])
		}
	}
}

// logMax is how much of a log a failed test shows, in bytes.
const logMax = 3000

// FreeAddress is a free port of 127.0.0.1.
func FreeAddress(t testing.TB) string {
	t.Helper()
	return fmt.Sprintf("127.0.0.1:%d", freePort(t, "127.0.0.1"))
}

// freePort is a port that no process has, below those that the kernel gives to connections: a free one stays free.
func freePort(t testing.TB, address string) int {
	t.Helper()
	for range 1000 {
		port := 10_000 + rand.IntN(20_000)
		l, err := net.Listen("tcp", net.JoinHostPort(address, fmt.Sprint(port)))
		if err == nil {
			_ = l.Close() // nothing came
			return port
		}
	}
	t.Fatalf("no port of %s is free", address)
	return 0
}
