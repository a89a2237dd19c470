package openapi

import (
	"errors"
	"fmt"
	"hyperscale/core/workflow/language"
	"hyperscale/runtime/convert"
	"path"
	"slices"
	"strconv"
	"strings"
)

// api is an OpenAPI 3 or Swagger 2 description.
type api struct {
	*schemas
	p    *convert.Plan
	root *convert.Object
	two  bool
	base string // the mark of the server
	made []string
}

// Convert converts a description, in JSON or YAML, to a mix of its operations.
func Convert(data []byte, o convert.Options) (*convert.File, error) {
	if len(data) > convert.SourceMax {
		return nil, fmt.Errorf("a description of %d bytes, the limit is 64 MiB: cut it to the operations under test", len(data))
	}
	root, err := convert.Document(data)
	if err != nil {
		return nil, err
	}
	version := root.Text("openapi")
	two := strings.HasPrefix(root.Text("swagger"), "2")
	if !two && !strings.HasPrefix(version, "3") {
		if version != "" || root.Text("swagger") != "" {
			return nil, fmt.Errorf("no OpenAPI 3 or Swagger 2 description: its version is %s", convert.OneLine(version+root.Text("swagger"), 20))
		}
		if other := convert.Known(root); other != "" {
			return nil, errors.New("no OpenAPI description" + other)
		}
		return nil, errors.New("no OpenAPI 3 or Swagger 2 description: it begins with `openapi: 3...` or `swagger: \"2.0\"`")
	}
	p := &convert.Plan{Options: o, Mix: true}
	a := &api{schemas: &schemas{root: root, left: 20_000}, p: p, root: root, two: two}
	p.Head = []string{fmt.Sprintf("Made by: hyperscale new %s --from-openapi %s", path.Base(o.File), path.Base(o.From))}
	if title := root.Object("info").Text("title"); title != "" {
		p.Head = append(p.Head, title+" "+root.Object("info").Text("version"))
	}
	p.Head = append(p.Head, "Each iteration takes one of the operations, by their weights.")
	a.server()
	a.operations()
	if len(a.missed) > 0 {
		p.Note("what is in other files, or nowhere, is not kept: %s; bundle the description into one file first", strings.Join(a.missed, ", "))
	}
	if len(a.made) > 0 {
		names := a.made
		if len(names) > 10 {
			names = append(names[:10:10], fmt.Sprintf("and %d more", len(a.made)-10))
		}
		p.Note("values that the description does not give are made up: %s; see the params at the top", strings.Join(names, ", "))
	}
	return p.Finish()
}

// server makes the target from the first given server.
func (a *api) server() {
	address, help := "", "server under test"
	if a.two {
		host, scheme := a.root.Text("host"), "https"
		for _, s := range a.root.List("schemes") {
			scheme = convert.Scalar(s)
			if scheme == "https" {
				break
			}
		}
		if host != "" {
			address = scheme + "://" + host
		}
		address += a.root.Text("basePath")
	} else if servers := a.root.List("servers"); len(servers) > 0 {
		address = serverOf(servers)
		if len(servers) > 1 {
			help += fmt.Sprintf(", the first of %d that are described", len(servers))
		}
	}
	address = strings.TrimRight(convert.UrlText(address), "/")
	host, rest, ok := convert.Origin(address)
	if !ok {
		if !strings.HasPrefix(address, "/") {
			address = ""
		}
		address = convert.Anywhere + address
		a.p.Note("the description names no server: set it with --set target=http://host")
	} else {
		address = host + rest
	}
	if cut := strings.IndexAny(address, "?#"); cut >= 0 {
		address = address[:cut]
	}
	a.base = a.p.Param("target", address, help)
}

// serverOf is the address of the first of some servers.
func serverOf(servers []any) string {
	first, _ := servers[0].(*convert.Object)
	address := first.Text("url")
	if vars := first.Object("variables"); vars != nil {
		for i, name := range vars.Keys {
			v, _ := vars.Values[i].(*convert.Object)
			address = strings.ReplaceAll(address, "{"+name+"}", v.Text("default"))
		}
	}
	return address
}

// baseOf returns the base of an operation's URL: its own server, its path's, or that of all.
func (a *api) baseOf(shared, op *convert.Object) string {
	for _, o := range []*convert.Object{op, shared} {
		servers := o.List("servers")
		if len(servers) == 0 {
			continue
		}
		address := strings.TrimRight(convert.UrlText(serverOf(servers)), "/")
		if strings.HasPrefix(address, "/") { // of the server of all
			host, _, _ := convert.Origin(a.p.Resolved(a.base))
			address = host + address
		}
		if _, _, ok := convert.Origin(address); ok && !strings.ContainsAny(address, "?#") {
			if strings.TrimRight(a.p.Resolved(a.base), "/") == address {
				return a.base
			}
			return address
		}
		a.p.Note("a server that is no address is not kept: %s", language.Clip(address, 60))
	}
	return a.base
}

var verbs = []string{"get", "head", "options", "post", "put", "patch", "delete"}

// operations makes the steps: those that only read, or all.
func (a *api) operations() {
	paths := a.root.Object("paths")
	if paths == nil {
		return
	}
	safe, unsafe, old := 0, 0, 0
	each := func(visit func(route string, shared *convert.Object, verb string, op *convert.Object)) {
		for i, route := range paths.Keys {
			shared, _ := a.follow(paths.Values[i]).(*convert.Object)
			if shared != nil && shared.Object("trace") != nil {
				a.p.Note("TRACE operations are not kept")
			}
			for _, verb := range verbs {
				if op := shared.Object(verb); op != nil && strings.HasPrefix(route, "/") {
					visit(convert.Clean(route), shared, verb, op)
				}
			}
		}
	}
	each(func(_ string, _ *convert.Object, verb string, op *convert.Object) {
		switch {
		case op.Get("deprecated") == true:
			old++
		case slices.Index(verbs, verb) < 3:
			safe++
		default:
			unsafe++
		}
	})
	all := a.p.Options.All || safe == 0
	each(func(route string, shared *convert.Object, verb string, op *convert.Object) {
		if deprecated := op.Get("deprecated") == true; (all || slices.Index(verbs, verb) < 3) && (!deprecated || a.p.Options.All) && len(a.p.Steps) < convert.StepsMax {
			a.operation(route, shared, verb, op)
		}
	})
	switch {
	case !all && unsafe > 0:
		a.p.Note("left out %s that may change something (POST, PUT, PATCH, DELETE); --all writes them", convert.Counted(unsafe, "operation"))
	case !a.p.Options.All && safe == 0 && unsafe > 0:
		a.p.Note("all operations may change something: look at what they send before you run the file")
	}
	if old > 0 && !a.p.Options.All {
		a.p.Note("left out %s that the description calls deprecated; --all writes them", convert.Counted(old, "operation"))
	}
	if a.root.Object("webhooks") != nil {
		a.p.Note("webhooks are not kept: they are requests to you")
	}
}

func (a *api) operation(route string, shared *convert.Object, verb string, op *convert.Object) {
	s := &convert.Step{Method: strings.ToUpper(verb), Name: op.Text("operationId")}
	if len(convert.Words(s.Name)) < 2 && len(s.Name) < 4 || len(s.Name) > 50 {
		s.Name = ""
	}
	fields := map[string]string{}
	form, body := &convert.Object{}, (*convert.Object)(nil)
	for _, q := range a.parameters(shared, op) {
		name, in := q.Text("name"), q.Text("in")
		switch {
		case in == "path":
			fields[name] = a.value(q, name, route)
		case in == "body":
			body = q
		case in == "formData":
			form.Put(name, q)
		case q.Get("required") != true:
		case in == "query":
			s.Params = append(s.Params, convert.Pair{Name: name, Value: a.value(q, name, route)})
		case in == "header" && !strings.Contains(" accept content-type authorization ", " "+strings.ToLower(name)+" "):
			s.Headers = append(s.Headers, convert.Pair{Name: name, Value: a.value(q, name, route)})
		case in == "cookie":
			a.p.Cookie(s, name, a.value(q, name, route), true)
		}
	}
	s.Url = a.baseOf(shared, op) + a.route(route, fields)
	switch {
	case body != nil:
		a.bodyOf(s, a.consumes(op), body)
	case len(form.Keys) > 0:
		a.formOf(s, a.consumes(op), form)
	default:
		a.content(s, op)
	}
	a.security(s, op)
	for _, code := range op.Object("responses").Members() {
		if n, err := strconv.Atoi(code); err == nil && n >= 200 && n < 300 {
			s.Status = n
			break
		}
	}
	a.p.Add(s)
}

// parameters are those of the path and of the operation, which stand above them.
func (a *api) parameters(shared, op *convert.Object) []*convert.Object {
	var all []*convert.Object
	for _, from := range []*convert.Object{shared, op} {
		for _, v := range from.List("parameters") {
			q, _ := a.follow(v).(*convert.Object)
			if q == nil || len(all) > 200 {
				continue
			}
			all = slices.DeleteFunc(all, func(o *convert.Object) bool {
				return o.Text("name") == q.Text("name") && o.Text("in") == q.Text("in")
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
			b.WriteString(a.p.Param(name, "1", "part of the path, not described"))
		}
		route = after
	}
}

// value returns the mark of a param with an example value of a parameter.
func (a *api) value(q *convert.Object, name, route string) string {
	value, given := a.example(q)
	wish := name
	if w := convert.Snake(name, 40); w == "id" || w == "uuid" || w == "name" || w == "key" {
		before, _, _ := strings.Cut(route, "{"+name+"}")
		all := convert.Words(before)
		if len(all) > 0 {
			wish = convert.Singular(all[len(all)-1]) + "_" + w
		}
	}
	help := convert.OneLine(q.Text("description"), 100)
	if convert.IsSecret(name, value) {
		return a.p.Secret(wish, name, help)
	}
	if len(value) > 1000 {
		value = "value"
	}
	mark := a.p.Param(wish, value, help)
	if label := convert.Bare(mark); !given && !slices.Contains(a.made, label) {
		a.made = append(a.made, label)
	}
	return mark
}

// security adds the operation's first security requirement that a file can meet.
func (a *api) security(s *convert.Step, op *convert.Object) {
	wanted, ok := op.Get("security").([]any)
	if !ok {
		wanted = a.root.List("security")
	}
	if len(wanted) == 0 {
		return
	}
	for _, w := range wanted {
		if need, _ := w.(*convert.Object); need == nil || len(need.Keys) == 0 {
			return // nothing will do too
		}
	}
	schemes := a.root.Object("components").Object("securitySchemes")
	if a.two {
		schemes = a.root.Object("securityDefinitions")
	}
	first, _ := wanted[0].(*convert.Object)
	for _, name := range first.Keys {
		scheme, _ := a.follow(schemes.Get(name)).(*convert.Object)
		if scheme == nil {
			a.p.Note("the security scheme %q is not described and is not kept", language.Clip(convert.Clean(name), 40))
			continue
		}
		a.authorize(s, convert.Clean(name), scheme)
	}
}

func (a *api) authorize(s *convert.Step, name string, scheme *convert.Object) {
	how, field := scheme.Text("type"), scheme.Text("name")
	help := convert.OneLine("for the security scheme "+name, 100)
	switch {
	case how == "apiKey":
		q := convert.Pair{Name: field, Value: a.p.Secret(field, name, help)}
		switch scheme.Text("in") {
		case "query":
			s.Params = append(s.Params, q)
		case "cookie":
			a.p.Cookie(s, q.Name, q.Value, true)
		default:
			s.Headers = append(s.Headers, q)
		}
	case how == "basic" || how == "http" && strings.EqualFold(scheme.Text("scheme"), "basic"):
		s.Auth = &convert.Auth{User: a.p.Secret("user", name+" user", help), Password: a.p.Secret("password", name, help)}
	case how == "http" && strings.EqualFold(scheme.Text("scheme"), "digest"):
		s.Auth = &convert.Auth{Digest: true, User: a.p.Secret("user", name+" user", help), Password: a.p.Secret("password", name, help)}
	case how == "http" && strings.EqualFold(scheme.Text("scheme"), "bearer"), how == "oauth2", how == "openIdConnect":
		if how != "http" {
			a.p.Note("tokens of the security scheme %s (%s) are not fetched: get one, and --set token=...", language.Clip(name, 40), how)
		}
		s.Auth = &convert.Auth{Bearer: true, Password: a.p.Secret("token", "token", help)}
	default:
		a.p.Note("the security scheme %s (%s) is not kept", language.Clip(name, 40), language.Clip(how+" "+scheme.Text("scheme"), 40))
	}
}
