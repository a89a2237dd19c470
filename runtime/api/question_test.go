package api

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/api/frames"
)

// frame is a question as a body.
func frame(t *testing.T, m node.Message) string {
	t.Helper()
	b, err := frames.Append(nil, m)
	require.NoError(t, err)
	return string(b)
}

// ask sends a question with the token of a role, and returns the answers.
func (s *server) ask(right node.Right, m node.Message, header ...string) (reply, []message.Body) {
	s.t.Helper()
	r := s.call(right, http.MethodPost, "/v1/ask", frame(s.t, m), append([]string{"Content-Type", frames.Type}, header...)...)
	if r.status != http.StatusOK {
		return r, nil
	}
	var all []message.Body
	for from := frames.NewReader(bytes.NewReader(r.body), func() {}); ; {
		one, err := from.Next()
		if err == io.EOF {
			return r, all
		}
		require.NoError(s.t, err)
		all = append(all, one)
	}
}

var (
	anyRequest = message.RequestID{Incarnation: 1, Counter: 1}
	someJob    = message.JobID{1}
	runs       = &message.JobStatus{Request: anyRequest, Job: someJob, State: message.JobRunning}
	anAnswer   = map[node.Kind]node.Message{
		message.KindJobQuery:        runs,
		message.KindJobListQuery:    &message.JobList{Request: anyRequest, Gate: "gate-1"},
		message.KindDatacenterQuery: &message.DatacenterList{Request: anyRequest},
		message.KindStatusQuery:     &message.StatusList{Request: anyRequest},
		message.KindClusterQuery:    &message.ClusterStatus{Request: anyRequest, Gate: "gate-1"},
		message.KindJobCancel:       &message.JobCancelAck{Request: anyRequest, Job: someJob, State: message.JobCancelling},
		message.KindJobSubmit:       &message.JobAck{Request: anyRequest, Job: someJob},
	}
)

// TestQuestionsNeedRoles: each question of the closed list is answered for the roles that may ask it, and no other
// message of the catalogue is passed on.
func TestQuestionsNeedRoles(t *testing.T) {
	s := start(t)
	for kind, m := range anAnswer { //lint:orderfree each has an answer of its own
		s.answer(kind, func(node.Message) node.Message { return m })
	}
	plan := message.Plan{Source: "a.star"}
	for _, c := range []struct {
		m     node.Message
		least node.Right
	}{
		{&message.JobQuery{Request: anyRequest, Job: someJob}, node.RightView},
		{&message.JobListQuery{Request: anyRequest}, node.RightView},
		{&message.DatacenterQuery{Request: anyRequest}, node.RightView},
		{&message.StatusQuery{Request: anyRequest}, node.RightView},
		{&message.ClusterQuery{Request: anyRequest}, node.RightView},
		{&message.JobSubmit{Request: anyRequest, Key: "k", Program: message.Program{Main: "a.star"}, Plan: plan}, node.RightSubmit},
		{&message.JobCancel{Request: anyRequest, Job: someJob}, node.RightOperate}, // a submitter's own have a test of their own
	} {
		for _, right := range []node.Right{node.RightView, node.RightSubmit, node.RightOperate} {
			r, all := s.ask(right, c.m)
			if right.Has(c.least) {
				require.Equal(t, http.StatusOK, r.status, "%T of a %v: %s", c.m, right, r.body)
				require.Len(t, all, 1)
				require.Equal(t, anAnswer[c.m.Kind()].Digest(), all[0].Digest(), "%T", c.m)
				continue
			}
			require.Equal(t, http.StatusForbidden, r.status, "%T of a %v", c.m, right)
		}
	}
	had := len(s.gates.asked)
	for _, m := range []node.Message{
		&message.DrainRequest{Request: anyRequest, Node: "n"}, &message.UpgradeFinalize{Request: anyRequest}, &message.BackupQuery{Request: anyRequest},
		&message.JobReplay{Request: anyRequest, Job: someJob, Number: 1}, runs,
	} {
		r, _ := s.ask(node.RightOperate, m)
		require.Equal(t, http.StatusForbidden, r.status, "%T", m)
		require.Contains(t, r.fault(t).Message, "is no question of the API")
	}
	require.Len(t, s.gates.asked, had, "nothing of it has reached the gates")
}

// TestQuestionsOfSubmitters: a submission gets a key of its caller, and the caller alone cancels by it.
func TestQuestionsOfSubmitters(t *testing.T) {
	s := start(t)
	var got *message.JobSubmit
	s.answer(message.KindJobSubmit, func(m node.Message) node.Message {
		got = m.(*message.JobSubmit)
		return &message.JobAck{Request: anyRequest, Job: message.JobOf(got.Key)}
	})
	var cancelled *message.JobCancel
	s.answer(message.KindJobCancel, func(m node.Message) node.Message {
		cancelled = m.(*message.JobCancel)
		return &message.JobCancelAck{Request: anyRequest, Job: cancelled.Job, State: message.JobCancelling}
	})
	submit := &message.JobSubmit{Request: anyRequest, Key: "secret-key", Program: message.Program{Main: "a.star"}, Plan: message.Plan{Source: "a.star"}}
	r, all := s.ask(node.RightSubmit, submit)
	require.Equal(t, http.StatusOK, r.status, "%s", r.body)
	require.Regexp(t, `^api/a-submit[a-z]*/[0-9a-f]{32}$`, got.Key)
	job := all[0].(*message.JobAck).Job
	var who Caller
	r = s.call(node.RightSubmit, http.MethodGet, "/v1/whoami", "", KeyHeader, "secret-key")
	require.NoError(t, json.Unmarshal(r.body, &who))
	require.Equal(t, job.String(), who.Job, "the key names the job")
	r = s.call(node.RightOperate, http.MethodGet, "/v1/whoami", "", KeyHeader, "secret-key")
	require.NoError(t, json.Unmarshal(r.body, &who))
	require.NotEqual(t, job.String(), who.Job, "keys of two tokens never meet")

	cancel := &message.JobCancel{Request: anyRequest, Job: job}
	for _, header := range [][]string{nil, {KeyHeader, "other"}} {
		r, _ := s.ask(node.RightSubmit, cancel, header...)
		require.Equal(t, http.StatusForbidden, r.status)
	}
	require.Nil(t, cancelled)
	r, _ = s.ask(node.RightSubmit, cancel, KeyHeader, "secret-key")
	require.Equal(t, http.StatusOK, r.status)
	require.Contains(t, cancelled.Reason, "cancelled over HTTP by a-submit")
	s.answer(message.KindJobSubmit, func(node.Message) node.Message {
		return &message.Refused{Request: anyRequest, Code: message.CodeQueueFull}
	})
	_, all = s.ask(node.RightSubmit, submit)
	require.Equal(t, message.CodeQueueFull, all[0].(*message.Refused).Code)

	require.Contains(t, s.log.String(), "outcome=done")
	require.Contains(t, s.log.String(), "outcome=queue_full")
	require.Contains(t, s.log.String(), "outcome=forbidden")
	require.NotContains(t, s.log.String(), "secret-key")
	lines := len(s.log.String())
	s.answer(message.KindJobQuery, func(node.Message) node.Message { return runs })
	s.ask(node.RightView, &message.JobQuery{Request: anyRequest, Job: someJob})
	require.Len(t, s.log.String(), lines, "a question that changes nothing is no line")
}

// TestHostileQuestions: what is no question costs the gates nothing, and each answer has a remedy.
func TestHostileQuestions(t *testing.T) {
	s := start(t, func(c *Config) { c.Clear = true })
	good := frame(t, &message.ClusterQuery{Request: anyRequest})
	secret := &message.JobSubmit{
		Request: anyRequest, Key: "k", Program: message.Program{Main: "a.star", Secrets: []message.Secret{{Name: "s", Value: "hunter2"}}},
		Plan: message.Plan{Source: "a.star"},
	}
	for _, c := range []struct {
		name, body, kind string
		status           int
		says             string
	}{
		{"no body", "", frames.Type, http.StatusBadRequest, "the body is no frame"},
		{"half a frame", good[:len(good)-1], frames.Type, http.StatusBadRequest, "the body is no frame"},
		{"a beat", string(frames.Beat()), frames.Type, http.StatusBadRequest, "the body is no frame"},
		{"two", good + good, frames.Type, http.StatusBadRequest, "something follows the frame"},
		{"a huge one", "\xff\xff\xff\xff" + good, frames.Type, http.StatusBadRequest, "above the bound"},
		{"text", "hello, world", frames.Type, http.StatusBadRequest, "the body is no frame"},
		{"a later kind", "\x00\x00\x00\x04\x00\x7f\xff\x80", frames.Type, http.StatusNotImplemented, "use the same version"},
		{"JSON", "{}", "application/json", http.StatusUnsupportedMediaType, "send a frame"},
		{"secrets in clear", frame(t, secret), frames.Type, http.StatusUnprocessableEntity, "secrets leave no machine in clear text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := s.call(node.RightOperate, http.MethodPost, "/v1/ask", c.body, "Content-Type", c.kind)
			require.Equal(t, c.status, r.status, "%s", r.body)
			require.Contains(t, r.fault(t).Message, c.says)
			require.NotContains(t, string(r.body), "hunter2")
		})
	}
	require.Empty(t, s.gates.asked)
	require.NotContains(t, s.log.String(), "hunter2")
}

// TestWatchByFrames: a watch gets each answer as it comes, and ends with its result. It has the place of a stream.
func TestWatchByFrames(t *testing.T) {
	s := start(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	body := frame(t, &message.JobWatch{Request: anyRequest, Job: someJob, After: 2})
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.api.Addr()+"/v1/ask", bytes.NewReader([]byte(body)))
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+s.tokens[node.RightView])
	r.Header.Set("Content-Type", frames.Type)
	w, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer func() { _ = w.Body.Close() }() // it was only read
	require.Equal(t, http.StatusOK, w.StatusCode, "the answer begins before the gates say anything")
	watch := <-s.gates.watches
	s.gates.mu.Lock()
	require.Equal(t, uint32(2), s.gates.asked[0].(*message.JobWatch).After)
	s.gates.mu.Unlock()
	require.Equal(t, 1, taken(&s.api.load.streams))
	require.Zero(t, taken(&s.api.load.requests))
	from := frames.NewReader(w.Body, func() {})
	for _, m := range []node.Message{runs, &message.WorkflowEnded{Request: anyRequest, Job: someJob, Number: 3, State: message.WorkflowCompleted}, runs} {
		watch.tell(m)
		got, err := from.Next()
		require.NoError(t, err)
		require.Equal(t, m.Digest(), got.Digest())
	}
	watch.tell(&message.JobResult{Request: anyRequest, Result: message.Result{Job: someJob, State: message.JobCompleted}})
	got, err := from.Next()
	require.NoError(t, err)
	require.Equal(t, message.KindJobResult, got.Kind())
	_, err = from.Next()
	require.Equal(t, io.EOF, err, "nothing follows a result")
}

// TestLongListsAreCut: a list that no frame can have keeps its newest jobs and their letters, and says that others are
// missing. A short one stays as it is.
func TestLongListsAreCut(t *testing.T) {
	s := start(t)
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.SampledFrom([]int{0, 1, 100, jobsMax, jobsMax + 1, 9000}).Draw(rt, "jobs")
		list := &message.JobList{Request: anyRequest, Gate: "gate-1", Letters: []message.LetterInfo{}}
		name := strings.Repeat("n", rapid.SampledFrom([]int{1, 400}).Draw(rt, "name"))
		for i := range n {
			j := message.JobInfo{Job: message.JobID{1, byte(i >> 8), byte(i)}, Name: name, State: message.JobQueued}
			list.Jobs, list.Letters = append(list.Jobs, j), append(list.Letters, message.LetterInfo{Job: j.Job})
		}
		s.answer(message.KindJobListQuery, func(node.Message) node.Message { return list })
		_, all := s.ask(node.RightView, &message.JobListQuery{Request: anyRequest})
		got := all[0].(*message.JobList)
		require.Equal(rt, len(got.Jobs) < n, got.More)
		require.Len(rt, got.Letters, len(got.Jobs))
		require.GreaterOrEqual(rt, len(got.Jobs), min(n, 1000))
		for i := range got.Jobs {
			require.Equal(rt, list.Jobs[i].Job, got.Jobs[i].Job)
			require.Equal(rt, list.Jobs[i].Job, got.Letters[i].Job)
		}
		for pages := 0; got.More; pages++ { // the caller asks for what follows
			require.Less(rt, pages, 20)
			had := len(got.Jobs)
			next := fitting(list, &message.JobListQuery{After: got.Jobs[had-1].Job}).(*message.JobList)
			next.Jobs, next.Letters = append(got.Jobs, next.Jobs...), append(got.Letters, next.Letters...)
			require.Greater(rt, len(next.Jobs), had)
			got = next
		}
		require.Equal(rt, len(list.Jobs), len(got.Jobs))
		for i := range list.Jobs {
			require.Equal(rt, list.Jobs[i].Job, got.Jobs[i].Job)
			require.Equal(rt, list.Jobs[i].Job, got.Letters[i].Job)
		}
		anew := fitting(list, &message.JobListQuery{After: message.JobID{9, 9}}).(*message.JobList)
		require.Equal(rt, len(anew.Jobs) < n, anew.More, "behind a job that the gates have forgotten the list begins anew")
	})
}

func taken(r *room) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.taken
}
