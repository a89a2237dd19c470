package api

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/ui"
)

// sse is one event of a stream.
type sse struct{ name, id, data string }

// listen reads a stream until its end, and holds each event against the description.
func (s *server) listen(id message.JobID, last string) (<-chan sse, int) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	s.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.api.Addr()+"/v1/jobs/"+id.String()+"/events", nil)
	require.NoError(s.t, err)
	r.Header.Set("Authorization", "Bearer "+s.tokens[node.RightView])
	r.Header.Set("Last-Event-ID", last)
	w, err := http.DefaultClient.Do(r)
	require.NoError(s.t, err)
	out := make(chan sse, 1024)
	go func() {
		defer close(out)
		defer func() { _ = w.Body.Close() }()
		var one sse
		for lines := bufio.NewScanner(w.Body); lines.Scan(); {
			field, value, _ := strings.Cut(lines.Text(), ": ")
			switch field {
			case "event":
				one.name = value
			case "id":
				one.id = value
			case "data":
				one.data = value
			case "":
				if one.name != "" {
					out <- one
				}
				one = sse{}
			}
		}
	}()
	return out, w.StatusCode
}

func (s *server) judgeEvent(e sse) {
	s.t.Helper()
	name := map[string]string{"status": "StatusEvent", "window": "WindowEvent", "event": "JobEvent", "alert": "AlertEvent", "result": "ResultEvent"}[e.name]
	require.NotEmpty(s.t, name, e.name)
	s.fits(map[string]any{"$ref": "#/components/schemas/" + name}, []byte(e.data))
}

// statusAt is a job that has sent load for so long.
func statusAt(id message.JobID, n int, change ...func(*message.JobStatus)) *message.JobStatus {
	stats := message.Stats{Elapsed: time.Duration(n) * time.Second, Steps: []message.StepStats{{Name: "a", Kind: message.StepRequest, Started: uint64(10 * n), OK: uint64(10 * n)}}}
	m := &message.JobStatus{
		Job: id, Name: "w.star", Sequence: uint64(n + 1), State: message.JobRunning, Elapsed: time.Duration(n) * time.Second,
		Datacenters: []message.DatacenterResult{{Name: "east", State: message.JobRunning, Workflows: []message.WorkflowResult{{Name: "w", State: message.WorkflowRunning, Stats: stats}}}},
	}
	for _, f := range change {
		f(m)
	}
	return m
}

func until(t *testing.T, from <-chan sse, name string) (all []sse) {
	t.Helper()
	for e := range from {
		if all = append(all, e); e.name == name {
			return all
		}
	}
	require.Fail(t, "the stream ended before "+name, "%v", all)
	return nil
}

// TestStream: a reader gets each window, each end and each alert once, the newest status, and the result; then 204.
func TestStream(t *testing.T) {
	s := start(t)
	id := message.JobID{7}
	s.answer(message.KindClusterQuery, func(node.Message) node.Message {
		return &message.ClusterStatus{Gate: "g", Warnings: []string{"alert x"}, Leases: []message.LeaseInfo{{Job: id, Holder: "g:1"}}}
	})
	streams := make(chan (<-chan sse))
	go func() {
		events, _ := s.listen(id, "")
		streams <- events
	}()
	w := <-s.gates.watches
	w.tell(statusAt(id, 0))
	events := <-streams
	all := until(t, events, "status")
	if !slices.ContainsFunc(all, func(e sse) bool { return e.name == "alert" }) { // the cluster's answer may come later
		all = append(all, until(t, events, "alert")...)
	}
	w.tell(statusAt(id, 2))
	all = append(all, until(t, events, "window")...)
	w.tell(statusAt(id, 4, func(m *message.JobStatus) {
		m.Datacenters[0].Workers = []message.WorkerShare{{Node: "w1", Lost: 1}}
	}))
	all = append(all, until(t, events, "window")...)
	w.tell(&message.WorkflowEnded{Job: id, Number: 1, Name: "w", State: message.WorkflowCompleted, Started: 40})
	result := message.Result{Job: id, Name: "w.star", State: message.JobCompleted, Duration: 4 * time.Second, Datacenters: statusAt(id, 4).Datacenters,
		Thresholds: []message.ThresholdResult{{Workflow: "w", Expr: "a.errors < 1%", OK: true}}}
	w.tell(&message.JobStatus{Job: id, State: message.JobCompleted, Sequence: 9}, &message.JobResult{Result: result})
	for e := range events {
		all = append(all, e)
	}
	var notes []string
	counts, newest, place := map[string]int{}, StatusEvent{}, ""
	for _, e := range all {
		s.judgeEvent(e)
		counts[e.name]++
		switch e.name {
		case "event":
			var j JobEvent
			require.NoError(t, json.Unmarshal([]byte(e.data), &j))
			notes = append(notes, j.What)
		case "status":
			require.NoError(t, json.Unmarshal([]byte(e.data), &newest))
		}
		if e.name != "result" {
			place = e.id
		}
	}
	require.Equal(t, []string{"state", "worker-lost", "state", "workflow-ended"}, notes)
	require.Equal(t, 2, counts["window"])
	require.Equal(t, 1, counts["result"])
	require.Equal(t, 1, counts["alert"])
	require.Equal(t, "COMPLETED", newest.State)
	require.Equal(t, uint64(40), newest.Flows[0].Steps[0].Started)
	require.Equal(t, finished, all[len(all)-1].id)

	_, status := s.listen(id, finished)
	require.Equal(t, http.StatusNoContent, status)
	go func() {
		events, _ := s.listen(id, place) // at another gate, say: it has all windows and ends
		streams <- events
	}()
	(<-s.gates.watches).tell(statusAt(id, 2), statusAt(id, 4), &message.WorkflowEnded{Job: id, Number: 1, Name: "w", State: message.WorkflowCompleted}, &message.JobResult{Result: result})
	for e := range <-streams {
		require.Contains(t, []string{"status", "alert", "result"}, e.name, "%v", e)
	}
}

// TestTakeovers: a new token of the job's lease is one, a renewal is none.
func TestTakeovers(t *testing.T) {
	f := &feed{job: message.JobID{7}, model: ui.NewModel("", &message.Plan{})}
	var n news
	lease := func(epoch uint64, holder string, released bool) {
		f.hold(&n, &message.ClusterStatus{Leases: []message.LeaseInfo{{Job: f.job, Holder: holder, Token: message.LeaseToken{Epoch: epoch, Ordinal: 1}, Released: released}}})
	}
	lease(1, "a", false)
	lease(1, "a", false)
	lease(2, "b", false)
	lease(3, "", false)
	lease(4, "c", true)
	lease(1, "a", false) // of a gate that has not heard of the newest grant
	lease(2, "b", false)
	require.Equal(t, []JobEvent{{What: "takeover", Holder: "b"}}, n.notes)
}

// TestStreamsShareAWatch: further readers cost the gates nothing, and get the windows of the whole run.
func TestStreamsShareAWatch(t *testing.T) {
	s := start(t)
	id := message.JobID{7}
	streams := make(chan (<-chan sse), 3)
	listen := func() {
		events, _ := s.listen(id, "")
		streams <- events
	}
	go listen()
	w := <-s.gates.watches
	w.tell(statusAt(id, 0), statusAt(id, 2), statusAt(id, 4))
	first := <-streams
	until(t, first, "window")
	go listen()
	second := <-streams
	got := until(t, second, "window")
	require.Contains(t, got[len(got)-1].data, `"from_ns":0,"until_ns":2000000000`)
	require.Empty(t, s.gates.watches)
	w.tell(&message.JobResult{Result: message.Result{Job: id, State: message.JobFailed, Error: "x"}})
	for _, events := range []<-chan sse{first, second} {
		until(t, events, "result")
	}
}

// TestStreamsThatCannotBegin: what the gates say, and a bound.
func TestStreamsThatCannotBegin(t *testing.T) {
	s := start(t)
	id := message.JobID{7}
	path := "/v1/jobs/" + id.String() + "/events"
	done := make(chan reply)
	go func() { done <- s.call(node.RightView, http.MethodGet, path, "") }()
	(<-s.gates.watches).tell(&message.Refused{Code: message.CodeUnknownJob})
	got := <-done
	require.Equal(t, http.StatusNotFound, got.status)
	fill(&s.api.load.streams, streamsMax)
	full := s.call(node.RightView, http.MethodGet, path, "")
	require.Equal(t, http.StatusServiceUnavailable, full.status)
	require.Equal(t, "30", full.header.Get("Retry-After"))
	fill(&s.api.load.streams, 0)
	go func() { done <- s.call(node.RightView, http.MethodGet, path, "") }()
	(<-s.gates.watches).tell(&message.JobStatus{Job: id, State: message.JobFailed}, &message.Refused{Code: message.CodeResultForgotten})
	got = <-done
	require.Contains(t, string(got.body), `"forgotten":true`)
}

// TestReadersMissNothing: however far a reader is behind, and wherever it begins anew, it gets each window and each end once, in
// order, and never more than a bound at a time.
func TestReadersMissNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var n news
		r, windows, ends := readerOf(""), []int{}, []int{}
		total := rapid.IntRange(0, 600).Draw(t, "windows")
		for i := range total {
			n.points = append(n.points, ui.Point{At: time.Duration(i+1) * time.Second, Took: time.Second})
		}
		told := rapid.IntRange(0, 20).Draw(t, "ends")
		for i := range told {
			n.ends = append(n.ends, endOf(&message.WorkflowEnded{Number: uint32(i + 1)}, 0))
		}
		n.status, n.version = &message.JobStatus{}, 1
		if rapid.Bool().Draw(t, "ended") {
			n.result = &message.Result{}
		}
		for rounds := 0; ; rounds++ {
			require.Less(t, rounds, 1000)
			more, end, err := r.take(&n, true)
			require.NoError(t, err)
			require.Less(t, r.out.Len(), 2*queueMax)
			last := ""
			for _, block := range strings.Split(r.out.String(), "\n\n") {
				var w WindowEvent
				var e JobEvent
				head, data, _ := strings.Cut(block, "data: ")
				switch {
				case strings.HasPrefix(head, "event: window"):
					require.NoError(t, json.Unmarshal([]byte(data), &w))
					windows = append(windows, int(w.UntilNS/int64(time.Second)))
				case strings.HasPrefix(head, "event: event"):
					require.NoError(t, json.Unmarshal([]byte(data), &e))
					ends = append(ends, int(e.Workflow.Number))
				}
				if _, id, is := strings.Cut(head, "id: "); is {
					last = strings.TrimSpace(id)
				}
			}
			r.out.Reset()
			if !more {
				require.Equal(t, n.result != nil, end)
				break
			}
			if last != "" && rapid.Bool().Draw(t, "another gate") {
				r = readerOf(last)
			}
		}
		require.Equal(t, count(total), windows)
		require.Equal(t, count(told), ends)
	})
}

// TestWindowsOfAnotherGate: whatever windows another gate has, a reader that continues there gets none that it has, in whole or in part.
func TestWindowsOfAnotherGate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r reader
		for at, gates := time.Duration(0), rapid.IntRange(1, 5).Draw(t, "gates"); gates > 0; gates-- {
			var n news
			for end := time.Duration(0); len(n.points) < rapid.IntRange(1, 60).Draw(t, "windows"); {
				took := time.Duration(rapid.IntRange(1, 30).Draw(t, "tenths")) * 100 * time.Millisecond
				end += took
				n.points = append(n.points, ui.Point{At: end, Took: took})
			}
			r = readerOf(r.place())
			_, _, err := r.take(&n, false)
			require.NoError(t, err)
			for line := range strings.Lines(r.out.String()) {
				if data, is := strings.CutPrefix(line, "data: "); is {
					var w WindowEvent
					require.NoError(t, json.Unmarshal([]byte(data), &w))
					require.GreaterOrEqual(t, w.FromNS, int64(at))
					at = time.Duration(w.UntilNS)
				}
			}
		}
	})
}

func count(n int) []int {
	all := []int{}
	for i := range n {
		all = append(all, i+1)
	}
	return all
}

// FuzzPlace: no Last-Event-ID crashes a stream or asks for what there is not.
func FuzzPlace(f *testing.F) {
	for _, s := range []string{"", "3-500", "-1--1", finished, "9999999999999-1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r := readerOf(s)
		if r.ends < 0 || r.ends > endsMax || r.at < 0 {
			t.Fatal(fmt.Sprint(r.ends, r.at))
		}
		n := news{status: &message.JobStatus{}, version: 1, result: &message.Result{}}
		if _, end, err := r.take(&n, true); err != nil || !end {
			t.Fatal(end, err)
		}
	})
}
