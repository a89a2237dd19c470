package api

import (
	"net/http"
	"slices"

	"hyperscale/core/node"
	"hyperscale/runtime/api/frames"
	"hyperscale/runtime/report"
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
	other        string // media type of a body that is not JSON; empty: none is
	open         bool   // needs no token
	stream       bool   // counts as a stream, not as a request
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
	Page   bool   // or a page of HTML
	What   string
}

// changes says that a call is one line in the log.
func (r *route) changes() bool { return r.Method != http.MethodGet }

// routes is the table.
func routes() []route { return slices.Concat(jobRoutes(), orderRoutes(), clusterRoutes()) }

// answered is a route's only answer.
func answered(body any, what string) []answer {
	return []answer{{Status: http.StatusOK, Body: body, What: what}}
}

// jobRoutes ask for jobs.
func jobRoutes() []route {
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
			Answers: answered(JobPage{}, "A page of jobs."),
		},
		{
			Method: http.MethodGet, Path: "/v1/jobs/{id}", Right: node.RightView, do: (*call).oneJob,
			Summary: "The state of a job, with an ETag.",
			Query:   []param{{Name: "wait", What: "answer once the job has changed since If-None-Match, or after this time: a duration up to 60s"}},
			Headers: []param{{Name: "If-None-Match", What: "the ETag of an earlier answer"}},
			Answers: append(answered(view.Job{}, "The job."), answer{Status: http.StatusNotModified, What: "It has not changed."}),
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
	}
}

// orderRoutes change something, or list what can be ordered.
func orderRoutes() []route {
	return []route{
		{
			Method: http.MethodPost, Path: "/v1/jobs", Right: node.RightSubmit, do: (*call).submit, Body: Submission{}, other: multipartType,
			Summary: "Submits a program. The same key and body is the same job.",
			Headers: []param{
				{Name: KeyHeader, What: "of the job: a new one if not given"},
				{Name: JobHeader, What: "the job that the caller expects of this key: 412 if it is another one here"},
			},
			Answers: []answer{{Status: http.StatusAccepted, Body: Submitted{}, What: "A majority of the gates has the job."}},
		},
		{
			Method: http.MethodPost, Path: "/v1/ask", Right: node.RightView, do: (*call).question, other: frames.Type,
			Summary: "A question of the commands with --api, and its answers, as frames of the nodes' protocol. Orders need the role of a submitter.",
			Headers: []param{{Name: KeyHeader, What: "that submitted the job: a submitter that cancels needs it"}},
			Answers: []answer{{Status: http.StatusOK, Type: frames.Type, What: "The answers, as they come. An end before the last one means: ask again."}},
		},
		cancelRoute(http.MethodDelete, "/v1/jobs/{id}"),
		cancelRoute(http.MethodPost, "/v1/jobs/{id}/cancel"),
		{
			Method: http.MethodGet, Path: "/v1/jobs/{id}/result", Right: node.RightView, do: (*call).result,
			Summary: "The result file of a job that has ended, or its page. 409 while it runs.",
			Query:   []param{{Name: "format", What: "json or html; json if not given"}},
			Answers: []answer{{Status: http.StatusOK, Body: report.Result{}, Page: true, What: "The result, as docs/result.md has it."}},
		},
		{
			Method: http.MethodPost, Path: "/v1/nodes/{id}/drain", Right: node.RightOperate, do: (*call).drain,
			Summary: "Orders a node to take no new work.",
			Query:   []param{{Name: "undo", What: "true: to take work again"}},
			Answers: []answer{{Status: http.StatusAccepted, Body: Drained{}, What: "The order is given."}},
		},
		{
			Method: http.MethodGet, Path: "/v1/dead-letters", Right: node.RightView, do: (*call).letters,
			Summary: "The dead letters: jobs that the cluster ended, not their program or a client.",
			Answers: answered(view.LetterList{}, "The dead letters."),
		},
		{
			Method: http.MethodPost, Path: "/v1/dead-letters/{id}/replay", Right: node.RightOperate, do: (*call).replay,
			Summary: "Submits the program of a dead letter once more.",
			Query:   []param{{Name: "number", What: "of the replay: equal numbers are one job; 1 if not given", Number: true}},
			Answers: []answer{{Status: http.StatusAccepted, Body: Submitted{}, What: "The new job."}},
		},
	}
}

// clusterRoutes ask for the cluster, and for the caller.
func clusterRoutes() []route {
	return []route{
		{
			Method: http.MethodGet, Path: "/v1/jobs/{id}/view", Right: node.RightView, do: (*call).page, stream: true,
			Summary: "What the page of a job shows, as server-sent events: view.",
			Answers: []answer{{Status: http.StatusOK, Type: "text/event-stream", What: "The events. The first view is whole, later ones have the columns over time that changed."}},
		},
		{
			Method: http.MethodGet, Path: "/v1/cluster", Right: node.RightView, do: (*call).cluster,
			Summary: "The gates, the nodes, the newest jobs and the leases, as one gate sees them.",
			Answers: answered(view.Cluster{}, "The cluster."),
		},
		{
			Method: http.MethodGet, Path: "/v1/datacenters", Right: node.RightView, do: (*call).datacenters,
			Summary: "The datacenters with their health and free cores.",
			Answers: answered(DatacenterList{}, "The datacenters."),
		},
		{
			Method: http.MethodGet, Path: "/v1/alerts", Right: node.RightView, do: (*call).alerts,
			Summary: "What operators should act on now.",
			Answers: answered(AlertList{}, "The alerts."),
		},
		{
			Method: http.MethodGet, Path: "/v1/outputs", Right: node.RightView, do: (*call).outputs,
			Summary: "The sinks of this gate's configuration, which jobs name, and how far they are.",
			Answers: answered(OutputList{}, "The sinks, without addresses."),
		},
		{
			Method: http.MethodGet, Path: "/v1/whoami", Right: node.RightView, do: (*call).whoami,
			Summary: "Whose token it is, what it may do, and which job a key of it names.",
			Headers: []param{{Name: KeyHeader, What: "of a job: the answer has the job that it names for this caller"}},
			Answers: answered(Caller{}, "The caller."),
		},
		{
			Method: http.MethodPost, Path: "/v1/session", open: true, do: (*call).begin, Body: Login{},
			Summary: "Makes a cookie of a token, for pages: HttpOnly, SameSite=Strict, 12 hours.",
			Answers: answered(Caller{}, "The caller; Set-Cookie has the token."),
		},
		{
			Method: http.MethodDelete, Path: "/v1/session", open: true, do: (*call).leave,
			Summary: "Takes the cookie away.",
			Answers: []answer{{Status: http.StatusNoContent, What: "It is gone."}},
		},
		{
			Method: http.MethodGet, Path: "/v1/openapi.json", Right: node.RightView, do: openapi,
			Summary: "This description.",
			Answers: answered(map[string]any{}, "OpenAPI 3.0.3."),
		},
	}
}

// cancelRoute is one of the two ways to cancel: forms and some proxies know no DELETE.
func cancelRoute(method, path string) route {
	return route{
		Method: method, Path: path, Right: node.RightSubmit, do: (*call).cancel,
		Summary: "Cancels a job.",
		Query: []param{
			{Name: "now", What: "true: without after_all"},
			{Name: "reason", What: "why, for people; at most 256 bytes"},
		},
		Headers: []param{{Name: KeyHeader, What: "that submitted the job: a submitter needs it, an operator does not"}},
		Answers: []answer{
			{Status: http.StatusAccepted, Body: Cancelled{}, What: "A majority of the gates has it."},
			{Status: http.StatusOK, Body: Cancelled{}, What: "It was cancelled before, or has ended."},
		},
	}
}
