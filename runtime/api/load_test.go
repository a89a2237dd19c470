package api

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"hyperscale/core/admission"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

func (s *server) dial() net.Conn {
	c, err := net.Dial("tcp", s.api.Addr())
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestBodiesOfStrangersTakeNoPlace: callers without a token send their bodies slowly, and an operator is answered.
func TestBodiesOfStrangersTakeNoPlace(t *testing.T) {
	s := start(t)
	for range requestsMax + 8 {
		_, err := s.dial().Write([]byte("POST /v1/session HTTP/1.1\r\nHost: localhost\r\nX-Hyperscale: 1\r\nContent-Length: 100\r\n\r\n{"))
		require.NoError(t, err)
	}
	one := s.dial() // behind them: the server has read theirs once it answers this one's header
	_, err := one.Write([]byte("DELETE /v1/session HTTP/1.1\r\nHost: localhost\r\n\r\n"))
	require.NoError(t, err)
	_, err = http.ReadResponse(bufio.NewReader(one), nil)
	require.NoError(t, err)
	for range 5 {
		require.Equal(t, http.StatusOK, s.call(node.RightOperate, http.MethodGet, "/v1/whoami", "").status)
	}
}

// TestConnectionsOfStrangersEnd: whatever a caller without a token asks, its connection ends with the answer.
func TestConnectionsOfStrangersEnd(t *testing.T) {
	s := start(t)
	for _, request := range []string{
		"GET /v1/jobs", "DELETE /v1/session", "POST /v1/session", "GET /", "GET /live/main.js", "GET /nothing", "PUT /v1/jobs",
	} {
		c := s.dial()
		_, err := fmt.Fprintf(c, "%s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", request)
		require.NoError(t, err)
		w, err := http.ReadResponse(bufio.NewReader(c), nil)
		require.NoError(t, err, request)
		require.True(t, w.Close, request)
	}
	// A token keeps it, even where its role is too small.
	for _, request := range []string{"GET /v1/whoami", "POST /v1/nodes/w/drain"} {
		c := s.dial()
		_, err := fmt.Fprintf(c, "%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: 0\r\n\r\n", request, s.tokens[node.RightView])
		require.NoError(t, err)
		w, err := http.ReadResponse(bufio.NewReader(c), nil)
		require.NoError(t, err, request)
		require.False(t, w.Close, request)
	}
}

// TestOneTokenLeavesRoom: a token has a quarter of the places, and others find theirs.
func TestOneTokenLeavesRoom(t *testing.T) {
	s := start(t)
	l := &s.api.load
	for range requestsMax / shareOf {
		require.Nil(t, l.requests.enter("a-viewer"))
	}
	got := s.call(node.RightView, http.MethodGet, "/v1/whoami", "")
	require.Equal(t, http.StatusTooManyRequests, got.status)
	require.Equal(t, "token_busy", got.fault(t).Code)
	require.Equal(t, "5", got.header.Get("Retry-After"))
	require.Equal(t, http.StatusOK, s.call(node.RightOperate, http.MethodGet, "/v1/whoami", "").status)
	for range requestsMax / shareOf {
		l.requests.leave("a-viewer")
	}
	require.Empty(t, l.requests.of)
	require.Equal(t, http.StatusOK, s.call(node.RightView, http.MethodGet, "/v1/whoami", "").status)
	for range streamsMax / shareOf {
		require.Nil(t, l.streams.enter("a-viewer"))
	}
	require.Equal(t, http.StatusTooManyRequests, s.call(node.RightView, http.MethodGet, "/v1/jobs/"+(message.JobID{7}).String()+"/events", "").status)
}

// TestSilentClusterKeepsNothing: while the cluster does not answer, feeds that have ended leave no goroutine behind.
func TestSilentClusterKeepsNothing(t *testing.T) {
	s := start(t)
	s.answer(message.KindClusterQuery, func(node.Message) node.Message { return nil })
	s.answer(message.KindJobWatch, func(node.Message) node.Message { return &message.Refused{Code: message.CodeUnknownJob} })
	for i := range 20 {
		got := s.call(node.RightView, http.MethodGet, "/v1/jobs/"+(message.JobID{byte(i + 1)}).String()+"/events", "")
		require.Equal(t, http.StatusNotFound, got.status)
	}
	all := make([]byte, 1<<20)
	require.Eventually(t, func() bool { return !strings.Contains(string(all[:runtime.Stack(all, true)]), "(*feed).observe") }, 10*time.Second, 20*time.Millisecond)
}

// TestFailuresAreShared: callers who ask the same of silent gates cost one question, and one that hangs up waits no more.
func TestFailuresAreShared(t *testing.T) {
	s := start(t)
	held, asked := make(chan struct{}), 0
	s.answer(message.KindJobListQuery, func(node.Message) node.Message {
		if asked++; asked == 1 {
			<-held
		}
		return &message.Refused{Code: message.CodeQuorumUnavailable}
	})
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := shared(gone, s.api, &s.api.lists.jobs, &message.JobListQuery{})
	require.ErrorContains(t, err, "hung up")
	done := make(chan reply)
	for range 5 {
		go func() { done <- s.call(node.RightView, http.MethodGet, "/v1/jobs", "") }()
	}
	close(held)
	for range 5 {
		got := <-done
		require.Equal(t, http.StatusServiceUnavailable, got.status)
	}
	require.Equal(t, 1, asked)
}

// TestJobWithoutItsHolder: the API answers for a job while the cluster does not say who holds it.
func TestJobWithoutItsHolder(t *testing.T) {
	s := start(t)
	s.answer(message.KindClusterQuery, func(node.Message) node.Message { return nil })
	s.answer(message.KindJobQuery, func(m node.Message) node.Message {
		return &message.JobStatus{Job: m.(*message.JobQuery).Job, State: message.JobRunning}
	})
	asked, cancel := context.WithTimeout(context.Background(), askMax/2) // less than the cluster has for its answer
	defer cancel()
	j, err := s.api.job(asked, message.JobID{7})
	require.NoError(t, err)
	require.Empty(t, j.Holder)
	require.NoError(t, asked.Err(), "a caller waits for the holder no longer than holderWait")
}

// TestLateAnswersArrive: an answer that was long in the making has its whole time for the reader.
func TestLateAnswersArrive(t *testing.T) {
	s := start(t)
	s.api.patience = 300 * time.Millisecond
	s.answer(message.KindDrainRequest, func(node.Message) node.Message {
		time.Sleep(2 * s.api.patience)
		return &message.DrainAck{Node: "w"}
	})
	s.answer(message.KindJobQuery, func(node.Message) node.Message {
		time.Sleep(2 * s.api.patience)
		return &message.Refused{Code: message.CodeUnknownJob}
	})
	require.Equal(t, http.StatusAccepted, s.call(node.RightOperate, http.MethodPost, "/v1/nodes/w/drain", "").status)
	require.Equal(t, http.StatusNotFound, s.call(node.RightView, http.MethodGet, "/v1/jobs/"+(message.JobID{7}).String(), "").status)
}

// TestWaitersShareQuestions: callers who wait for one job ask the gates together.
func TestWaitersShareQuestions(t *testing.T) {
	s := start(t)
	const waiters, rounds = 8, 4
	s.answer(message.KindClusterQuery, func(node.Message) node.Message { return &message.ClusterStatus{Gate: "g"} })
	asked, state := 0, message.JobQueued
	s.answer(message.KindJobQuery, func(m node.Message) node.Message {
		if asked++; asked > 1+waiters+rounds { // the first looks are each caller's own
			state = message.JobRunning
		}
		return &message.JobStatus{Job: m.(*message.JobQuery).Job, Name: "x", State: state}
	})
	path := "/v1/jobs/" + (message.JobID{7}).String()
	first := s.call(node.RightView, http.MethodGet, path, "")
	tag := first.header.Get("ETag")
	done := make(chan reply)
	for range waiters {
		go func() { done <- s.call(node.RightView, http.MethodGet, path+"?wait=30s", "", "If-None-Match", tag) }()
	}
	for range waiters {
		got := <-done
		require.Equal(t, http.StatusOK, got.status)
		require.Contains(t, string(got.body), "RUNNING")
	}
	s.gates.mu.Lock()
	defer s.gates.mu.Unlock()
	require.Less(t, asked, 1+waiters+rounds+waiters, "each round is about one question")
	require.Empty(t, s.api.looks.of)
}

// TestFailedFeedIsForgotten: a watch that failed is not shared with a newcomer, though a slow reader still has its feed.
func TestFailedFeedIsForgotten(t *testing.T) {
	s := start(t)
	s.answer(message.KindClusterQuery, func(node.Message) node.Message { return &message.ClusterStatus{Gate: "g"} })
	id := message.JobID{7}
	slow := s.api.feeds.follow(id)
	(<-s.gates.watches).tell(&message.Refused{Code: message.CodeQuorumUnavailable})
	for n, changed := slow.look(); n.failure == nil; n, changed = slow.look() {
		<-changed
	}
	require.Eventually(t, func() bool {
		s.api.feeds.mu.Lock()
		defer s.api.feeds.mu.Unlock()
		return s.api.feeds.of[id] == nil
	}, 10*time.Second, time.Millisecond)
	next := s.api.feeds.follow(id)
	require.NotSame(t, slow, next)
	s.api.feeds.leave(slow)
	require.Same(t, next, s.api.feeds.of[id])
	(<-s.gates.watches).tell(&message.JobStatus{Job: id, State: message.JobRunning})
	s.api.feeds.leave(next)
	require.Empty(t, s.api.feeds.of)
}

// TestAuditSaysWhatWasOrdered: the line has the node, the number, the digest of the key, and how it ended.
func TestAuditSaysWhatWasOrdered(t *testing.T) {
	s := start(t)
	s.answer(message.KindDrainRequest, func(node.Message) node.Message { return &message.DrainAck{Node: "w"} })
	s.answer(message.KindJobReplay, func(node.Message) node.Message { return &message.Refused{Code: message.CodeNoLetter} })
	id := (message.JobID{7}).String()
	s.call(node.RightOperate, http.MethodPost, "/v1/nodes/worker-7/drain?undo=true", "")
	s.call(node.RightOperate, http.MethodPost, "/v1/dead-letters/"+id+"/replay?number=3", "")
	s.call(node.RightSubmit, http.MethodPost, "/v1/jobs", body(t, Submission{Files: map[string]string{"a": "x"}, Duration: "soon"}), "Content-Type", "application/json", KeyHeader, "MARKED-KEY")
	for _, want := range []string{
		"path=/v1/nodes/worker-7/drain job=\"\" from=127.0.0.1 outcome=done order=\"undo=true\"",
		"job=" + id + " from=127.0.0.1 outcome=no_dead_letter order=\"number=3\"",
		"outcome=bad_value order=\"key=" + keyOf("a-submitter", "MARKED-KEY") + "\"",
	} {
		require.Contains(t, s.log.String(), want)
	}
	require.NotContains(t, s.log.String(), "MARKED-KEY")
	fill(&s.api.load.requests, requestsMax)
	s.call(node.RightOperate, http.MethodPost, "/v1/nodes/worker-8/drain", "")
	require.Contains(t, s.log.String(), "path=/v1/nodes/worker-8/drain job=\"\" from=127.0.0.1 outcome=busy")
	fill(&s.api.load.requests, 0)
}

// TestStrangersWriteFewLines: so many a second, and then how many were left out.
func TestStrangersWriteFewLines(t *testing.T) {
	var l lines
	now := time.Now()
	written := 0
	for range 1000 {
		if _, ok := l.take(now); ok {
			written++
		}
	}
	require.Equal(t, linesMax, written)
	dropped, ok := l.take(now.Add(time.Second))
	require.True(t, ok)
	require.Equal(t, 1000-linesMax, dropped)

	s := start(t)
	for range 100 {
		s.send(http.MethodPost, "/v1/session", "")
	}
	require.Less(t, strings.Count(s.log.String(), "api call"), 100)
}

// TestPagesOfOneJobAreBounded: one more page gets a failure as other calls do.
func TestPagesOfOneJobAreBounded(t *testing.T) {
	s := start(t)
	id := message.JobID{7}
	s.answer(message.KindClusterQuery, func(node.Message) node.Message { return &message.ClusterStatus{Gate: "g"} })
	feed := s.api.feeds.follow(id)
	defer s.api.feeds.leave(feed)
	(<-s.gates.watches).tell(&message.JobStatus{Job: id, Sequence: 1, State: message.JobRunning})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for i := range 65 {
		// pages of several tokens: one has fewer streams
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.api.Addr()+"/v1/jobs/"+id.String()+"/view", nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+s.tokens[[]node.Right{node.RightView, node.RightOperate}[i%2]])
		w, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		if i < 64 {
			require.Equal(t, http.StatusOK, w.StatusCode)
			continue
		}
		require.Equal(t, http.StatusServiceUnavailable, w.StatusCode)
		require.Equal(t, "5", w.Header.Get("Retry-After"))
		var f Failure
		require.NoError(t, json.NewDecoder(w.Body).Decode(&f))
		require.Contains(t, f.Error.Message, "close one of them")
		require.NoError(t, w.Body.Close())
	}
}

// TestTokensHavePaces: a token that floods sends no more than its bound to the gates, whatever it asks for, and costs
// another one nothing.
func TestTokensHavePaces(t *testing.T) {
	s := start(t)
	s.answer(message.KindJobCancel, func(node.Message) node.Message {
		return &message.JobCancelAck{Request: anyRequest, Job: someJob, State: message.JobCancelling}
	})
	s.answer(message.KindJobQuery, func(node.Message) node.Message { return runs })
	s.api.load.orders.most, s.api.load.questions.most = 2, 3
	s.api.load.orders.span, s.api.load.questions.span = time.Hour, time.Hour
	order := &message.JobCancel{Request: anyRequest, Job: someJob}
	for range 2 {
		r, _ := s.ask(node.RightOperate, order)
		require.Equal(t, http.StatusOK, r.status, "%s", r.body)
	}
	had := len(s.gates.asked)
	r, _ := s.ask(node.RightOperate, order)
	require.Equal(t, http.StatusTooManyRequests, r.status)
	require.Equal(t, "token_pace", r.fault(t).Code)
	require.NotEmpty(t, r.header.Get("Retry-After"))
	r = s.call(node.RightOperate, http.MethodDelete, "/v1/jobs/"+someJob.String(), "")
	require.Equal(t, http.StatusTooManyRequests, r.status, "by any route")
	require.Len(t, s.gates.asked, had, "the gates see nothing of it")
	r = s.call(node.RightSubmit, http.MethodDelete, "/v1/jobs/"+someJob.String(), "")
	require.Equal(t, http.StatusForbidden, r.status, "another token has its own")
	for n, want := range []int{200, 200, 200, 429} {
		r, _ := s.ask(node.RightOperate, &message.JobQuery{Request: anyRequest, Job: someJob})
		require.Equal(t, want, r.status, "question %d", n)
	}
	r, _ = s.ask(node.RightView, &message.JobQuery{Request: anyRequest, Job: someJob})
	require.Equal(t, http.StatusOK, r.status, "another token has its own")
}

// TestPacesReturn: within a span no token sends more than its bound, and in the next one it sends again.
func TestPacesReturn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, now, sent := paceOf(admission.Submit, "orders"), time.Unix(1, 0), map[string]int{}
		require.Equal(t, 125, p.most)
		began := now
		for range rapid.IntRange(1, 600).Draw(t, "calls") {
			now = now.Add(rapid.SampledFrom([]time.Duration{0, time.Millisecond, time.Second, 10 * time.Second}).Draw(t, "later"))
			if now.Sub(began) >= p.span {
				began = now
				clear(sent)
			}
			name := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "token")
			err := p.send(name, now)
			require.Equal(t, sent[name] < p.most, err == nil)
			if err == nil {
				sent[name]++
				continue
			}
			var f *Fault
			require.ErrorAs(t, err, &f)
			require.GreaterOrEqual(t, now.Add(time.Duration(f.RetryAfterSeconds)*time.Second).Sub(began), p.span, "the time that it gives is enough")
		}
	})
}
