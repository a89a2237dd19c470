package workflow_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.starlark.net/starlark"
	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/collect"
	"hyperscale/core/workflow/inspect"
)

// told is what validate writes about findings.
func told(found []inspect.Finding) string {
	var b strings.Builder
	for _, f := range found {
		kind := "error"
		if f.Warning {
			kind = "warning"
		}
		fmt.Fprintf(&b, "%s: %s\n", kind, f.Error.Error())
	}
	return b.String()
}

// Inspect finds the mistake in every file of testdata/wrong, and says what stands in the .txt
// file of its name.
func TestWrongFiles(t *testing.T) {
	paths, err := filepath.Glob("testdata/wrong/*.star")
	if err != nil || len(paths) < 60 {
		t.Fatal(len(paths), "files", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".star"), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			p := program(filepath.Base(path), string(data))
			_, found, _ := workflow.Inspect(p)
			if len(found) == 0 {
				t.Fatal("nothing is found")
			}
			golden(t, strings.TrimSuffix(path, ".star")+".txt", told(found))
			_, again, _ := workflow.Inspect(p)
			if diff := cmp.Diff(found, again); diff != "" {
				t.Error("the second walk differs:\n" + diff)
			}
			for _, f := range found {
				if f.Remedy == "" && !strings.Contains(f.Message, "such as") {
					t.Error("no remedy:", f.Message)
				}
			}
		})
	}
}

// good are files without a mistake: all examples, what the manuals show, what the converters
// write, and variants of each.
func good(t *testing.T) map[string]string {
	all := examples(t)
	for _, name := range []string{"docs/workflows.md", "docs/from-other-tools.md", "docs/first-five-minutes.md", "README.md"} {
		text, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		blocks := regexp.MustCompile("(?s)```(python|error)\n(.*?)```").FindAllStringSubmatch(string(text), -1)
		for i, block := range blocks {
			if block[1] == "python" && (i+1 == len(blocks) || blocks[i+1][1] == "python") {
				all[fmt.Sprintf("%s-%d.star", filepath.Base(name), i)] = block[2]
			}
		}
	}
	for _, glob := range []string{"testdata/*.star", "../../runtime/convert/testdata/golden/*.star", "../../cmd/hyperscale/internal/author/*.star", "../../bench/*/*.star", "../../bench/*.star"} {
		paths, err := filepath.Glob(glob)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			all[filepath.Base(path)] = string(data)
		}
	}
	return all
}

// What is found in 200 good files is nothing, also when functions stand between their workflows
// and are given on.
func TestGoodFiles(t *testing.T) {
	n := 0
	//lint:orderfree each file is judged by itself
	for name, text := range good(t) {
		files, _, err := collect.Files(name, collect.Reads(func(file string) ([]byte, error) {
			if file == name {
				return []byte(text), nil
			}
			return os.ReadFile(filepath.Join("../../examples", file))
		}))
		if err != nil {
			continue // it needs a file that the manual only speaks of
		}
		p := message.Program{Main: name, Files: files}
		loaded, found, _ := workflow.Inspect(p)
		if loaded == nil {
			continue // a manual's block that shows a mistake, or a part
		}
		n++
		if len(found) > 0 {
			t.Errorf("%s:\n%s", name, told(found))
		}
		p.Files[0].Data = []byte(text + "\ndef unused_name(vu):\n    return vu.id\n\nkeep = [unused_name]\n")
		if again, found, _ := workflow.Inspect(p); again != nil {
			if n++; len(found) > 0 {
				t.Errorf("%s, varied:\n%s", name, told(found))
			}
		}
	}
	t.Logf("%d good files", n)
	if n < 200 {
		t.Errorf("only %d files are good", n)
	}
}

// Nothing is found in functions that only look wrong, and all of them run to their end.
func TestGoodFunctions(t *testing.T) {
	data, err := os.ReadFile("testdata/good.star")
	if err != nil {
		t.Fatal(err)
	}
	p, found, err := workflow.Inspect(program("good.star", string(data)))
	if p == nil {
		t.Fatal(err)
	}
	if len(found) > 0 {
		t.Error(told(found))
	}
	w := p.Workflow("good")
	v := w.NewVU(1, 1, &fake{})
	v.Begin()
	for i, s := range w.Steps {
		if s.Request != nil {
			continue
		}
		if out := v.Call(i); !out.OK {
			t.Errorf("%s: %s %s", s.Plan.Name, out.Kind, out.Detail)
		}
	}
}

// opener returns what opens a session that has a word, or whose messages have it.
func opener(word string) string {
	switch word {
	case "session.close_send":
		return `vu.grpc.open("grpc://h", "shop.v1.Orders/Watch")`
	case "message.channel", "message.pattern":
		return `vu.redis.subscribe("redis://h", ["news"])`
	case "session.nack", "message.exchange", "message.key", "message.redelivered":
		return `vu.amqp.consume("amqp://h", "jobs")`
	case "message.reply", "message.subject":
		return `vu.nats.subscribe("nats://h", "orders.>")`
	case "session.ack", "session.nak", "session.term", "session.progress", "message.deliveries", "message.sequence":
		return `vu.nats.pull("nats://h", stream = "ORDERS", consumer = "c")`
	case "message.event", "message.id":
		return `vu.sse.open("http://h/")`
	}
	return `vu.websocket.open("ws://h/")`
}

// A word that no session has is found in sessions of each protocol.
func TestInspectLooksIntoSessions(t *testing.T) {
	for _, opens := range []string{"vu.websocket.open(\"ws://h/\")", "vu.sse.open(\"http://h/\")", "vu.redis.subscribe(\"redis://h\", [\"news\"])", "vu.mqtt.subscribe(\"mqtt://h\", \"t\")",
		"vu.nats.subscribe(\"nats://h\", \"s\")", "vu.nats.pull(\"nats://h\", \"S\", \"c\")", "vu.amqp.consume(\"amqp://h\", \"jobs\")"} {
		text := fmt.Sprintf("def visit(vu):\n    s = %s\n    s.recieve()\n    return s.close()\nworkflow(name = \"w\", steps = [step(visit)])\n", opens)
		if _, found, _ := workflow.Inspect(program("w.star", text)); !strings.Contains(told(found), `has no "recieve"`) {
			t.Errorf("%s: found %q", opens, told(found))
		}
	}
}

// Each word is found with each argument that it reports, so a new word or argument needs no
// change here.
func TestInspectKnowsEveryWord(t *testing.T) {
	for _, w := range workflow.Words() {
		first, _, _ := strings.Cut(w.Name, ".")
		if first == "workflow" || strings.HasPrefix(w.Name, "vu.use.") {
			continue
		}
		lines := []string{"x = " + w.Name}
		for _, argument := range w.Arguments {
			lines = append(lines, fmt.Sprintf("y = %s(%s = vu.vars[%q])", w.Name, argument, argument))
		}
		text := "def visit(vu, response):\n    " + strings.Join(lines, "\n    ") + "\n    return response\n" +
			"workflow(name = \"w\", steps = [step(\"response\", http.get(\"http://h/\")), step(visit, after = [\"response\"])])\n"
		text = strings.Replace(text, "    x = session", "    session = "+opener(w.Name)+"\n    x = session", 1)
		text = strings.Replace(text, "    x = message", "    message = "+opener(w.Name)+".receive()\n    x = message", 1)
		text = strings.Replace(text, "    x = transaction", "    transaction = vu.sql.begin(\"postgres://app@h/d\")\n    x = transaction", 1)
		p, found, err := workflow.Inspect(program("w.star", text))
		if p == nil {
			t.Fatal(w.Name, err)
		}
		for _, f := range found {
			if strings.Contains(f.Message, " has no ") || strings.Contains(f.Message, "gave up") {
				t.Errorf("%s: %s", w.Name, f.Error.Error())
			}
		}
		if !w.Function || w.Arguments == nil {
			continue
		}
		_, found, _ = workflow.Inspect(program("w.star", strings.Replace(text, "("+w.Arguments[0]+" = ", "(no_argument = ", 1)))
		if !strings.Contains(told(found), `has no argument "no_argument"`) {
			t.Errorf("%s: a wrong argument is not found:\n%s", w.Name, told(found))
		}
	}
}

// What the tables of other tools' words propose exists.
func TestForeignRemediesExist(t *testing.T) {
	known, methods := map[string]bool{"parallel": true}, methods() // parallel groups steps
	for _, w := range workflow.Words() {
		known[w.Name] = true
	}
	for _, name := range starlark.Universe.Keys() {
		known[name] = true
	}
	for _, remedy := range inspect.Remedies() {
		if remedy == "" {
			t.Error("an entry proposes nothing")
		}
		for _, m := range regexp.MustCompile(`[a-z][a-z0-9_.]*\(`).FindAllString(remedy, -1) {
			name := strings.TrimSuffix(m, "(")
			_, method, isMethod := strings.Cut(name, ".")
			if !known[name] && name != "f" && name != "visit" && !(isMethod && (known["response."+method] || methods[method])) && !known["response."+name] && !methods[name] {
				t.Errorf("%q: there is no %s", remedy, name)
			}
		}
		for _, m := range regexp.MustCompile(`\bvu(\.[a-z_]+)+`).FindAllString(remedy, -1) {
			if !known[m] {
				t.Errorf("%q: there is no %s", remedy, m)
			}
		}
	}
}

// methods are those of Starlark's own types.
func methods() map[string]bool {
	all := map[string]bool{}
	for _, v := range []starlark.HasAttrs{starlark.String(""), starlark.NewList(nil), starlark.NewDict(0)} {
		for _, name := range v.AttrNames() {
			all[name] = true
		}
	}
	all["headers.get"] = true // of a response
	return all
}

// drawn is a function of statements that run one after another, each of which may be wrong.
func drawn(t *rapid.T, vars []string, helper string) string {
	var expr func(depth int) string
	expr = func(depth int) string {
		if depth == 0 {
			return rapid.SampledFrom([]string{
				vars[0], vars[1], vars[2], "1", "0", "2.5", `"x"`, `"%s"`, `"%d %s"`, `"{} {}"`, "None", "True", "[]", "[1]", "{}", `{"k": 1}`, "(1, 2)", `b"x"`,
				"vu", "vu.id", "vu.http", "vu.vars", "LIST", "TEXT", "ZERO", "vu.iteration", "r", "r.status", "r.body", "r.latency", "r.headers", "r.json", "r.error", helper, "len", "time.now()",
			}).Draw(t, "leaf")
		}
		sub := func() string { return expr(depth - 1) }
		switch rapid.IntRange(0, 12).Draw(t, "kind") {
		case 0, 1, 2:
			op := rapid.SampledFrom([]string{"+", "-", "*", "/", "//", "%", "==", "!=", "<", ">=", "in", "not in", "|", "&"}).Draw(t, "op")
			return "(" + sub() + " " + op + " " + sub() + ")"
		case 3, 4:
			name := rapid.SampledFrom([]string{"status", "text", "json", "seconds", "append", "format", "get", "keys", "foo", "join", "split", "upper", "batch", "year", "all", "strip"}).Draw(t, "name")
			return "(" + sub() + ")." + name
		case 5:
			return "(" + sub() + ")()"
		case 6:
			return "(" + sub() + ")(" + sub() + ")"
		case 7:
			return "(" + sub() + ")[" + sub() + "]"
		case 8:
			return rapid.SampledFrom([]string{"str", "len", "int", "list", "sorted", "type", "vu.log", "vu.sleep", "vu.http.get", "json.encode", "uuid.v5", helper, "math.sqrt", "range"}).Draw(t, "function") + "(" + sub() + ")"
		case 9:
			return rapid.SampledFrom([]string{"vu.random.int", helper, "hmac", "vu.http.get", "math.pow", "regex.find"}).Draw(t, "function") + "(" + sub() + ", " + sub() + ")"
		case 10:
			return "(-" + sub() + ")"
		case 11:
			return "(" + sub() + ", " + sub() + ")"
		}
		return sub()
	}
	text := ""
	for range rapid.IntRange(1, 3).Draw(t, "statements") {
		name := rapid.SampledFrom(vars).Draw(t, "variable")
		value := expr(rapid.IntRange(0, 2).Draw(t, "depth"))
		switch rapid.IntRange(0, 5).Draw(t, "statement") {
		case 0:
			text += "    " + name + " += " + value + "\n"
		case 1:
			text += "    if vu.id == 1:\n        " + name + " = " + value + "\n"
		case 2:
			text += "    for i in range(2):\n        " + name + " = " + value + "\n"
		default:
			text += "    " + name + " = " + value + "\n"
		}
	}
	return text
}

// A function that runs to its end has no error, and where there is an error, it does not.
func TestErrorsAreTrue(t *testing.T) {
	wrong, missed, ran := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		text := "LIST = [1]\nTEXT = param(\"text\", default = \"x\")\nZERO = 0\n\ndef plain(x, y = 1):\n    return x\n\ndef helper(vu, r, x, y = 1):\n    z = 1\n" + drawn(t, []string{"x", "y", "z"}, "plain") + "    return " + rapid.SampledFrom([]string{"x", "y", "z", "r", "None"}).Draw(t, "result") +
			"\n\ndef visit(vu):\n    a = 1\n    b = \"x\"\n    c = [1]\n    r = vu.http.get(\"http://h/\")\n    a = helper(vu, r, " + rapid.SampledFrom([]string{"1", "b", "c", "r", "r.status"}).Draw(t, "first") + ")\n" +
			"    b = helper(vu, r, " + rapid.SampledFrom([]string{"1", "b", "y = 2, x = c", "1, 2", "a"}).Draw(t, "second") + ")\n" + drawn(t, []string{"a", "b", "c"}, "plain") +
			"    return r\n\nworkflow(name = \"w\", steps = [step(visit)])\n"
		p, found, err := workflow.Inspect(program("w.star", text))
		if p == nil {
			t.Fatal(err)
		}
		v := p.Workflow("w").NewVU(1, 1, &fake{})
		v.Begin()
		out := v.Call(0)
		certain := slices.ContainsFunc(found, func(f inspect.Finding) bool { return !f.Warning })
		if certain && out.Kind != "script" {
			t.Fatalf("it runs (%v %s), but validate says\n%s\n%s", out.OK, out.Detail, told(found), text)
		}
		switch {
		case certain:
			wrong++
		case out.Kind == "script":
			missed++
		default:
			ran++
		}
	})
	t.Logf("%d wrong functions found, %d not found, %d right", wrong, missed, ran)
	if wrong == 0 {
		t.Error("no function is wrong")
	}
	// Few of those drawn are right: here is one.
	p, found, err := workflow.Inspect(program("w.star", "def visit(vu):\n    r = vu.http.get(\"http://h/\")\n    return r\n\nworkflow(name = \"w\", steps = [step(visit)])\n"))
	if err != nil || len(found) > 0 {
		t.Fatalf("%v, %s", err, told(found))
	}
	v := p.Workflow("w").NewVU(1, 1, &fake{})
	v.Begin()
	if out := v.Call(0); out.Kind == "script" {
		t.Errorf("a right function ends with %s", out.Detail)
	}
}

// FuzzInspect inspects any bytes as a file: it ends, and says the same twice.
func FuzzInspect(f *testing.F) {
	for _, glob := range []string{"testdata/wrong/*.star", "../../examples/*.star", "testdata/errors/*.star"} {
		paths, err := filepath.Glob(glob)
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(data))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := program("fuzz.star", text)
		loaded, found, err := workflow.Inspect(p)
		if (loaded == nil) != (err != nil) || err != nil && len(found) == 0 {
			t.Fatalf("%v: %v", err, found)
		}
		_, again, _ := workflow.Inspect(p)
		if strings.Contains(told(found), "gave up") {
			t.Fatal(told(found))
		}
		if told(found) != told(again) {
			t.Fatalf("first\n%s\nthen\n%s", told(found), told(again))
		}
	})
}

// A file that is made to take long ends: deep chains, many branches over many variables, functions
// that call each other.
func TestInspectIsBounded(t *testing.T) {
	var branches, calls strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&branches, "    x%d = 1\n    if vu.id == %d:\n        x%d = \"a\"\n", i, i, i)
		fmt.Fprintf(&calls, "def f%d(vu, x):\n    return f%d(vu, [x])\n", i, i+1)
	}
	const end = "\nworkflow(name = \"w\", steps = [step(visit)])\n"
	//lint:orderfree each file is judged by itself
	for name, text := range map[string]string{
		"chain":    "def visit(vu):\n    return vu" + strings.Repeat(".x", 20_000) + end,
		"sum":      "def visit(vu):\n    return 1" + strings.Repeat(" + 1", 20_000) + end,
		"branches": "def visit(vu):\n" + branches.String() + "    return vu.http.get(\"http://h/\")" + end,
		"calls":    calls.String() + "def f5000(vu, x):\n    return x\ndef visit(vu):\n    f0(vu, 1)\n    return vu.http.get(\"http://h/\")" + end,
	} {
		_, found, err := workflow.Inspect(program("w.star", text))
		if len(found) > 1000 {
			t.Errorf("%s: %d findings, %v", name, len(found), err)
		}
	}
}

// allocated returns how many MiB a call allocates, freed or not.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) >> 20
}

// A file of a few KiB makes no call, no text and no list that is large, however often it says so: what a walk tries has no
// meter, and the interpreter's own work is not all metered.
func TestInspectMakesNothingLarge(t *testing.T) {
	const end = "    return vu.http.get(\"http://h/\")\nworkflow(name = \"w\", steps = [step(visit)])\n"
	visit := func(head, line string, times int) string {
		return head + "\ndef visit(vu):\n    x = []\n" + strings.Repeat("    "+line+"\n", times) + end
	}
	var unknown, params strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&unknown, "known%d = 1\nunwritten%d\n", i, i)
		fmt.Fprintf(&params, "p%d, ", i)
	}
	for _, tt := range []struct {
		name, text string
		most       uint64 // MiB
		findings   int
	}{
		{"a long range", visit("R = range(1000000)", "x.extend(R)", 100), 100, 0},
		{"the text of a large struct", visit("S = struct(a = [0] * 200000)", "y = \"%s\" % S", 100), 100, 0},
		{"the text of a long text", visit("S = (\"x\" * 1000000).elems()", "y = \"%s\" % S", 100), 100, 0},
		{"the sum of large structs", visit("S = struct(**{str(i): i for i in range(20000)})", "y = S + S", 100), 100, 0},
		{"a long tuple", visit("", "y = (1,)", 0) + "def more(vu):\n    t = (" + strings.Repeat("1, ", 3000) + ")\n" + strings.Repeat("    y = \"%d\" % t\n", 2000) + "    return t\n", 100, 1},
		{"many parameters", "def f(" + params.String() + "):\n    return 1\n" + visit("", "f()", 3000), 400, 1000},
		{"unknown names", unknown.String(), 100, 100},
		{"arguments of a call", "def f(*args):\n    return args\nx = [0] * 1000000\ny = [f(*x) for _ in range(100000)]\n", 400, 1},
	} {
		var found []inspect.Finding
		got := allocated(func() { _, found, _ = workflow.Inspect(program("w.star", tt.text)) })
		if got > tt.most || len(found) > tt.findings {
			t.Errorf("%s: %d MiB, want %d at most, and %d findings, want %d at most", tt.name, got, tt.most, len(found), tt.findings)
		}
	}
}
