package api

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// TestFiguresCountAnswers: each answer counts once under its route and status, each rejection under its code, and streams
// in no time of a request. What a caller sends is no label.
func TestFiguresCountAnswers(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	s := start(t, func(c *Config) { c.Metrics = registry })
	s.answer(message.KindJobListQuery, func(node.Message) node.Message { return &message.JobList{Request: anyRequest, Gate: "gate-1"} })
	s.answer(message.KindJobQuery, func(node.Message) node.Message {
		return &message.Refused{Request: anyRequest, Code: message.CodeUnknownJob}
	})
	s.call(node.RightView, http.MethodGet, "/v1/jobs", "")
	s.call(node.RightView, http.MethodGet, "/v1/jobs?state=none", "")
	s.call(node.RightView, http.MethodGet, "/v1/jobs/"+someJob.String(), "")
	s.ask(node.RightView, &message.JobQuery{Request: anyRequest, Job: someJob})
	s.send(http.MethodGet, "/v1/jobs", "")
	s.call(node.RightView, http.MethodGet, "/v1/nowhere-of-a-caller", "")
	s.call(node.RightView, http.MethodPost, "/v1/nodes/n/drain", "")
	s.call(node.RightView, http.MethodGet, "/v1/jobs", "", "Host", "evil.example.org")
	w, err := http.Get("http://" + s.api.Addr() + "/")
	require.NoError(t, err)
	require.NoError(t, w.Body.Close())

	ctx, cancel := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.api.Addr()+"/v1/jobs/"+someJob.String()+"/events", nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+s.tokens[node.RightView])
	streamed := make(chan error, 1)
	go func() {
		w, err := http.DefaultClient.Do(r)
		if err == nil {
			err = w.Body.Close()
		}
		streamed <- err
	}()
	watch := <-s.gates.watches
	require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
		# HELP hyperscale_api_streams Streams of the HTTP API, and callers that wait. It rejects callers beyond 200, and a token beyond 50.
		# TYPE hyperscale_api_streams gauge
		hyperscale_api_streams 1
	`), "hyperscale_api_streams"))
	watch.tell(runs)
	require.NoError(t, <-streamed)
	cancel()
	require.Eventually(t, func() bool {
		return testutil.ToFloat64(s.api.figures.requests.WithLabelValues("GET /v1/jobs/{id}/events", "200")) == 1
	}, 20*time.Second, 5*time.Millisecond)

	require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
		# HELP hyperscale_api_requests_total Requests to the HTTP API that ended, by route and status. A stream ends once.
		# TYPE hyperscale_api_requests_total counter
		hyperscale_api_requests_total{code="200",route="GET /v1/jobs"} 1
		hyperscale_api_requests_total{code="400",route="GET /v1/jobs"} 1
		hyperscale_api_requests_total{code="401",route="GET /v1/jobs"} 1
		hyperscale_api_requests_total{code="200",route="GET /v1/jobs/{id}/events"} 1
		hyperscale_api_requests_total{code="404",route="GET /v1/jobs/{id}"} 1
		hyperscale_api_requests_total{code="200",route="POST /v1/ask"} 1
		hyperscale_api_requests_total{code="403",route="POST /v1/nodes/{id}/drain"} 1
		hyperscale_api_requests_total{code="404",route="other"} 1
		hyperscale_api_requests_total{code="421",route="other"} 1
		hyperscale_api_requests_total{code="200",route="page"} 1
		# HELP hyperscale_api_rejected_total Requests that the HTTP API, or the gates behind it, rejected, by the code of the error.
		# TYPE hyperscale_api_rejected_total counter
		hyperscale_api_rejected_total{reason="bad_query"} 1
		hyperscale_api_rejected_total{reason="forbidden"} 1
		hyperscale_api_rejected_total{reason="host"} 1
		hyperscale_api_rejected_total{reason="unauthorized"} 1
		hyperscale_api_rejected_total{reason="unknown_job"} 2
		hyperscale_api_rejected_total{reason="unknown_path"} 1
	`), "hyperscale_api_requests_total", "hyperscale_api_rejected_total"))
	problems, err := testutil.GatherAndLint(registry)
	require.NoError(t, err)
	require.Empty(t, problems)
	require.Equal(t, 6, testutil.CollectAndCount(s.api.figures.seconds), "a time for each route but the stream's")
	require.Zero(t, s.api.load.streams.held())
}
