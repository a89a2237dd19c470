package main

import (
	"strings"
	"testing"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/message"
	"hyperscale/core/workflow"
)

// TestURLsBecomeFiles: whatever is typed, the file that is made of it loads and
// says the same.
func TestURLsBecomeFiles(t *testing.T) {
	for _, row := range []struct {
		what, address string
		flags         urlFlags
		method        string
		headers       int
		body          string
	}{
		{"an address", "http://127.0.0.1:8080/", urlFlags{}, "GET", 0, ""},
		{"a body makes a POST", "https://example.test/a?b=c", urlFlags{body: `{"a": "b\c"}`}, "POST", 0, `{"a": "b\c"}`},
		{"quotes and letters beyond ASCII", "http://127.0.0.1/\"ö", urlFlags{headers: []string{`X-Quote: "ö" \n`}, method: "put"}, "PUT", 1, ""},
		{"a method of one's own", "http://127.0.0.1/", urlFlags{method: "PURGE", headers: []string{"A: 1", "B:2"}}, "PURGE", 2, ""},
	} {
		source, err := row.flags.source(row.address)
		if err != nil {
			t.Errorf("%s: %v", row.what, err)
			continue
		}
		p, err := workflow.Load(message.Program{Main: "run.star", Files: []message.File{{Name: "run.star", Data: []byte(source)}}})
		if err != nil {
			t.Errorf("%s: %v\n%s", row.what, err, source)
			continue
		}
		r := p.Workflow("run").Steps[0].Request
		if r.Method != row.method || r.URL != row.address || len(r.Headers) != row.headers || string(r.Body) != row.body {
			t.Errorf("%s: got %+v of\n%s", row.what, *r, source)
		}
	}
	for _, bad := range []urlFlags{{headers: []string{"no colon"}}, {headers: []string{"A: 1", "a: 2"}}} {
		if source, err := bad.source("http://127.0.0.1/"); err == nil {
			t.Errorf("%v was accepted:\n%s", bad.headers, source)
		}
	}
}

func TestTitles(t *testing.T) {
	long := "http://127.0.0.1/" + strings.Repeat("é", 300)
	for arg, want := range map[string]string{
		"tests/shop.star":              "run.star",
		"http://127.0.0.1:8080/a?b=c":  "http://127.0.0.1:8080/a?...",
		"https://ann:word@shop.test/a": "https://shop.test/a",
		long:                           "http://127.0.0.1/" + strings.Repeat("%C3%A9", 30) + "%C3...",
	} {
		if got := titleOf(arg, &message.Program{Main: "run.star"}); got != want {
			t.Errorf("%.40s: got %q, want %q", arg, got, want)
		}
	}
}

func TestNearestNames(t *testing.T) {
	names := []string{"run", "status", "submit", "validate", "version"}
	for got, want := range map[string]string{"rnu": " (did you mean run?)", "run1": " (did you mean run?)", "stats": " (did you mean status?)", "val": " (did you mean validate?)", "frobnicate": ""} {
		if hint := command.DidYouMean(got, names); hint != want {
			t.Errorf("%q: got %q, want %q", got, hint, want)
		}
	}
}
