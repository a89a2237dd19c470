package api

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// The routes of figures that are none of the table: pages and their files, and what is nowhere.
const (
	routePage  = "page"
	routeOther = "other"
)

// figures are the metrics of a server. Their labels come from the table of routes, HTTP, and the codes of faults.
type figures struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	rejected *prometheus.CounterVec
	rooms    []prometheus.Collector
}

func newFigures(l *load) figures {
	f := figures{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hyperscale_api_requests_total", Help: "Requests to the HTTP API that ended, by route and status. A stream ends once.",
		}, []string{"route", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "hyperscale_api_request_duration_seconds", Help: "How long requests to the HTTP API took, by route: without streams, and without callers that wait for news.",
			Buckets: []float64{.005, .025, .1, .25, .5, 1, 2.5, 5, 10, 25},
		}, []string{"route"}),
		rejected: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hyperscale_api_rejected_total", Help: "Requests that the HTTP API, or the gates behind it, rejected, by the code of the error.",
		}, []string{"reason"}),
	}
	for _, r := range []struct {
		name, help string
		room       *room
	}{
		{"calls", "Calls to the HTTP API in progress, streams apart. It rejects callers beyond 64, and a token beyond 16.", &l.requests},
		{"streams", "Streams of the HTTP API, and callers that wait. It rejects callers beyond 200, and a token beyond 50.", &l.streams},
	} {
		f.rooms = append(f.rooms, prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "hyperscale_api_" + r.name, Help: r.help}, func() float64 { return float64(r.room.held()) }))
	}
	return f
}

// register makes the figures part of a scrape.
func (f *figures) register(r prometheus.Registerer) error {
	for _, c := range append([]prometheus.Collector{f.requests, f.seconds, f.rejected}, f.rooms...) {
		if err := r.Register(c); err != nil {
			return err
		}
	}
	return nil
}

// held is how many places are taken.
func (r *room) held() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.taken
}

// counted is an answer that the figures have once it ends.
type counted struct {
	http.ResponseWriter
	route  string
	status int
	reason string // the code of the error; empty: it is none
	long   bool   // it is a stream, or its caller waits
}

// WriteHeader implements http.ResponseWriter.
func (w *counted) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *counted) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (w *counted) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// note adds an answer that has ended.
func (f *figures) note(w *counted, took time.Duration) {
	status := w.status
	if status == 0 {
		status = http.StatusOK // net/http writes it for a handler that wrote nothing
	}
	f.requests.WithLabelValues(w.route, strconv.Itoa(status)).Inc()
	if !w.long {
		f.seconds.WithLabelValues(w.route).Observe(took.Seconds())
	}
	if w.reason != "" {
		f.rejected.WithLabelValues(w.reason).Inc()
	}
}

// under names the route of an answer.
func under(w http.ResponseWriter, route string) *counted {
	c, is := w.(*counted)
	if !is {
		c = &counted{ResponseWriter: w}
	}
	c.route = route
	return c
}
