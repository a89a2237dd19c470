package request

import (
	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/language"
	"net/url"
	"slices"
	"strings"
)

// Filled returns the request with values in place of its words, by Workflow.Vars. It builds
// everything anew: it is for rare uses, such as a redirect or debug output.
func (r *Request) Filled(values [][]byte) *Request {
	if len(r.Placeholders) == 0 {
		return r
	}
	f := filler{}
	for _, placeholder := range r.Placeholders {
		value := string(values[placeholder.Var])
		inJSON := string(language.AppendQuoted(nil, value))
		f.plain = append(f.plain, placeholder.Word, value)
		f.path = append(f.path, placeholder.Word, strings.ReplaceAll(url.QueryEscape(value), "+", "%20"))
		f.query = append(f.query, placeholder.Word, url.QueryEscape(value))
		f.json = append(f.json, placeholder.Word, inJSON[1:len(inJSON)-1])
	}
	out := *r
	path, query, has := strings.Cut(r.URL, "?")
	if out.URL = f.in(path, f.path); has {
		out.URL += "?" + f.in(query, f.query)
	}
	out.Headers, out.Params, out.Cookies = f.pairs(r.Headers), f.pairs(r.Params), f.pairs(r.Cookies)
	if r.Auth != nil {
		out.Auth = &Auth{r.Auth.Kind, f.in(r.Auth.User, f.plain), f.in(r.Auth.Password, f.plain), f.in(r.Auth.Token, f.plain)}
	}
	escaped := [][]string{EscapeNone: f.plain, EscapeJSON: f.json, EscapeForm: f.query}[r.Escape]
	out.Body, out.Files = r.rewrite(func(text string) string { return f.in(text, escaped) })
	out.Redis = r.Redis.rewritten(func(text string) string { return f.in(text, f.plain) })
	out.SQL = r.SQL.rewritten(func(text string) string { return f.in(text, f.plain) })
	out.NATS = r.NATS.rewritten(func(text string) string { return f.in(text, f.plain) })
	out.Placeholders, out.Escape, out.Boundary = nil, EscapeNone, ""
	return &out
}

// filler has pairs of a word and its replacement, for each way of escaping.
type filler struct{ plain, path, query, json []string }

func (f *filler) in(text string, by []string) string { return strings.NewReplacer(by...).Replace(text) }

func (f *filler) pairs(all []builtin.Pair) []builtin.Pair {
	all = slices.Clone(all)
	for i := range all {
		all[i].Name, all[i].Value = f.in(all[i].Name, f.plain), f.in(all[i].Value, f.plain)
	}
	return all
}
