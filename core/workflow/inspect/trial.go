package inspect

import (
	"errors"
	"fmt"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
	"go.starlark.net/syntax"

	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
)

// trial is a call of a function of the language or of Starlark, which the walk tries with what it
// knows of the arguments.
type trial struct {
	p    *program
	live bool // only virtual users make it
	call *syntax.CallExpr
	f    value
	c    starlark.Callable
	in   *arguments
}

// check tries a call with what is known of its arguments.
func (t trial) check() {
	if t.misnamed() {
		return
	}
	if t.p.calls++; t.p.calls > callsMax {
		return
	}
	unknown := 0
	args := make(starlark.Tuple, len(t.in.positional))
	for i, v := range t.in.positional {
		one, ok := argument(v)
		if args[i] = one; !ok {
			unknown++
		}
	}
	kwargs := make([]starlark.Tuple, len(t.in.named))
	for i, v := range t.in.named {
		one, ok := argument(v)
		if kwargs[i] = (starlark.Tuple{starlark.String(t.in.names[i]), one}); !ok {
			unknown++
		}
	}
	if m, ok := t.c.(*starlark.Builtin); ok && m.Receiver() != nil {
		t.method(m, args, kwargs, unknown)
		return
	}
	if !t.f.exact {
		if _, ours := t.c.(*guard.Func); !ours || len(args)+len(kwargs) == 0 {
			return
		}
		_, err := t.p.lang.Call(t.c, args, kwargs)
		var why *language.Fault
		if errors.As(err, &why) && strings.Contains(why.Message, "takes no arguments") {
			t.p.fault(t.call, why)
		}
		return
	}
	if !t.live {
		return // at load, other calls are right
	}
	_, err := t.p.lang.Call(t.c, args, kwargs)
	why, ok := certain(err)
	if !ok || unknown > 0 && !why.Misplaced && !t.about(why) && !(unknown == 1 && t.always(why)) {
		return
	}
	if r := Call(t.f.path); r != "" && (why.Remedy == "" || why.Misplaced) {
		why.Remedy = r
	}
	if names := t.p.asked[t.f.path].names; why.Remedy == "" && why.Argument() == "" && names != nil {
		why.Do("it takes %s", strings.Join(names, ", "))
	}
	if why.Remedy == "" && why.Argument() == "" {
		why.Do("give it another value, or convert it: str(x), int(x), float(x)")
	}
	t.p.fault(t.call, why)
}

// about reports that the fault is an argument's whose value is known.
func (t trial) about(why *language.Fault) bool {
	name := why.Argument()
	settled := func(v value) bool {
		one, whole := argument(v)
		return whole || v.knowledge == known && v.like != nil && strings.HasSuffix(why.Message, ", not "+language.Describe(one)) && !scalar(v.like)
	}
	for i, n := range t.in.names {
		if n == name {
			return settled(t.in.named[i])
		}
	}
	names := t.p.asked[t.f.path].names
	for i, v := range t.in.positional {
		if fmt.Sprintf("#%d", i+1) == name || i < len(names) && names[i] == name {
			return settled(v)
		}
	}
	return false
}

// certain reports an error that does not depend on a real virtual user.
func certain(err error) (*language.Fault, bool) {
	if err == nil {
		return nil, false
	}
	var why *language.Fault
	if errors.As(err, &why) {
		copied := *why
		return &copied, true
	}
	var eval *starlark.EvalError
	if !errors.As(err, &eval) || errors.Is(err, ErrMeant) {
		return nil, false
	}
	return language.Faultf("%s", eval.Msg), true
}

// ErrMeant is what a call returns that the file asks for: fail().
var ErrMeant = errors.New("the file asks for it")

// argument returns what a call is tried with; false: the real value is another one.
func argument(v value) (starlark.Value, bool) {
	switch {
	case v.knowledge != known || v.like == nil:
		return starlark.String("http://h/"), false
	case v.exact && scalar(v.like):
		return v.like, true
	case v.is("string"):
		return starlark.String("http://h/"), false
	}
	return typical(v.like), false
}

// tries are values that stand for an argument of which only the type is known, or nothing.
func (t trial) tries(v value) []starlark.Value {
	one := starlark.MakeInt(1)
	switch {
	case v.is("int"):
		return []starlark.Value{starlark.MakeInt(0), one, starlark.MakeInt(200), starlark.MakeInt(100_000)}
	case v.is("float"):
		return []starlark.Value{starlark.Float(0), starlark.Float(0.5), starlark.Float(200)}
	case v.is("bool"):
		return []starlark.Value{starlark.True, starlark.False}
	case v.is("response"), v.is("NoneType"):
		return []starlark.Value{v.like}
	}
	return []starlark.Value{
		one, starlark.String(""), starlark.String("x"), starlark.String("http://h/"), starlark.String("1s"), starlark.Bytes("x"),
		starlark.NewList([]starlark.Value{one}), starlark.NewDict(0), starlark.Float(1.5), starlark.True, starlark.None,
		starlarkstruct.FromStringDict(starlarkstruct.Default, nil), t.p.lang.Response(), starlark.Universe["len"],
	}
}

// always reports that the call fails for the same reason whatever its only unknown argument is.
func (t trial) always(why *language.Fault) bool {
	var open value
	for _, v := range t.in.all() {
		if _, ok := argument(v); !ok {
			open = v
		}
	}
	for _, try := range t.tries(open) {
		with := func(v value) starlark.Value {
			one, ok := argument(v)
			if !ok {
				return try
			}
			return one
		}
		var args starlark.Tuple
		for _, v := range t.in.positional {
			args = append(args, with(v))
		}
		var kwargs []starlark.Tuple
		for i, v := range t.in.named {
			kwargs = append(kwargs, starlark.Tuple{starlark.String(t.in.names[i]), with(v)})
		}
		_, err := t.p.lang.Call(t.c, args, kwargs)
		if other, ok := certain(err); !ok || numberless(other.Message) != numberless(why.Message) {
			return false
		}
	}
	why.Message = numberless(why.Message)
	return true
}

// numberless takes out of a message the number that a call was tried with.
func numberless(s string) string {
	for _, t := range []string{"int ", "float "} {
		if before, after, ok := strings.Cut(s, ", not "+t); ok && !strings.ContainsAny(after, " ,") {
			return before + ", not " + noun(strings.TrimSpace(t))
		}
	}
	return s
}

// misnamed checks the names and the number of arguments.
func (t trial) misnamed() bool {
	takes, ok := t.p.asked[t.f.path]
	if !ok {
		takes.names, takes.positional, takes.rest = t.p.lang.Arguments(t.f.path, t.c)
		t.p.asked[t.f.path] = takes
	}
	if takes.names == nil || t.f.path == "" {
		return false
	}
	args := make(starlark.Tuple, len(t.in.positional))
	for i := range args {
		args[i] = starlark.True
	}
	if takes.rest != "" {
		args = args[:min(takes.positional, len(args))]
	}
	kwargs := make([]starlark.Tuple, len(t.in.names))
	for i, name := range t.in.names {
		kwargs[i] = starlark.Tuple{starlark.String(name), starlark.True}
	}
	err := language.Bind(t.f.path, takes.names, takes.positional, args, kwargs, make([]starlark.Value, len(takes.names)))
	var why *language.Fault
	if !errors.As(err, &why) {
		return false
	}
	for _, name := range t.in.names {
		if r := Argument(name, takes.names); r != "" && strings.Contains(why.Message, fmt.Sprintf("%q", name)) {
			why.Remedy = r
		}
	}
	t.p.fault(t.call, why)
	return true
}

// method tries a method of Starlark's own types.
func (t trial) method(m *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple, unknown int) {
	receiver := m.Receiver()
	name := m.Name()
	if t.f.frozen && changes(receiver, name) {
		t.p.find(t.call.Fn, false, "what a file declares is frozen while virtual users run, and they share it", "keep values of a virtual user in vu.vars")
		return
	}
	_, err := m.CallInternal(&starlark.Thread{}, args, kwargs)
	if err == nil {
		return
	}
	why := err.Error()
	arity := strings.Contains(why, " arguments, want ") || strings.Contains(why, " argument, want ") || strings.Contains(why, "missing argument for ") || strings.Contains(why, "unexpected keyword argument")
	if arity || t.f.exact && (unknown == 0 || name == "format" && (strings.Contains(why, "index out of range") || strings.Contains(why, "not found"))) {
		t.p.find(t.call, false, strings.TrimPrefix(why, name+": "), methodRemedy(receiver, name))
	}
}

func methodRemedy(receiver starlark.Value, name string) string {
	if name == "format" {
		return "give one value for each {}; write {{ for the sign itself"
	}
	return "see what " + receiver.Type() + "." + name + " takes: Starlark's are those of Python, mostly"
}

// changes reports a method that changes its receiver.
func changes(receiver starlark.Value, name string) bool {
	var whole starlark.Value
	one := starlark.MakeInt(1)
	switch receiver.(type) {
	case *starlark.List:
		whole = starlark.NewList([]starlark.Value{one})
	case *starlark.Dict:
		d := starlark.NewDict(1)
		_ = d.SetKey(one, one) // a number has a hash
		whole = d
	case *starlark.Set:
		s := starlark.NewSet(1)
		_ = s.Insert(one) // a number has a hash
		whole = s
	default:
		return false
	}
	whole.Freeze()
	v, err := whole.(starlark.HasAttrs).Attr(name)
	m, ok := v.(*starlark.Builtin)
	if err != nil || !ok {
		return false
	}
	for _, args := range []starlark.Tuple{{}, {starlark.NewList(nil)}, {one}, {starlark.MakeInt(2)}, {starlark.MakeInt(2), one}, {starlark.MakeInt(0), one}} {
		if _, err := m.CallInternal(&starlark.Thread{}, args, nil); err != nil && strings.Contains(err.Error(), "frozen") {
			return true
		}
	}
	return false
}

// returned returns the type of a call's result, where it is the same for all arguments.
func (t trial) returned() value {
	if m, ok := t.c.(*starlark.Builtin); ok {
		return t.computed(m)
	}
	g, ok := t.c.(*guard.Func)
	if !ok {
		return value{}
	}
	if universal, ok := starlark.Universe[g.Word].(*starlark.Builtin); ok && t.f.path == g.Word {
		return t.computed(universal)
	}
	if !constantType(t.f) {
		return value{}
	}
	if v, ok := t.p.returned[t.f.path]; ok {
		return v
	}
	out := value{}
	url := starlark.String("http://h/")
	for _, args := range []starlark.Tuple{{}, {url}, {starlark.String("GET"), url}, {url, starlark.String("{ a }")}, {starlark.String("ws://h/")}, {starlark.String("amqp://h/"), starlark.String("jobs")}, {starlark.MakeInt(1), starlark.MakeInt(2)}, {starlark.String("nats://h"), starlark.String("S"), starlark.String("c")}, {starlark.String("nats://h"), starlark.String("s")}, {starlark.String("mqtt://h"), starlark.String("t")}, {starlark.String("redis://h"), starlark.NewList([]starlark.Value{starlark.String("c")})}} {
		v, err := t.p.lang.Call(t.c, args, nil)
		if err != nil || v == starlark.None {
			continue
		}
		if out = typed(v); !scalar(v) {
			out.path = v.Type()
		}
		break
	}
	t.p.returned[t.f.path] = out
	return out
}

// constantType reports the functions whose results have one type, whatever their arguments are.
func constantType(f value) bool {
	under, name, _ := cut(f.path)
	switch under {
	case "vu.http", "vu.graphql", "vu.sse", "vu.websocket", "uuid", "hex":
		return true
	}
	switch f.path {
	case "vu.amqp.consume", "vu.nats.pull", "vu.nats.subscribe", "vu.mqtt.subscribe", "vu.redis.subscribe",
		"vu.random.int", "time.now", "base64.encode", "url.encode":
		return true
	}
	return name == "text" && strings.HasPrefix(under, "response")
}

// cut splits vu.http.get into vu.http and get.
func cut(path string) (under, name string, ok bool) {
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		return path[:i], path[i+1:], true
	}
	return "", path, false
}

// computed returns the type of what Starlark's own functions and methods return.
func (t trial) computed(m *starlark.Builtin) value {
	switch {
	case m.Receiver() == nil:
		switch m.Name() {
		case "len", "ord", "hash":
			return typed(starlark.MakeInt(1))
		case "int":
			return typed(starlark.MakeInt(1))
		case "str", "repr", "chr", "type":
			return typed(starlark.String(""))
		case "bool", "any", "all", "hasattr":
			return typed(starlark.True)
		case "float":
			return typed(starlark.Float(1))
		case "list", "sorted", "dir":
			return typed(starlark.NewList(nil))
		case "dict":
			return typed(starlark.NewDict(0))
		}
	default:
		if _, ok := m.Receiver().(starlark.String); !ok {
			return value{}
		}
		switch m.Name() {
		case "format", "join", "lower", "upper", "title", "strip", "lstrip", "rstrip", "replace", "capitalize", "removeprefix", "removesuffix":
			return typed(starlark.String(""))
		case "split", "rsplit", "splitlines":
			return typed(starlark.NewList(nil))
		case "startswith", "endswith", "isdigit", "isalpha", "isalnum", "islower", "isupper", "isspace":
			return typed(starlark.True)
		case "find", "rfind", "count", "index", "rindex":
			return typed(starlark.MakeInt(1))
		}
	}
	return value{}
}
