package workflow_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/collect"
)

// examples are the files that users copy, by name.
func examples(t testing.TB) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("../../examples/*.star")
	if err != nil || len(paths) == 0 {
		t.Fatal("no examples", err)
	}
	all := map[string]string{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(path)] = string(data)
	}
	return all
}

// beside returns a program with the files that it reads from the folder of examples.
func beside(t *testing.T, name, text string) message.Program {
	t.Helper()
	files, _, err := collect.Files(name, collect.Reads(func(name string) ([]byte, error) { return os.ReadFile(filepath.Join("../../examples", name)) }))
	if err != nil {
		t.Fatal(err)
	}
	files[0].Data = []byte(text)
	return message.Program{Main: name, Files: files}
}

// The plan of every example is as recorded, takes --set target, and is the same when loaded
// again.
func TestExamples(t *testing.T) {
	//lint:orderfree each file is a test of its own
	for name, text := range examples(t) {
		t.Run(name, func(t *testing.T) {
			p := beside(t, name, text)
			loaded, err := workflow.Load(p)
			if err != nil {
				t.Fatal(err)
			}
			out, err := json.MarshalIndent(loaded.Plan(), "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("testdata", "plans", strings.TrimSuffix(name, ".star")+".json"), string(out)+"\n")
			again, err := workflow.Load(p)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(loaded.Plan(), again.Plan()); diff != "" {
				t.Error("the second load differs:\n" + diff)
			}
			elsewhere := "http://elsewhere:1"
			for _, scheme := range []string{"amqp", "ftp", "grpc", "https", "kafka", "mongodb", "mqtt", "mysql", "nats", "postgres", "redis", "sftp", "smtp", "tcp", "udp"} {
				if strings.Contains(text, `default = "`+scheme+"://") {
					elsewhere = scheme + "://elsewhere:1"
				}
			}
			p.Params = []message.Param{{Name: "target", Value: strings.NewReplacer("postgres://", "postgres://app@", "mysql://", "mysql://app@", "sftp://", "sftp://app@", "ftp://elsewhere:1", "ftp://app@elsewhere:1", "mongodb://elsewhere:1", "mongodb://elsewhere:1/shop").Replace(elsewhere)}}
			p.VUs, p.Duration = 3, 5e9
			set, err := workflow.Load(p)
			if err != nil {
				t.Fatal(err)
			}
			if set.Digest() == loaded.Digest() {
				t.Error("another target has the same digest")
			}
			for _, w := range set.Plan().Workflows {
				if once := w.Name == "before_all" || w.Name == "after_all"; !once && (w.VUs != 3 || w.Duration != 5e9) {
					t.Errorf("%s: %d VUs for %v, want what was set", w.Name, w.VUs, w.Duration)
				}
				for _, s := range set.Workflow(w.Name).Steps {
					if s.Request != nil && s.Request.Custom == nil && !strings.HasPrefix(strings.Replace(s.Request.URL, "scp:", "sftp:", 1), elsewhere) { // a program gets it as an argument
						t.Errorf("%s goes to %s", s.Plan.Name, s.Request.URL)
					}
				}
			}
		})
	}
}

// Every block of the manuals that is marked as a workflow file loads as it is. Every one that
// is marked as an error is rejected with the text below it.
func TestManuals(t *testing.T) {
	for _, name := range []string{"docs/workflows.md", "docs/from-other-tools.md", "docs/first-five-minutes.md", "README.md"} {
		t.Run(name, func(t *testing.T) { manual(t, "../../"+name) })
	}
}

// documented is a program of a manual, with the files that manuals send.
func documented(source string) message.Program {
	p := program("test.star", source)
	for _, name := range []string{"video.mp4", "uploads/a.jpg"} {
		p.Files = append(p.Files, message.File{Name: name, Data: []byte(name)})
	}
	proto, _ := os.ReadFile("../../examples/shop.proto") // without it, what names it does not load
	p.Files = append(p.Files, message.File{Name: "shop.proto", Data: proto})
	return p
}

func manual(t *testing.T, path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```(python|error)\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) == 0 {
		t.Fatal("no workflow file is found in it")
	}
	source := ""
	for i, block := range blocks {
		_, found, err := workflow.Inspect(documented(source))
		if block[1] == "error" {
			said := told(found)
			if err != nil {
				said = err.Error()
			}
			if strings.TrimSpace(said) != strings.TrimSpace(block[2]) {
				t.Errorf("block %d: got\n%s\nwant\n%s", i, said, block[2])
			}
			source = ""
			continue
		}
		if source != "" && err != nil {
			t.Errorf("block %d: %v", i-1, err)
		}
		source = block[2]
	}
	if source != "" {
		if _, err := workflow.Load(documented(source)); err != nil {
			t.Errorf("last block: %v", err)
		}
	}
}

func TestParams(t *testing.T) {
	const text = `
n = param("pages", default = 3)
b = param("strict", default = False)
s = param("text", default = "x", help = "some text")
r = param("must")
workflow(name = "w%d%s%s%s" % (n + 1, b == True, s, r), steps = [step("a", http.get("http://h/"))])
`
	tests := []struct {
		set  string // name=value, ...
		want string // the workflow's name, or part of the error
	}{
		{"must=a", "w4Falsexa"},
		{"must=b,pages=5,strict=true,text=y", "w6Trueyb"},
		{"", `param "must" has no default and was not set`},
		{"must=a,pages=many", `param "pages": the value "many" is not a whole number`},
		{"must=a,strict=yes", `param "strict": the value "yes" is not true or false`},
		{"must=a,page=5", "--set page=...: no file declares a param \"page\"\n  did you mean \"pages\"?"},
	}
	for _, test := range tests {
		p := program("test.star", text)
		for _, pair := range strings.FieldsFunc(test.set, func(r rune) bool { return r == ',' }) {
			name, value, _ := strings.Cut(pair, "=")
			p.Params = append(p.Params, message.Param{Name: name, Value: value})
		}
		loaded, err := workflow.Load(p)
		got := fmt.Sprint(err)
		if err == nil {
			got = loaded.Plan().Workflows[0].Name
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("--set %s: got %s, want %s", test.set, got, test.want)
		}
	}
}

func TestFiles(t *testing.T) {
	disk := map[string]string{
		"main.star":      "load(\"lib/url.star\", \"url\")\nload(\"lib/b.star\", \"b\")\nworkflow(name = b, steps = [step(\"a\", http.get(url))])\n",
		"lib/url.star":   "load(\"lib/b.star\", \"b\")\nurl = \"http://h/\" + b\n",
		"lib/b.star":     "b = \"b\"\n",
		"outside.star":   "load(\"../x.star\", \"x\")\n",
		"missing.star":   "load(\"nowhere.star\", \"x\")\n",
		"large.star":     "x = \"" + strings.Repeat("x", 600<<10) + "\"",
		"wrong.star":     "load(\"broken.star\", \"x\")\n",
		"broken.star":    "x = (\n",
		"exhausted.star": "load(\"lib/b.star\", \"c\")\n",
	}
	read := func(name string) ([]byte, error) {
		if text, ok := disk[name]; ok {
			return []byte(text), nil
		}
		return nil, fmt.Errorf("%s: no such file", name)
	}
	tests := []struct{ main, want string }{
		{"main.star", "main.star lib/url.star lib/b.star"},
		{"outside.star", "outside.star:1:6: load: \"../x.star\" is not a path inside the file's folder"},
		{"missing.star", "missing.star:1:6: load: nowhere.star: no such file"},
		{"gone.star", "read gone.star"},
		{"large.star", "the program's files have 601 KiB, the limit is 512 KiB"},
		{"wrong.star", "broken.star:1:5: this ( is never closed"},
		{"exhausted.star", "load: name c not found in module lib/b.star"},
	}
	for _, test := range tests {
		files, _, err := collect.Files(test.main, collect.Reads(read))
		if err == nil {
			_, err = workflow.Load(message.Program{Main: test.main, Files: files})
		}
		got := fmt.Sprint(err)
		if err == nil {
			var names []string
			for _, f := range files {
				names = append(names, f.Name)
			}
			got = strings.Join(names, " ")
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: got %s, want %s", test.main, got, test.want)
		}
	}
}
