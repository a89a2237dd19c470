package workflow

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"go.starlark.net/starlark"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/feed"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
)

// VU is one virtual user of a workflow. Its methods must not run concurrently, but others may
// run while a Call blocks in the Client.
type VU struct {
	w         *Workflow
	id, seed  uint64
	iteration uint64
	client    Client

	// The first Call that needs one of these creates it.
	results []*response // of this iteration, by step
	vars    *starlark.Dict
	valued  bool // vars has values of this iteration
	from    *feed.Reader
	at      uint64 // the row of this iteration
	row     *starlark.Dict
	shared  Shared
	given   Given
	random  *node.Rand
	self    *vuValue
	idle    []*runner

	provided []message.Provided
}

// runner is an interpreter thread that is kept for the next Call. Calls that block concurrently
// have one each.
type runner struct {
	thread  starlark.Thread
	meter   guard.Meter
	args    starlark.Tuple // of the Call, which does not change them
	stopped bool
}

// NewVU returns a virtual user, which is cheap until its first Call.
func (w *Workflow) NewVU(id, seed uint64, c Client) *VU {
	return &VU{w: w, id: id, seed: seed, client: c}
}

// Begin starts a new iteration: it drops the results and values of the last one.
func (v *VU) Begin() {
	v.iteration++
	clear(v.results)
	if v.valued {
		v.valued = false
		for _, name := range v.w.Vars {
			_, _, _ = v.vars.Delete(starlark.String(name)) // a text has a hash, and no function iterates over vars now
		}
	}
}

// SetVar sets a value of this iteration by its index in Workflow.Vars: functions find it in
// vu.vars.
func (v *VU) SetVar(i int, value []byte) {
	v.valued = true
	// It fails only while a blocked function iterates over vars: that function sees them
	// unchanged.
	_ = v.variables().SetKey(starlark.String(v.w.Vars[i]), starlark.String(value))
}

func (v *VU) variables() *starlark.Dict {
	if v.vars == nil {
		v.vars = new(starlark.Dict)
	}
	return v.vars
}

// SetResponse sets the result of a request step, so that functions after it get it by name.
func (v *VU) SetResponse(step int, r *Response) {
	if r != nil {
		v.keep(step, newResponse(r))
	}
}

func (v *VU) keep(step int, r *response) {
	if v.results == nil {
		v.results = make([]*response, len(v.w.Steps))
	}
	v.results[step] = r
}

// Call runs the function of a step that is not a request.
func (v *VU) Call(step int) Outcome {
	c := v.w.Steps[step].call
	if c == nil {
		node.Bug("workflow %s: step %d has no function to call", v.w.Plan.Name, step)
	}
	value, out := v.invoke(c)
	if !out.OK {
		return out
	}
	return v.outcome(c, step, value)
}

// invoke calls a function with the responses that it takes. An Outcome that is not OK says why
// the call did not return.
func (v *VU) invoke(c *call) (starlark.Value, Outcome) {
	r := v.runner()
	r.args = append(r.args[:0], v.value())
	for _, from := range c.refs {
		r.args = append(r.args, v.result(from))
	}
	if c.direct != nil {
		if value, ok := c.direct.run(&r.thread, r.args); ok {
			clear(r.args)
			v.idle = append(v.idle, r)
			return value, Outcome{OK: true}
		}
	}
	var kwargs []starlark.Tuple
	for _, ref := range c.named {
		kwargs = append(kwargs, starlark.Tuple{ref.name, v.result(ref.step)})
	}
	value, err := starlark.Call(&r.thread, c.fn, r.args, kwargs)
	if err != nil {
		return nil, r.failed(err) // its thread may be cancelled: drop it
	}
	clear(r.args) // an idle runner keeps no response alive
	v.idle = append(v.idle, r)
	return value, Outcome{OK: true}
}

// value returns the virtual user in the form for its functions.
func (v *VU) value() *vuValue {
	if v.self == nil {
		v.self = &vuValue{language.Opaque{Kind: "vu"}, v}
	}
	return v.self
}

func (v *VU) result(step int) starlark.Value {
	if v.results == nil || v.results[step] == nil {
		return starlark.None
	}
	return v.results[step]
}

// runner takes an idle thread, or creates one.
func (v *VU) runner() *runner {
	limits := &v.w.limits
	var r *runner
	if n := len(v.idle); n > 0 {
		r = v.idle[n-1]
		v.idle = v.idle[:n-1]
	} else {
		r = &runner{meter: guard.Meter{Limits: limits, Total: limits.CallBytes, Owner: v}}
		r.thread.Load = func(*starlark.Thread, string) (starlark.StringDict, error) { return nil, &r.meter }
		r.thread.OnMaxSteps = func(t *starlark.Thread) {
			v.client.Yield()
			switch {
			case v.client.Stopped():
				r.stopped = true
				t.Cancel("the run was stopped")
			case t.Steps >= limits.CallSteps:
				t.Cancel(fmt.Sprintf("the function has not returned after %d steps: end its loops, or do less in one call", limits.CallSteps))
			default:
				t.SetMaxExecutionSteps(min(limits.CallSteps, t.Steps+limits.Slice))
			}
		}
	}
	r.meter.Bytes = limits.CallBytes
	r.thread.Steps = 0
	r.thread.SetMaxExecutionSteps(min(limits.CallSteps, limits.Slice))
	return r
}

// failed explains a call that ended with an error.
func (r *runner) failed(err error) Outcome {
	var said *failure
	if errors.As(err, &said) {
		return Outcome{Kind: "fail", Detail: language.Clip(said.text, detailMax)}
	}
	var unmet *builtin.Unmet
	if errors.As(err, &unmet) {
		return Outcome{Kind: language.Clip(unmet.Text, detailMax), Detail: language.Clip(unmet.Text, detailMax), Quotes: true}
	}
	var unread *unread
	if errors.As(err, &unread) {
		return Outcome{Kind: language.Clip(unread.kind, kindMax), Detail: language.Clip(unread.why, detailMax)}
	}
	if errors.As(err, new(spent)) {
		return Outcome{Kind: "cancelled", Detail: "a counter has no more values"}
	}
	if r.stopped {
		return Outcome{Kind: "cancelled", Detail: "the run was stopped"}
	}
	detail := err.Error()
	var eval *starlark.EvalError
	if errors.As(err, &eval) {
		const prefix = "Starlark computation cancelled: "
		if len(detail) > len(prefix) && detail[:len(prefix)] == prefix {
			detail = detail[len(prefix):]
		}
		if remedy := language.RecursionRemedy(detail); remedy != "" {
			detail += ": " + remedy
		}
		if pos := language.ScriptPosition(eval); pos.IsValid() {
			detail = fmt.Sprintf("%s:%d:%d: %s", pos.Filename(), pos.Line, pos.Col, detail)
		}
	}
	return Outcome{Kind: "script", Detail: language.Clip(detail, detailMax)}
}

// Texts of failures are cut: one remains as an example of its kind.
const (
	detailMax = 250
	kindMax   = 100
)

// outcome judges what a function returned by the kind of its step.
func (v *VU) outcome(c *call, step int, value starlark.Value) Outcome {
	switch c.kind {
	case message.StepFunction:
		return v.answered(c, step, value)
	case message.StepCheck:
		return checked(c, value)
	case message.StepMetric:
		return recorded(c, value)
	}
	return Outcome{OK: true}
}

func (v *VU) answered(c *call, step int, value starlark.Value) Outcome {
	got, ok := value.(*response)
	if !ok {
		return c.wrong("must return the response that it measures, not %s: write return vu.http.get(...)", language.Describe(value))
	}
	v.keep(step, got)
	out := Outcome{Response: got.r, OK: got.r.Good(), Kind: got.r.Kind, Detail: got.r.Error}
	switch {
	case out.OK || out.Kind != "":
	case got.r.Wrong != "":
		out.Kind, out.Detail = got.r.Wrong, got.r.Why
	default:
		out.Kind, out.Detail = "status", "status "+strconv.Itoa(got.r.Status)
	}
	return out
}

func checked(c *call, value starlark.Value) Outcome {
	switch value := value.(type) {
	case starlark.Bool:
		if value {
			return Outcome{OK: true}
		}
		return Outcome{Kind: "false", Detail: c.name + " returned False"}
	case starlark.String:
		if value == "" {
			return c.wrong("must return True, False or a text that says what is wrong, not an empty one")
		}
		return Outcome{Kind: language.Clip(string(value), kindMax), Detail: language.Clip(string(value), detailMax)}
	}
	return c.wrong("must return True, False or a text that says what is wrong, not %s", language.Describe(value))
}

// recorded converts a metric's number to thousandths.
func recorded(c *call, value starlark.Value) Outcome {
	switch value := value.(type) {
	case starlark.Int:
		if n, ok := value.Int64(); ok && n >= 0 && n <= math.MaxInt64/1000 {
			return Outcome{OK: true, Value: n * 1000, HasValue: true}
		}
		return c.wrong("must return a number from 0 to 9e15, not %s", language.Describe(value))
	case starlark.Float:
		if f := float64(value) * 1000; f >= 0 && f < 1<<62 {
			return Outcome{OK: true, Value: int64(math.Round(f)), HasValue: true}
		}
		return c.wrong("must return a number from 0 to 4e15, not %s", language.Describe(value))
	}
	f := c.wrong("must return a number, not %s", language.Describe(value))
	if _, ok := value.(builtin.Duration); ok {
		f.Detail += ": write .milliseconds or .seconds behind it"
	}
	return f
}

func (c *call) wrong(format string, args ...any) Outcome {
	pos := c.fn.Position()
	detail := fmt.Sprintf("%s:%d:%d: %s ", pos.Filename(), pos.Line, pos.Col, c.name) + fmt.Sprintf(format, args...)
	return Outcome{Kind: "script", Detail: language.Clip(detail, detailMax)}
}

// vuOf returns the virtual user whose function runs.
func vuOf(thread *starlark.Thread) *VU {
	v, _ := guard.MeterOf(thread).Owner.(*VU)
	return v
}

// vuValue is a VU for functions. Only vars belongs to it: all virtual users share everything
// else, which finds this one by its thread.
type vuValue struct {
	language.Opaque
	v *VU
}

var _ starlark.HasAttrs = (*vuValue)(nil)

func (u *vuValue) String() string { return fmt.Sprintf("<vu %d>", u.v.id) }

func (u *vuValue) AttrNames() []string {
	return []string{"amqp", "custom", "ftp", "graphql", "group", "grpc", "http", "id", "iteration", "job", "kafka", "log", "mongodb", "mqtt", "nats", "next", "random", "redis", "row", "scp", "sftp", "shared", "sleep", "smtp", "sql", "sse", "tcp", "udp", "use", "vars", "wait", "websocket"}
}

func (u *vuValue) Attr(name string) (starlark.Value, error) {
	switch name {
	case "http":
		return u.v.w.send, nil
	case "id":
		return starlark.MakeUint64(u.v.id), nil
	case "iteration":
		return starlark.MakeUint64(u.v.iteration), nil
	case "vars":
		return u.v.variables(), nil
	case "shared":
		if u.v.shared.value == nil {
			return starlark.None, nil
		}
		return u.v.shared.value, nil
	case "row":
		return u.v.rowValue()
	case "use":
		if u.v.given.values == nil {
			return nil, language.Faultf("this workflow uses nothing of others").Do("write use = [use(\"name\", of = [\"workflow\"])]")
		}
		return u.v.given.values, nil
	case "job":
		if g := u.v.given.values; g != nil && g.Members[beforeAll] != nil {
			return g.Members[beforeAll], nil
		}
		return starlark.None, nil
	case "amqp", "custom", "ftp", "graphql", "group", "grpc", "kafka", "log", "mongodb", "mqtt", "nats", "next", "sleep", "smtp", "sql", "sse", "random", "redis", "scp", "sftp", "tcp", "udp", "wait", "websocket":
		return u.v.w.send.Members[language.Mark+name], nil
	}
	return nil, language.Missing("vu", name, u.AttrNames())
}

// Rand returns the virtual user's own stream: the same seed, workflow and id draw the same
// numbers, on any machine.
func (v *VU) Rand() *node.Rand {
	if v.random == nil {
		v.random = node.NewRand(v.seed, node.ID(fmt.Sprintf("%s/%d", v.w.Plan.Name, v.id)), node.PurposeWorkload)
	}
	return v.random
}

// Now returns the time of the engine's clock.
func (v *VU) Now() time.Time { return v.client.Now() }
