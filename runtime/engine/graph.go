package engine

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/engine/rpc"
	"hyperscale/runtime/engine/talk"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/http2"
	"hyperscale/runtime/redact"
)

// graph is a workflow prepared to run: its requests are bytes, and each step knows its
// dependencies and its slot.
type graph struct {
	name     string
	steps    []step
	slots    int // concurrent request steps of one virtual user
	sockets  int // concurrent connections of one virtual user
	own      int // of them those that no pool shares: of exchanges, and a socket over UDP that was replaced
	shared   []sharing
	scripted bool // it contains functions
	hosts    []*pool.Host
	names    *pool.Names
	protocol codec.Protocol // of connections that carry several requests
	messages *talk.Memory   // of exchanges
	timeout  time.Duration  // of requests that say none
}

// sharing is a host of exchanges whose connections all users share.
type sharing struct {
	host        *pool.Host
	connections uint64
	lanes       uint64 // concurrent exchanges of one virtual user
}

type step struct {
	plan    *message.StepPlan
	request *request.Request // of a request step
	call    *http1.Call      // the same, compiled
	talk    *talk.Plan       // nil: it exchanges no messages
	framed  *codec.Operation // the same for that protocol; nil: not built yet
	timeout time.Duration
	host    *pool.Host
	slot    int
	needed  bool // a later step takes its response

	looks  bool   // it expects or extracts something
	judges bool   // it decides itself which status is good
	reads  wanted // the parts of its answer that it reads
	keeps  wanted // the parts that it or a function that gets its response reads
}

// wanted says which parts of an answer are read; code: of a call's, to decide whether it is good.
type wanted struct{ head, body, code bool }

func newGraph(cfg Config) (*graph, error) {
	w := cfg.Workflow
	g := &graph{name: w.Plan.Name, scripted: hasHooks(w), names: pool.NewNames(&w.HTTP), protocol: &http2.Protocol{Streams: w.HTTP.Streams}, messages: &talk.Memory{}, timeout: cfg.Timeout}
	for i := range w.Steps {
		from := &w.Steps[i]
		s := step{plan: from.Plan, request: from.Request, timeout: cfg.Timeout}
		s.looks, s.judges = len(from.Extract)+len(from.Expect) > 0, from.JudgesStatus()
		s.reads.code = workflow.JudgesCode(from.Expect)
		s.reads.head, s.reads.body = from.Reads()
		for _, list := range [][]uint32{from.Plan.After, from.Plan.Behind} {
			for _, before := range list {
				if int(before) >= i {
					return nil, fmt.Errorf("step %q waits for step %d, which does not come before it: load the workflow again", from.Plan.Name, before)
				}
			}
		}
		for _, before := range from.Takes {
			g.steps[before].needed = true
		}
		if from.Plan.Kind == message.StepRequest {
			if err := s.compile(g, w); err != nil {
				return nil, fmt.Errorf("step %q: %w", from.Plan.Name, err)
			}
		}
		g.scripted = g.scripted || s.call == nil || from.Conditional()
		g.steps = append(g.steps, s)
	}
	for i := range g.steps {
		s := &g.steps[i]
		s.keeps.head, s.keeps.body = s.reads.head || s.needed && !w.HeadsUnread, s.reads.body || s.needed && !w.BodiesUnread
	}
	g.assignSlots()
	return g, nil
}

func newAccounts(g *graph, w *message.WorkflowPlan, mask *redact.Mask) []measure.Account {
	all := make([]measure.Account, len(g.steps))
	for i := range all {
		s := &g.steps[i]
		shown := s.call
		if s.talk != nil {
			shown = &s.talk.Shown
		}
		all[i] = measure.NewAccount(s.plan, shown, s.judges, measure.SpansOf(w, s.plan.Name))
		all[i].Hide(mask)
	}
	return all
}

// newNames returns the names of requests that functions of steps and hooks send.
func newNames(g *graph, w *message.WorkflowPlan, mask *redact.Mask) measure.Names {
	n := measure.NewNames(w, mask)
	for i := range g.steps {
		n.Own(g.steps[i].plan.Name, message.StepPart)
	}
	for _, h := range hooks() {
		n.Own(h.String(), message.StepBeside)
	}
	return n
}

func (s *step) compile(g *graph, w *workflow.Workflow) error {
	if s.request == nil {
		return fmt.Errorf("it has no request: load the workflow again")
	}
	var call http1.Call
	var err error
	if s.request.Exchanges() {
		var upgrade *request.Request
		if s.talk, upgrade, err = talk.NewPlan(s.request, w, g.messages); err != nil {
			return err
		}
		s.talk.Encode()
		if call = s.talk.Shown; upgrade != nil {
			if call, err = compile(upgrade); err == nil {
				s.talk.Show(&call)
			}
		}
	} else {
		timeout := g.timeout
		if s.request.Timeout > 0 {
			timeout = s.request.Timeout
		}
		call, err = compileWithin(s.request, timeout)
	}
	if err != nil {
		return err
	}
	s.call = &call
	if s.request.Timeout > 0 {
		s.timeout = s.request.Timeout
	}
	switch {
	case s.talk != nil:
		s.host = pool.NewTalkHost(&call, s.talk.Host)
	case s.request.GRPC != nil:
		s.host = pool.NewCallHost(&call)
	default:
		s.host = pool.NewHost(&call, w)
	}
	for _, h := range g.hosts {
		if h.Key == s.host.Key {
			s.host = h
			return nil
		}
	}
	g.hosts = append(g.hosts, s.host)
	return nil
}

// compile converts a workflow's request to bytes.
func compile(r *request.Request) (http1.Call, error) { return compileWithin(r, 0) }

// compileWithin is compile for a request that may be a call, which tells its deadline.
func compileWithin(r *request.Request, timeout time.Duration) (http1.Call, error) {
	out := http1.Request{
		Method: r.Method, URL: r.URL, Body: r.Body, ContentType: r.ContentType,
		Headers: pairs(r.Headers), Params: pairs(r.Params), Cookies: pairs(r.Cookies),
		Boundary: r.Boundary,
	}
	switch r.Escape {
	case request.EscapeJSON:
		out.Escape = http1.EscapeJSON
	case request.EscapeForm:
		out.Escape = http1.EscapeForm
	}
	for _, h := range r.Placeholders {
		out.Placeholders = append(out.Placeholders, http1.Placeholder{Word: h.Word, Name: h.Name, Var: h.Var})
	}
	if r.Auth != nil {
		switch r.Auth.Kind {
		case "basic":
			out.User, out.Password = r.Auth.User, r.Auth.Password
		case "bearer":
			out.Bearer = r.Auth.Token
		case "digest":
			if out.Digest = true; strings.Contains(r.Auth.User, ":") {
				return http1.Call{}, &http1.InputError{Field: "user", Value: r.Auth.User, Remedy: "a user name for digest auth holds no colon"}
			}
		default:
			return http1.Call{}, &http1.InputError{Field: "auth kind", Value: r.Auth.Kind, Remedy: "use basic, digest or bearer"}
		}
	}
	for _, f := range r.Files {
		data, err := f.File.Data()
		if err != nil {
			return http1.Call{}, err
		}
		if len(data) > 0 { // an insert is never empty
			out.Inserts = append(out.Inserts, http1.Insert{At: f.At, Data: data})
		}
	}
	if r.GRPC != nil {
		if err := rpc.Compile(&out, r, timeout); err != nil {
			return http1.Call{}, err
		}
	}
	return out.Compile()
}

func pairs(in []builtin.Pair) []http1.Pair {
	out := make([]http1.Pair, len(in))
	for i, p := range in {
		out[i] = http1.Pair(p)
	}
	return out
}

// assignSlots gives each request step a slot of its virtual user. Two steps share one only if
// they go to the same host and one always waits for the other, so there are as many slots as
// concurrent connections. A function may go anywhere: it counts as a host of its own, and has
// the slot of its coroutine.
func (g *graph) assignSlots() {
	ancestors := make([]map[int]bool, len(g.steps))
	var lanes [][]int
	for i := range g.steps {
		s := &g.steps[i]
		ancestors[i] = map[int]bool{}
		for _, list := range [][]uint32{s.plan.After, s.plan.Behind} {
			for _, before := range list {
				ancestors[i][int(before)] = true
				maps.Copy(ancestors[i], ancestors[before])
			}
		}
		if !s.plan.Kind.Measured() {
			continue
		}
		s.slot = len(lanes)
		for lane, users := range lanes {
			if g.mayShare(users, i, ancestors[i]) {
				s.slot = lane
				break
			}
		}
		if s.slot == len(lanes) {
			lanes = append(lanes, nil)
		}
		lanes[s.slot] = append(lanes[s.slot], i)
	}
	g.sockets = len(lanes)
	replaced := 0
	for _, users := range lanes {
		s := &g.steps[users[0]]
		if s.talk != nil {
			switch {
			case s.talk.Host.Over == pool.OverProgram:
				g.sockets--
			case s.talk.Host.Shared > 0:
				g.sockets--
				g.share(s)
			default:
				g.own++
			}
			if s.talk.Host.Over == pool.OverUDP {
				replaced = 1
			}
			if s.talk.Host.Branches {
				g.own, g.sockets = g.own+1, g.sockets+1
			}
		}
		if s.call == nil {
			continue
		}
		for _, u := range users {
			g.steps[u].slot = g.slots
		}
		g.slots++
	}
	g.own, g.sockets = g.own+replaced, g.sockets+replaced
}

// share counts a lane to a host whose connections all users share.
func (g *graph) share(s *step) {
	for i := range g.shared {
		if g.shared[i].host == s.host {
			g.shared[i].lanes++
			return
		}
	}
	g.shared = append(g.shared, sharing{s.host, uint64(s.talk.Host.Shared), 1})
}

func (g *graph) mayShare(users []int, i int, ancestors map[int]bool) bool {
	for _, u := range users {
		if !ancestors[u] || g.steps[u].host != g.steps[i].host {
			return false
		}
	}
	return true
}

// resolveMax bounds the time for that. The loop does not turn meanwhile, and its worker would take a
// longer silence for a hang.
const resolveMax = 30 * time.Second

// resolve looks up all hosts once, before the clock starts: a run measures the target, not the
// resolver.
func (g *graph) resolve(ctx context.Context, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, min(max(timeout, time.Second), resolveMax))
	defer cancel()
	for i := range g.steps {
		s := &g.steps[i]
		if s.host == nil || s.host.Addrs != nil {
			continue
		}
		found, err := g.names.Lookup(ctx, s.host)
		if err != nil {
			if g.names.Proxy != nil {
				return fmt.Errorf("%w: check the name in http.client(proxy = ...)", err)
			}
			return fmt.Errorf("step %q: %w: check the name in the step's URL", s.plan.Name, err)
		}
		s.host.Has(found)
	}
	return nil
}

// calls reports whether a step calls a program.
func (g *graph) calls(c *request.Custom) bool {
	for i := range g.steps {
		if r := g.steps[i].request; r != nil && r.Custom != nil && r.Custom.Key() == c.Key() {
			return true
		}
	}
	return false
}
