package world

import (
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"hyperscale/deploy/kube/kubelet"
)

// Target is the system under test. It counts requests by path.
type Target struct {
	mu    sync.Mutex
	paths map[string]int
	hosts map[string]int // by address of the worker
}

const targetURL = "http://" + kubelet.Address + ":8080"

func newTarget(t *testing.T) *Target {
	t.Helper()
	l, err := net.Listen("tcp", kubelet.Address+":8080")
	if err != nil {
		t.Fatal(err)
	}
	s := &Target{paths: map[string]int{}, hosts: map[string]int{}}
	server := &http.Server{Handler: http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		host, _, _ := net.SplitHostPort(r.RemoteAddr) // the server writes it
		s.mu.Lock()
		defer s.mu.Unlock()
		s.paths[r.URL.Path]++
		s.hosts[host]++
		_, _ = out.Write([]byte("ok")) // the client tells what it misses
	})}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	return s
}

// Count is how many requests a path had.
func (s *Target) Count(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.paths[path]
}

// From is how many requests came from an address.
func (s *Target) From(host string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hosts[host]
}

// Quiet fails a test if a request comes within a while: an executor without a job sends it.
func (s *Target) Quiet(t testing.TB, while time.Duration) {
	t.Helper()
	total := func() (n int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, of := range s.paths {
			n += of
		}
		return n
	}
	before := total()
	time.Sleep(while)
	if after := total(); after != before {
		t.Errorf("no job runs, and the target had %d more requests within %v", after-before, while)
	}
}
