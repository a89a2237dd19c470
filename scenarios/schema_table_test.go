package scenarios_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// rewritten lists functions, a bug in each, and the result of a call without and with it.
var rewritten = []struct{ what, source, find, replace, call, clean, planted string }{
	{"a function", `func plain(a int) int { return a + 1 }`, "a + 1", "a - 1", `plain(5)`, "6", "4"},
	{"no result", `func set(p *int) { *p = 1 }`, "= 1", "= 2", `func() (n int) { set(&n); return n }()`, "1", "2"},
	{"an empty body", `func empty(p *int) {}`, "{}", "{ *p = 3 }", `func() (n int) { empty(&n); return n }()`, "0", "3"},
	{"a body that goes", "func gone(p *int) {\n\t*p = 7\n}", "\t*p = 7\n", "", `func() (n int) { gone(&n); return n }()`, "7", "0"},
	{"a method", `func (c counter) next(by int) int { return int(c) + by }`, "+ by", "* by", `counter(4).next(3)`, "7", "12"},
	{"a method of a pointer", `func (c *counter) add(by counter) { *c += by }`, "+=", "-=", `func() counter { c := counter(4); c.add(3); return c }()`, "7", "1"},
	{"a method as a value", `func (c counter) half() int { return int(c) / 2 }`, "/ 2", "/ 3", `(counter.half)(12)`, "6", "4"},
	{"a receiver without a name", `func (counter) fixed() int { return 1 }`, "1", "2", `counter(0).fixed()`, "1", "2"},
	{"a blank receiver", `func (_ *counter) other() int { return 1 }`, "1", "2", `new(counter).other()`, "1", "2"},
	{"named results", `func named(a int) (n int, ok bool) { defer func() { n++ }(); n = a; return n, true }`, "n++", "n += 5",
		`func() int { n, _ := named(1); return n }()`, "2", "6"},
	{"a result that a defer gives", `func saved() (n int) { defer func() { recover(); n = 8 }(); panic("x") }`, "n = 8", "n = 9", `saved()`, "8", "9"},
	{"a variadic", `func sum(from int, all ...int) int { return from + len(all) }`, "+ len", "- len", `sum(5, 1, 1)`, "7", "3"},
	{"a blank variadic", `func ignored(_ ...int) int { return 1 }`, "1", "2", `ignored(4, 4)`, "1", "2"},
	{"parameters without names", `func unnamed(int, ...string) int { return 1 }`, "1", "2", `unnamed(4, "a", "b")`, "1", "2"},
	{"blank parameters", `func blank(_, b int, _ string) int { return b }`, "{ return b", "{ return -b", `blank(1, 2, "")`, "2", "-2"},
	{"a generic function", `func first[K comparable, V any](k K, _ V) []K { return []K{k} }`, "{k}", "{k, k}", `first(1, "a")`, "[1]", "[1 1]"},
	{"a type that no parameter tells", `func size[T any]() int { var all [2]T; return len(all) }`, "[2]T", "[3]T", `size[string]()`, "2", "3"},
	{"a generic receiver", `func (p *pair[K, _]) key() K { return p.k }`, "p.k }", "*new(K) }", `(&pair[int, string]{k: 4}).key()`, "4", "0"},
	{"a recursion", `func down(n int) int { if n == 0 { return 0 }; return 1 + down(n-1) }`, "1 + down", "2 + down", `down(4)`, "4", "8"},
	{"an import that only the bug uses here", `func loud(s string) string { return s }`, "return s", "return strings.ToUpper(s)", `loud("a")`, "a", "A"},
	{"an import that the bug does not use", `func trim(s string) string { return strings.TrimSpace(s) }`, "strings.TrimSpace(s)", `s + "!"`, `trim(" a")`, "a", " a!"},
	{"a parameter named as an import", `func shadow(strings []int) int { return len(strings) }`, "len(strings)", "cap(strings)", `shadow(make([]int, 1, 2))`, "1", "2"},
	{"an init", `func init() { started = 1 }`, "= 1", "= 2", `started`, "1", "2"},
}

const rewrittenBegin = `package main

import (
	"fmt"
	"strings"
)

type counter int

type pair[K, V any] struct { k K; v V }

var started = 0

var _ = strings.Compare // each bug leaves the import used

`

// Each bug changes the result of its function and nothing else; without a bug nothing changes.
func TestVariantsStandBesideTheirFunctions(t *testing.T) {
	dir := t.TempDir()
	var text, calls strings.Builder
	text.WriteString(rewrittenBegin)
	for _, row := range rewritten {
		text.WriteString(row.source + "\n\n")
		fmt.Fprintf(&calls, "\tfmt.Println(%s)\n", row.call)
	}
	original := text.String() + "func main() {\n" + calls.String() + "}\n"
	s, err := newSchema(original)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range rewritten {
		if !s.plant(i+1, strings.Replace(original, row.source, strings.Replace(row.source, row.find, row.replace, 1), 1)) {
			t.Fatalf("%s: takes it for more than a body", row.what)
		}
	}
	heads := s.heads("probe")
	if got, want := strings.Count(heads, "\n"), strings.Count(original, "\n"); got != want {
		t.Errorf("the heads have %d lines, the original %d", got, want)
	}
	//lint:orderfree writes each file
	for name, content := range map[string]string{"go.mod": "module probe\n\ngo 1.26\n", "main.go": heads, "main_planted.go": s.beside(), "planted/planted.go": plantedPackage} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	bin := filepath.Join(dir, "probe")
	build := exec.Command("go", "build", "-o", bin, ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, heads+s.beside())
	}
	for bug := range len(rewritten) + 1 {
		run := exec.Command(bin)
		run.Env = append(os.Environ(), chosen(bug))
		out, err := run.CombinedOutput()
		lines := strings.Split(string(out), "\n")
		if err != nil || len(lines) != len(rewritten)+1 {
			t.Fatalf("%v\n%s", err, out)
		}
		for i, row := range rewritten {
			want := row.clean
			if bug == i+1 {
				want = row.planted
			}
			if lines[i] != want {
				t.Errorf("%s, bug %d: got %s, want %s", row.what, bug, lines[i], want)
			}
		}
	}
}

// A bug that changes more than a body, or does not compile, gets its own build. The first row
// changes a body only, which shows that the table can fail.
func TestMoreThanBodiesIsBuiltAlone(t *testing.T) {
	original := "package p\n\nimport \"strings\"\n\nconst c = 1\n\ntype t struct{ a int }\n\nvar v = 1\n\nfunc f(a int) int { return len(strings.Fields(\"x\")) }\n"
	for _, row := range []struct {
		what, find, replace string
		body                bool
	}{
		{"a body", `"x"`, `"x y"`, true},
		{"a constant", "c = 1", "c = 2", false},
		{"a variable", "v = 1", "v = 2", false},
		{"a field", "{ a int }", "{ a, b int }", false},
		{"a parameter's name", "f(a int)", "f(b int)", false},
		{"a result", ") int {", ") int8 {", false},
		{"a new function", "func f", "func g() {}\n\nfunc f", false},
		{"a function that goes", "func f(a int) int { return len(strings.Fields(\"x\")) }", "", false},
		{"an import without a use", `len(strings.Fields("x"))`, "1", false},
		{"no syntax", "return", "return (", false},
	} {
		s, err := newSchema(original)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.plant(1, strings.Replace(original, row.find, row.replace, 1)); got != row.body || len(s.variants) > 0 != got {
			t.Errorf("%s: stands beside the original: %v, want %v; %d variants", row.what, got, row.body, len(s.variants))
		}
	}
}

// A compiler error in a variant leaves out the bug of that variant, and no other.
func TestComplaintsNameTheirBug(t *testing.T) {
	original := "package p\n\nfunc f() int {\n\treturn 1\n}\n"
	c, err := newSchema(original)
	if err != nil {
		t.Fatal(err)
	}
	for bug, body := range []string{"return 2", "a := 1\n\treturn 3"} {
		if !c.plant(bug+1, strings.Replace(original, "return 1", body, 1)) {
			t.Fatal(bug)
		}
	}
	lines := strings.Split(c.beside(), "\n")
	for i, line := range lines {
		s := &schemata{bugs: map[string]int{"first": 1, "second": 2}, apart: map[string]bool{}, named: map[string]*schema{"planted4.go": c}}
		some := s.leaveOut(fmt.Appendf(nil, "core/p/planted4.go:%d:2: declared and not used: a\n", i+1))
		if second := strings.Contains(line, "a := 1"); second && (!some || !s.apart["second"] || s.apart["first"]) {
			t.Errorf("line %d, %q: leaves out %v", i+1, line, s.apart)
		}
	}
	if !strings.Contains(c.beside(), "a := 1") {
		t.Error("the bug is not there")
	}
}
