package live

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/net/netutil"

	"hyperscale/core/message"
)

const (
	connectionsMost = 128
	closeLimit      = 2 * time.Second // in which pages get the end
)

// Server answers pages with one job while a command follows it.
type Server struct {
	feed   *Feed
	server http.Server
	at     net.Addr
	done   chan struct{}
}

// Serve starts to answer on the listener, which is the Server's from here on.
func Serve(l net.Listener, logger *slog.Logger) *Server {
	s := &Server{feed: NewFeed(), at: l.Addr(), done: make(chan struct{})}
	mux := http.NewServeMux()
	mux.Handle("GET /", Assets())
	mux.Handle("GET /{$}", http.RedirectHandler("/jobs/this", http.StatusFound))
	mux.HandleFunc("GET /v1/whoami", func(w http.ResponseWriter, _ *http.Request) { // who reaches this page needs no token
		head(w, "application/json")
		_, _ = io.WriteString(w, "{\"name\":\"\"}\n") // the browser has gone
	})
	mux.HandleFunc("GET /v1/jobs/{job}/view", func(w http.ResponseWriter, in *http.Request) {
		if job := s.feed.Job(); in.PathValue("job") != "this" && in.PathValue("job") != job {
			http.Error(w, "this command follows another job: open / for it", http.StatusNotFound)
			return
		}
		s.feed.ServeHTTP(w, in)
	})
	s.server = http.Server{
		Handler: named(mux), ReadTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
	go func() {
		defer close(s.done)
		_ = s.server.Serve(netutil.LimitListener(l, connectionsMost)) // ends with Close, which is the only way
	}()
	return s
}

// named rejects requests for other hosts: a page of another site that calls its own name by this address
// reads nothing here.
func named(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
		if !ours(in.Host) {
			http.Error(w, "this page has no name "+in.Host+": open it by its address, as the command printed it", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, in)
	})
}

// ours holds of addresses and of localhost: names of other sites may point to this address.
func ours(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.Trim(name, "[]")
	_, err := netip.ParseAddr(name)
	return err == nil || strings.EqualFold(name, "localhost")
}

// Apply takes a status; it waits for no page.
func (s *Server) Apply(status *message.JobStatus) { s.feed.Apply(status) }

// Finish takes the job's end, and how far its sinks are.
func (s *Server) Finish(r *message.Result, sinks message.SinkReports) { s.feed.Finish(r, sinks) }

// URL is where the page is.
func (s *Server) URL() string { return "http://" + s.at.String() + "/" }

// Close lets pages that read have the end, and ends the listener.
func (s *Server) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	if !s.feed.ended() {
		s.feed.Close()
	}
	if s.server.Shutdown(ctx) != nil {
		s.feed.Close()
		_ = s.server.Close() // its error is that of the shutdown
	}
	<-s.done
}
