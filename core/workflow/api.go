package workflow

import (
	"fmt"
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
	"hyperscale/core/workflow/secret"
	"hyperscale/core/workflow/session"
)

// Response is an answer. Kind and Error are empty if it is complete.
type Response struct {
	Status      int
	Headers     []builtin.Pair
	Body        []byte
	Size        int64 // of the body as it was sent, also if it was left out
	Latency     time.Duration
	Kind, Error string
	Code        string // the protocol's own word for how it ended; empty: it has none

	Fields extract.Fields // the Headers, if they are built on demand: see Pairs

	// Judged says that the request's expect judged the answer; Wrong is the kind of its failure,
	// and Why the reason, both empty if it is good.
	Judged     bool
	Wrong, Why string

	// Decoder decodes Body when a function reads it; nil: it is decoded.
	Decoder Decoder

	value response // for functions
}

// Decoder decodes a body as it was sent, or says why it cannot.
type Decoder interface {
	Decode(sent []byte) (body []byte, kind, why string)
}

func (r *Response) length() int64 { return max(r.Size, int64(len(r.Body))) }

// Pairs returns the headers; it builds them from Fields on its first call.
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

// Client is what a running function may ask of its engine. Only Do, OpenSession, Sleep, Next, Wait and
// Yield may block.
type Client interface {
	// OpenSession opens one, and returns when it is open or has failed. An error says that the
	// function may not open it.
	OpenSession(*request.Request, *As) (Session, error)
	Do(*request.Request, *As) *Response        // nil: it has no name of its own, and its status judges it
	Known(method, url string) *request.Request // a Bare one that was sent before, if the engine remembers it; else nil
	Sleep(time.Duration)
	Next(counter int) (value uint64, ok bool) // of a counter of the plan, from 0, that no other process gets; not ok: the function ends
	Wait(barrier int) bool                    // at a barrier of the plan, from 0, until all have come; false: not in time
	Log(string)
	Now() time.Time // the engine's clock
	Yield()         // called between slices of a long function: others may run
	Stopped() bool  // the run was cancelled: the function ends at its next step
}

// Session is an open session.
type Session interface {
	session.Link
	Response() *Response // of the whole, once it is over
}

// nowhere is a client without a network.
type nowhere struct{}

func (nowhere) Do(*request.Request, *As) *Response { return &Response{} }
func (nowhere) OpenSession(*request.Request, *As) (Session, error) {
	return nothing{}, nil
}
func (nowhere) Known(string, string) *request.Request { return nil }
func (nowhere) Sleep(time.Duration)                   {}
func (nowhere) Next(int) (uint64, bool)               { return 0, true }
func (nowhere) Wait(int) bool                         { return true }
func (nowhere) Log(string)                            {}
func (nowhere) Now() time.Time                        { return time.Time{} }
func (nowhere) Yield()                                {}
func (nowhere) Stopped() bool                         { return false }

// nothing is a session without a network.
type nothing struct{ session.Nowhere }

func (nothing) Response() *Response { return &Response{} }

// Step is a step of a workflow, ready to run.
type Step struct {
	Plan    *message.StepPlan
	Request *request.Request // of a StepRequest, else nil
	Needs   []int            // indices into Workflow.Vars of the values of Request, ascending
	Takes   []int            // the steps whose responses its functions take, ascending
	Extract []extract.Extract
	Expect  []extract.Expect

	call *call // of every other kind
	when *call // nil: unconditional
}

// Conditional reports whether to call VU.When before the step.
func (s *Step) Conditional() bool { return s.when != nil }

// Workflow is a declared workflow, frozen. Any number of goroutines may share it.
type Workflow struct {
	Plan  *message.WorkflowPlan
	Steps []Step // in the plan's order
	HTTP  request.Options
	// Vars names the values of requests: the first Columns are those of the feed's row, steps
	// extract the others.
	Vars    []string
	Columns int
	Feed    *Feed             // nil: iterations take no rows
	Customs []*request.Custom // the programs of its file

	// No function of the program reads the headers, or the body, of any Response: its client
	// may leave them out.
	HeadsUnread, BodiesUnread bool

	limits guard.Limits
	send   *language.Namespace // vu.http

	provides []provided
	uses     []string
	hooks    [hooks]*starlark.Function
}

// Has reports whether the workflow has a function for that moment: see VU.Run.
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
	vault     *secret.Vault
	files     []*request.File
	shared    []*request.Target
}

// Shared lists where connections go that the virtual users of an executor share, each with their number.
func (p *Program) Shared() []*request.Target { return p.shared }

// Files lists the files that requests send and that do not travel with the program, each once.
// A process that sends them maps them before it runs a workflow.
func (p *Program) Files() []*request.File { return p.files }

// Secrets lists the names of the secrets that the program declares.
func (p *Program) Secrets() []string { return p.vault.Names() }

// Reveal gives the secrets their values, before any function or request runs. Only executors
// call it.
func (p *Program) Reveal(given []message.Secret) error {
	if err := p.vault.Open(given); err != nil {
		return err
	}
	for _, w := range p.workflows {
		if err := w.HTTP.Reveal(p.vault); err != nil {
			return fmt.Errorf("workflow %q: http.client: %w", w.Plan.Name, err)
		}
		for i := range w.Steps {
			s := &w.Steps[i]
			if s.Request == nil {
				continue
			}
			var err error
			if s.Request, err = s.Request.Reveal(p.vault); err != nil {
				return fmt.Errorf("workflow %q: step %q: %w", w.Plan.Name, s.Plan.Name, err)
			}
		}
	}
	return nil
}

// Plan returns the declarations of the program.
func (p *Program) Plan() *message.Plan { return &p.plan }

// Digest identifies the plan.
func (p *Program) Digest() uint64 { return plan.Digest(&p.plan) }

// Workflow returns the workflow with that name, nil if there is none.
func (p *Program) Workflow(name string) *Workflow {
	for _, w := range p.workflows {
		if w.Plan.Name == name {
			return w
		}
	}
	return nil
}

// Outcome is the result of one call of a step's function.
type Outcome struct {
	Response *Response // of a function step that returned one
	OK       bool
	Kind     string // why not OK: the response's kind, "status", a check's text, "script", "cancelled"
	Detail   string // an example of it for users
	Quotes   bool   // Kind quotes values: what counts it hides secrets in it, then folds its numbers
	Value    int64  // of a metric, in thousandths
	HasValue bool
}

// Judge returns which part of the step's expect does not hold; empty: all of it does. Then it
// allocates nothing.
func (s *Step) Judge(r *extract.View) string {
	for i := range s.Expect {
		if why := s.Expect[i].Fails(r); why != "" {
			return why
		}
	}
	return ""
}

// JudgesStatus reports whether the step's expect decides about the status: else 400 and above
// is a failure.
func (s *Step) JudgesStatus() bool { return judgesStatus(s.Expect) }

func judgesStatus(all []extract.Expect) bool {
	return slices.ContainsFunc(all, func(e extract.Expect) bool { return e.Kind == extract.ExpectStatus || e.Kind == extract.ExpectCode })
}

// JudgesCode reports whether conditions decide which code of a protocol is good: else only OK is.
func JudgesCode(all []extract.Expect) bool {
	return slices.ContainsFunc(all, func(e extract.Expect) bool { return e.Kind == extract.ExpectCode })
}

// misplacedCode reports a code that no answer to a request has.
func misplacedCode(fn string, all []extract.Expect, r *request.Request) error {
	of, says := extract.CodedNone, ""
	switch {
	case r == nil:
	case r.GRPC != nil:
		of, says = extract.CodedGRPC, "gRPC has names, such as \"NOT_FOUND\""
	case r.Custom != nil:
		of = extract.CodedProgram
	case r.Kafka != nil:
		of, says = extract.CodedKafka, "Kafka has names, such as \"MESSAGE_TOO_LARGE\""
	case r.FTP != nil:
		of, says = extract.CodedReply, "FTP has \"OK\" and replies of three digits, such as \"550\""
	case r.SMTP != nil:
		of, says = extract.CodedReply, "SMTP has \"OK\" and replies of three digits, such as \"550\""
	case r.MongoDB != nil:
		of, says = extract.CodedMongoDB, "MongoDB has \"OK\" and numbers, such as \"11000\""
	case r.SQL != nil && r.SQL.MySQL():
		of, says = extract.CodedMySQL, "MySQL has \"OK\" and numbers, such as \"1062\""
	case r.SQL != nil:
		of, says = extract.CodedPostgres, "PostgreSQL has \"OK\" and SQLSTATE, such as \"23505\""
	}
	for i := range all {
		switch code := all[i].Misplaced(of); {
		case code == "":
		case of == extract.CodedNone:
			return language.Faultf("%s: code() looks at the status of gRPC, at the code of a database's or of Kafka's error, or at the reply of a mail server", fn).In("expect").Do("write status(200)")
		default:
			return language.Faultf("%s: code %q is of another protocol", fn, code).In("expect").Do("%s", says)
		}
	}
	return nil
}

// Reads reports whether Extract or Expect read the head, or the body, of the response.
func (s *Step) Reads() (head, body bool) {
	for i := range s.Extract {
		switch s.Extract[i].Kind {
		case extract.Header, extract.Cookie:
			head = true
		default:
			body = true
		}
	}
	h, b := reads(s.Expect)
	return head || h, body || b
}

// reads reports whether conditions read the head, or the body, of a response.
func reads(all []extract.Expect) (head, body bool) {
	for i := range all {
		switch all[i].Kind {
		case extract.ExpectHeader:
			head = true
		case extract.ExpectBody, extract.ExpectJSON, extract.ExpectGraphQL:
			body = true
		}
	}
	return head, body
}
