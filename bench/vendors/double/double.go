// Package double is what doubles of services share: they listen, let the vendor's own client pass before they print where
// they are, and show what they took.
package double

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
)

// Point is a value, or a distribution, that a service took.
type Point struct {
	Name   string
	Type   string
	Labels map[string]string
	Nanos  int64 // its time
	Width  int64 // nanoseconds of its interval
	Value  float64
	Values []float64
	Counts []float64
}

// Store keeps what a service took.
type Store struct {
	mu  sync.Mutex
	all []any
}

// Add keeps more.
func (s *Store) Add(all ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, all...)
}

// Take returns what is kept, and forgets it.
func (s *Store) Take() []any {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.all
	s.all = nil
	return all
}

// Main serves a double. Judge lets the vendor's client pass at its address; what that leaves in the store is forgotten. Then
// it prints the address, and that of a page: GET returns all that the store has as JSON.
func Main(h http.Handler, s *Store, judge func(address string) error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go func() { log.Fatal(http.Serve(l, h)) }()
	if err := judge(l.Addr().String()); err != nil {
		log.Fatal(err)
	}
	s.Take()
	page, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(l.Addr(), page.Addr())
	log.Fatal(http.Serve(page, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		_ = json.NewEncoder(w).Encode(s.all)
	})))
}

// ErrLarge says that a body exceeds a bound.
var ErrLarge = errors.New("the body is too large")

// Body reads a request's body: at most so many bytes as it is sent, and at most so many of what it means.
func Body(r *http.Request, sent, plain int) ([]byte, error) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if len(b) > sent {
		return nil, ErrLarge
	}
	var from io.Reader = bytes.NewReader(b)
	switch coding := r.Header.Get("Content-Encoding"); coding {
	case "":
	case "gzip":
		from, err = gzip.NewReader(from)
	case "deflate":
		from, err = zlib.NewReader(from)
	default:
		err = fmt.Errorf("content encoding %q", coding)
	}
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(from, int64(plain)+1))
	if err == nil && len(out) > plain {
		err = ErrLarge
	}
	return out, err
}

// Refuse answers with an error as JSON.
func Refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"errors": []string{why}})
}
