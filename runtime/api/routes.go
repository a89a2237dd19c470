package api

import (
	"net/http"

	"hyperscale/core/node"
	"hyperscale/runtime/view"
)

// route is one row of the table from which the server and openapi.json are made.
type route struct {
	Method, Path string
	Summary      string
	Right        node.Right
	Query        []param
	Headers      []param
	Body         any // zero value of what a JSON body is; nil: none
	Answers      []answer
	open         bool // needs no token
	stream       bool // counts as a stream, not as a request
	do           func(*call) error
}

// param is one of the query or of the headers.
type param struct {
	Name, What string
	Number     bool
}

// answer is one status that a route answers with.
type answer struct {
	Status int
	Body   any    // zero value of its JSON; nil: none, or of another type
	Type   string // empty: JSON
	What   string
}

// changes says that a call is one line in the log.
func (r *route) changes() bool { return r.Method != http.MethodGet }

// routes is the table.
func routes() []route {
	ok := func(body any, what string) []answer { return []answer{{Status: http.StatusOK, Body: body, What: what}} }
	return []route{
		{
			Method: http.MethodGet, Path: "/v1/jobs", Right: node.RightView, do: (*call).listJobs,
			Summary: "The jobs of all gates, the newest first.",
			Query: []param{
				{Name: "state", What: "only jobs in one of these states, by comma, like RUNNING,QUEUED"},
				{Name: "name", What: "only jobs whose name contains this text"},
				{Name: "after", What: "the page behind this job: next of the page before"},
				{Name: "limit", What: "jobs of a page, 1 to 1000; 100 if not given", Number: true},
			},
			Answers: ok(JobPage{}, "A page of jobs."),
		},
		{
			Method: http.MethodGet, Path: "/v1/jobs/{id}", Right: node.RightView, do: (*call).oneJob,
			Summary: "The state of a job, with an ETag.",
			Query:   []param{{Name: "wait", What: "answer once the job has changed since If-None-Match, or after this time: a duration up to 60s"}},
			Headers: []param{{Name: "If-None-Match", What: "the ETag of an earlier answer"}},
			Answers: append(ok(view.Job{}, "The job."), answer{Status: http.StatusNotModified, What: "It has not changed."}),
		},
		{
			Method: http.MethodGet, Path: "/v1/jobs/{id}/events", Right: node.RightView, do: (*call).events, stream: true,
			Summary: "What happens to a job, as server-sent events: status, window, event, alert, result.",
			Headers: []param{{Name: "Last-Event-ID", What: "the id of the last event that the reader has, of any gate"}},
			Answers: []answer{
				{Status: http.StatusOK, Type: "text/event-stream", What: "The events. Their data are StatusEvent, WindowEvent, JobEvent, AlertEvent and ResultEvent."},
				{Status: http.StatusNoContent, What: "The reader has all: it must not connect again."},
			},
		},
		{
			Method: http.MethodGet, Path: "/v1/cluster", Right: node.RightView, do: (*call).cluster,
			Summary: "The gates, the nodes, the newest jobs and the leases, as one gate sees them.",
			Answers: ok(view.Cluster{}, "The cluster."),
		},
		{
			Method: http.MethodGet, Path: "/v1/datacenters", Right: node.RightView, do: (*call).datacenters,
			Summary: "The datacenters with their health and free cores.",
			Answers: ok(DatacenterList{}, "The datacenters."),
		},
		{
			Method: http.MethodGet, Path: "/v1/alerts", Right: node.RightView, do: (*call).alerts,
			Summary: "What operators should act on now.",
			Answers: ok(AlertList{}, "The alerts."),
		},
		{
			Method: http.MethodGet, Path: "/v1/whoami", Right: node.RightView, do: (*call).whoami,
			Summary: "Whose token it is, and what it may do.",
			Answers: ok(Caller{}, "The caller."),
		},
		{
			Method: http.MethodPost, Path: "/v1/session", open: true, do: (*call).begin, Body: Login{},
			Summary: "Makes a cookie of a token, for pages: HttpOnly, SameSite=Strict, 12 hours.",
			Answers: ok(Caller{}, "The caller; Set-Cookie has the token."),
		},
		{
			Method: http.MethodDelete, Path: "/v1/session", open: true, do: (*call).leave,
			Summary: "Takes the cookie away.",
			Answers: []answer{{Status: http.StatusNoContent, What: "It is gone."}},
		},
		{
			Method: http.MethodGet, Path: "/v1/openapi.json", Right: node.RightView, do: (*call).openapi,
			Summary: "This description.",
			Answers: ok(map[string]any{}, "OpenAPI 3.0.3."),
		},
	}
}
