package workflow

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"hyperscale/core/message"
	"hyperscale/core/plan"
)

// loader is one Load under way.
type loader struct {
	program     message.Program
	src         *sources
	predeclared starlark.StringDict
	modules     map[string]*module
	limits      *Limits
	plan        message.Plan
	paramAt     map[string]syntax.Position
	declared    []*declaration
	reads       reads
	plain       map[syntax.Position]*resolve.Function // that may be direct
	word        uint64                                // digest of the program, from when it is first needed
	words       int                                   // that were made for holes
}

// declaration is a call of workflow().
type declaration struct {
	site       syntax.Position
	plan       message.WorkflowPlan
	steps      []*stepValue
	thresholds []string
	aborts     []string
	depends    []string
	startAfter []string
	http       Options
	feed       *Feed
	columns    []string // of the feed's row: the first of the workflow's values
	hooks      [hooks]*starlark.Function
	provides   []*provideValue
	uses       []*useValue
}

// stepValue is what step, check, metric and action return.
type stepValue struct {
	opaque
	kind    message.StepKind
	name    string // empty: a lambda that gets one from its workflow
	request *Request
	asked
	extract []named
	expect  []Expect
	fn      *starlark.Function
	after   []string
	unit    string
	weight  uint32
	when    *starlark.Function
	tags    []message.Tag
	site    syntax.Position
}

// declared lists the names that the language adds to Starlark's own.
func declared() []string {
	return slices.Sorted(maps.Keys(vocabulary()))
}

// universe is what a file sees besides Starlark's own names. It is made once a
// load and shared, frozen, by all virtual users.
func universe() starlark.StringDict {
	all := guards()
	maps.Copy(all, vocabulary())
	return all
}

func vocabulary() starlark.StringDict {
	all := starlark.StringDict{}
	all["param"] = declaring("param", (*loader).param)
	all["workflow"] = declaring("workflow", (*loader).workflow)
	all["step"] = declaring("step", (*loader).step)
	all["check"] = declaring("check", (*loader).check)
	all["metric"] = declaring("metric", (*loader).metric)
	all["action"] = declaring("action", (*loader).action)
	all["provide"] = declaring("provide", (*loader).provide)
	all["use"] = declaring("use", (*loader).use)
	all["fail"] = &guard{"fail", failStep}
	all["stage"] = &guard{"stage", newStage}
	all["between"] = &guard{"between", newBetween}
	all["tls"] = &guard{"tls", newTLS}
	all["json_path"] = extractor("json_path", "path", extractJSON)
	all["header"] = extractor("header", "name", extractHeader)
	all["cookie"] = extractor("cookie", "name", extractCookie)
	all["form_value"] = extractor("form_value", "name", extractForm)
	//lint:orderfree a dict has no order either
	for name, read := range expectations() {
		all[name] = expectation(name, read)
	}
	all["dns"] = &guard{"dns", newDNS}
	all["json"] = jsonNamespace()
	members := requester("http", requestArguments(), nil, describeRequest)
	members["client"] = &guard{"client", newClient}
	members["basic"] = &guard{"basic", newBasic}
	members["bearer"] = &guard{"bearer", newBearer}
	members["part"] = &guard{"part", newPart}
	all["http"] = newNamespace("http", members)
	all["graphql"] = graphqlNamespace("graphql", describeQuery)
	addModules(all)
	return all
}

type declarer func(*loader, syntax.Position, starlark.Tuple, []starlark.Tuple) (starlark.Value, error)

func declaring(name string, call declarer) starlark.Value {
	return &guard{name, func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		l := meterOf(thread).loader
		if l == nil {
			return nil, faultf("%s declares, and only a file that is being loaded can declare", name).do("call it outside of the step's function")
		}
		return call(l, thread.CallFrame(1).Pos, args, kwargs)
	}}
}

// describeRequest makes the value of http.get and its like.
func describeRequest(thread *starlark.Thread, r *Request, b *blanks) (starlark.Value, error) {
	if meterOf(thread).loader != nil {
		return declareRequest(thread, "http."+strings.ToLower(r.Method), r, b)
	}
	name := strings.ToLower(r.Method)
	return nil, faultf("http.%s only describes a request", name).do("in a step's function, vu.http.%s sends one", name)
}

// describeQuery makes the value of graphql.query.
func describeQuery(thread *starlark.Thread, r *Request, b *blanks) (starlark.Value, error) {
	if meterOf(thread).loader != nil {
		return declareRequest(thread, "graphql.query", r, b)
	}
	return nil, faultf("graphql.query only describes a request").do("in a step's function, vu.graphql.query sends one")
}

func declareRequest(thread *starlark.Thread, fn string, r *Request, b *blanks) (starlark.Value, error) {
	if err := parseURL(fn, r.URL); err != nil {
		return nil, b.explain(err)
	}
	if err := b.checkAuthority(fn, r.URL); err != nil {
		return nil, err
	}
	return &requestValue{opaque{"request"}, r, asked{thread.CallFrame(1).Pos, b.list}}, nil
}

func failStep(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [1]starlark.Value
	if err := bind("fail", []string{"text"}, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	text, ok := in[0].(starlark.String)
	if !ok {
		return nil, faultf("fail: give a text that says why")
	}
	return nil, &failure{string(text)}
}

// failure is what fail() ends a call with.
type failure struct{ text string }

func (f *failure) Error() string { return "fail: " + f.text }

// texts binds arguments that are all texts and must be given, up to required.
func texts(fn string, names []string, required int, args starlark.Tuple, kwargs []starlark.Tuple, out []string) error {
	in := make([]starlark.Value, len(names))
	if err := bind(fn, names, len(names), args, kwargs, in); err != nil {
		return err
	}
	for i, v := range in {
		if v == nil && i >= required {
			continue
		}
		s, ok := v.(starlark.String)
		if v == nil {
			return faultf("%s: %s is missing", fn, names[i])
		}
		if !ok {
			return wrongType(fn, names[i], "a text", v)
		}
		out[i] = string(s)
	}
	return nil
}

func newBasic(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [2]string
	if err := texts("http.basic", []string{"user", "password"}, 2, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	return &authValue{opaque{"auth"}, Auth{Kind: "basic", User: in[0], Password: in[1]}}, nil
}

func newBearer(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [1]string
	if err := texts("http.bearer", []string{"token"}, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	if strings.ContainsAny(in[0], "\r\n\x00") {
		return nil, faultf("http.bearer: the token has a line break in it").in("token")
	}
	return &authValue{opaque{"auth"}, Auth{Kind: "bearer", Token: in[0]}}, nil
}

func newPart(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [3]starlark.Value
	names := []string{"data", "filename", "type"}
	if err := bind("http.part", names, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	part := &partValue{opaque: opaque{"part"}, filename: "file", kind: "application/octet-stream"}
	switch data := in[0].(type) {
	case starlark.String:
		part.data, part.text = []byte(data), true
	case starlark.Bytes:
		part.data = []byte(data)
	default:
		return nil, faultf("http.part: data must be a text or bytes").in("data")
	}
	for i, to := range []*string{&part.filename, &part.kind} {
		if in[i+1] == nil {
			continue
		}
		s, ok := in[i+1].(starlark.String)
		if !ok || strings.ContainsAny(string(s), "\r\n") {
			return nil, faultf("http.part: %s must be a text in one line", names[i+1]).in(names[i+1])
		}
		*to = string(s)
	}
	return part, nil
}

// param declares a value that a person may set from outside.
func (l *loader) param(site syntax.Position, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [3]starlark.Value
	if err := bind("param", []string{"name", "default", "help"}, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	name, ok := in[0].(starlark.String)
	if !ok {
		return nil, faultf("param: the name must be a text").in("#1")
	}
	if err := checkName("param", "#1", string(name)); err != nil {
		return nil, err
	}
	if first, twice := l.paramAt[string(name)]; twice {
		return nil, faultf("param %q is declared twice, first in line %d of %s", string(name), first.Line, first.Filename()).in("#1").do("keep one of them")
	}
	if len(l.plan.Params) >= plan.ParamsMax {
		return nil, faultf("more than %d params", plan.ParamsMax)
	}
	help := ""
	if in[2] != nil {
		if help, ok = starlark.AsString(in[2]); !ok {
			return nil, wrongType("param", "help", "a text", in[2])
		}
	}
	p := message.ParamPlan{Name: string(name), Help: help}
	value, err := l.paramValue(&p, in[1])
	if err != nil {
		return nil, err
	}
	l.paramAt[string(name)] = site
	l.plan.Params = append(l.plan.Params, p)
	return value, nil
}

// paramValue reads what was set by the type of the default.
func (l *loader) paramValue(p *message.ParamPlan, fallback starlark.Value) (starlark.Value, error) {
	i := slices.IndexFunc(l.program.Params, func(s message.Param) bool { return s.Name == p.Name })
	given := ""
	if i >= 0 {
		given = l.program.Params[i].Value
		p.Value = given
	}
	wrong := func(want string) error {
		return faultf("param %q: the value %q is not %s", p.Name, clip(given, 40), want).do("set it with --set %s=VALUE", p.Name)
	}
	switch fallback := fallback.(type) {
	case nil:
		if i < 0 {
			return nil, faultf("param %q has no default and was not set", p.Name).do("set it with --set %s=VALUE, or give it a default", p.Name)
		}
		return starlark.String(given), nil
	case starlark.String:
		p.Default = string(fallback)
		if i >= 0 {
			return starlark.String(given), nil
		}
		p.Value = p.Default
	case starlark.Int:
		p.Default = clip(fallback.String(), 100)
		if i >= 0 {
			n, err := strconv.ParseInt(given, 10, 64)
			if err != nil {
				return nil, wrong("a whole number")
			}
			return starlark.MakeInt64(n), nil
		}
		p.Value = p.Default
	case starlark.Bool:
		p.Default = strconv.FormatBool(bool(fallback))
		if i >= 0 {
			if given != "true" && given != "false" {
				return nil, wrong("true or false")
			}
			return starlark.Bool(given == "true"), nil
		}
		p.Value = p.Default
	default:
		return nil, wrongType("param", "default", "a text, a whole number, True or False", fallback)
	}
	return fallback, nil
}
