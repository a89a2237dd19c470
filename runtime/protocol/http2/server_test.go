package http2

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// record holds a handler's events for one tag.
type record struct {
	Status int
	Body   int64
	Done   bool
	Failed int
	Kind   http1.Kind
	Detail string
}

// records holds all events of a handler, and may act on them.
type records struct {
	by     map[uint64]*record
	onDone func(tag uint64)
	keep   func(tag uint64) *http1.Collector
}

func newRecords() *records { return &records{by: map[uint64]*record{}} }

func (r *records) of(tag uint64) *record {
	if r.by[tag] == nil {
		r.by[tag] = &record{}
	}
	return r.by[tag]
}

func (r *records) Begins(tag uint64) *http1.Collector {
	if r.keep == nil {
		return nil
	}
	return r.keep(tag)
}

func (r *records) Head(tag uint64, status int) { r.of(tag).Status = status }
func (r *records) Body(tag uint64, b []byte)   { r.of(tag).Body += int64(len(b)) }

func (r *records) Done(tag uint64) {
	r.of(tag).Done = true
	if r.onDone != nil {
		r.onDone(tag)
	}
}

func (r *records) Failed(tag uint64, err error) {
	o := r.of(tag)
	o.Failed++
	o.Kind, o.Detail = http1.KindOf(err), err.Error()
}

func rendered(r http1.Request) (codec.Operation, error) {
	var op codec.Operation
	from, err := r.Compile()
	if err == nil {
		Render(&op, &from)
	}
	return op, err
}

func mustCompile(t testing.TB, r http1.Request) *codec.Operation {
	t.Helper()
	call, err := rendered(r)
	if err != nil {
		t.Fatal(err)
	}
	return &call
}

// serve answers with the standard library's server on a loopback socket.
func serve(t *testing.T, h http.HandlerFunc) net.Conn {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: h, Protocols: new(http.Protocols)}
	server.Protocols.SetUnencryptedHTTP2(true)
	server.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 50}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("the server ended: %v", err)
		}
	})
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// turn writes the queued bytes, reads once and feeds.
func turn(t *testing.T, c *Conn, socket net.Conn, on codec.Handler, buffer []byte) {
	t.Helper()
	for len(c.Output()) > 0 {
		n, err := socket.Write(c.Output())
		if err != nil {
			t.Fatal(err)
		}
		c.Sent(n)
	}
	n, err := socket.Read(buffer)
	if err == nil {
		err = c.Feed(buffer[:n], on)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestThousandRequestsAgainstTheStandardServer(t *testing.T) {
	const total = 1000
	socket := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Method", r.Method+" "+r.URL.Path+" "+r.Header.Get("Cookie"))
		w.Header().Set("X-Length", fmt.Sprint(r.ContentLength))
		switch r.URL.Path {
		case "/missing":
			w.WriteHeader(404)
		case "/empty":
			w.WriteHeader(204)
		case "/trailer":
			w.Header().Set("Trailer", "X-End")
			io.WriteString(w, "body")
			w.Header().Set("X-End", "yes")
		default:
			w.Write(body)
			w.Write(bytes.Repeat([]byte("x"), len(r.URL.Path)))
		}
	})
	large := bytes.Repeat([]byte("0123456789abcdef"), 64<<10/16*5)
	requests := []http1.Request{
		{Method: "GET", URL: "http://h/"},
		{Method: "POST", URL: "http://h/echo", Body: []byte("hello"), ContentType: "text/plain", Cookies: []http1.Pair{{Name: "a", Value: "b"}}},
		{Method: "POST", URL: "http://h/large", Body: large},
		{Method: "GET", URL: "http://h/missing", Bearer: "secret", Headers: []http1.Pair{{Name: "Connection", Value: "close"}, {Name: "TE", Value: "gzip"}}},
		{Method: "DELETE", URL: "http://h/empty"},
		{Method: "GET", URL: "http://h/trailer"},
		{Method: "HEAD", URL: "http://h/head"},
		{Method: "GET", URL: "http://h/long", Headers: []http1.Pair{{Name: "X-Long", Value: string(large[:40000])}}},
	}
	want := []record{
		{Status: 200, Body: 1}, {Status: 200, Body: 10}, {Status: 200, Body: int64(len(large)) + 6},
		{Status: 404}, {Status: 204}, {Status: 200, Body: 4}, {Status: 200}, {Status: 200, Body: 5},
	}
	var calls []*codec.Operation
	for _, r := range requests {
		calls = append(calls, mustCompile(t, r))
	}
	var c Conn
	c.Reset(Config{Streams: 100, StreamWindow: 1 << 16, Window: 1 << 17})
	got := newRecords()
	collectors := map[uint64]*http1.Collector{}
	opened := uint64(0)
	open := func() {
		for opened < total && c.CanOpen() {
			c.Open(calls[opened%uint64(len(calls))], opened, nil)
			opened++
		}
	}
	got.keep = func(tag uint64) *http1.Collector {
		if tag%3 == 0 {
			collectors[tag] = new(http1.Collector)
		}
		return collectors[tag]
	}
	done, most := 0, 0
	got.onDone = func(uint64) { done++; open() }
	buffer := make([]byte, 64<<10)
	for open(); done < total; open() {
		most = max(most, c.Count())
		turn(t, &c, socket, got, buffer)
	}
	if most > 50 {
		t.Errorf("got %d streams at once, want at most the server's 50", most)
	}
	for tag := range uint64(total) {
		w := want[tag%uint64(len(want))]
		w.Done = true
		if got.by[tag] == nil || *got.by[tag] != w {
			t.Fatalf("request %d: got %+v, want %+v", tag, got.by[tag], w)
		}
		if col := collectors[tag]; col != nil && tag%8 == 1 {
			if v, _ := col.Header("X-Method"); v != "POST /echo a=b" || string(col.Body) != "helloxxxxx" {
				t.Fatalf("request %d: got %q and %q, want the server's answer", tag, v, col.Body)
			}
		}
	}
	for tag, col := range collectors {
		if _, merged := col.Header("X-End"); merged {
			t.Fatalf("request %d: its trailer was merged into its head", tag)
		}
	}
	c.Ping(7)
	turn(t, &c, socket, got, buffer) // the server answers
	if c.Count() != 0 || !c.Usable() || !c.Ready() {
		t.Errorf("got %d streams and usable %t, want 0 and true", c.Count(), c.Usable())
	}
	c.Shutdown()
	if c.CanOpen() || c.Open(calls[0], 1, nil) != 0 {
		t.Error("a stream was opened after Shutdown")
	}
}
