package format_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hyperscale/core/workflow/language"
	"hyperscale/runtime/edit/format"
)

// Every example, and the file that `new` writes, is in the style.
func TestExamplesAreFormatted(t *testing.T) {
	paths, err := filepath.Glob("../../../examples/*.star")
	if err != nil || len(paths) == 0 {
		t.Fatal("no examples", err)
	}
	for _, path := range append(paths, "../../../cmd/hyperscale/internal/author/scaffold.star") {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := format.File(path, data)
		if err != nil {
			t.Error(err)
		} else if diff := cmp.Diff(string(data), string(got)); diff != "" {
			t.Errorf("%s is not formatted, run `hyperscale fmt %s` (-is +should):\n%s", path, path, diff)
		}
	}
}

// Every workflow file of the manuals can be formatted.
func TestManuals(t *testing.T) {
	for _, name := range []string{"workflows.md", "from-other-tools.md", "first-five-minutes.md"} {
		text, err := os.ReadFile("../../../docs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		blocks := regexp.MustCompile("(?s)```python\n(.*?)```").FindAllStringSubmatch(string(text), -1)
		if len(blocks) == 0 {
			t.Fatalf("%s: no workflow file is found in it", name)
		}
		for _, block := range blocks {
			stable(t, block[1])
		}
	}
}

// stable formats a text that must be formattable, twice.
func stable(t *testing.T, text string) string {
	t.Helper()
	once, err := format.File("test.star", []byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	twice, err := format.File("test.star", once)
	if err != nil || string(once) != string(twice) {
		t.Fatalf("formatted again, it differs (%v):\n%s", err, cmp.Diff(string(once), string(twice)))
	}
	return string(once)
}

func TestFile(t *testing.T) {
	tests := []struct{ name, give, want string }{
		{"empty", "", ""},
		{"spaces", "x=1\ny  =  f(a=2,b =3)\n", "x = 1\ny = f(a = 2, b = 3)\n"},
		{"lists", "x = [\n1,\n  2]\n", "x = [\n    1,\n    2,\n]\n"},
		{"comments", "# head\n\nx=1 # why\nd = {\n# inside\n'a':1}\n# tail\n", "# head\n\nx = 1  # why\nd = {\n    # inside\n    \"a\": 1,\n}\n# tail\n"},
		{"while", "def f(vu):\n  n=0\n  while n<3:\n    while (True): n+=1 # while\n  else_=1\n", "def f(vu):\n    n = 0\n    while n < 3:\n        while (True):\n            n += 1  # while\n    else_ = 1\n"},
		{"while in else", "def f():\n  if x: pass\n  else:\n    while y: pass\n", "def f():\n    if x:\n        pass\n    else:\n        while y:\n            pass\n"},
		{"windows", "x=1\r\ny=2\r\n", "x = 1\ny = 2\n"},
		{"bytes", "é = [b'x', rb'\\d', f(b\"\"\"y\"\"\")]\n", ""},
		{"strings", "x = 'it\\'s' + r'\\d' + b'x' + rb'\\d' + \"\"\"a\n  b\"\"\"\n", ""},
		{"names", "while_0 = 1\nwhile while_0: while_0 = 0\n", "while_0 = 1\nwhile while_0:\n    while_0 = 0\n"},
		{"lambda", "f=lambda vu,a=1,*b,**c:a if b else [i for i in c if i]\n", "f = lambda vu, a = 1, *b, **c: a if b else [i for i in c if i]\n"},
		{"docstring", "def f():\n  '''one\n\n  two\n  '''\n  return 1\n", ""},
		{"set", "x = {1:2}|{3:4}; y = not x; z = x  not   in y\n", ""},
		{"load", "load('b.star','b')\nload('a.star', a='c', )\n", "load(\"b.star\", \"b\")\nload(\"a.star\", a = \"c\")\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := stable(t, test.give)
			if test.want != "" || test.give == "" {
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			}
		})
	}
}

func TestRefused(t *testing.T) {
	tests := []struct{ give, want string }{
		{"x = (\n", "test.star:1:5: this ( is never closed"},
		{"\xff", "not UTF-8"},
		{strings.Repeat("(", 300), "nested more than 200 deep"},
		{"x = \"" + strings.Repeat("x", format.BytesMax) + "\"", "more than a workflow file may"},
	}
	for _, test := range tests {
		_, err := format.File("test.star", []byte(test.give))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
	var wrong *language.Error
	if _, err := format.File("test.star", []byte("x = (")); !errors.As(err, &wrong) || wrong.Line != 1 {
		t.Errorf("got %v, want the place", err)
	}
}

// Whatever parses is formatted, to the same meaning, once and for all; or is refused.
func FuzzFile(f *testing.F) {
	f.Add([]byte("workflow(name = 'a', steps=[step('b', http.get('http://h/'))]) # c\n"))
	f.Add([]byte("def f(vu):\n while vu:\n  if x: pass\n  elif y: break\n  else: continue\n return {'a': 1, # b\n}\n"))
	f.Add([]byte("x = [i for i in y if i][1:2:3] + -1 * (2 + 3) // 4, lambda *a, **b: not a\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4<<10 {
			return
		}
		once, err := format.File("f.star", data)
		if err != nil {
			return
		}
		twice, err := format.File("f.star", once)
		if err != nil || string(once) != string(twice) {
			t.Errorf("formatted again, it differs: %v\n%q\n%q", err, once, twice)
		}
	})
}
