package api

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hyperscale/core/admission"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/api/compile"
	"hyperscale/runtime/api/tokens"
	"hyperscale/runtime/loop"
	"hyperscale/runtime/metrics"
	"hyperscale/runtime/outputs/carrier"
	"hyperscale/runtime/transport"
)

// Bounds of the server.
const (
	connectionsMax = 512
	requestsMax    = 64  // in flight, streams apart
	streamsMax     = 200 // of events
	headerMax      = 16 << 10
	headerWait     = 5 * time.Second
	bodyWait       = 15 * time.Second
	answerWait     = 30 * time.Second // for a reader of an answer
	idleWait       = 30 * time.Second
)

// Client asks the gates: a host.Node with a core/client inside.
type Client interface {
	Command(ctx context.Context, m node.Message) (*loop.Session, error)
}

// Config of a server.
type Config struct {
	Listen    string   // host:port
	Cert, Key string   // PEM files of its certificate, read again when they change; empty: plain HTTP
	Hosts     []string // names by which clients call it, beside Listen's and loopback
	Tokens    *tokens.File

	Certificates *Certificates // of callers without a token; nil: a token alone admits

	Client   Client
	Compiler *compile.Compiler
	Gate     string                 // the name of this gate
	Outputs  func() []carrier.Stats // its sinks; nil: it has none
	Alerts   func() []string        // about its certificate, disk and sinks; nil: it has none
	Clear    bool                   // frames cross the network in clear: no secret of a program may
	Logger   *slog.Logger
	Metrics  prometheus.Registerer // has its figures; nil: none has
}

// Server answers on one listener.
type Server struct {
	config   Config
	http     http.Server
	listener net.Listener
	routes   []route
	hosts    map[string]bool
	load     load
	figures  figures
	unknown  lines // of callers without a token
	feeds    feeds
	looks    looks
	lists    lists
	ending   context.Context // done when the server closes: streams end
	end      context.CancelFunc
	done     chan struct{}
	patience time.Duration // for a reader of an answer
}

// Serve listens and answers until Close. An error says which flag to correct.
func Serve(c Config) (*Server, error) {
	s := &Server{config: c, hosts: map[string]bool{}, done: make(chan struct{}), patience: answerWait}
	s.load.requests = room{most: requestsMax, what: "calls", of: map[string]int{}}
	s.load.streams = room{most: streamsMax, what: "streams and callers that wait", of: map[string]int{}}
	s.figures = newFigures(&s.load)
	if c.Metrics != nil {
		if err := s.figures.register(c.Metrics); err != nil {
			return nil, fmt.Errorf("metrics of the HTTP API: %w", err)
		}
	}
	s.load.orders, s.load.questions = paceOf(admission.Submit, "orders"), paceOf(admission.Query, "questions")
	s.looks.of = map[message.JobID]*look{}
	s.ending, s.end = context.WithCancel(context.Background())
	s.feeds.of, s.feeds.server = map[message.JobID]*feed{}, s
	s.routes = routes()
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return nil, transport.ListenError(c.Listen, "--api", err)
	}
	s.listener = l
	s.names()
	s.http = http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: headerWait, ReadTimeout: bodyWait, IdleTimeout: idleWait, MaxHeaderBytes: headerMax,
		ErrorLog: slog.NewLogLogger(c.Logger.Handler(), slog.LevelDebug),
	}
	bounded := metrics.NewBounded(l, connectionsMax)
	if c.Cert != "" {
		pair := &pair{cert: c.Cert, key: c.Key, logger: c.Logger}
		if err := pair.read(); err != nil {
			_ = l.Close() // it has served no request
			return nil, err
		}
		of := &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: pair.get, NextProtos: []string{"http/1.1"}}
		if c.Certificates != nil {
			c.Certificates.demand(of)
		}
		bounded = tls.NewListener(bounded, of)
	}
	go func() {
		defer close(s.done)
		if err := s.http.Serve(bounded); !errors.Is(err, http.ErrServerClosed) {
			c.Logger.Error("the HTTP API has ended", "error", err.Error())
		}
	}()
	return s, nil
}

// names are what Host may be: rebinding a foreign name to this address gets no page in.
func (s *Server) names() {
	host, _, _ := net.SplitHostPort(s.listener.Addr().String())
	for _, name := range append([]string{"localhost", "127.0.0.1", "::1", host}, s.config.Hosts...) {
		if h, _, err := net.SplitHostPort(name); err == nil {
			name = h
		}
		if name != "" {
			s.hosts[strings.ToLower(strings.Trim(name, "[]"))] = true
		}
	}
}

// Addr is where the listener is.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Close ends the streams and the listener; answers in progress get until ctx ends.
func (s *Server) Close(ctx context.Context) {
	s.end()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close() // its error is that of the shutdown
	}
	<-s.done
}

// pair is a certificate and its key, from files that may change.
type pair struct {
	cert, key string
	logger    *slog.Logger
	now       atomic.Pointer[held]
}

type held struct {
	of     tls.Certificate
	stamp  string
	looked time.Time
}

// get returns the newest pair: the files are looked at once a second.
func (p *pair) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	h := p.now.Load()
	if time.Since(h.looked) > time.Second {
		if err := p.read(); err != nil {
			p.logger.Warn("the certificate of the HTTP API cannot be read again, the old one stays", "error", err.Error())
			p.now.CompareAndSwap(h, &held{of: h.of, stamp: h.stamp, looked: time.Now()})
		}
		h = p.now.Load()
	}
	return &h.of, nil
}

func (p *pair) read() error {
	stamp := stampOf(p.cert) + stampOf(p.key)
	if h := p.now.Load(); h != nil && h.stamp == stamp {
		p.now.Store(&held{of: h.of, stamp: stamp, looked: time.Now()})
		return nil
	}
	of, err := tls.LoadX509KeyPair(p.cert, p.key)
	if err != nil {
		return fmt.Errorf("certificate of the HTTP API: %w: correct --api-cert and --api-key", err)
	}
	p.now.Store(&held{of: of, stamp: stamp, looked: time.Now()})
	return nil
}
