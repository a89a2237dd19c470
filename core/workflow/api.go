package workflow

import (
	"time"

	"go.starlark.net/starlark"

	"hyperscale/core/message"
	"hyperscale/core/plan"
)

// Pair is a name with its value: a header, a parameter, a cookie.
type Pair struct{ Name, Value string }

// Auth is what proves who asks. Kind is "basic" (User, Password) or "bearer"
// (Token).
type Auth struct{ Kind, User, Password, Token string }

// Request describes one HTTP request. It is plain data, and shared: whoever
// gets it must not change it.
type Request struct {
	Method, URL              string
	Headers, Params, Cookies []Pair // as written; Params go behind the URL's own
	Auth                     *Auth  // nil: none
	Body                     []byte // json, form and multipart are encoded already
	ContentType              string // of Body; empty: none to be sent. A header of that name wins
	Timeout                  time.Duration
	Redirects                int  // how many to follow at most
	GraphQL                  bool // a query: its answer is judged by the errors that it tells, too

	Holes    []Hole // words in the texts above that values take the place of; nil: none
	Escape   Escape // of values in Body
	Boundary string // of a multipart Body: no value may hold it

	Bare bool // a function gave a method and a URL and nothing else: the same ones make the same request
	Made any  // an engine's own: what it has made of the request; copies must not keep it
}

// Response is what came back. Kind and Error are empty when it came whole.
type Response struct {
	Status      int
	Headers     []Pair
	Body        []byte
	Size        int64 // of the body as it was sent, also where it was left out
	Latency     time.Duration
	Kind, Error string

	Fields Fields // the Headers, where those are not made before somebody asks: see Pairs

	// Decode makes of Body, which is as it was sent, what was meant, or says why it cannot;
	// nil: it is that already. It is called when somebody reads the body.
	Decode func(sent []byte) (body []byte, kind, why string)

	value response // as functions see it
}

func (r *Response) length() int64 { return max(r.Size, int64(len(r.Body))) }

// Pairs returns the headers, made of Fields if they were not made before.
func (r *Response) Pairs() []Pair {
	if r.Headers == nil && r.Fields != nil {
		r.Headers = make([]Pair, r.Fields.Len())
		for i := range r.Headers {
			name, value := r.Fields.At(i)
			r.Headers[i] = Pair{Name: string(name), Value: string(value)}
		}
	}
	return r.Headers
}

// Client is what a running function may ask of its engine. Only Do,
// Sleep and Yield may block.
type Client interface {
	Do(*Request) *Response
	Known(method, url string) *Request // a Bare one that was sent before, if the engine remembers it; else nil
	Sleep(time.Duration)
	Log(string)
	Now() time.Time // the engine's clock
	Yield()         // called between slices of a long function: others may run
	Stopped() bool  // the run was cancelled: the function ends at its next step
}

// Step is a step of a workflow, ready to run.
type Step struct {
	Plan    *message.StepPlan
	Request *Request // of a StepRequest, else nil
	Needs   []int    // indices into Workflow.Vars of what fills the Request, ascending
	Extract []Extract
	Expect  []Expect

	call *call // of every other kind
	when *call // nil: always
}

// Conditional says that VU.When has to be asked before the step.
func (s *Step) Conditional() bool { return s.when != nil }

// Workflow is a declared workflow, frozen. Any number of goroutines may share it.
type Workflow struct {
	Plan  *message.WorkflowPlan
	Steps []Step // in the plan's order
	HTTP  Options
	// Vars names the values that requests are filled with: the first Columns are those of
	// the feed's row, the others are extracted by steps.
	Vars    []string
	Columns int
	Feed    *Feed // nil: iterations take no rows

	// No function of the program reads the headers, or the body, of any Response: its client
	// may leave them out.
	HeadsUnread, BodiesUnread bool

	limits Limits
	send   *namespace // vu.http

	provides []provided
	uses     []string
	hooks    [hooks]*starlark.Function
}

// Has says that the workflow has a function for that moment: see VU.Run.
func (w *Workflow) Has(h Hook) bool {
	if h == HookProvide {
		return len(w.provides) > 0
	}
	return w.hooks[h] != nil
}

// Program is a loaded file. Any number of goroutines may share it.
type Program struct {
	plan      message.Plan
	workflows []*Workflow
}

// Plan returns what the program declares.
func (p *Program) Plan() *message.Plan { return &p.plan }

// Digest identifies the plan.
func (p *Program) Digest() uint64 { return plan.Digest(&p.plan) }

// Workflow returns the workflow of that name, nil if there is none.
func (p *Program) Workflow(name string) *Workflow {
	for _, w := range p.workflows {
		if w.Plan.Name == name {
			return w
		}
	}
	return nil
}

// Outcome is what came of one call of a step's function.
type Outcome struct {
	Response *Response // of a function step that returned one
	OK       bool
	Kind     string // why not: the response's kind, "status", a check's text, "script", "cancelled"
	Detail   string // an example of it for people
	Value    int64  // of a metric, in thousandths
	HasValue bool
}
