package metrics

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// adminConnections bounds the concurrent connections. A scraper, a probe and a few people need
// no more; a flood gets none of the node's descriptors.
const adminConnections = 128

// Health says whether something is as it should be, and if not, why.
type Health func() (ok bool, why string)

// Admin is the listener for operators: /metrics, /healthz, /readyz.
type Admin struct {
	server   http.Server
	listener net.Listener
	done     chan struct{}
}

// Serve starts to answer on the listener, which Admin owns from then on. alive is false if the
// process needs a restart, ready if it should get no new work. logger gets the server's
// complaints.
func (m *Metrics) Serve(l net.Listener, logger *slog.Logger, alive, ready Health) *Admin {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.all(), promhttp.HandlerOpts{MaxRequestsInFlight: 4}))
	mux.HandleFunc("GET /healthz", answer(alive))
	mux.HandleFunc("GET /readyz", answer(ready))
	mux.HandleFunc("/v1/", elsewhere)
	a := &Admin{
		listener: l,
		done:     make(chan struct{}),
		server: http.Server{
			Handler:           mux,
			ReadHeaderTimeout: 5 * time.Second,
			ReadTimeout:       5 * time.Second,
			WriteTimeout:      15 * time.Second,
			IdleTimeout:       time.Minute,
			MaxHeaderBytes:    16 << 10,
			ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
		},
	}
	go func() {
		defer close(a.done)
		_ = a.server.Serve(NewBounded(l, adminConnections)) // ends with Close, which is the only way
	}()
	return a
}

// elsewhere says where the HTTP API is: tokens do not belong on a listener without TLS.
func elsewhere(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusNotFound)
	_, _ = fmt.Fprintln(w, `{"error":{"code":"unknown_path","message":"the HTTP API is not here: a gate has it on a listener of its own, which --api and --api-tokens turn on"}}`) // the caller has hung up
}

func answer(h Health) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		ok, why := h()
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if !ok {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = fmt.Fprintln(w, why) // the probe has hung up
			return
		}
		if why != "" {
			why = ": " + why
		}
		_, _ = fmt.Fprintln(w, "ok"+why)
	}
}

// Addr is where the listener is.
func (a *Admin) Addr() string { return a.listener.Addr().String() }

// Close ends the listener; answers in progress get until ctx ends.
func (a *Admin) Close(ctx context.Context) {
	if a.server.Shutdown(ctx) != nil {
		_ = a.server.Close() // its error is that of the shutdown
	}
	<-a.done
}
