package serverstest

import (
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Need skips a test whose server this machine lacks; in CI it may not be absent.
func Need(t testing.TB, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil && os.Getenv("HYPERSCALE_CI") == "" {
		t.Skip("SKIPPED: " + program + " is not installed")
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Run starts a server, and waits until it answers at url.
func Run(t testing.TB, url, program string, args ...string) {
	t.Helper()
	child := exec.Command(program, args...)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	child.Stdout, child.Stderr = log, log
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = child.Process.Kill(); _ = child.Wait() })
	for deadline := time.Now().Add(60 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if a, err := http.Get(url); err == nil {
			_ = a.Body.Close()
			return
		}
	}
	said, _ := os.ReadFile(log.Name())
	t.Fatalf("%s does not answer: %s", program, said)
}

// To is a handler that asks a real server.
func To(address string) http.Handler {
	return httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: address})
}

// Ask returns what a server answers.
func Ask(t testing.TB, method, url string) string {
	t.Helper()
	r, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Body.Close() }()
	b, err := io.ReadAll(a.Body)
	if err != nil || a.StatusCode/100 != 2 {
		t.Fatalf("%s %s: %d %s %v", method, url, a.StatusCode, b, err)
	}
	return string(b)
}
