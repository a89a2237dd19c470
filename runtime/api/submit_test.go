package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

const program = `
t = param("target", default = "http://127.0.0.1:1")
workflow(name = "w", vus = 1, duration = "1s", steps = [step("a", http.get(t, headers = {"Authorization": secret("key")}))])
`

func body(t *testing.T, in Submission) string {
	t.Helper()
	b, err := json.Marshal(in)
	require.NoError(t, err)
	return string(b)
}

// raced says that the race detector is on, whose own memory exceeds what a child may have.
var raced bool

// loads skips a test whose child loads a program.
func loads(t *testing.T) {
	t.Helper()
	if raced {
		t.Skip("the race detector takes more memory than a child may have")
	}
}

// TestSubmit: the gates get the program, its plan and its options, under a key that is the caller's alone; the same request
// is the same message, whatever gate takes it.
func TestSubmit(t *testing.T) {
	loads(t)
	s := start(t)
	var got []*message.JobSubmit
	s.answer(message.KindJobSubmit, func(m node.Message) node.Message {
		j := m.(*message.JobSubmit)
		got = append(got, j)
		return &message.JobAck{Job: message.JobOf(j.Key), Duplicate: len(got) > 1}
	})
	in := Submission{
		Files: map[string]string{"w.star": program}, Params: map[string]string{"target": "http://127.0.0.1:2"}, Secrets: map[string]string{"key": "MARKED-SECRET"},
		VUs: 3, Duration: "5s", Datacenters: []string{"east"}, Importance: "high", Deadline: "10m", BestEffort: 1, Outputs: []string{"warehouse"},
	}
	send := func(right node.Right, key string) Submitted {
		r := s.call(right, http.MethodPost, "/v1/jobs", body(t, in), "Content-Type", "application/json", KeyHeader, key)
		require.Equal(t, http.StatusAccepted, r.status, "%s", r.body)
		var out Submitted
		require.NoError(t, json.Unmarshal(r.body, &out))
		return out
	}
	first, again, other := send(node.RightSubmit, "k"), send(node.RightSubmit, "k"), send(node.RightOperate, "k")
	require.Len(t, got, 3)
	require.Equal(t, first.Job, again.Job)
	require.Equal(t, first.Job, JobOf("a-"+node.RightSubmit.String(), "k"), "a caller knows the job of its key")
	require.NotEqual(t, first.Job, other.Job, "a key is one caller's")
	require.Equal(t, []bool{false, true}, []bool{first.Duplicate, again.Duplicate})
	for _, j := range got {
		require.WithinDuration(t, time.Now(), time.UnixMilli(int64(j.Sent)), time.Minute, "rows count their time from it")
		require.Equal(t, []string{"warehouse"}, j.Outputs.List)
		j.Sent = 0 // gates leave it out, too, where they compare submissions
	}
	require.Equal(t, got[0].Digest(), got[1].Digest())
	j := got[0]
	require.NotZero(t, j.Program.Seed)
	require.NotEqual(t, j.Program.Seed, got[2].Program.Seed, "a seed follows from the key")
	require.Equal(t, "w.star", j.Name)
	in.Name = "checkout/1042"
	send(node.RightSubmit, "named")
	require.Equal(t, "checkout/1042", got[3].Name)
	require.Equal(t, "w.star", got[3].Program.Main)
	require.Equal(t, []message.Param{{Name: "target", Value: "http://127.0.0.1:2"}}, j.Program.Params)
	require.Equal(t, uint64(3), j.Plan.Workflows[0].VUs)
	require.Equal(t, 5*time.Second, j.Plan.Workflows[0].Duration)
	require.Equal(t, message.RankHigh, j.Rank)
	require.Equal(t, 10*time.Minute, j.Deadline)
	require.Equal(t, message.BestEffort{Least: 1, After: 5 * time.Minute}, j.BestEffort)
	require.Equal(t, message.Sealed("MARKED-SECRET"), j.Program.Secrets[0].Value)
	require.NotContains(t, s.log.String(), "MARKED-SECRET")
	require.NotContains(t, s.log.String(), s.tokens[node.RightSubmit])
	require.Contains(t, s.log.String(), `msg="api call" subject=a-submitter role=submitter method=POST path=/v1/jobs job=`+first.Job+` from=127.0.0.1 outcome=done`)

	drawn := send(node.RightSubmit, "")
	require.NotEmpty(t, drawn.Key)
	require.Equal(t, drawn.Job, send(node.RightSubmit, drawn.Key).Job, "the key of the answer is that of the job")
}

// TestSubmitFiles: files come as parts, the first is the main one.
func TestSubmitFiles(t *testing.T) {
	loads(t)
	s := start(t)
	var got *message.JobSubmit
	s.answer(message.KindJobSubmit, func(m node.Message) node.Message {
		got = m.(*message.JobSubmit)
		return &message.JobAck{Job: message.JobOf(got.Key)}
	})
	var b bytes.Buffer
	parts := multipart.NewWriter(&b)
	file := func(name, text string) {
		w, err := parts.CreatePart(textproto.MIMEHeader{"Content-Disposition": {`form-data; name="file"; filename="` + name + `"`}})
		require.NoError(t, err)
		_, err = w.Write([]byte(text))
		require.NoError(t, err)
	}
	file("w.star", `load("lib/u.star", "url")`+"\n"+`workflow(name = "w", vus = 1, duration = "1s", steps = [step("a", http.get(url))])`)
	file("lib/u.star", `url = "http://127.0.0.1:1"`)
	require.NoError(t, parts.WriteField(options, `{"vus": 7}`))
	require.NoError(t, parts.Close())
	r := s.call(node.RightSubmit, http.MethodPost, "/v1/jobs", b.String(), "Content-Type", parts.FormDataContentType())
	require.Equal(t, http.StatusAccepted, r.status, "%s", r.body)
	require.Equal(t, "w.star", got.Program.Main)
	require.Equal(t, uint64(7), got.Plan.Workflows[0].VUs)
}

// TestPartsAreBounded: the last part is read or the body is rejected, and a body that is cut off is no submission.
func TestPartsAreBounded(t *testing.T) {
	read := func(files int, end string) (*Submission, error) {
		var b strings.Builder
		part := func(head, text string) {
			b.WriteString("--b\r\nContent-Disposition: form-data; " + head + "\r\n\r\n" + text + "\r\n")
		}
		for i := range files {
			part(fmt.Sprintf(`name="file"; filename="f%d"`, i), "x")
		}
		part(`name="options"`, `{"vus": 7}`)
		b.WriteString(end)
		in := new(Submission)
		return in, in.parts(multipart.NewReader(strings.NewReader(b.String()), "b"))
	}
	in, err := read(filesMax, "--b--")
	require.NoError(t, err)
	require.Len(t, in.Files, filesMax)
	require.Equal(t, uint64(7), in.VUs)
	_, err = read(filesMax, "")
	require.Error(t, err)
	_, err = read(filesMax+1, "--b--")
	require.ErrorContains(t, err, "it has more than 257 parts: send at most 256 files and options")
}

// TestBadSubmissions: each is an answer that names the field, and no gate sees it.
func TestBadSubmissions(t *testing.T) {
	loads(t)
	s := start(t, func(c *Config) { c.Clear = true })
	one := func(text string) map[string]string { return map[string]string{"w.star": text} }
	plain := strings.ReplaceAll(program, `, headers = {"Authorization": secret("key")}`, "")
	for name, c := range map[string]struct {
		in     Submission
		status int
		want   string
	}{
		"no file":        {Submission{}, 400, "the body has 0 files"},
		"no main":        {Submission{Main: "x", Files: one(plain)}, 400, `main = "x" is no file of the body: name one of w.star`},
		"a way out":      {Submission{Main: "w.star", Files: map[string]string{"w.star": plain, "../x": ""}}, 400, `the file "../x" is not below`},
		"an absolute":    {Submission{Main: "w.star", Files: map[string]string{"w.star": plain, "/etc/x": ""}}, 400, `the file "/etc/x" is not below`},
		"duration":       {Submission{Files: one(plain), Duration: "soon"}, 422, `duration = "soon" is no duration above 0`},
		"importance":     {Submission{Files: one(plain), Importance: "great"}, 422, `importance = "great" is none`},
		"rate":           {Submission{Files: one(plain), Rate: "x"}, 422, "rate: "},
		"mistake":        {Submission{Files: one("\nworkflow(nme = 1)")}, 422, "the program has mistakes"},
		"unknown param":  {Submission{Files: one(plain), Params: map[string]string{"targt": "x"}}, 422, "the program has mistakes"},
		"missing secret": {Submission{Files: one(program)}, 422, `secret("key") has no value`},
		"unknown secret": {Submission{Files: one(plain), Secrets: map[string]string{"k": "x"}}, 422, `the workflow has no secret("k")`},
		"clear text":     {Submission{Files: one(program), Secrets: map[string]string{"key": "x"}}, 422, "secrets leave no machine in clear text"},
		"large":          {Submission{Files: one(strings.Repeat("#", bodyMax))}, 413, "the body has more than"},
	} {
		t.Run(name, func(t *testing.T) {
			r := s.call(node.RightSubmit, http.MethodPost, "/v1/jobs", body(t, c.in), "Content-Type", "application/json")
			require.Equal(t, c.status, r.status, "%s", r.body)
			f := r.fault(t)
			require.Contains(t, f.Message, c.want)
			if name == "mistake" {
				require.Equal(t, "w.star", f.Mistakes[0].File)
				require.Equal(t, 2, f.Mistakes[0].Line)
			}
		})
	}
	for kind, text := range map[string]string{"text/plain": "x", "application/json": `{"fles": {}}`, "multipart/form-data; boundary=b": "--b\r\n\r\nx\r\n--b--"} {
		r := s.call(node.RightSubmit, http.MethodPost, "/v1/jobs", text, "Content-Type", kind)
		require.Contains(t, []int{400, 415}, r.status)
		require.Equal(t, "bad_body", r.fault(t).Code)
	}
	require.Empty(t, s.gates.asked)
}

// TestExpectedJob: a gate where a token has another name makes no second job of a caller that names the one it expects.
func TestExpectedJob(t *testing.T) {
	loads(t)
	s := start(t)
	s.answer(message.KindJobSubmit, func(m node.Message) node.Message {
		return &message.JobAck{Job: message.JobOf(m.(*message.JobSubmit).Key)}
	})
	text := body(t, Submission{Files: map[string]string{"w.star": strings.ReplaceAll(program, `, headers = {"Authorization": secret("key")}`, "")}})
	for want, status := range map[string]int{JobOf("a-submitter", "k"): 202, "": 202, JobOf("another", "k"): 412, JobOf("a-submitter", "l"): 412} {
		asked := len(s.gates.asked)
		r := s.call(node.RightSubmit, http.MethodPost, "/v1/jobs", text, "Content-Type", "application/json", KeyHeader, "k", JobHeader, want)
		require.Equal(t, status, r.status, "%q: %s", want, r.body)
		if status == 412 {
			require.Equal(t, "other_job", r.fault(t).Code)
			require.Contains(t, r.fault(t).Message, JobOf("a-submitter", "k"))
			require.Len(t, s.gates.asked, asked, "no gate sees it")
		}
	}
}

// TestCancel: a submitter shows by its key that the job is its own; an operator needs none.
func TestCancel(t *testing.T) {
	s := start(t)
	state := message.JobRunning
	var orders []*message.JobCancel
	s.answer(message.KindJobQuery, func(m node.Message) node.Message {
		return &message.JobStatus{Job: m.(*message.JobQuery).Job, State: state}
	})
	s.answer(message.KindJobCancel, func(m node.Message) node.Message {
		orders, state = append(orders, m.(*message.JobCancel)), message.JobCancelling
		return &message.JobCancelAck{Job: orders[0].Job, State: state}
	})
	mine := keyOf("a-submitter", "k")
	path := "/v1/jobs/" + message.JobOf(mine).String()
	for _, c := range []struct {
		right        node.Right
		method, path string
		key          string
		status       int
	}{
		{node.RightView, http.MethodDelete, path, "k", 403},
		{node.RightSubmit, http.MethodDelete, path, "", 403},
		{node.RightSubmit, http.MethodDelete, path, "other", 403},
		{node.RightSubmit, http.MethodDelete, path + "?reason=" + strings.Repeat("x", 257), "k", 400},
		{node.RightSubmit, http.MethodDelete, path + "?reason=full", "k", 202},
		{node.RightSubmit, http.MethodPost, path + "/cancel", "k", 200},
		{node.RightOperate, http.MethodDelete, path + "?now=true", "", 202},
	} {
		r := s.call(c.right, c.method, c.path, "", KeyHeader, c.key)
		require.Equal(t, c.status, r.status, "%v %s", c, r.body)
	}
	require.Len(t, orders, 3)
	require.Equal(t, "full", orders[0].Reason)
	require.Equal(t, "cancelled over HTTP by a-submitter", orders[1].Reason)
	require.True(t, orders[2].Now)
}

// TestResult: a job that runs has none; one that has ended has the file, and a page.
func TestResult(t *testing.T) {
	s := start(t)
	id := message.JobID{7}
	s.answer(message.KindJobListQuery, func(node.Message) node.Message { return jobs(0) })
	path := "/v1/jobs/" + id.String() + "/result"
	done := make(chan reply)
	ask := func(path string) { go func() { done <- s.call(node.RightView, http.MethodGet, path, "") }() }
	ask(path)
	(<-s.gates.watches).tell(&message.JobStatus{Job: id, State: message.JobRunning})
	r := <-done
	require.Equal(t, http.StatusConflict, r.status, "%s", r.body)
	end := &message.JobResult{Result: message.Result{Job: id, Name: "w.star", State: message.JobCompleted, Duration: time.Second}}
	ask(path)
	(<-s.gates.watches).tell(&message.JobStatus{Job: id, State: message.JobCompleted}, end)
	r = <-done
	require.Equal(t, http.StatusOK, r.status, "%s", r.body)
	require.Contains(t, string(r.body), `"outcome": "COMPLETED"`)
	require.Contains(t, string(r.body), `"started_at": ""`, "no gate knows when it began")
	ask(path + "?format=html")
	(<-s.gates.watches).tell(end)
	r = <-done
	require.Contains(t, string(r.body), "<!doctype html>")
	ask(path)
	(<-s.gates.watches).tell(&message.Refused{Code: message.CodeResultForgotten})
	r = <-done
	require.Equal(t, http.StatusGone, r.status)
	require.Equal(t, http.StatusBadRequest, s.call(node.RightView, http.MethodGet, path+"?format=xml", "").status)
}

// TestOrders: operators alone drain nodes and replay dead letters.
func TestOrders(t *testing.T) {
	s := start(t)
	s.answer(message.KindDrainRequest, func(m node.Message) node.Message {
		return &message.DrainAck{Node: m.(*message.DrainRequest).Node, Via: "manager-1"}
	})
	s.answer(message.KindJobReplay, func(m node.Message) node.Message {
		o := m.(*message.JobReplay)
		return &message.JobAck{Job: message.JobOf(message.ReplayKey(o.Job, o.Number))}
	})
	s.answer(message.KindJobListQuery, func(m node.Message) node.Message {
		require.True(t, m.(*message.JobListQuery).Dead)
		list := jobs(2)
		list.Letters = []message.LetterInfo{{Job: list.Jobs[1].Job, Key: "k", Reason: "no worker", Ended: time.Minute}}
		return list
	})
	listed := s.call(node.RightView, http.MethodGet, "/v1/dead-letters", "")
	require.Contains(t, string(listed.body), `"reason":"no worker"`)
	require.Equal(t, 1, strings.Count(string(listed.body), `"key"`))
	for _, path := range []string{"/v1/nodes/worker-1/drain", "/v1/dead-letters/" + (message.JobID{7}).String() + "/replay?number=2"} {
		require.Equal(t, http.StatusForbidden, s.call(node.RightSubmit, http.MethodPost, path, "").status)
		r := s.call(node.RightOperate, http.MethodPost, path, "")
		require.Equal(t, http.StatusAccepted, r.status, "%s", r.body)
	}
}

// A submission that no frame takes to a gate is rejected here: on its way it would break the stream that all callers share.
func TestSubmissionsThatFitNoFrame(t *testing.T) {
	loads(t)
	s := start(t)
	s.answer(message.KindJobSubmit, func(m node.Message) node.Message {
		t.Errorf("it goes to a gate")
		return &message.JobAck{Job: message.JobOf(m.(*message.JobSubmit).Key)}
	})
	names := make([]string, 5000)
	for i := range names {
		names[i] = fmt.Sprint("d", i)
	}
	for status, in := range map[int]Submission{
		http.StatusRequestEntityTooLarge: {Name: strings.Repeat("x", 1100<<10)},
		http.StatusUnprocessableEntity:   {Datacenters: names},
	} {
		in.Files, in.Params = map[string]string{"w.star": program}, map[string]string{"target": "http://127.0.0.1:2"}
		in.Secrets = map[string]string{"key": "x"}
		r := s.call(node.RightSubmit, http.MethodPost, "/v1/jobs", body(t, in), "Content-Type", "application/json", KeyHeader, "k")
		require.Equal(t, status, r.status, "%s", r.body)
	}
}

// An error that advises to submit again names the caller's key: under it the same job goes out.
func TestErrorsNameTheCallersKey(t *testing.T) {
	loads(t)
	s := start(t)
	var sent []string
	s.answer(message.KindJobSubmit, func(m node.Message) node.Message {
		j := m.(*message.JobSubmit)
		sent = append(sent, j.Key)
		return &message.Refused{Code: message.CodeUnreachable, Detail: fmt.Sprintf("submit it again under the key %q, which is safe", j.Key)}
	})
	in := Submission{Files: map[string]string{"w.star": program}, Params: map[string]string{"target": "http://127.0.0.1:2"}, Secrets: map[string]string{"key": "x"}}
	send := func(key string) string {
		r := s.call(node.RightSubmit, http.MethodPost, "/v1/jobs", body(t, in), "Content-Type", "application/json", KeyHeader, key)
		require.Equal(t, http.StatusServiceUnavailable, r.status, "%s", r.body)
		var out struct{ Error Fault }
		require.NoError(t, json.Unmarshal(r.body, &out))
		_, rest, _ := strings.Cut(out.Error.Detail, "the key \"")
		named, _, found := strings.Cut(rest, "\"")
		require.True(t, found, out.Error.Detail)
		return named
	}
	require.Equal(t, "build-42", send("build-42"))
	drawn := send("")
	send(drawn)
	require.Equal(t, sent[1], sent[2], "the key of the error is that of the job")
}
