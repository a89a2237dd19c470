package operatortest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"hyperscale/runtime/api"
	"hyperscale/runtime/report"
	"hyperscale/runtime/view"
)

// TokenName is the name that the double gives to each token.
const TokenName = "operator"

// Gates is a double of the HTTP API of gates. Jobs change when the test says so.
type Gates struct {
	// First is the state of a new job; empty: QUEUED.
	First string
	// NewSinks are those of a new job.
	NewSinks []report.Sink
	// Operator says that the token has that role: it cancels jobs of others, too.
	Operator bool
	// Sinks are those that a submission may name; nil: any.
	Sinks []string

	mu    sync.Mutex
	fault func(w http.ResponseWriter, r *http.Request) bool
	name  string // of the token; empty: TokenName
	jobs  map[string]*Job
	list  []string // IDs in the order of submission
}

// SetFault changes what answers a request instead of the gates, if it returns true; nil: nothing does.
func (g *Gates) SetFault(f func(w http.ResponseWriter, r *http.Request) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fault = f
}

// Rename gives the token another name. Its jobs stay those of the former name.
func (g *Gates) Rename(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.name = name
}

func (g *Gates) token() string { return cmp.Or(g.name, TokenName) }

// Job is a job of the double.
type Job struct {
	ID, Name, Key, Body string
	State               string
	Requests            uint64
	Thresholds          []report.Threshold
	Sinks               []report.Sink
	Submits, Cancels    int // requests for it
}

// NewGates returns gates without jobs.
func NewGates() *Gates { return &Gates{jobs: map[string]*Job{}} }

// Edit changes the job of a key; false: there is none.
func (g *Gates) Edit(key string, change func(*Job)) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	j := g.jobs[api.JobOf(g.token(), key)]
	if j != nil {
		change(j)
	}
	return j != nil
}

// Jobs are all jobs, in the order of their submission.
func (g *Gates) Jobs() (all []Job) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, id := range g.list {
		if j := g.jobs[id]; j != nil {
			all = append(all, *j)
		}
	}
	return all
}

// Forget drops the job of a key.
func (g *Gates) Forget(key string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.jobs, api.JobOf(g.token(), key))
}

// ServeHTTP implements http.Handler.
func (g *Gates) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	fault := g.fault
	g.mu.Unlock()
	if fault != nil && fault(w, r) {
		return
	}
	g.Serve(w, r)
}

// Serve answers without a fault.
func (g *Gates) Serve(w http.ResponseWriter, r *http.Request) {
	held(w, &g.mu, func(w http.ResponseWriter) { g.answer(w, r) })
}

func (g *Gates) answer(w http.ResponseWriter, r *http.Request) {
	rest, one := strings.CutPrefix(r.URL.Path, "/v1/jobs/")
	id, what, _ := strings.Cut(rest, "/")
	j := g.jobs[id]
	switch {
	case r.URL.Path == "/v1/whoami":
		reply(w, http.StatusOK, api.Caller{Name: g.token(), Role: "submitter"})
	case r.URL.Path == "/v1/jobs" && r.Method == http.MethodPost:
		g.submit(w, r)
	case r.URL.Path == "/v1/jobs":
		g.page(w, r)
	case one && j == nil:
		Fail(w, http.StatusNotFound, "unknown_job", "no gate knows the job")
	case one && r.Method == http.MethodDelete:
		g.cancel(w, r, j)
	case one && what == "result":
		result(w, j)
	case one:
		reply(w, http.StatusOK, view.Job{Job: j.ID, Name: j.Name, State: j.State, Sinks: j.Sinks})
	default:
		Fail(w, http.StatusNotFound, "unknown_path", "no such path")
	}
}

// Fail answers as the gates do where they do not take a request.
func Fail(w http.ResponseWriter, status int, code, message string) {
	reply(w, status, api.Failure{Error: api.Fault{Code: code, Message: message}})
}

func reply(w http.ResponseWriter, status int, v any) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the caller has hung up
}

func (g *Gates) submit(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	var in api.Submission
	if err == nil {
		err = json.Unmarshal(b, &in)
	}
	key := r.Header.Get(api.KeyHeader)
	if err != nil || key == "" {
		Fail(w, http.StatusBadRequest, "bad_body", fmt.Sprint(err))
		return
	}
	id := api.JobOf(g.token(), key)
	j := g.jobs[id]
	had := j != nil
	unknown := func(name string) bool { return g.Sinks != nil && !slices.Contains(g.Sinks, name) }
	switch {
	case cmp.Or(r.Header.Get(api.JobHeader), id) != id:
		Fail(w, http.StatusPreconditionFailed, "other_job", "the token has another name here")
		return
	case slices.ContainsFunc(in.Outputs, unknown):
		Fail(w, http.StatusUnprocessableEntity, "unknown_sink", fmt.Sprintf("sink %q is not configured: known are %s", in.Outputs, g.Sinks))
		return
	case strings.Contains(in.Files[in.Main], "mistake"):
		reply(w, http.StatusUnprocessableEntity, api.Failure{Error: api.Fault{Code: "bad_program", Message: "the program has mistakes", Mistakes: []api.Mistake{{File: in.Main, Line: 3, Column: 7, Message: "no such step"}}}})
		return
	case had && j.Body != string(b):
		Fail(w, http.StatusConflict, "key_mismatch", "another body")
		return
	case !had:
		j = &Job{ID: id, Name: in.Name, Key: key, Body: string(b), State: cmp.Or(g.First, "QUEUED"), Sinks: slices.Clone(g.NewSinks)}
		g.jobs[id], g.list = j, append(g.list, id)
	}
	j.Submits++
	reply(w, http.StatusAccepted, api.Submitted{Job: id, Key: key, Duplicate: had})
}

func (g *Gates) page(w http.ResponseWriter, r *http.Request) {
	p := api.JobPage{Jobs: []view.JobRow{}}
	for _, id := range slices.Backward(g.list) {
		if j := g.jobs[id]; j != nil && strings.Contains(j.Name, r.URL.Query().Get("name")) {
			failed := j.Requests / 10
			p.Jobs = append(p.Jobs, view.JobRow{Job: j.ID, Name: j.Name, State: j.State, Started: &j.Requests, Failed: &failed})
		}
	}
	reply(w, http.StatusOK, p)
}

func (g *Gates) cancel(w http.ResponseWriter, r *http.Request, j *Job) {
	if !g.Operator && api.JobOf(g.token(), r.Header.Get(api.KeyHeader)) != j.ID {
		Fail(w, http.StatusForbidden, "forbidden", "a submitter cancels its own jobs")
		return
	}
	j.Cancels++
	if !ended(j.State) {
		j.State = "CANCELLED"
	}
	reply(w, http.StatusAccepted, api.Cancelled{Job: j.ID, State: j.State})
}

func ended(state string) bool {
	return slices.Contains([]string{"COMPLETED", "PARTIAL", "FAILED", "CANCELLED", "TIMED_OUT"}, state)
}

func result(w http.ResponseWriter, j *Job) {
	if !ended(j.State) {
		Fail(w, http.StatusConflict, "running", "the job runs")
		return
	}
	reply(w, http.StatusOK, report.Result{Job: j.ID, Outcome: j.State, Totals: report.Totals{Started: j.Requests, Failed: j.Requests / 10, TimedOut: 1}, Thresholds: j.Thresholds, Sinks: j.Sinks})
}
