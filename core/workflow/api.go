package workflow

import (
	"slices"
	"time"

	"go.starlark.net/starlark"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/extract"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/request"
)

// Response is what came back. Kind and Error are empty when it came whole.
type Response struct {
	Status      int
	Headers     []builtin.Pair
	Body        []byte
	Size        int64 // of the body as it was sent, also where it was left out
	Latency     time.Duration
	Kind, Error string

	Fields extract.Fields // the Headers, where those are not made before somebody asks: see Pairs

	// Decoder decodes Body when a function reads it; nil: it is decoded.
	Decoder Decoder

	value response // as functions see it
}

// Decoder makes of a body, which is as it was sent, what was meant, or says why it cannot.
type Decoder interface {
	Decode(sent []byte) (body []byte, kind, why string)
}

func (r *Response) length() int64 { return max(r.Size, int64(len(r.Body))) }

// Pairs returns the headers, made of Fields if they were not made before.
func (r *Response) Pairs() []builtin.Pair {
	if r.Headers == nil && r.Fields != nil {
		r.Headers = make([]builtin.Pair, r.Fields.Len())
		for i := range r.Headers {
			name, value := r.Fields.At(i)
			r.Headers[i] = builtin.Pair{Name: string(name), Value: string(value)}
		}
	}
	return r.Headers
}

// Client is what a running function may ask of its engine. Only Do,
// Sleep and Yield may block.
type Client interface {
	Do(*request.Request) *Response
	Known(method, url string) *request.Request // a Bare one that was sent before, if the engine remembers it; else nil
	Sleep(time.Duration)
	Log(string)
	Now() time.Time // the engine's clock
	Yield()         // called between slices of a long function: others may run
	Stopped() bool  // the run was cancelled: the function ends at its next step
}

// Step is a step of a workflow, ready to run.
type Step struct {
	Plan    *message.StepPlan
	Request *request.Request // of a StepRequest, else nil
	Needs   []int            // indices into Workflow.Vars of what fills the Request, ascending
	Extract []extract.Extract
	Expect  []extract.Expect

	call *call // of every other kind
	when *call // nil: always
}

// Conditional says that VU.When has to be asked before the step.
func (s *Step) Conditional() bool { return s.when != nil }

// Workflow is a declared workflow, frozen. Any number of goroutines may share it.
type Workflow struct {
	Plan  *message.WorkflowPlan
	Steps []Step // in the plan's order
	HTTP  request.Options
	// Vars names the values that requests are filled with: the first Columns are those of
	// the feed's row, the others are extracted by steps.
	Vars    []string
	Columns int
	Feed    *Feed // nil: iterations take no rows

	// No function of the program reads the headers, or the body, of any Response: its client
	// may leave them out.
	HeadsUnread, BodiesUnread bool

	limits guard.Limits
	send   *language.Namespace // vu.http

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

// Judge tells what of the step's expect does not hold; empty: all of it does. Without
// allocation if all does.
func (s *Step) Judge(r *extract.View) string {
	for i := range s.Expect {
		if why := s.Expect[i].Fails(r); why != "" {
			return why
		}
	}
	return ""
}

// JudgesStatus says that the step's expect has the last word on the status: else one of
// 400 and above is a failure.
func (s *Step) JudgesStatus() bool {
	return slices.ContainsFunc(s.Expect, func(e extract.Expect) bool { return e.Kind == extract.ExpectStatus })
}

// Reads says that Extract or Expect look at the head, or the body, of the response.
func (s *Step) Reads() (head, body bool) {
	for i := range s.Extract {
		switch s.Extract[i].Kind {
		case extract.Header, extract.Cookie:
			head = true
		default:
			body = true
		}
	}
	for i := range s.Expect {
		switch s.Expect[i].Kind {
		case extract.ExpectHeader:
			head = true
		case extract.ExpectBody, extract.ExpectJSON, extract.ExpectGraphQL:
			body = true
		}
	}
	return head, body
}
