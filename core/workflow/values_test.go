package workflow_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/extract"
	"hyperscale/core/workflow/request"
)

// fields are header fields in a parser's form.
type fields [][2][]byte

func (f fields) Len() int                      { return len(f) }
func (f fields) At(i int) (name, value []byte) { return f[i][0], f[i][1] }

// view reads "status, headers, an empty line, body".
func view(text string) *extract.View {
	head, body, _ := strings.Cut(text, "\n\n")
	lines := strings.Split(head, "\n")
	status, err := strconv.Atoi(lines[0])
	if err != nil {
		status = 200
	} else {
		lines = lines[1:]
	}
	var all fields
	for _, line := range lines {
		if name, value, ok := strings.Cut(line, ": "); ok {
			all = append(all, [2][]byte{[]byte(name), []byte(value)})
		}
	}
	return &extract.View{Status: status, Fields: all, Body: []byte(body), Size: int64(len(body)), Latency: 20 * time.Millisecond}
}

// stepWith loads a step with such an argument.
func stepWith(t failer, argument string) *workflow.Step {
	t.Helper()
	w := load(t, fmt.Sprintf("workflow(name = \"w\", steps = [step(\"a\", http.get(\"http://h/\"), %s)])\n", argument))
	return &w.Steps[0]
}

// Each story is a response, and what a step extracts from it or expects of it.
func TestExtractAndExpect(t *testing.T) {
	datadriven.RunTest(t, "testdata/values.txt", func(t *testing.T, d *datadriven.TestData) string {
		var out strings.Builder
		text, asks, _ := strings.Cut(d.Input, "\n--\n")
		r := view(text)
		for ask := range strings.Lines(asks) {
			ask = strings.TrimSpace(ask)
			if d.Cmd == "extract" {
				e := stepWith(t, "extract = {\"x\": "+ask+"}").Extract[0]
				if got, ok, why := e.From(r); ok {
					fmt.Fprintf(&out, "%s = %s\n", ask, got)
				} else {
					fmt.Fprintln(&out, why)
				}
				continue
			}
			why := stepWith(t, "expect = ["+ask+"]").Judge(r)
			if why == "" {
				why = "as expected"
			}
			fmt.Fprintf(&out, "%s: %s\n", ask, why)
		}
		return out.String()
	})
}

func TestWhatStepsLookAt(t *testing.T) {
	for _, tt := range []struct {
		argument           string
		head, body, status bool
	}{
		{`extract = {"a": json_path("$.a")}`, false, true, false},
		{`extract = {"a": header("A")}`, true, false, false},
		{`extract = {"a": cookie("a"), "b": form_value("b")}`, true, true, false},
		{`expect = [status(404), latency_below("1s"), size_below("1MiB")]`, false, false, true},
		{`expect = [header_is("A", "b")]`, true, false, false},
		{`expect = [json_is("$.a", 1)]`, false, true, false},
	} {
		s := stepWith(t, tt.argument)
		head, body := s.Reads()
		if head != tt.head || body != tt.body || s.JudgesStatus() != tt.status {
			t.Errorf("%s: head %v, body %v, status %v", tt.argument, head, body, s.JudgesStatus())
		}
	}
}

// The values of a workflow are those of its feed, then what steps extract. Requests know which
// they need, and a file can write a literal ${.
func TestHoles(t *testing.T) {
	w := load(t, `
workflow(name = "w", steps = [
    step("c", http.post("http://h/$${x}/${b}/${a}?q=${b}", headers = {"X": "$${a}${a}"}, json = {"${a}": ["$$ ${b}", "$${b}", 1]}), after = ["b"]),
    step("b", http.post("http://h/", form = {"k": "${a}"}), after = ["a"], extract = {"b": header("B"), "a": header("A")}),
    step("a", http.get("http://h/"), extract = {"a": header("A")}),
])`)
	if diff := cmp.Diff([]string{"a", "b"}, w.Vars); diff != "" || w.Columns != 0 {
		t.Error(w.Columns, diff)
	}
	show := func(s *workflow.Step) string {
		r := *s.Request
		text := fmt.Sprintf("%s %v %q %d %v", r.URL, r.Headers, r.Body, r.Escape, s.Needs)
		for _, hole := range r.Placeholders {
			if strings.Count(text, hole.Word) != 1 {
				t.Errorf("%s stands %d times in %s", hole.Word, strings.Count(text, hole.Word), text)
			}
			text = strings.ReplaceAll(text, hole.Word, "<"+w.Vars[hole.Var]+">")
		}
		return text
	}
	want := []string{`http://h/ [] "" 0 []`, `http://h/ [] "k=<a>" 2 [0]`, `http://h/${x}/<b>/<a>?q=<b> [{X ${a}<a>}] "{\"<a>\":[\"$$ <b>\",\"${b}\",1]}" 1 [0 1]`}
	for i, want := range want {
		if got := show(&w.Steps[i]); got != want {
			t.Errorf("step %d: got  %s\nwant %s", i, got, want)
		}
	}
}

// One request may be part of two workflows, whose values have different numbers.
func TestHolesOfASharedRequest(t *testing.T) {
	p, err := workflow.Load(program("test.star", `
use = http.get("http://h/${b}")
workflow(name = "v", steps = [step("a", http.get("http://h/"), extract = {"b": header("B")}), step("use", use, after = ["a"])])
workflow(name = "w", steps = [step("a", http.get("http://h/"), extract = {"a": header("A"), "b": header("B")}), step("use", use, after = ["a"])])
`))
	if err != nil {
		t.Fatal(err)
	}
	for want, name := range []string{"v", "w"} {
		if got := p.Workflow(name).Steps[1].Request.Placeholders[0].Var; got != want {
			t.Errorf("%s: value %d, want %d", name, got, want)
		}
	}
}

// Functions see in vu.vars what this iteration extracted, and what they keep themselves.
func TestFunctionsSeeValues(t *testing.T) {
	w := load(t, `
def f(vu, a):
    vu.vars["own"] = vu.vars.get("own", 0) + 1
    vu.log("%s %s" % (vu.vars.get("x"), vu.vars["own"]))
    return vu.http.get("http://h/${x}")
workflow(name = "w", steps = [step("a", http.get("http://h/"), extract = {"x": header("X")}), step(f, after = ["a"])])`)
	c := &fake{}
	v := w.NewVU(1, 1, c)
	for _, x := range []string{"one", "", "three"} {
		v.Begin()
		if x != "" {
			v.SetVar(0, []byte(x))
		}
		v.SetResponse(0, &workflow.Response{Status: 200})
		if out := v.Call(1); !out.OK {
			t.Fatal(out)
		}
	}
	if diff := cmp.Diff([]string{"one 1", "None 2", "three 3"}, c.logs); diff != "" {
		t.Error(diff)
	}
	if c.requests[0].URL != "http://h/${x}" {
		t.Errorf("a function's request goes to %s", c.requests[0].URL)
	}
}

// A value found in place allocates nothing.
func TestValuesInPlaceAllocateNothing(t *testing.T) {
	r := view("200\nX-Token: abc\nSet-Cookie: s=1; Path=/\n\n" + `{"list": [{"a": 1}, {"id": "x", "es\u0063": "a\nb"}], "form": "<p><input type=hidden name=csrf value='v'>"}`)
	s := stepWith(t, `extract = {"a": header("x-token"), "b": cookie("s"), "c": json_path("$.list[*].id"), "d": json_path("$.list[1].esc"), "e": form_value("csrf")},
		expect = [status(200), header_is("x-token", "abc"), body_contains("list"), json_is("$.list[0].a", 1), latency_below("1s"), size_below("1MiB")]`)
	var bad string
	n := testing.AllocsPerRun(100, func() {
		bad += s.Judge(r)
		for i := range s.Extract {
			if _, ok, why := s.Extract[i].From(r); !ok {
				bad += why
			}
		}
	})
	if n > 1 || bad != "" { // the member with an escaped name is decoded for the comparison
		t.Errorf("%v allocations, want at most 1; %s", n, bad)
	}
}

// A path finds in any JSON what decoding finds.
func TestPathFindsWhatDecodingFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := document(t, 4)
		raw, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "indented") {
			var b bytes.Buffer
			_ = json.Indent(&b, raw, " ", "\t")
			raw = b.Bytes()
		}
		path, at, found := "$", doc, true
		for range rapid.IntRange(0, 4).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "member") {
				name := rapid.SampledFrom(memberNames()).Draw(t, "name")
				path += "[" + strconv.Quote(name) + "]"
				object, ok := at.(map[string]any)
				if at, found = object[name], found && ok; found {
					_, found = object[name]
				}
			} else {
				i := rapid.IntRange(0, 2).Draw(t, "i")
				path += fmt.Sprintf("[%d]", i)
				list, ok := at.([]any)
				if found = found && ok && i < len(list); found {
					at = list[i]
				}
			}
		}
		e := stepWith(t, "extract = {\"x\": json_path("+strconv.Quote(path)+")}").Extract[0]
		got, ok, why := e.From(&extract.View{Body: raw})
		if want := found && at != nil; ok != want {
			t.Fatalf("%s in %s: found %v, want %v: %s", path, raw, ok, want, why)
		}
		if !ok {
			return
		}
		if text, isText := at.(string); isText {
			if string(got) != text {
				t.Fatalf("%s in %s: %q, want %q", path, raw, got, text)
			}
			return
		}
		var back any
		if err := json.Unmarshal(got, &back); err != nil || !cmp.Equal(back, at) {
			t.Fatalf("%s in %s: %s, want %v", path, raw, got, at)
		}
	})
}

func memberNames() []string { return []string{"a", "b", "c d", "é\"\\", "]"} }

func document(t *rapid.T, depth int) any {
	kinds := 4
	if depth > 0 {
		kinds = 6
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.String().Draw(t, "text")
	case 2:
		return float64(rapid.IntRange(-1000, 1000).Draw(t, "number")) / 8
	case 3:
		return rapid.Bool().Draw(t, "bool")
	case 4:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			list = append(list, document(t, depth-1))
		}
		return list
	}
	object := map[string]any{}
	for range rapid.IntRange(0, 3).Draw(t, "length") {
		object[rapid.SampledFrom(memberNames()).Draw(t, "name")] = document(t, depth-1)
	}
	return object
}

// The value of an input is found anywhere in a page, with any quoting.
func TestFormValueComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.String().Draw(t, "value")
		quoted := html.EscapeString(value)
		if strings.ContainsAny(value, "\r\x00") {
			return
		}
		noise := rapid.SampledFrom([]string{"", "<p title=\"<input name=x value=no>\">", "<!-- <input name=x value=no> -->", "<script>'<input name=x value=no>'</script>", "<input name=y value=no>", "<input value=no>", "a < b", "</p>", "<br/>"})
		page := noise.Draw(t, "before") + noise.Draw(t, "before too")
		page += rapid.SampledFrom([]string{"<input name=x value=\"%s\">", "<INPUT type=hidden VALUE='%s' disabled Name = \"x\" />", "<input\nname='x'\tvalue = \"%s\""}).Draw(t, "input")
		page = strings.Replace(page, "%s", quoted, 1)
		if strings.HasSuffix(page, "\"") {
			page += ">"
		}
		page += noise.Draw(t, "behind")
		e := stepWith(t, `extract = {"x": form_value("x")}`).Extract[0]
		got, ok, why := e.From(&extract.View{Body: []byte(page)})
		if !ok || string(got) != value {
			t.Fatalf("%s: got %q, want %q %s", page, got, value, why)
		}
	})
}

// FuzzExtract applies extraction to any bytes: it never panics, and its results are within
// bounds.
func FuzzExtract(f *testing.F) {
	f.Add("$.a[0][\"b\"]", []byte(`{"a": [{"b": "\u00e9"}]}`))
	f.Add("$[*][*].x", []byte(`[[{}, {"x": 1e9}], "]"]`))
	f.Add("csrf", []byte(`<input name=csrf value="&lt;">`))
	f.Add("(a+)", []byte(`xaay`))
	f.Fuzz(func(t *testing.T, what string, body []byte) {
		for _, fn := range []string{"json_path", "form_value", "regex", "cookie"} {
			text := "extract = {\"x\": " + fn + "(" + strconv.QuoteToASCII(strings.ToValidUTF8(what, "")) + ")}"
			p, err := workflow.Load(program("w.star", "workflow(name = \"w\", steps = [step(\"a\", http.get(\"http://h/\"), "+text+")])\n"))
			if err != nil {
				continue
			}
			e := p.Workflow("w").Steps[0].Extract[0]
			r := &extract.View{Body: body, Fields: fields{{[]byte("Set-Cookie"), body}}}
			got, ok, why := e.From(r)
			if ok == (why != "") || len(got) > extract.ValueMax {
				t.Fatalf("%q, %v, %q", got, ok, why)
			}
		}
	})
}

// FuzzHoles uses any bytes as the texts of a request.
func FuzzHoles(f *testing.F) {
	f.Add("${a}", "x$${b}", "${")
	f.Add("$$${a}${a}", "${ a }", "}${a")
	f.Fuzz(func(t *testing.T, path, header, body string) {
		quote := func(s string) string { return strconv.QuoteToASCII(strings.ToValidUTF8(s, "")) }
		text := fmt.Sprintf("workflow(name = \"w\", steps = [step(\"s\", http.get(\"http://h/\"), extract = {\"a\": header(\"A\")}), step(\"t\", http.post(\"http://h/\" + %s, headers = {\"X\": %s}, json = [%s]), after = [\"s\"])])\n", quote(path), quote(header), quote(body))
		p, err := workflow.Load(program("w.star", text))
		if err != nil {
			return
		}
		s := p.Workflow("w").Steps[1]
		for _, hole := range s.Request.Placeholders {
			if all := s.Request.URL + s.Request.Headers[0].Value + string(s.Request.Body); strings.Count(all, hole.Word) != 1 {
				t.Fatalf("%s stands %d times in %s", hole.Word, strings.Count(all, hole.Word), all)
			}
		}
	})
}

// A request for display, or of a redirect, has the values too.
func TestFilled(t *testing.T) {
	w := load(t, `
workflow(name = "w", steps = [
    step("a", http.get("http://h/"), extract = {"a": header("A")}),
    step("b", http.post("http://h/${a}?q=${a}", params = {"p": "${a}"}, cookies = {"c": "${a}"}, headers = {"X": "<${a}>"}, auth = http.basic("${a}", "p"), json = {"k": "${a}"}), after = ["a"]),
    step("c", http.post("http://h/", form = {"k": "${a}"}, auth = http.bearer("${a}")), after = ["a"]),
])`)
	got := w.Steps[1].Request.Filled([][]byte{[]byte("a b\"")})
	want := &request.Request{
		Method: "POST", URL: "http://h/a%20b%22?q=a+b%22", Params: []builtin.Pair{{Name: "p", Value: "a b\""}},
		Cookies: []builtin.Pair{{Name: "c", Value: "a b\""}}, Headers: []builtin.Pair{{Name: "X", Value: "<a b\">"}},
		Auth: &request.Auth{Kind: "basic", User: "a b\"", Password: "p"}, Body: []byte(`{"k":"a b\""}`), ContentType: "application/json",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got = w.Steps[2].Request.Filled([][]byte{[]byte("a&")})
	if string(got.Body) != "k=a%26" || got.Auth.Token != "a&" {
		t.Errorf("%s, %+v", got.Body, got.Auth)
	}
	if w.Steps[0].Request.Filled(nil) != w.Steps[0].Request {
		t.Error("a request without holes was copied")
	}
}
