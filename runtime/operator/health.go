package operator

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"hyperscale/runtime/metrics"
)

// probes bounds the connections of /healthz and /readyz.
const probes = 16

// ready says why the operator does not work, or an empty text.
func (o *Operator) ready() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, n := range o.config.Namespaces {
		if !o.lists[n] {
			return fmt.Sprintf("the load tests of namespace %s were never listed: see the log", n)
		}
	}
	return o.trouble
}

// Probes answers /healthz and /readyz on a listener, which it closes when ctx ends.
func (o *Operator) Probes(ctx context.Context, l net.Listener) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintln(w, "ok") }) // the probe has hung up
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		why := o.ready()
		if why != "" {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = fmt.Fprintln(w, why) // the probe has hung up
			return
		}
		_, _ = fmt.Fprintln(w, "ok") // the probe has hung up
	})
	s := http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second, WriteTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	stop := context.AfterFunc(ctx, func() { _ = s.Close() }) // its error is that of the listener, which has no user any more
	defer stop()
	if err := s.Serve(metrics.NewBounded(l, probes)); ctx.Err() == nil {
		return err
	}
	return nil
}
