package convert

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// api is an OpenAPI 3 or Swagger 2 description.
type api struct {
	*schemas
	p    *plan
	root *object
	two  bool
	base string // the mark of the server
	made []string
}

// FromOpenAPI converts a description, in JSON or YAML, to a mix of its operations.
func FromOpenAPI(data []byte, o Options) (*File, error) {
	if len(data) > SourceMax {
		return nil, fmt.Errorf("a description of %d bytes, the limit is 64 MiB: cut it to the operations under test", len(data))
	}
	root, err := document(data)
	if err != nil {
		return nil, err
	}
	version := root.text("openapi")
	two := strings.HasPrefix(root.text("swagger"), "2")
	if !two && !strings.HasPrefix(version, "3") {
		if version != "" || root.text("swagger") != "" {
			return nil, fmt.Errorf("no OpenAPI 3 or Swagger 2 description: its version is %s", oneLine(version+root.text("swagger"), 20))
		}
		if other := known(root); other != "" {
			return nil, errors.New("no OpenAPI description" + other)
		}
		return nil, errors.New("no OpenAPI 3 or Swagger 2 description: it begins with `openapi: 3...` or `swagger: \"2.0\"`")
	}
	p := &plan{options: o, mix: true}
	a := &api{schemas: &schemas{root: root, left: 20_000}, p: p, root: root, two: two}
	p.head = []string{fmt.Sprintf("Made by: hyperscale new %s --from-openapi %s", path.Base(o.File), path.Base(o.From))}
	if title := root.object("info").text("title"); title != "" {
		p.head = append(p.head, title+" "+root.object("info").text("version"))
	}
	p.head = append(p.head, "Each iteration takes one of the operations, by their weights.")
	a.server()
	a.operations()
	if len(a.missed) > 0 {
		p.note("what is in other files, or nowhere, is not kept: %s; bundle the description into one file first", strings.Join(a.missed, ", "))
	}
	if len(a.made) > 0 {
		names := a.made
		if len(names) > 10 {
			names = append(names[:10:10], fmt.Sprintf("and %d more", len(a.made)-10))
		}
		p.note("values that the description does not give are made up: %s; see the params at the top", strings.Join(names, ", "))
	}
	return p.finish()
}

// server makes the target of the first server that is given.
func (a *api) server() {
	address, help := "", "server under test"
	if a.two {
		host, scheme := a.root.text("host"), "https"
		for _, s := range a.root.list("schemes") {
			scheme = scalar(s)
			if scheme == "https" {
				break
			}
		}
		if host != "" {
			address = scheme + "://" + host
		}
		address += a.root.text("basePath")
	} else if servers := a.root.list("servers"); len(servers) > 0 {
		address = serverOf(servers)
		if len(servers) > 1 {
			help += fmt.Sprintf(", the first of %d that are described", len(servers))
		}
	}
	address = strings.TrimRight(urlText(address), "/")
	host, rest, ok := origin(address)
	if !ok {
		if !strings.HasPrefix(address, "/") {
			address = ""
		}
		address = anywhere + address
		a.p.note("the description names no server: set it with --set target=http://host")
	} else {
		address = host + rest
	}
	if cut := strings.IndexAny(address, "?#"); cut >= 0 {
		address = address[:cut]
	}
	a.base = a.p.param("target", address, help)
}

// serverOf is the address of the first of some servers.
func serverOf(servers []any) string {
	first, _ := servers[0].(*object)
	address := first.text("url")
	if vars := first.object("variables"); vars != nil {
		for i, name := range vars.keys {
			v, _ := vars.values[i].(*object)
			address = strings.ReplaceAll(address, "{"+name+"}", v.text("default"))
		}
	}
	return address
}

// baseOf is where an operation is asked: its own server, its path's, or that of all.
func (a *api) baseOf(shared, op *object) string {
	for _, o := range []*object{op, shared} {
		servers := o.list("servers")
		if len(servers) == 0 {
			continue
		}
		address := strings.TrimRight(urlText(serverOf(servers)), "/")
		if strings.HasPrefix(address, "/") { // of the server of all
			host, _, _ := origin(a.p.resolved(a.base))
			address = host + address
		}
		if _, _, ok := origin(address); ok && !strings.ContainsAny(address, "?#") {
			if strings.TrimRight(a.p.resolved(a.base), "/") == address {
				return a.base
			}
			return address
		}
		a.p.note("a server that is no address is not kept: %s", clip(address, 60))
	}
	return a.base
}

var verbs = []string{"get", "head", "options", "post", "put", "patch", "delete"}

// operations makes the steps: those that only read, or all.
func (a *api) operations() {
	paths := a.root.object("paths")
	if paths == nil {
		return
	}
	safe, unsafe, old := 0, 0, 0
	each := func(visit func(route string, shared *object, verb string, op *object)) {
		for i, route := range paths.keys {
			shared, _ := a.follow(paths.values[i]).(*object)
			if shared != nil && shared.object("trace") != nil {
				a.p.note("TRACE operations are not kept")
			}
			for _, verb := range verbs {
				if op := shared.object(verb); op != nil && strings.HasPrefix(route, "/") {
					visit(clean(route), shared, verb, op)
				}
			}
		}
	}
	each(func(_ string, _ *object, verb string, op *object) {
		switch {
		case op.get("deprecated") == true:
			old++
		case slices.Index(verbs, verb) < 3:
			safe++
		default:
			unsafe++
		}
	})
	all := a.p.options.All || safe == 0
	each(func(route string, shared *object, verb string, op *object) {
		if deprecated := op.get("deprecated") == true; (all || slices.Index(verbs, verb) < 3) && (!deprecated || a.p.options.All) && len(a.p.steps) < stepsMax {
			a.operation(route, shared, verb, op)
		}
	})
	switch {
	case !all && unsafe > 0:
		a.p.note("left out %s that may change something (POST, PUT, PATCH, DELETE); --all writes them", counted(unsafe, "operation"))
	case !a.p.options.All && safe == 0 && unsafe > 0:
		a.p.note("all operations may change something: look at what they send before you run the file")
	}
	if old > 0 && !a.p.options.All {
		a.p.note("left out %s that the description calls deprecated; --all writes them", counted(old, "operation"))
	}
	if a.root.object("webhooks") != nil {
		a.p.note("webhooks are not kept: they are requests to you")
	}
}

func (a *api) operation(route string, shared *object, verb string, op *object) {
	s := &step{method: strings.ToUpper(verb), name: op.text("operationId")}
	if len(words(s.name)) < 2 && len(s.name) < 4 || len(s.name) > 50 {
		s.name = ""
	}
	fields := map[string]string{}
	form, body := &object{}, (*object)(nil)
	for _, q := range a.parameters(shared, op) {
		name, in := q.text("name"), q.text("in")
		switch {
		case in == "path":
			fields[name] = a.value(q, name, route)
		case in == "body":
			body = q
		case in == "formData":
			form.put(name, q)
		case q.get("required") != true:
		case in == "query":
			s.params = append(s.params, pair{name, a.value(q, name, route)})
		case in == "header" && !strings.Contains(" accept content-type authorization ", " "+strings.ToLower(name)+" "):
			s.headers = append(s.headers, pair{name, a.value(q, name, route)})
		case in == "cookie":
			a.p.cookie(s, name, a.value(q, name, route), true)
		}
	}
	s.url = a.baseOf(shared, op) + a.route(route, fields)
	switch {
	case body != nil:
		a.bodyOf(s, a.consumes(op), body)
	case len(form.keys) > 0:
		a.formOf(s, a.consumes(op), form)
	default:
		a.content(s, op)
	}
	a.security(s, op)
	for _, code := range op.object("responses").keysOf() {
		if n, err := strconv.Atoi(code); err == nil && n >= 200 && n < 300 {
			s.status = n
			break
		}
	}
	a.p.add(s)
}

func (o *object) keysOf() []string {
	if o == nil {
		return nil
	}
	return o.keys
}

// parameters are those of the path and of the operation, which stand above them.
func (a *api) parameters(shared, op *object) []*object {
	var all []*object
	for _, from := range []*object{shared, op} {
		for _, v := range from.list("parameters") {
			q, _ := a.follow(v).(*object)
			if q == nil || len(all) > 200 {
				continue
			}
			all = slices.DeleteFunc(all, func(o *object) bool {
				return o.text("name") == q.text("name") && o.text("in") == q.text("in")
			})
			all = append(all, q)
		}
	}
	return all
}

// route puts params in the place of {name}.
func (a *api) route(route string, fields map[string]string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(route, "{")
		name, after, closed := strings.Cut(rest, "}")
		b.WriteString(before)
		if !ok || !closed {
			b.WriteString(rest)
			return b.String()
		}
		if v, known := fields[name]; known {
			b.WriteString(v)
		} else {
			b.WriteString(a.p.param(name, "1", "part of the path, not described"))
		}
		route = after
	}
}

// value is the mark of a param with an example of what a parameter may be.
func (a *api) value(q *object, name, route string) string {
	value, given := a.example(q)
	wish := name
	if w := snake(name, 40); w == "id" || w == "uuid" || w == "name" || w == "key" {
		before, _, _ := strings.Cut(route, "{"+name+"}")
		all := words(before)
		if len(all) > 0 {
			wish = singular(all[len(all)-1]) + "_" + w
		}
	}
	help := oneLine(q.text("description"), 100)
	if isSecret(name, value) {
		return a.p.secret(wish, name, help)
	}
	if len(value) > 1000 {
		value = "value"
	}
	mark := a.p.param(wish, value, help)
	if label := bare(mark); !given && !slices.Contains(a.made, label) {
		a.made = append(a.made, label)
	}
	return mark
}

// security adds what the operation's first requirement that can be met asks for.
func (a *api) security(s *step, op *object) {
	wanted, ok := op.get("security").([]any)
	if !ok {
		wanted = a.root.list("security")
	}
	if len(wanted) == 0 {
		return
	}
	for _, w := range wanted {
		if need, _ := w.(*object); need == nil || len(need.keys) == 0 {
			return // nothing will do too
		}
	}
	schemes := a.root.object("components").object("securitySchemes")
	if a.two {
		schemes = a.root.object("securityDefinitions")
	}
	first, _ := wanted[0].(*object)
	for _, name := range first.keys {
		scheme, _ := a.follow(schemes.get(name)).(*object)
		if scheme == nil {
			a.p.note("the security scheme %q is not described and is not kept", clip(clean(name), 40))
			continue
		}
		a.authorize(s, clean(name), scheme)
	}
}

func (a *api) authorize(s *step, name string, scheme *object) {
	how, field := scheme.text("type"), scheme.text("name")
	help := oneLine("for the security scheme "+name, 100)
	switch {
	case how == "apiKey":
		q := pair{field, a.p.secret(field, name, help)}
		switch scheme.text("in") {
		case "query":
			s.params = append(s.params, q)
		case "cookie":
			a.p.cookie(s, q.name, q.value, true)
		default:
			s.headers = append(s.headers, q)
		}
	case how == "basic" || how == "http" && strings.EqualFold(scheme.text("scheme"), "basic"):
		s.auth = &auth{user: a.p.secret("user", name+" user", help), password: a.p.secret("password", name, help)}
	case how == "http" && strings.EqualFold(scheme.text("scheme"), "bearer"), how == "oauth2", how == "openIdConnect":
		if how != "http" {
			a.p.note("tokens of the security scheme %s (%s) are not fetched: get one, and --set token=...", clip(name, 40), how)
		}
		s.auth = &auth{bearer: true, password: a.p.secret("token", "token", help)}
	default:
		a.p.note("the security scheme %s (%s) is not kept", clip(name, 40), clip(how+" "+scheme.text("scheme"), 40))
	}
}
