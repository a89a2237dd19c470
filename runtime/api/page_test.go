package api

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// TestPagesNeedNoToken: a page shows nothing by itself, and asks for a token. Its policy lets it load nothing from elsewhere.
func TestPagesNeedNoToken(t *testing.T) {
	s := start(t)
	for _, path := range []string{"/", "/jobs/" + message.JobID{7}.String(), "/cluster", "/live/main.js", "/live/page.css"} {
		w, err := http.Get("http://" + s.api.Addr() + path)
		require.NoError(t, err)
		require.NoError(t, w.Body.Close())
		require.Equal(t, http.StatusOK, w.StatusCode, path)
		require.Contains(t, w.Header.Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'", path)
	}
	require.Equal(t, http.StatusUnauthorized, s.send(http.MethodGet, "/v1/jobs/"+message.JobID{7}.String()+"/view", "").status)
}

// TestPageSeesTheEnd: the stream of a page has the job's figures, and ends with the job.
func TestPageSeesTheEnd(t *testing.T) {
	s := start(t)
	job := message.JobID{7}
	go func() {
		w := <-s.gates.watches
		w.tell(&message.JobStatus{Job: job, Name: "shop.star", Sequence: 1, State: message.JobRunning, Elapsed: time.Second},
			&message.JobResult{Result: message.Result{Job: job, Name: "shop.star", State: message.JobFailed, Error: "no worker", Duration: 2 * time.Second}})
	}()
	got := s.call(node.RightView, http.MethodGet, "/v1/jobs/"+job.String()+"/view", "")
	require.Equal(t, http.StatusOK, got.status)
	require.Equal(t, "text/event-stream", got.header.Get("Content-Type"))
	views := strings.Split(string(got.body), "event: view\n")
	require.Contains(t, views[len(views)-1], `"state":"FAILED"`)
	require.Contains(t, views[len(views)-1], `"reason":"no worker"`)
	require.Contains(t, views[len(views)-1], `"ended":true`)
}
