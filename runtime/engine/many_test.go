package engine

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/request"
)

// A server chooses different protocols by ALPN in turn, and closes each connection soon.
func TestServerThatChangesItsMind(t *testing.T) {
	t.Parallel()
	var turn, shaken atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if turn.Add(1)%5 == 0 {
			w.Header().Set("Connection", "close")
		}
		_, _ = io.WriteString(w, "body")
	}))
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		c := s.TLS.Clone()
		c.GetConfigForClient = nil
		c.NextProtos = [][]string{{"h2"}, {"http/1.1"}}[shaken.Add(1)%2]
		return c, nil
	}}
	s.StartTLS()
	defer s.Close()
	for _, shared := range []uint32{0, 3} {
		t.Run(fmt.Sprint(shared), func(t *testing.T) {
			w := flow(get("a", s.URL+"/"), get("b", s.URL+"/"), get("c", s.URL+"/", 0))
			w.HTTP.Version, w.HTTP.Insecure = request.VersionAuto, true
			w.Plan.Connections = shared
			w.Plan.Iterations = 200
			r := run(t, context.Background(), Config{Workflow: w, VUs: 8, Timeout: 10 * time.Second})
			for _, a := range r.Stats.Steps {
				if a.TimedOut > 0 || a.OK < 20 {
					t.Errorf("%s: started %d, ok %d, failed %d, timed out %d: %v", a.Name, a.Started, a.OK, a.Failed, a.TimedOut, a.Errors)
				}
			}
		})
	}
}

// A function that visits one host after the other, each over HTTP/2, keeps few connections.
func TestConnectionsToManyHostsOverHTTP2AreFew(t *testing.T) {
	var urls []string
	for range 60 {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {}))
		s.EnableHTTP2 = true
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		s.StartTLS()
		defer s.Close()
		urls = append(urls, s.URL)
	}
	before := descriptors(t)
	worst := 0
	f := flow(other("f", message.StepFunction))
	f.HTTP.Version, f.HTTP.Insecure = request.VersionAuto, true
	perform(t, context.Background(), Config{Workflow: f, VUs: 1}, map[int]func(*play) workflow.Outcome{0: func(p *play) workflow.Outcome {
		for _, u := range urls {
			if a := p.client.Do(&request.Request{Method: "GET", URL: u + "/"}, nil); a.Status != 200 {
				t.Errorf("%s: %+v", u, a)
			}
			worst = max(worst, descriptors(t)-before)
		}
		return workflow.Outcome{OK: true}
	}})
	// Each connection has two ends here, and the server closes its end a little later.
	if worst > 3*len(urls)/2 {
		t.Errorf("%d descriptors more for %d hosts", worst, len(urls))
	}
}
