package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/view"
)

func jobs(n int) *message.JobList {
	list := &message.JobList{Gates: []message.GateView{{Node: "gate-1", Addr: "a:1"}}}
	for i := range n {
		state := message.JobRunning
		if i%2 == 1 {
			state = message.JobQueued
		}
		list.Jobs = append(list.Jobs, message.JobInfo{Job: message.JobID{byte(i), 1}, Name: fmt.Sprintf("job-%d.star", i), State: state, Age: time.Duration(i) * time.Second})
	}
	return list
}

// TestPagesOfJobs: each job stands on one page, in the order of the gates' list.
func TestPagesOfJobs(t *testing.T) {
	s := start(t)
	s.answer(message.KindJobListQuery, func(node.Message) node.Message { return jobs(7) })
	var names []string
	for after, pages := "", 0; ; pages++ {
		require.Less(t, pages, 4)
		got := s.call(node.RightView, http.MethodGet, "/v1/jobs?limit=3&after="+after, "")
		require.Equal(t, http.StatusOK, got.status, "%s", got.body)
		var page JobPage
		require.NoError(t, json.Unmarshal(got.body, &page))
		for _, j := range page.Jobs {
			names = append(names, j.Name)
		}
		if after = page.Next; after == "" {
			break
		}
	}
	require.Equal(t, "job-0.star job-1.star job-2.star job-3.star job-4.star job-5.star job-6.star", strings.Join(names, " "))

	var page JobPage
	got := s.call(node.RightView, http.MethodGet, "/v1/jobs?state=queued&name=5", "")
	require.NoError(t, json.Unmarshal(got.body, &page))
	require.Len(t, page.Jobs, 1)
	require.Equal(t, "job-5.star", page.Jobs[0].Name)
	for query, want := range map[string]string{
		"state=WALKING": `state "WALKING" is none`, "limit=0": `limit = "0" must be 1 to 1000`, "limit=x": `limit = "x"`, "after=x": `after "x" is no job of the list`,
	} {
		got := s.call(node.RightView, http.MethodGet, "/v1/jobs?"+query, "")
		require.Equal(t, http.StatusBadRequest, got.status)
		require.Contains(t, got.fault(t).Message, want)
	}
}

// TestListsAreShared: callers within a second cost the gates one question.
func TestListsAreShared(t *testing.T) {
	s := start(t)
	asked := 0
	s.answer(message.KindJobListQuery, func(node.Message) node.Message { asked++; return jobs(1) })
	for range 5 {
		s.call(node.RightView, http.MethodGet, "/v1/jobs", "")
	}
	s.gates.mu.Lock()
	defer s.gates.mu.Unlock()
	require.Less(t, asked, 5)
}

// TestOneJob: the ETag stays while only time passes, and changes with the state; a caller that waits gets the change.
func TestOneJob(t *testing.T) {
	s := start(t)
	job, state, elapsed := message.JobID{7}, message.JobQueued, time.Second
	s.answer(message.KindClusterQuery, func(node.Message) node.Message {
		return &message.ClusterStatus{Gate: "gate-1", Leases: []message.LeaseInfo{{Job: job, Holder: "g:1", Token: message.LeaseToken{Epoch: 4, Ordinal: 2}}}}
	})
	s.answer(message.KindJobQuery, func(node.Message) node.Message {
		elapsed += time.Second
		if elapsed > 4*time.Second {
			state = message.JobRunning
		}
		return &message.JobStatus{Job: job, Name: "x", State: state, Elapsed: elapsed}
	})
	path := "/v1/jobs/" + job.String()
	first := s.call(node.RightView, http.MethodGet, path, "")
	var j view.Job
	require.NoError(t, json.Unmarshal(first.body, &j))
	require.Equal(t, "QUEUED g:1 4/2", j.State+" "+j.Holder+" "+j.Fence)
	tag := first.header.Get("ETag")
	require.Equal(t, http.StatusNotModified, s.call(node.RightView, http.MethodGet, path, "", "If-None-Match", tag).status)
	changed := s.call(node.RightView, http.MethodGet, path+"?wait=30s", "", "If-None-Match", tag)
	require.NoError(t, json.Unmarshal(changed.body, &j))
	require.Equal(t, "RUNNING", j.State)
	require.NotEqual(t, tag, changed.header.Get("ETag"))

	fill(&s.api.load.streams, streamsMax)
	require.Equal(t, http.StatusServiceUnavailable, s.call(node.RightView, http.MethodGet, path+"?wait=30s", "", "If-None-Match", tag).status)
	fill(&s.api.load.streams, 0)
	require.Empty(t, s.api.load.requests.of)

	require.Equal(t, http.StatusNotFound, s.call(node.RightView, http.MethodGet, "/v1/jobs/x", "").status)
	require.Equal(t, http.StatusBadRequest, s.call(node.RightView, http.MethodGet, path+"?wait=1h", "").status)
}

// TestRejectionsOfTheGates: HTTP has their status, their name and their time; a gate that has much to do names 5 s at least.
func TestRejectionsOfTheGates(t *testing.T) {
	s := start(t)
	path := "/v1/jobs/" + (message.JobID{7}).String()
	for _, c := range []struct {
		refused message.Refused
		status  int
		code    string
		after   string
	}{
		{message.Refused{Code: message.CodeUnknownJob, Detail: "job 7"}, 404, "unknown_job", ""},
		{message.Refused{Code: message.CodeOverloaded, RetryAfter: 1200 * time.Millisecond}, 503, "overloaded", "5"},
		{message.Refused{Code: message.CodeCircuitOpen, RetryAfter: 8200 * time.Millisecond}, 503, "circuit_open", "9"},
		{message.Refused{Code: message.CodeRateLimited, RetryAfter: 1200 * time.Millisecond}, 429, "rate_limited", "2"},
		{message.Refused{Code: message.CodeQuorumUnavailable}, 503, "quorum_unavailable", "5"},
	} {
		s.answer(message.KindJobQuery, func(node.Message) node.Message { r := c.refused; return &r })
		got := s.call(node.RightView, http.MethodGet, path, "")
		f := got.fault(t)
		require.Equal(t, c.status, got.status)
		require.Equal(t, c.code, f.Code)
		require.Equal(t, c.after, got.header.Get("Retry-After"))
		require.Equal(t, c.refused.Detail, f.Detail)
	}
	require.Equal(t, []time.Duration{waitLeast, waitMore, waitMost}, []time.Duration{waitAt(89, 100), waitAt(90, 100), waitAt(95, 100)})
}
