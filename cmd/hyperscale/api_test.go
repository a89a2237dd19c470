package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hyperscale/checker/history"
	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/runtime/api"
)

// apis is the HTTP of a group's gates.
type apis struct {
	*group
	tokens map[string]string // by role
	at     map[string]string // addresses by gate
}

func withAPI(t *testing.T) *apis {
	t.Helper()
	a := &apis{group: newGroup(t), tokens: map[string]string{}, at: map[string]string{}}
	file := a.path("api.tokens")
	for _, role := range []string{"viewer", "submitter", "operator"} {
		a.tokens[role] = strings.TrimSpace(run(t, command.ExitGood, "token", "new", "--role", role, "--name", "a-"+role, file).out.String())
	}
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NotContains(t, string(b), a.tokens["viewer"])
	a.more = []string{"--api", "127.0.0.1:0", "--api-tokens", file}
	return a
}

func (a *apis) start(ids ...string) {
	a.t.Helper()
	a.group.start(ids...)
	for _, id := range ids {
		if strings.HasPrefix(id, "gate") {
			a.at[id] = a.nodes[id].await(`msg=up .*api=(\S+)`)
		}
	}
}

func (a *apis) call(ctx context.Context, gate, role, method, path, body string, header ...string) *http.Response {
	a.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, "http://"+a.at[gate]+path, strings.NewReader(body))
	require.NoError(a.t, err)
	r.Header.Set("Authorization", "Bearer "+a.tokens[role])
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w, err := http.DefaultClient.Do(r)
	require.NoError(a.t, err)
	return w
}

// read decodes an answer.
func (a *apis) read(w *http.Response, status int, to any) {
	a.t.Helper()
	defer func() { _ = w.Body.Close() }() // it was only read
	b, err := io.ReadAll(w.Body)
	require.NoError(a.t, err)
	require.Equal(a.t, status, w.StatusCode, "%s", b)
	require.NoError(a.t, json.Unmarshal(b, to), "%s", b)
}

// heard is what readers of a job's events have got, at one gate or at several.
type heard struct {
	windows []int64 // where each ends
	notes   []string
	last    string // id
	result  *api.ResultEvent
	broken  bool
}

// listen reads until the stream ends; enough may end it before.
func (h *heard) listen(body io.ReadCloser, seen chan<- string) {
	defer func() { _ = body.Close() }() // it was only read
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 1<<20)
	name := ""
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ": ")
		switch field {
		case "event":
			name = value
		case "id":
			h.last = value
		case "data":
			h.take(name, value)
			select {
			case seen <- name:
			default:
			}
		}
	}
	h.broken = h.result == nil
}

func (h *heard) take(name, data string) {
	switch name {
	case "window":
		var w api.WindowEvent
		_ = json.Unmarshal([]byte(data), &w) // its zero fails the test
		h.windows = append(h.windows, w.UntilNS)
	case "event":
		var e api.JobEvent
		_ = json.Unmarshal([]byte(data), &e) // its zero fails the test
		h.notes = append(h.notes, e.What)
	case "result":
		h.result = new(api.ResultEvent)
		_ = json.Unmarshal([]byte(data), h.result) // its zero fails the test
	}
}

// TestEventsContinue: the gate that owns a job is killed. A stream at another gate continues to the result, and one that
// broke with the gate continues elsewhere, without a window or an end twice.
func TestEventsContinue(t *testing.T) {
	t.Parallel()
	url := serveTarget(t, "--latency", "5ms")
	a := withAPI(t)
	a.start("gate-1", "gate-2", "gate-3", "manager-1", "manager-2", "manager-3", "worker-1", "worker-2")
	a.up()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	submission, err := json.Marshal(api.Submission{Files: map[string]string{"load.star": loadFile}, Params: map[string]string{"target": url}, Duration: "12s"})
	require.NoError(t, err)
	var job api.Submitted
	a.read(a.call(ctx, "gate-1", "submitter", http.MethodPost, "/v1/jobs", string(submission), "Content-Type", "application/json", "Idempotency-Key", "k"), http.StatusAccepted, &job)
	owner := a.owner(job.Job, "")
	other, third := "gate-2", "gate-3"
	if owner != "gate-1" {
		other, third = "gate-1", map[string]string{"gate-2": "gate-3", "gate-3": "gate-2"}[owner]
	}
	events := "/v1/jobs/" + job.Job + "/events"
	var steady, moved heard
	done, seen := make(chan struct{}, 2), make(chan string, 4096)
	go func() {
		steady.listen(a.call(ctx, other, "viewer", http.MethodGet, events, "").Body, nil)
		done <- struct{}{}
	}()
	go func() {
		moved.listen(a.call(ctx, owner, "viewer", http.MethodGet, events, "").Body, seen)
		done <- struct{}{}
	}()
	for windows := 0; windows < 3; {
		select {
		case name := <-seen:
			if name == "window" {
				windows++
			}
		case <-ctx.Done():
			require.Fail(t, "no windows")
		}
	}
	a.nodes[owner].kill()
	<-done // the broken one
	if steady.result == nil {
		require.True(t, moved.broken)
	}
	moved.listen(a.call(ctx, third, "viewer", http.MethodGet, events, "", "Last-Event-ID", moved.last).Body, nil)
	<-done
	for name, h := range map[string]*heard{"steady": &steady, "moved": &moved} {
		require.NotNil(t, h.result, "%s: %v", name, h.notes)
		require.Equal(t, message.JobCompleted.String(), h.result.State, name)
		for i := 1; i < len(h.windows); i++ {
			require.Greater(t, h.windows[i], h.windows[i-1], "%s: windows %v", name, h.windows)
		}
		ends := 0
		for _, what := range h.notes {
			if what == "workflow-ended" {
				ends++
			}
		}
		require.Equal(t, 1, ends, "%s: %v", name, h.notes)
	}
	require.Contains(t, steady.notes, "takeover")
	var result map[string]any
	a.read(a.call(ctx, third, "viewer", http.MethodGet, "/v1/jobs/"+job.Job+"/result", ""), http.StatusOK, &result)
	require.Equal(t, "COMPLETED", result["outcome"])
	var again api.Cancelled
	a.read(a.call(ctx, third, "submitter", http.MethodDelete, "/v1/jobs/"+job.Job, "", "Idempotency-Key", "k"), http.StatusOK, &again)
	judge(t, a.dir)
}

// TestFloodCostsNoLease: a thousand connections, hostile and silent, at the gate that owns a job: it keeps the job, and the
// job ends. The gate's API answers again when they are gone. Beside it
// other floods of the tests would starve, so it runs alone.
func TestFloodCostsNoLease(t *testing.T) {
	url := serveTarget(t, "--latency", "5ms")
	a := withAPI(t)
	a.start("gate-1", "gate-2", "gate-3", "manager-1", "manager-2", "manager-3", "worker-1", "worker-2")
	a.up()
	wait, job, _ := a.submit(write(t, "load.star", loadFile), url, 8*time.Second, "client-1")
	owner := a.owner(job, "")
	var all []net.Conn
	for i := range 1000 {
		c, err := net.DialTimeout("tcp", a.at[owner], time.Second)
		if err != nil {
			continue // the system's backlog is full: so much the better
		}
		all = append(all, c)
		_ = c.SetWriteDeadline(time.Now().Add(time.Second)) // of a socket
		_, _ = c.Write([][]byte{nil, []byte("GET /v1/jobs HTTP/1.1\r\nHost: localhost\r\n"), bytes.Repeat([]byte{0xff}, 32<<10),
			[]byte("POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + a.tokens["submitter"] + "\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{")}[i%4]) // the gate may have hung up
	}
	require.Greater(t, len(all), 500)
	require.Equal(t, owner, a.owner(job, ""), "the flood costs no lease")
	wait.expect(command.ExitGood)
	var holders []string
	for id := range a.gates {
		f, err := os.Open(a.path(id + ".jsonl"))
		require.NoError(t, err)
		all, err := history.Merge(f)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		for _, r := range all {
			if e, is := r.Event.(event.LeaseGranted); is && e.Job.String() == job {
				holders = append(holders, id)
			}
		}
	}
	require.Equal(t, []string{owner}, holders, "one gate has been granted the job, once")
	for _, c := range all {
		_ = c.Close() // the gate may have hung up
	}
	eventually(t, "the API answers", patience, func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+a.at[owner]+"/v1/whoami", nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+a.tokens["viewer"])
		w, err := http.DefaultClient.Do(r)
		if err != nil {
			return false
		}
		_ = w.Body.Close() // its status counts
		return w.StatusCode == http.StatusOK
	})
	judge(t, a.dir)
}

// TestAPIWithCertificates: the client inside asks by a certificate of its own, and what that claims bounds every token.
func TestAPIWithCertificates(t *testing.T) {
	t.Parallel()
	a := withAPI(t)
	certs := a.path("certs")
	run(t, command.ExitGood, "certs", "new", certs, "gate", "operator:api", "viewer:reads")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for i, c := range []struct {
		certificate string
		want        int // of an operator's order for a dead letter that is not there
	}{{"api", http.StatusNotFound}, {"reads", http.StatusForbidden}} {
		id := []string{"gate-1", "gate-2"}[i]
		own := []string{
			"gate", "--id", id, "--data", a.path(id), "--listen", a.gates[id], "--tls-cert", certs + "/gate.crt", "--tls-key", certs + "/gate.key", "--tls-ca", certs + "/ca.crt",
			"--api", "127.0.0.1:0", "--api-tokens", a.path("api.tokens"),
		}
		run(t, command.ExitUsage, own...).says("api_client_cert, api_client_key = .* must be set while the nodes have certificates")
		p := start(t, append(own, "--api-client-cert", certs+"/"+c.certificate+".crt", "--api-client-key", certs+"/"+c.certificate+".key")...)
		a.at[id] = p.await(`msg=up .*api=(\S+)`)
		eventually(t, "the gate answers", patience, func() bool {
			w := a.call(ctx, id, "viewer", http.MethodGet, "/v1/cluster", "")
			_ = w.Body.Close() // its status counts
			return w.StatusCode == http.StatusOK
		})
		w := a.call(ctx, id, "operator", http.MethodPost, "/v1/dead-letters/"+(message.JobID{7}).String()+"/replay", "")
		_ = w.Body.Close() // its status counts
		require.Equal(t, c.want, w.StatusCode)
	}
}
