package outputstest

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
)

// Proxy stands before a server of HTTP, real or a double, and does to one request in five, from the first one on, what a
// fault says. FaultHalf meets each request that has more than one row.
type Proxy struct {
	upstream http.Handler
	half     func(body []byte) (kept []byte, status int, answer []byte)

	mu      sync.Mutex
	address string
	fault   Fault
	count   int           // of requests since the fault began
	free    chan struct{} // closed when requests that hang may end
	server  *httptest.Server
	late    sync.WaitGroup
}

// NewProxy listens on a free port of this machine. Half says what a server keeps of a body when it accepts half of a
// batch, and what it answers; nil: it never does that.
func NewProxy(upstream http.Handler, half func(body []byte) (kept []byte, status int, answer []byte)) *Proxy {
	p := &Proxy{upstream: upstream, half: half, free: make(chan struct{})}
	p.listen("127.0.0.1:0")
	return p
}

func (p *Proxy) listen(address string) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		panic(err)
	}
	p.address = l.Addr().String()
	p.server = httptest.NewUnstartedServer(p)
	_ = p.server.Listener.Close() // ours takes its place
	p.server.Listener = l
	p.server.Start()
}

// URL is where it listens, without a path.
func (p *Proxy) URL() string { return "http://" + p.address }

// Can says that Misbehave knows the fault.
func (p *Proxy) Can(f Fault) bool { return f != FaultHalf || p.half != nil }

// Misbehave sets what goes wrong from now on. Requests that hang end first.
func (p *Proxy) Misbehave(f Fault) {
	p.mu.Lock()
	was := p.fault
	p.fault, p.count = f, 0
	close(p.free)
	p.free = make(chan struct{})
	p.mu.Unlock()
	switch {
	case f == FaultDead && was != FaultDead:
		p.server.CloseClientConnections()
		p.server.Close()
	case f != FaultDead && was == FaultDead:
		p.listen(p.address)
	}
	p.late.Wait() // what was late has arrived
}

// Close ends it.
func (p *Proxy) Close() {
	p.Misbehave(FaultNone)
	p.server.CloseClientConnections()
	p.server.Close()
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.count++
	fault, count, free := p.fault, p.count, p.free
	p.mu.Unlock()
	if fault != FaultHalf && count%5 != 1 {
		fault = FaultNone
	}
	if fault == FaultCut {
		_, _ = io.CopyN(io.Discard, r.Body, max(r.ContentLength/2, 1)) // half of it, and then nothing
		hangUp(w)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	switch fault {
	case FaultRefuse:
		http.Error(w, "come back later", http.StatusServiceUnavailable)
		return
	case FaultHang:
		p.forward(httptest.NewRecorder(), r, body)
		select {
		case <-r.Context().Done():
		case <-free:
		}
		hangUp(w)
		return
	case FaultLate:
		p.late.Go(func() {
			select {
			case <-r.Context().Done():
			case <-free:
			}
			p.forward(httptest.NewRecorder(), r, body)
		})
		<-r.Context().Done()
		return
	case FaultHalf:
		kept, status, answer := p.half(body)
		p.forward(httptest.NewRecorder(), r, kept)
		w.WriteHeader(status)
		_, _ = w.Write(answer)
		return
	case FaultLoseWord:
		p.forward(httptest.NewRecorder(), r, body)
		hangUp(w)
		return
	case FaultNone, FaultCut, FaultDead, FaultMax:
	}
	p.forward(w, r, body)
}

// forward asks the server behind, whatever the client does meanwhile.
func (p *Proxy) forward(w http.ResponseWriter, r *http.Request, body []byte) {
	copied := r.Clone(context.WithoutCancel(r.Context()))
	copied.Body, copied.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	p.upstream.ServeHTTP(w, copied)
}

// hangUp closes the connection without an answer.
func hangUp(w http.ResponseWriter) {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_ = connection.Close()
	}
}
