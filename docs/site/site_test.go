package site_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"hyperscale/docs/site"
)

// TestManuals: the manuals as they stand have no dead link, no missing image, no page that
// no menu names; and their pages ask for nothing.
func TestManuals(t *testing.T) {
	files, faults := site.Build(os.DirFS("../.."))
	for _, f := range faults {
		t.Error(f)
	}
	again, _ := site.Build(os.DirFS("../.."))
	if !maps.EqualFunc(files, again, bytes.Equal) {
		t.Error("two sites of one tree differ")
	}
	asks := regexp.MustCompile(`(?i)<script|<iframe|<object|src="?(https?:)?//|@import|url\(|<link [^>]*href="[^d]`)
	for name, content := range files {
		if path.Ext(name) != ".html" {
			continue
		}
		head, _, _ := strings.Cut(string(content), "<main")
		if found := asks.FindString(string(content)); found != "" {
			t.Errorf("%s asks for something: %q", name, found)
		}
		if !strings.Contains(head, `<meta name="viewport"`) || !regexp.MustCompile(`<title>[^<]+</title>`).MatchString(head) {
			t.Errorf("%s has no title, or no viewport", name)
		}
	}
	for _, want := range []string{"index.html", "first-five-minutes.html", "workflows.html", "result.html", "scenarios.html", "operations.html", "proof.html", "design.html", "run.svg", "files/examples/quickstart.star.html"} {
		if len(files[want]) == 0 {
			t.Errorf("%s is not there", want)
		}
	}
	for _, want := range []string{`<a href="workflows.html" aria-current="page">`, `<h2 id="load">Load`, `<li class="level3"><a href="#http2">`, `<div class="wide"><table>`, `class="language-python"`} {
		if !strings.Contains(string(files["workflows.html"]), want) {
			t.Errorf("workflows.html has no %s", want)
		}
	}
	if scenarios := string(files["scenarios.html"]); strings.Contains(scenarios, "<!--") || !strings.Contains(scenarios, `<ul class="index">`) || !strings.Contains(scenarios, `href="design.html"`) {
		t.Error("scenarios.html keeps its comments, has no columns, or does not lead to the design")
	}
}

// tree is a repository with all pages of the menu.
func tree() fstest.MapFS {
	t := fstest.MapFS{"README.md": {Data: []byte("# Read me\n")}}
	for _, s := range site.Navigation() {
		for _, e := range s.Entries {
			if path.Ext(e.Source) == ".md" {
				t[e.Source] = &fstest.MapFile{Data: []byte("# A title\n\n## Part one\n")}
			} else {
				t[path.Join(e.Source, "a.star")] = &fstest.MapFile{Data: []byte("x = 1 # <b>\n")}
			}
		}
	}
	return t
}

// TestFaults plants one in a repository that has none.
func TestFaults(t *testing.T) {
	if _, faults := site.Build(tree()); len(faults) > 0 {
		t.Fatal(faults)
	}
	for _, test := range []struct{ file, text, want string }{
		{"docs/result.md", "[x](workflows.md#part-one) [y](#title) [z](../examples) [a](../examples/a.star) [e](https://example.com/)\n\n# Title\n", ""},
		{"docs/result.md", "# T\n\nsee\n[x](workflow.md)\n", `docs/result.md:4: "workflow.md" leads to docs/workflow.md, which is not there`},
		{"docs/result.md", "# T\n\n[x](workflows.md#part-two)\n", "docs/result.md:3: docs/workflows.md has no heading #part-two"},
		{"docs/result.md", "# T\n\n[x](workflows.md#part)\n", "docs/result.md:3: docs/workflows.md has no heading #part (is #part-one meant?)"},
		{"docs/result.md", "# T\n\n[x](#parts)\n", "docs/result.md:3: docs/result.md has no heading #parts"},
		{"docs/result.md", "# T\n\n![x](no.svg)\n", `docs/result.md:3: "no.svg" leads to docs/no.svg, which is not there`},
		{"docs/result.md", "# T\n\n![x](https://example.com/x.svg)\n", "is elsewhere, and a page asks for nothing"},
		{"docs/result.md", "# T\n\n![x](workflows.md)\n", "the image docs/workflows.md is none of .svg, .png"},
		{"docs/result.md", "# T\n\n[x](/etc/passwd)\n", `the link "/etc/passwd" is neither`},
		{"docs/result.md", "# T\n\n[x](../../x.md)\n", `"../../x.md" leads to ../x.md, which is not there`},
		{"docs/result.md", "# T\n\n[x](javascript:alert(1))\n", `the link "javascript:alert(1)" is neither`},
		{"docs/result.md", "# T\n\n<b>x</b>\n", "docs/result.md:3: HTML is not kept but comments"},
		{"docs/result.md", "# T\n\n<!-- a --> <script>x</script>\n", "HTML is not kept but comments"},
		{"docs/result.md", "no title\n", "docs/result.md: its first heading is no title"},
		{"docs/new.md", "# T\n", "docs/new.md: no navigation names it"},
		{"README.md", "# T\n\n[x](docs/no.md)\n", `README.md:3: "docs/no.md" leads to docs/no.md`},
		{"examples/a.star", "\xff", "examples/a.star: it is no text"},
		{"examples/a.star", strings.Repeat("x", 1<<19), "examples/a.star: 524288 bytes are too many"},
	} {
		planted := tree()
		planted[test.file] = &fstest.MapFile{Data: []byte(test.text)}
		_, faults := site.Build(planted)
		if got := strings.Trim(fmt.Sprint(faults), "[]"); test.want == "" && len(faults) > 0 && !strings.Contains(got, "no title") || !strings.Contains(got, test.want) {
			t.Errorf("%q in %s: got %s, want %s", test.text, test.file, got, test.want)
		}
	}
	missing := tree()
	delete(missing, "docs/proof.md")
	if _, faults := site.Build(missing); fmt.Sprint(faults) != "[docs/proof.md: it is not there]" {
		t.Errorf("without a page of the menu: %v", faults)
	}
}

// TestPage checks the parts of a page and their places.
func TestPage(t *testing.T) {
	planted := tree()
	planted["docs/pic.svg"] = &fstest.MapFile{Data: []byte("<svg/>")}
	planted["testdata/note.md"] = &fstest.MapFile{Data: []byte("# Note\n\n[up](../docs/result.md#c--d)\n")}
	planted["docs/result.md"] = &fstest.MapFile{Data: []byte("# A `b` & \\<c>\n\n<!-- hidden -->\n## C & d\n\n![p](pic.svg) [n](../testdata/note.md) [ex](../examples)\n\n## C & D\n")}
	files, faults := site.Build(planted)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	for name, wants := range map[string][]string{
		"result.html":                 {"<title>A b &amp; &lt;c&gt; · Hyperscale</title>", `<h2 id="c--d">C &amp; d`, `<h2 id="c--d-1">`, `<img src="pic.svg" alt="p">`, `href="files/testdata/note.md.html"`, `href="files/examples/index.html"`},
		"files/testdata/note.md.html": {`href="../../result.html#c--d"`},
		"files/examples/a.star.html":  {"<pre><code>x = 1 # &lt;b&gt;\n</code></pre>", `<h1>a.star</h1>`, `href="../../workflows.html"`},
		"files/examples/index.html":   {`<a href="a.star.html">a.star</a>`},
		"pic.svg":                     {"<svg/>"},
		"first-five-minutes.html":     {`rel="prev">← What it is`, `rel="next">From k6`},
	} {
		for _, want := range wants {
			if !strings.Contains(string(files[name]), want) {
				t.Errorf("%s has no %s:\n%s", name, want, files[name])
			}
		}
	}
}

func TestBlocks(t *testing.T) {
	const text = "# T\n\n<!-- ci: not run: it needs\nroot -->\n```sh\nmake chaos\n```\n\n    indented one\n    two\n\n- a `span\n  of code`\n\n  ```console\n  $ x\n  y\n  ```\n"
	want := []site.Block{
		{Line: 6, Language: "sh", Text: "make chaos\n", Note: "not run: it needs root"},
		{Line: 9, Text: "indented one\ntwo\n"},
		{Line: 16, Language: "console", Text: "$ x\ny\n"},
	}
	if diff := cmp.Diff(want, site.Blocks([]byte(text))); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]site.Span{{Line: 12, Text: "span of code"}}, site.Spans([]byte(text))); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	all := site.Blocks([]byte("<!-- ci: every block: not run: why -->\n\n    a\n\n<!-- ci: test -->\n```sh\nb\n```\n"))
	if len(all) != 2 || all[0].Note != "not run: why" || all[1].Note != "test" {
		t.Errorf("notes: %+v", all)
	}
}

func TestSave(t *testing.T) {
	folder := t.TempDir()
	if err := site.Save(map[string][]byte{"a.html": []byte("a"), "files/b/c.html": []byte("c")}, filepath.Join(folder, "out")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(folder, "out", "files", "b", "c.html")); err != nil || string(got) != "c" {
		t.Errorf("got %q, %v", got, err)
	}
}
