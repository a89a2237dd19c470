package workflow

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/workflow/request"
)

// TestDirect checks which functions need no interpreter.
func TestDirect(t *testing.T) {
	cases := []struct {
		params, body string
		inlined      bool
	}{
		{"vu", `vu.http.get("http://h/")`, true},
		{"vu", `vu.http.get(URL)`, true},
		{"vu", `vu.http.get(URL, headers = HEADERS, timeout = "1s")`, true},
		{"vu", `vu.http.post(URL, json = vu.id)`, true},
		{"vu", `vu.http.request("GET", URL)`, true},
		{"vu", `vu.http.get(URL + "x")`, false},
		{"vu", `vu.http.get(*[URL])`, false},
		{"vu", `vu.http.get(**{"url": URL})`, false},
		{"vu", `vu.http.get(URL, json = {"a": 1})`, false},
		{"vu", `(vu.http.get(URL))`, false},
		{"vu", `helper(vu)`, false},
		{"vu", `vu.http.get(vu.http.get(URL).status)`, false},
	}
	for _, c := range cases {
		text := fmt.Sprintf("URL = \"http://h/\"\nHEADERS = {\"A\": \"b\"}\ndef helper(vu):\n    return vu.http.get(URL)\ndef f(%s):\n    return %s\nworkflow(name = \"w\", steps = [step(f)])\n", c.params, c.body)
		if got := loadText(t, text).Steps[0].call.direct != nil; got != c.inlined {
			t.Errorf("%s: direct %v", c.body, got)
		}
	}
}

func loadText(t interface {
	Helper()
	Fatal(...any)
}, text string) *Workflow {
	t.Helper()
	p, err := Load(message.Program{Main: "a.star", Files: []message.File{{Name: "a.star", Data: []byte(text)}}})
	if err != nil {
		t.Fatal(err)
	}
	return p.Workflow("w")
}

// sender answers each request with its description.
type sender struct{ sent []request.Request }

func (s *sender) Do(r *request.Request, _ *As) *Response {
	s.sent = append(s.sent, *r)
	return &Response{Status: 200 + len(r.Headers)}
}
func (s *sender) OpenSession(*request.Request, *As) (Session, error) { return nothing{}, nil }
func (s *sender) Known(string, string) *request.Request              { return nil }
func (s *sender) Sleep(time.Duration)                                {}
func (s *sender) Log(string)                                         {}
func (s *sender) Now() time.Time                                     { return time.Time{} }
func (s *sender) Yield()                                             {}
func (s *sender) Next(int) (uint64, bool)                            { return 0, true }
func (s *sender) Wait(int) bool                                      { return true }
func (s *sender) Stopped() bool                                      { return false }

// expression draws an expression, mostly a meaningful one.
func expression(t *rapid.T, depth int) string {
	atoms := []string{
		"r.status", "r.error", "r.latency", "r.latency.milliseconds", "r.body", "r.nothing", "r.headers", "r", "vu.id", "vu.iteration", "vu.shared",
		"200", "404", "1.5", `"x"`, `b"x"`, `""`, "None", "True", "False", "CODES", "NAME", "len", "r.status.x", "-1",
	}
	if depth == 0 || rapid.IntRange(0, 3).Draw(t, "leaf") == 0 {
		return rapid.SampledFrom(atoms).Draw(t, "atom")
	}
	x := expression(t, depth-1)
	switch op := rapid.SampledFrom([]string{"==", "!=", "<", "<=", ">", ">=", "and", "or", "in", "not in", "not", "()"}).Draw(t, "op"); op {
	case "not":
		return "not (" + x + ")"
	case "()":
		return "(" + x + ")"
	default:
		return "(" + x + ") " + op + " (" + expression(t, depth-1) + ")"
	}
}

// TestDirectIsTheInterpreter runs functions in both ways: results, requests and errors are the
// same.
func TestDirectIsTheInterpreter(t *testing.T) {
	direct := 0
	rapid.Check(t, func(t *rapid.T) {
		check := expression(t, 3)
		argument := rapid.SampledFrom([]string{"", ", timeout = \"1s\"", ", timeout = %s", ", headers = {\"A\": \"1\"}", ", headers = HEADERS", ", json = %s", ", nothing = 1", ", %s"}).Draw(t, "argument")
		if strings.Contains(argument, "%s") {
			argument = fmt.Sprintf(argument, expression(t, 1))
		}
		method := rapid.SampledFrom([]string{"get", "post", "request", "nothing"}).Draw(t, "method")
		text := fmt.Sprintf("CODES = [200, 201]\nNAME = \"x\"\nHEADERS = {\"B\": \"2\"}\ndef r(vu):\n    \"Asks.\"\n    return vu.http.%s(\"http://h/\"%s)\n\nworkflow(name = \"w\", steps = [step(\"r\", lambda vu: vu.http.get(\"http://h/\", headers = HEADERS)), check(\"c\", lambda vu, r: %s, after = [\"r\"]), step(\"s\", %s)])\n",
			method, strings.ReplaceAll(argument, "r.", "vu."), check, "r")
		type played struct {
			Out  []Outcome
			Sent []request.Request
		}
		play := func(fast bool) (p played) {
			w := loadText(t, text)
			client := &sender{}
			v := w.NewVU(7, 1, client)
			v.Begin()
			for i := range w.Steps {
				c := w.Steps[i].call
				if c.direct != nil && fast {
					direct++
				}
				if !fast {
					c.direct = nil
				}
				p.Out = append(p.Out, v.Call(i))
			}
			p.Sent = client.sent
			return p
		}
		if diff := cmp.Diff(play(false), play(true), cmpopts.IgnoreUnexported(Response{})); diff != "" {
			t.Fatalf("%s\nby the interpreter -, directly +:\n%s", text, diff)
		}
	})
	if direct == 0 {
		t.Error("no function was direct")
	}
}
