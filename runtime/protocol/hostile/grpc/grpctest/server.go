package grpctest

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"hyperscale/runtime/protocol/hostile/authority"
)

// Proto is the file of the services that a Server has.
const Proto = `syntax = "proto3";
package test.v1;
import "parts/item.proto";
service Echo {
  rpc Get(Item) returns (Item);             // the same; an id "fail-5" fails with status 5, "slow-100ms" waits
  rpc Watch(Item) returns (stream Item);    // n of them
  rpc Upload(stream Item) returns (Item);   // n: how many came
  rpc Talk(stream Item) returns (stream Item);
}
`

// Item is what Proto imports.
const Item = `syntax = "proto3";
package test.v1;
message Item { string id = 1; int64 n = 2; Item inner = 3; repeated string names = 4; }
`

// Counted is what a server has served.
type Counted struct {
	Calls, Received, Sent uint64         // calls, and messages
	Codes                 map[int]uint64 // statuses that were written
	Paths                 map[string]uint64
	Head                  http.Header // of the last call
}

// Server is one of them.
type Server struct {
	URL     string
	server  *http.Server
	mu      sync.Mutex
	count   Counted
	open    sync.WaitGroup
	stopped bool // no call counts any more

	// Own answers methods of other services, by "package.Service/Method": a message for a message, or a
	// status. It is set before the first call.
	Own map[string]func(m []byte) (answer []byte, status int)
}

// Start starts a server, until the test ends.
func Start(t testing.TB, secure bool) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{URL: "grpc://" + l.Addr().String(), count: Counted{Codes: map[int]uint64{}, Paths: map[string]uint64{}}}
	var p http.Protocols
	s.server = &http.Server{Handler: http.HandlerFunc(s.serve), Protocols: &p, HTTP2: &http.HTTP2Config{MaxConcurrentStreams: 1000}}
	if secure {
		s.URL = "grpcs://" + l.Addr().String()
		p.SetHTTP2(true)
		s.server.TLSConfig = authority.Honest()
		go func() { _ = s.server.ServeTLS(l, "", "") }()
	} else {
		p.SetUnencryptedHTTP2(true)
		go func() { _ = s.server.Serve(l) }()
	}
	t.Cleanup(s.Stop)
	return s
}

// Stop ends the server with all that it serves.
func (s *Server) Stop() {
	_ = s.server.Close()
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	s.open.Wait()
}

// Count returns what was served so far.
func (s *Server) Count() Counted {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.count
	out.Codes, out.Paths = map[int]uint64{}, map[string]uint64{}
	for code, n := range s.count.Codes {
		out.Codes[code] = n
	}
	for path, n := range s.count.Paths {
		out.Paths[path] = n
	}
	return out
}

func (s *Server) note(change func(*Counted)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.count)
}

// call is one that is served.
type call struct {
	s    *Server
	w    http.ResponseWriter
	r    *http.Request
	gzip bool
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if s.stopped {
		s.mu.Unlock()
		return
	}
	s.open.Add(1)
	s.mu.Unlock()
	defer s.open.Done()
	s.note(func(c *Counted) { c.Calls++; c.Paths[r.URL.Path]++; c.Head = r.Header })
	if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/grpc" || r.Header.Get("Te") != "trailers" {
		w.WriteHeader(http.StatusUnsupportedMediaType)
		return
	}
	c := &call{s: s, w: w, r: r, gzip: r.Header.Get("Grpc-Accept-Encoding") == "gzip"}
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("X-From", "echo")
	if c.gzip {
		w.Header().Set("Grpc-Encoding", "gzip")
	}
	code, text := c.run()
	w.Header().Set(http.TrailerPrefix+"Grpc-Status", strconv.Itoa(code))
	if text != "" {
		w.Header().Set(http.TrailerPrefix+"Grpc-Message", text)
	}
	s.note(func(c *Counted) { c.Codes[code]++ })
}

// run serves a call, and returns its status.
func (c *call) run() (code int, text string) {
	method := path.Base(c.r.URL.Path)
	received := int64(0)
	for {
		m, err := c.receive()
		if err == io.EOF && method == "Upload" {
			c.send(item("", received))
			return 0, ""
		}
		if err == io.EOF {
			return 0, ""
		}
		if err != nil {
			return 13, err.Error()
		}
		received++
		if own := c.s.Own[strings.TrimPrefix(c.r.URL.Path, "/")]; own != nil {
			answer, status := own(m)
			if status == 0 {
				c.send(answer)
			}
			return status, ""
		}
		id, n := parse(m)
		if wait, ok := strings.CutPrefix(id, "slow-"); ok {
			if d, err := time.ParseDuration(wait); err == nil {
				select {
				case <-time.After(d):
				case <-c.r.Context().Done():
					return 1, ""
				}
			}
		}
		if status, ok := strings.CutPrefix(id, "fail-"); ok {
			code, _ := strconv.Atoi(status)
			return code, "no%20such%20" + status
		}
		switch method {
		case "Get", "Talk":
			c.send(m)
		case "Watch":
			for k := range n {
				c.send(item(id, k))
			}
		case "Upload":
		default:
			return 12, "unknown"
		}
	}
}

func (c *call) receive() ([]byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(c.r.Body, head[:]); err != nil {
		return nil, err
	}
	m := make([]byte, binary.BigEndian.Uint32(head[1:]))
	if _, err := io.ReadFull(c.r.Body, m); err != nil {
		return nil, fmt.Errorf("message cut: %w", err)
	}
	if head[0] == 1 {
		r, err := gzip.NewReader(bytes.NewReader(m))
		if err != nil {
			return nil, err
		}
		if m, err = io.ReadAll(r); err != nil {
			return nil, err
		}
	}
	c.s.note(func(c *Counted) { c.Received++ })
	return m, nil
}

func (c *call) send(m []byte) {
	flag := byte(0)
	if c.gzip {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write(m)
		_ = w.Close()
		m, flag = b.Bytes(), 1
	}
	b := binary.BigEndian.AppendUint32([]byte{flag}, uint32(len(m)))
	if _, err := c.w.Write(append(b, m...)); err == nil {
		c.s.note(func(c *Counted) { c.Sent++ })
	}
	_ = http.NewResponseController(c.w).Flush()
}

func item(id string, n int64) []byte {
	b := protowire.AppendTag(nil, 2, protowire.VarintType)
	b = protowire.AppendVarint(b, uint64(n))
	if id != "" {
		b = protowire.AppendString(protowire.AppendTag(b, 1, protowire.BytesType), id)
	}
	return b
}

// parse reads the id and the number of an Item.
func parse(b []byte) (id string, number int64) {
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return id, number
		}
		b = b[n:]
		switch field {
		case 1:
			v, n := protowire.ConsumeString(b)
			if n < 0 {
				return id, number
			}
			id, b = v, b[n:]
		case 2:
			v, n := protowire.ConsumeVarint(b)
			if n < 0 {
				return id, number
			}
			number, b = int64(v), b[n:]
		default:
			if n = protowire.ConsumeFieldValue(field, kind, b); n < 0 {
				return id, number
			}
			b = b[n:]
		}
	}
	return id, number
}
