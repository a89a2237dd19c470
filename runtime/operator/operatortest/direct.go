package operatortest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
)

// Direct hands requests to a handler without a socket, so that a test's clock may be virtual.
type Direct struct{ Handler http.Handler }

// RoundTrip implements http.RoundTripper.
func (d Direct) RoundTrip(r *http.Request) (*http.Response, error) {
	body, to := io.Pipe()
	w := &writer{header: http.Header{}, to: to, begun: make(chan int, 1)}
	if r.Body == nil {
		r.Body = http.NoBody
	}
	go func() {
		defer func() {
			if recover() != nil { // a handler that hangs up
				_ = to.CloseWithError(io.ErrUnexpectedEOF) // returns nil, always
			}
			w.WriteHeader(http.StatusOK)
			_ = to.Close() // returns nil, always
		}()
		d.Handler.ServeHTTP(w, r)
	}()
	select {
	case status := <-w.begun:
		context.AfterFunc(r.Context(), func() {
			_ = body.CloseWithError(r.Context().Err()) // returns nil, always
		})
		return &http.Response{StatusCode: status, Header: w.header.Clone(), Body: body, Request: r, ProtoMajor: 1, ProtoMinor: 1}, nil
	case <-r.Context().Done():
		_ = body.CloseWithError(r.Context().Err()) // returns nil, always
		return nil, r.Context().Err()
	}
}

// writer is the answer of a handler.
type writer struct {
	header http.Header
	to     *io.PipeWriter
	once   sync.Once
	begun  chan int
}

func (w *writer) Header() http.Header { return w.header }

func (w *writer) WriteHeader(status int) { w.once.Do(func() { w.begun <- status }) }

func (w *writer) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.to.Write(b)
}

// Flush implements http.Flusher: nothing waits.
func (w *writer) Flush() {}

// held collects an answer while a lock is held, and passes it on when there is none.
func held(w http.ResponseWriter, lock sync.Locker, answer func(w http.ResponseWriter)) {
	out := httptest.NewRecorder()
	func() {
		lock.Lock()
		defer lock.Unlock()
		answer(out)
	}()
	w.WriteHeader(out.Code)
	_, _ = w.Write(out.Body.Bytes()) // the caller has hung up
}
