package workflow

import (
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/workflow/broker"
	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/custom"
	"hyperscale/core/workflow/extract"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/inspect"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/request"
	"hyperscale/core/workflow/secret"
	"hyperscale/core/workflow/transfer"
)

// loader is the state of one Load.
type loader struct {
	program     *message.Program
	offered     map[string]string // values of params, by language.Variable
	src         *language.Sources
	predeclared starlark.StringDict
	modules     map[string]*module
	limits      *guard.Limits
	plan        message.Plan
	paramAt     map[string]syntax.Position
	barrierAt   []syntax.Position // of plan.Barriers
	declared    []*declaration
	before      *once // of all workflows; nil: nothing is
	after       *once // all workflows
	usage       usage
	plain       map[syntax.Position]*resolve.Function // that may be inlined
	words       request.Words
	roles       []inspect.Role
	more        []inspect.Finding // beside the error that ends the load
	vault       *secret.Vault
	files       sentFiles
	customs     []*request.Custom // programs that custom.client names
}

// loaderOf returns nil while a function runs.
func loaderOf(thread *starlark.Thread) *loader {
	l, _ := guard.MeterOf(thread).Owner.(*loader)
	return l
}

// PlaceholderWords creates the words of placeholders.
func (l *loader) PlaceholderWords() *request.Words {
	l.words.Files, l.words.Vault = l.program.Files, l.vault
	return &l.words
}

// declaration is a call of workflow().
type declaration struct {
	site       syntax.Position
	plan       message.WorkflowPlan
	steps      []*stepValue
	elements   []int // how many steps each element of a sequence has
	graph      bool  // a step has an after: it is no sequence
	stages     int   // how many of the plan's last ones the file lists
	thresholds []string
	aborts     []string
	depends    []string
	startAfter []string
	http       request.Options
	taken      broker.Clients // of all workflows
	feed       *Feed
	columns    []string // of the feed's row: the first of the workflow's values
	hooks      [hooks]*starlark.Function
	provides   []*provideValue
	uses       []*useValue
}

// stepValue is the result of step, check, metric and action.
type stepValue struct {
	language.Opaque
	kind    message.StepKind
	name    string // empty: a lambda that its workflow names
	request *request.Request
	request.Asked
	extract []extract.Named
	expect  []extract.Expect
	fn      *starlark.Function
	after   []string
	placed  bool // it has an after, which may be empty
	unit    string
	weight  uint32
	when    *starlark.Function
	tags    []message.Tag
	site    syntax.Position
}

type declarer func(*loader, syntax.Position, starlark.Tuple, []starlark.Tuple) (starlark.Value, error)

func declaring(name string, call declarer) *guard.Func {
	return &guard.Func{Word: name, Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		l := loaderOf(thread)
		if l == nil {
			return nil, language.Faultf("%s declares, and only a file that is being loaded can declare", name).Do("call it outside of the step's function").Elsewhere()
		}
		return call(l, thread.CallFrame(1).Pos, args, kwargs)
	}}
}

// describeRequest returns the value of http.get and its like.
func describeRequest(thread *starlark.Thread, r *request.Request, b *request.Placeholders, _ []starlark.Value) (starlark.Value, error) {
	if loaderOf(thread) != nil {
		return declareRequest(thread, "http."+strings.ToLower(r.Method), r, b)
	}
	name := strings.ToLower(r.Method)
	return nil, language.Faultf("http.%s only describes a request", name).Do("in a step's function, vu.http.%s sends one", name).Elsewhere()
}

// describeQuery returns the value of graphql.query.
func describeQuery(thread *starlark.Thread, r *request.Request, b *request.Placeholders, _ []starlark.Value) (starlark.Value, error) {
	if loaderOf(thread) != nil {
		return declareRequest(thread, "graphql.query", r, b)
	}
	return nil, language.Faultf("graphql.query only describes a request").Do("in a step's function, vu.graphql.query sends one").Elsewhere()
}

// describeCall returns the value of grpc.call.
func describeCall(thread *starlark.Thread, r *request.Request, b *request.Placeholders, _ []starlark.Value) (starlark.Value, error) {
	if loaderOf(thread) != nil {
		return declareRequest(thread, "grpc.call", r, b)
	}
	return nil, language.Faultf("grpc.call only describes a call").Do("in a step's function, vu.grpc.call sends one").Elsewhere()
}

// describeStream returns the value of sse.read.
func describeStream(thread *starlark.Thread, r *request.Request, b *request.Placeholders, _ []starlark.Value) (starlark.Value, error) {
	if loaderOf(thread) != nil {
		return declareRequest(thread, "sse.read", r, b)
	}
	return nil, language.Faultf("sse.read only describes a request").Do("in a step's function, vu.sse.read sends one").Elsewhere()
}

// describeSocket returns the value of websocket.exchange.
func describeSocket(thread *starlark.Thread, r *request.Request, b *request.Placeholders, _ []starlark.Value) (starlark.Value, error) {
	if loaderOf(thread) != nil {
		return declareRequest(thread, "websocket.exchange", r, b)
	}
	return nil, language.Faultf("websocket.exchange only describes an exchange, and functions have no WebSocket yet").Do("make it a step: step(\"echo\", websocket.exchange(...))").Elsewhere()
}

// describeOperation returns the value of redis.command and redis.pipeline.
func describeOperation(thread *starlark.Thread, r *request.Request, b *request.Placeholders, _ []starlark.Value) (starlark.Value, error) {
	fn := "redis.command"
	if r.Redis.Pipeline {
		fn = "redis.pipeline"
	}
	if loaderOf(thread) != nil {
		return declareRequest(thread, fn, r, b)
	}
	return nil, language.Faultf("%s only describes an operation", fn).Do("in a step's function, vu.%s sends one", fn).Elsewhere()
}

// describeMessage returns the value of nats.request and nats.publish.
func describeMessage(thread *starlark.Thread, r *request.Request, b *request.Placeholders, _ []starlark.Value) (starlark.Value, error) {
	fn := "nats.publish"
	if r.NATS.Verb == request.NATSRequest {
		fn = "nats.request"
	}
	if loaderOf(thread) != nil {
		return declareRequest(thread, fn, r, b)
	}
	return nil, language.Faultf("%s only describes a message", fn).Do("in a step's function, vu.%s sends one", fn).Elsewhere()
}

// describeRecord returns the value of kafka.produce and kafka.consume.
func describeRecord(thread *starlark.Thread, r *request.Request, b *request.Placeholders, _ []starlark.Value) (starlark.Value, error) {
	fn, what, does := "kafka.produce", "a record", "sends one"
	if r.Kafka.Consumes != nil {
		fn, what, does = "kafka.consume", "an operation", "carries one out"
	}
	if loaderOf(thread) != nil {
		return declareRequest(thread, fn, r, b)
	}
	return nil, language.Faultf("%s only describes %s", fn, what).Do("in a step's function, vu.%s %s", fn, does).Elsewhere()
}

// describeCommand returns the value of mongodb.find and its kin.
func describeCommand(thread *starlark.Thread, r *request.Request, b *request.Placeholders, _ []starlark.Value) (starlark.Value, error) {
	fn := "mongodb." + strings.ToLower(r.Method)
	if loaderOf(thread) != nil {
		return declareRequest(thread, fn, r, b)
	}
	return nil, language.Faultf("%s only describes a command", fn).Do("in a step's function, vu.%s sends one", fn).Elsewhere()
}

// describeDelivery returns the value of mqtt.publish and mqtt.connect.
func describeDelivery(thread *starlark.Thread, r *request.Request, b *request.Placeholders, _ []starlark.Value) (starlark.Value, error) {
	fn := "mqtt.publish"
	if r.MQTT.Verb == request.MQTTConnect {
		fn = "mqtt.connect"
	}
	if loaderOf(thread) != nil {
		return declareRequest(thread, fn, r, b)
	}
	return nil, language.Faultf("%s only describes an operation", fn).Do("in a step's function, vu.%s carries one out", fn).Elsewhere()
}

// describeQueued returns the value of amqp.publish and amqp.get.
func describeQueued(thread *starlark.Thread, r *request.Request, b *request.Placeholders, _ []starlark.Value) (starlark.Value, error) {
	fn := "amqp.publish"
	if r.AMQP.Verb == request.AMQPGet {
		fn = "amqp.get"
	}
	if loaderOf(thread) != nil {
		return declareRequest(thread, fn, r, b)
	}
	return nil, language.Faultf("%s only describes a message", fn).Do("in a step's function, vu.%s sends one", fn).Elsewhere()
}

// describeProgram returns the value of custom.call.
func describeProgram(thread *starlark.Thread, r *request.Request, b *request.Placeholders, _ []starlark.Value) (starlark.Value, error) {
	if loaderOf(thread) != nil {
		return declareRequest(thread, "custom.call", r, b)
	}
	return nil, language.Faultf("custom.call only describes a call").Do("in a step's function, vu.custom.call sends one").Elsewhere()
}

// customClient declares a program, which starts before the clock.
func customClient(l *loader, _ syntax.Position, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	value, program, err := custom.NewClient(args, kwargs)
	if err != nil {
		return nil, err
	}
	for _, known := range l.customs {
		if known.Key() == program.Key() {
			return value, nil
		}
	}
	if len(l.customs) == custom.ClientsMost {
		return nil, language.Faultf("custom.client: a file has %d programs at most", custom.ClientsMost).Do("let one program do more, by the names of its calls")
	}
	l.customs = append(l.customs, program)
	return value, nil
}

// describeTransfer returns the value of sftp.get and its kin.
func describeTransfer(thread *starlark.Thread, r *request.Request, b *request.Placeholders, _ []starlark.Value) (starlark.Value, error) {
	fn := transfer.Word(r)
	if loaderOf(thread) != nil {
		return declareRequest(thread, fn, r, b)
	}
	return nil, language.Faultf("%s only describes an operation", fn).Do("in a step's function, vu.%s carries one out", fn).Elsewhere()
}

// describeMail returns the value of smtp.send.
func describeMail(thread *starlark.Thread, r *request.Request, b *request.Placeholders, _ []starlark.Value) (starlark.Value, error) {
	const fn = "smtp.send"
	if loaderOf(thread) != nil {
		return declareRequest(thread, fn, r, b)
	}
	return nil, language.Faultf("%s only describes a message", fn).Do("in a step's function, vu.%s hands one over", fn).Elsewhere()
}

// describeExchange returns the value of tcp.exchange and udp.exchange.
func describeExchange(thread *starlark.Thread, r *request.Request, b *request.Placeholders, _ []starlark.Value) (starlark.Value, error) {
	fn := "tcp.exchange"
	if r.Datagram != nil {
		fn = "udp.exchange"
	}
	if loaderOf(thread) != nil {
		return declareRequest(thread, fn, r, b)
	}
	return nil, language.Faultf("%s only describes an exchange", fn).Do("in a step's function, vu.%s carries one", fn).Elsewhere()
}

// describeStatements returns the value of sql.query, sql.batch and sql.copy.
func describeStatements(thread *starlark.Thread, r *request.Request, b *request.Placeholders, _ []starlark.Value) (starlark.Value, error) {
	fn := "sql.query"
	switch {
	case r.SQL.Batch:
		fn = "sql.batch"
	case r.SQL.Copy:
		fn = "sql.copy"
	}
	if loaderOf(thread) != nil {
		return declareRequest(thread, fn, r, b)
	}
	return nil, language.Faultf("%s only describes an operation", fn).Do("in a step's function, vu.%s sends one", fn).Elsewhere()
}

// ending is a condition of expect on the data of an event, or a message.
type ending struct{ of extract.Expect }

// Holds implements request.Ending.
func (e ending) Holds(data []byte) bool {
	return e.of.Fails(&extract.View{Body: data, Size: int64(len(data))}) == ""
}

// readUntil reads the condition that ends a stream.
func readUntil(fn string, v starlark.Value) (request.Ending, error) {
	e, ok := v.(*extract.ExpectValue)
	if !ok {
		return nil, language.WrongType(fn, "until", "body_contains(...) or json_is(...)", v).Do("write until = body_contains(\"[DONE]\")")
	}
	switch e.Expect.Kind {
	case extract.ExpectBody, extract.ExpectJSON:
		return ending{e.Expect}, nil
	}
	what := "the data of each event"
	if strings.HasPrefix(fn, "websocket") {
		what = "each message"
	}
	return nil, language.Faultf("%s: until looks at %s, and %s does not", fn, what, e.Kind).In("until").Do("write until = body_contains(\"[DONE]\") or json_is(\"$.done\", True)")
}

func declareRequest(thread *starlark.Thread, fn string, r *request.Request, b *request.Placeholders) (starlark.Value, error) {
	if err := request.ParseURL(fn, r.URL); err != nil {
		return nil, b.Explain(err)
	}
	if err := b.CheckAuthority(fn, r.URL); err != nil {
		return nil, err
	}
	return &request.Value{Opaque: language.Opaque{Kind: "request"}, Request: r, Asked: request.Asked{RequestSite: thread.CallFrame(1).Pos, Blanks: b.List}}, nil
}

func failStep(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [1]starlark.Value
	if err := language.Bind("fail", []string{"text"}, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	text, ok := in[0].(starlark.String)
	if !ok {
		return nil, language.Faultf("fail: give a text that says why")
	}
	return nil, &failure{string(text)}
}

// failure is the error with which fail() ends a call.
type failure struct{ text string }

func (f *failure) Error() string { return "fail: " + f.text }

// secret declares a value that no file, plan or output has.
func (l *loader) secret(_ syntax.Position, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [1]string
	if err := language.Texts("secret", []string{"name"}, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	if err := language.CheckName("secret", "#1", in[0]); err != nil {
		return nil, err
	}
	names := l.vault.Names()
	if same := slices.IndexFunc(names, func(n string) bool { return n != in[0] && language.Variable(n) == language.Variable(in[0]) }); same >= 0 {
		return nil, language.Faultf("secrets %q and %q are one variable of the environment", in[0], names[same]).In("#1").Do("rename one of them")
	}
	if len(names) >= plan.SecretsMax && !slices.Contains(names, in[0]) {
		return nil, language.Faultf("more than %d secrets", plan.SecretsMax)
	}
	return l.vault.Declare(in[0]), nil
}

// param declares a value that a user may set from outside.
func (l *loader) param(site syntax.Position, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [4]starlark.Value
	if err := language.Bind("param", []string{"name", "default", "help", "secret"}, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	name, ok := in[0].(starlark.String)
	if !ok {
		return nil, language.Faultf("param: the name must be a text").In("#1")
	}
	if err := language.CheckName("param", "#1", string(name)); err != nil {
		return nil, err
	}
	if first, twice := l.paramAt[string(name)]; twice {
		return nil, language.Faultf("param %q is declared twice, first in line %d of %s", string(name), first.Line, first.Filename()).In("#1").Do("keep one of them")
	}
	if len(l.plan.Params) >= plan.ParamsMax {
		return nil, language.Faultf("more than %d params", plan.ParamsMax)
	}
	help := ""
	if in[2] != nil {
		if help, ok = starlark.AsString(in[2]); !ok {
			return nil, language.WrongType("param", "help", "a text", in[2])
		}
	}
	hidden, err := builtin.Flag("param", "secret", in[3], false)
	if err != nil {
		return nil, err
	}
	p := message.ParamPlan{Name: string(name), Help: help, Secret: hidden}
	value, err := l.paramValue(&p, in[1])
	if err != nil {
		return nil, err
	}
	l.paramAt[string(name)] = site
	l.plan.Params = append(l.plan.Params, p)
	return value, nil
}

// paramValue parses a value that was set by the type of the default.
func (l *loader) paramValue(p *message.ParamPlan, fallback starlark.Value) (starlark.Value, error) {
	i := slices.IndexFunc(l.program.Params, func(s message.Param) bool { return s.Name == p.Name })
	if i < 0 {
		if value, ok := l.offered[language.Variable(p.Name)]; ok {
			i, _ = slices.BinarySearchFunc(l.program.Params, p.Name, func(s message.Param, name string) int { return strings.Compare(s.Name, name) })
			l.program.Params = slices.Insert(slices.Clip(l.program.Params), i, message.Param{Name: p.Name, Value: value})
		}
	}
	given := ""
	if i >= 0 {
		given = l.program.Params[i].Value
		p.Value = given
	}
	wrong := func(want string) error {
		shown := strconv.Quote(language.Clip(given, 40))
		if p.Secret {
			shown = "given"
		}
		return language.Faultf("param %q: the value %s is not %s", p.Name, shown, want).Do("set it with --set %s=VALUE", p.Name)
	}
	switch fallback := fallback.(type) {
	case nil:
		if i < 0 {
			return nil, language.Faultf("param %q has no default and was not set", p.Name).Do("set it with --set %s=VALUE, or give it a default", p.Name)
		}
		return starlark.String(given), nil
	case starlark.String:
		p.Default = string(fallback)
		if i >= 0 {
			return starlark.String(given), nil
		}
		p.Value = p.Default
	case starlark.Int:
		p.Default = language.Clip(fallback.String(), 100)
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
		return nil, language.WrongType("param", "default", "a text, a whole number, True or False", fallback)
	}
	return fallback, nil
}

// arguments are those of a call of workflow(), in that order.
type arguments []starlark.Value

func (in arguments) of(name string) starlark.Value {
	return in[slices.Index(workflowArguments(), name)]
}

// choice reads one of some words; empty if it is not given.
func (in arguments) choice(name string, known ...string) (string, error) {
	v := in.of(name)
	if v == nil {
		return "", nil
	}
	s, ok := v.(starlark.String)
	if !ok || !slices.Contains(known, string(s)) {
		return "", language.Faultf("workflow: %s must not be %s", name, language.Describe(v)).In(name).Meant(string(s), known)
	}
	return string(s), nil
}

func nonLambda(fn *starlark.Function) string {
	if fn.Name() == "lambda" {
		return "name"
	}
	return fn.Name()
}

func workflowArguments() []string {
	return []string{
		"name", "vus", "duration", "steps", "thresholds", "timeout", "think", "depends", "http",
		"iterations", "rate", "arrivals", "when_full", "stages", "pace", "graceful_stop", "start_after", "abort_when",
		"vu_iterations", "jitter", "start_delay",
		"priority", "cores", "memory", "interval", "tags", "report", "session", "connections",
		"setup", "teardown", "vu_setup", "vu_teardown", "provide", "use", "feed",
	}
}

// role notes what runs a function, and whether an after says what comes before it.
func (l *loader) role(kind inspect.Kind, word string, fn *starlark.Function, ordered bool) {
	if fn != nil {
		l.roles = append(l.roles, inspect.Role{Kind: kind, Word: word, Function: fn.Position(), Ordered: ordered})
	}
}

// roleOf is the kind of a step's function.
func roleOf(kind message.StepKind) inspect.Kind {
	switch kind {
	case message.StepFunction:
		return inspect.Step
	case message.StepCheck:
		return inspect.Check
	case message.StepMetric:
		return inspect.Metric
	}
	return inspect.Action
}
