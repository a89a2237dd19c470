package mongodb

import (
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/request"
)

const (
	documentsMost = 100_000 // of one insert: those of MongoDB
	numberMost    = 1<<31 - 1
	commandMost   = 48_000_000 // bytes of BSON; those of a text are more
	nameMost      = 255        // bytes of a collection with its database
)

// Verbs are the words that ask a server.
func Verbs() []string {
	return []string{"aggregate", "command", "delete", "find", "insert", "update"}
}

// Arguments are those of a verb.
func Arguments(verb string) []string {
	own := map[string][]string{
		"find":      {"collection", "filter", "projection", "sort", "limit", "skip", "batch", "batches"},
		"aggregate": {"collection", "pipeline", "batch", "batches"},
		"insert":    {"collection", "documents", "ordered"},
		"update":    {"collection", "filter", "update", "many", "upsert"},
		"delete":    {"collection", "filter", "many"},
		"command":   {"command"},
	}[verb]
	return append(append([]string{"target"}, own...), "timeout", "retry")
}

// needs is how many arguments a verb cannot do without.
func needs(verb string) int {
	return map[string]int{"find": 3, "aggregate": 3, "insert": 3, "update": 4, "delete": 3, "command": 2}[verb]
}

// Namespace is mongodb and vu.mongodb.
func Namespace(under string, own []string, use request.Use) *language.Namespace {
	members := starlark.StringDict{}
	for _, verb := range Verbs() {
		fn := under + "." + verb
		members[verb] = &guard.Func{Word: verb, Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			a := asked{fn: fn, verb: verb, names: append(Arguments(verb), own...)}
			a.in = make([]starlark.Value, len(a.names))
			if err := language.Bind(fn, a.names, needs(verb), args, kwargs, a.in); err != nil {
				return nil, err
			}
			return a.request(thread, use)
		}}
	}
	if under == "mongodb" {
		members["client"] = &guard.Func{Word: "client", Call: newClient}
	}
	return language.NewNamespace(under, members)
}

// asked is a call of a verb, with its arguments by name.
type asked struct {
	fn, verb string
	names    []string
	in       []starlark.Value
}

// of returns an argument; nil: it is not given, or the verb has none of that name.
func (a *asked) of(name string) starlark.Value {
	if at := slices.Index(a.names, name); at >= 0 {
		return a.in[at]
	}
	return nil
}

// request makes the request.
func (a *asked) request(thread *starlark.Thread, use request.Use) (starlark.Value, error) {
	to, err := target(a.fn, a.of("target"))
	if err != nil {
		return nil, err
	}
	w := &writer{fn: a.fn, draft: request.NewDraft(thread, a.fn), most: min(commandMost, guard.MeterOf(thread).Limits.ValueBytes)}
	if err := a.writes(w, &to); err != nil {
		return nil, w.draft.Explain(err)
	}
	if to.Command, err = w.end(to.Target.Path); err != nil {
		return nil, w.draft.Explain(err)
	}
	if err := guard.MeterOf(thread).Charge(thread, len(to.Command)); err != nil {
		return nil, err
	}
	r := &request.Request{Method: strings.ToUpper(a.verb), URL: to.Target.URL(), Exchange: request.Exchange{MongoDB: &to}}
	return w.draft.End(r, a.in[slices.Index(a.names, "timeout"):], use)
}

// writes writes the command but for its end.
func (a *asked) writes(w *writer, to *request.MongoDB) error {
	if a.verb == "command" {
		return a.command(w)
	}
	if err := a.collection(w, to.Target.Path); err != nil {
		return err
	}
	switch a.verb {
	case "find", "aggregate":
		to.Verb = request.MongoDBReads
		return a.reads(w, to)
	case "insert":
		to.Verb = request.MongoDBWrites
		return a.insert(w)
	}
	to.Verb = request.MongoDBWrites
	return a.changes(w)
}

// command writes any command: the first key is its name.
func (a *asked) command(w *writer) error {
	d, ok := a.of("command").(*starlark.Dict)
	if !ok || d.Len() == 0 {
		return language.WrongType(a.fn, "command", "a dict that begins with the command's name", a.of("command")).Do("write %s(target, {\"ping\": 1})", a.fn)
	}
	first, _ := starlark.AsString(d.Keys()[0])
	for _, key := range d.Keys() {
		if key == starlark.String("$db") {
			return language.Faultf("%s: the command has $db, which the URL says", a.fn).In("command").Do("leave it out: mongodb://host/shop names it")
		}
	}
	switch first {
	case "hello", "isMaster", "saslStart", "saslContinue", "authenticate", "logout":
		return language.Faultf("%s: %s is of the greeting of a connection that others use after it", a.fn, first).In("command").Do("mongodb.client has user, password and mechanism")
	}
	if _, has, _ := d.Get(starlark.String("lsid")); has {
		return language.Faultf("%s: sessions and transactions: not as yet", a.fn).In("command").Do("leave lsid out")
	}
	if err := w.document("command", d); err != nil {
		return err
	}
	w.b = w.b[:len(w.b)-1] // $db follows
	return nil
}

// collection writes the command's name, and that of the collection.
func (a *asked) collection(w *writer, database string) error {
	name, err := w.draft.Text("collection", a.of("collection"))
	if err != nil {
		return err
	}
	shown := w.draft.Cut(name)
	if shown == "" || strings.ContainsAny(shown, "\x00$") || len(shown)+1+len(database) > nameMost {
		return language.Faultf("%s: collection = %q is no name of a collection", a.fn, language.Clip(shown, 60)).In("collection").Do("write \"orders\"")
	}
	w.field(a.verb)
	w.b = language.AppendQuoted(w.b, name)
	return nil
}

// given writes a field that is a dict, if there is one.
func (a *asked) given(w *writer, name string) error {
	v := a.of(name)
	if v == nil {
		return nil
	}
	w.field(name)
	return w.document(name, v)
}

// number reads an argument that is a number.
func (a *asked) number(argument string, least int) (int, error) {
	v := a.of(argument)
	if v == nil {
		return 0, nil
	}
	return language.Integer(a.fn, argument, v, least, numberMost)
}

// reads writes find or aggregate.
func (a *asked) reads(w *writer, to *request.MongoDB) (err error) {
	if to.Batches, err = a.number("batches", 1); err != nil {
		return err
	}
	if to.Batch, err = a.number("batch", 1); err != nil {
		return err
	}
	if a.verb == "aggregate" {
		list, err := language.List(a.fn, "pipeline", "dicts, one a stage", a.of("pipeline"))
		if err != nil {
			return err
		}
		w.field("pipeline")
		if err := w.documents("pipeline", list); err != nil {
			return err
		}
		w.field("cursor")
		w.b = append(w.b, '{')
		if to.Batch > 0 {
			w.number("batchSize", to.Batch)
		}
		w.b = append(w.b, '}')
		return nil
	}
	for _, name := range []string{"filter", "projection", "sort"} {
		if err := a.given(w, name); err != nil {
			return err
		}
	}
	for _, name := range []string{"limit", "skip"} {
		n, err := a.number(name, 0)
		if err != nil {
			return err
		}
		if n > 0 {
			w.b = append(w.b, ',')
			w.number(name, n)
		}
	}
	if to.Batch > 0 {
		w.b = append(w.b, ',')
		w.number("batchSize", to.Batch)
	}
	return nil
}

// insert writes the documents of an insert: one, or a list of them.
func (a *asked) insert(w *writer) error {
	w.field("documents")
	v := a.of("documents")
	if _, one := v.(*starlark.Dict); one {
		v = starlark.NewList([]starlark.Value{v})
	}
	list, err := language.List(a.fn, "documents", "dicts, or one dict", v)
	if err != nil {
		return err
	}
	if len(list) == 0 || len(list) > documentsMost {
		return language.Faultf("%s has %d documents, one insert has 1 to %d", a.fn, len(list), documentsMost).In("documents").Do("write %s(target, \"orders\", {\"state\": \"open\"})", a.fn)
	}
	if err := w.documents("documents", list); err != nil {
		return err
	}
	return a.flag(w, "ordered", true)
}

// documents writes a list of dicts.
func (w *writer) documents(argument string, list []starlark.Value) error {
	w.b = append(w.b, '[')
	for i, one := range list {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		if err := w.document(argument, one); err != nil {
			return err
		}
	}
	w.b = append(w.b, ']')
	return nil
}

// flag writes a truth that differs from the server's default.
func (a *asked) flag(w *writer, name string, usual bool) error {
	is, err := builtin.Flag(a.fn, name, a.of(name), usual)
	if err == nil && is != usual {
		w.field(name)
		if is {
			w.b = append(w.b, "true"...)
		} else {
			w.b = append(w.b, "false"...)
		}
	}
	return err
}

// changes writes update or delete: each has one statement.
func (a *asked) changes(w *writer) error {
	w.field(a.verb + "s")
	w.b = append(w.b, `[{"q":`...)
	if err := w.document("filter", a.of("filter")); err != nil {
		return err
	}
	many, err := builtin.Flag(a.fn, "many", a.of("many"), false)
	if err != nil {
		return err
	}
	if a.verb == "delete" {
		w.b = append(w.b, `,"limit":1}]`...)
		if many {
			w.b[len(w.b)-3] = '0'
		}
		return nil
	}
	w.b = append(w.b, `,"u":`...)
	if err := a.update(w, many); err != nil {
		return err
	}
	if many {
		w.b = append(w.b, `,"multi":true`...)
	}
	if err := a.flag(w, "upsert", false); err != nil {
		return err
	}
	w.b = append(w.b, "}]"...)
	return nil
}

// update writes what changes: operators, a document in place of the old one, or a pipeline.
func (a *asked) update(w *writer, many bool) error {
	switch v := a.of("update").(type) {
	case *starlark.List, starlark.Tuple:
		list, err := language.List(a.fn, "update", "dicts, one a stage", v)
		if err != nil {
			return err
		}
		return w.documents("update", list)
	case *starlark.Dict:
		operators := 0
		for _, key := range v.Keys() {
			if name, _ := starlark.AsString(key); strings.HasPrefix(name, "$") {
				operators++
			}
		}
		switch {
		case operators > 0 && operators < v.Len():
			return language.Faultf("%s: update has operators and fields side by side", a.fn).In("update").Do("write {\"$set\": {\"state\": \"paid\"}}")
		case operators == 0 && many:
			return language.Faultf("%s: update is a document, and many = True", a.fn).In("update").Do("write {\"$set\": {...}}: one document cannot stand in place of many")
		}
	}
	return w.document("update", a.of("update"))
}
