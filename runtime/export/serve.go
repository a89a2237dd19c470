package export

import (
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"golang.org/x/net/netutil"

	"hyperscale/core/message"
)

// scrapersMax bounds the concurrent connections.
const scrapersMax = 64

// Scraped answers requests for /metrics with the newest status of a job that runs.
type Scraped struct {
	latest   atomic.Pointer[message.JobStatus]
	accepted atomic.Pointer[time.Time] // of the job, by the first status
	server   http.Server
	done     chan struct{}
}

// Serve starts to answer on the listener, which is Scraped's from here on.
func Serve(l net.Listener, logger *slog.Logger) *Scraped {
	s := &Scraped{done: make(chan struct{})}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(prometheus.GathererFunc(s.gather), promhttp.HandlerOpts{MaxRequestsInFlight: 4}))
	s.server = http.Server{
		Handler: mux, ReadTimeout: 5 * time.Second, WriteTimeout: 15 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
	go func() {
		defer close(s.done)
		_ = s.server.Serve(netutil.LimitListener(l, scrapersMax)) // ends with Close, which is the only way
	}()
	return s
}

// Apply takes a status; its figures are computed when a request reads them.
func (s *Scraped) Apply(status *message.JobStatus) {
	if s.accepted.Load() == nil {
		at := time.Now().Add(-status.Elapsed)
		s.accepted.Store(&at)
	}
	s.latest.Store(status)
}

// gather has nothing to tell before the first status.
func (s *Scraped) gather() ([]*dto.MetricFamily, error) {
	status := s.latest.Load()
	if status == nil {
		return nil, nil
	}
	now, err := Live(status, *s.accepted.Load())
	if err != nil {
		return nil, err
	}
	return Families(now), nil
}

// Close ends the listener and who is connected.
func (s *Scraped) Close() {
	_ = s.server.Close() // of a listener that is gone there is nothing left to close
	<-s.done
}
