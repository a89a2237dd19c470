package workflow_test

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/collect"
	"hyperscale/core/workflow/glob"
	"hyperscale/core/workflow/request"
)

// elsewhere describes files that do not travel, all of one size.
func elsewhere(large []collect.Large, bytes uint64) []message.FeedFile {
	var all []message.FeedFile
	for i, l := range large {
		all = append(all, message.FeedFile{Name: l.Name, Bytes: bytes, Digest: message.FileDigest{byte(i + 1)}, Whole: l.Whole})
	}
	return all
}

// folder has files by their names; Read reads none that is larger than 1 MiB.
type folder map[string]string

func (d folder) Read(name string) ([]byte, error) {
	text, ok := d[name]
	switch {
	case !ok:
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	case len(text) > 1<<20:
		return nil, fmt.Errorf("%s: %w", name, collect.ErrLarge)
	}
	return []byte(text), nil
}

func (d folder) List(of string) ([]glob.Entry, error) {
	var all []glob.Entry
	for _, name := range slices.Sorted(maps.Keys(d)) {
		text := d[name]
		if below, ok := strings.CutPrefix(name, of+"/"); ok && !strings.Contains(below, "/") {
			all = append(all, glob.Entry{Name: below, Kind: glob.Plain, Bytes: int64(len(text))})
		}
		if of == "" && strings.HasPrefix(name, "up/") {
			all = []glob.Entry{{Name: "up", Kind: glob.Folder}}
		}
		if of == "up" && strings.HasPrefix(name, "up/many/0") {
			all = append(all, glob.Entry{Name: "many", Kind: glob.Folder})
		}
	}
	return all, nil
}

// A pattern finds files that travel and files that do not, in the order of their names. What the
// program names one by one travels first.
func TestGlob(t *testing.T) {
	disk := folder{
		"main.star": `
photos = file.glob("up/*")
big = file("up/big.jpg")
text = file("text.bin")
def pick(vu):
    p = vu.random.choice(photos)
    return vu.http.post("http://h/" + p.name, body = p, headers = {"x-size": str(p.size)})
workflow(name = "w", steps = [step(pick)] + [step("s%d" % i, http.post("http://h/", body = p)) for i, p in enumerate(photos)] + [
    step("form", http.post("http://h/${s}", multipart = {"a": "${s}", "p": photos[0], "q": http.part(big, filename = "q.bin", type = "x/y"), "r": text})),
], feed = feed.list([{"s": "t"}]))
`,
		"up/a.jpg":   strings.Repeat("a", 100<<10),
		"up/big.jpg": strings.Repeat("b", 2<<20),
		"up/mid.jpg": strings.Repeat("c", 257<<10),
		"up/z.jpg":   strings.Repeat("z", 200<<10),
		"text.bin":   strings.Repeat("t", 200<<10),
	}
	files, large, err := collect.Files("main.star", disk)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	if diff := cmp.Diff([]string{"main.star", "text.bin", "up/a.jpg"}, names); diff != "" {
		t.Errorf("files that travel (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]collect.Large{{Name: "up/big.jpg", Whole: true}, {Name: "up/mid.jpg", Whole: true}, {Name: "up/z.jpg", Whole: true}}, large); diff != "" {
		t.Errorf("files that do not (-want +got):\n%s", diff)
	}
	p, err := workflow.Load(message.Program{Main: "main.star", Files: files, Feeds: elsewhere(large, 1000)})
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range p.Files() {
		if f.Name != large[i].Name {
			t.Errorf("file %d to map is %s, want %s", i, f.Name, large[i].Name)
		}
		if _, err := f.Data(); err == nil || !strings.Contains(err.Error(), "not in memory") {
			t.Errorf("%s: got %v", f.Name, err)
		}
		f.Map([]byte("mapped"))
		if data, err := f.Data(); err != nil || string(data) != "mapped" {
			t.Errorf("%s: got %q %v", f.Name, data, err)
		}
	}
	w := p.Workflow("w")
	for i, want := range []string{"up/a.jpg", "up/big.jpg", "up/mid.jpg", "up/z.jpg"} {
		if got := w.Steps[1+i].Request.Files; len(got) != 1 || got[0].File.Name != want || got[0].At != 0 {
			t.Errorf("step %d sends %v, want %s", i, got, want)
		}
	}
	checkForm(t, w.Steps[5].Request)
	c := &fake{answer: func(r *request.Request) *workflow.Response {
		if f := r.Files[0].File; r.URL != "http://h/"+f.Name || r.Headers[0].Value != fmt.Sprint(f.Size) || r.ContentType != "application/octet-stream" {
			t.Errorf("a function sent %+v", r)
		}
		return &workflow.Response{Status: 200}
	}}
	if out := w.NewVU(0, 1, c).Call(0); !out.OK {
		t.Errorf("got %+v", out)
	}
}

// checkForm looks where the files of a form stand, also once its values are filled in.
func checkForm(t *testing.T, r *request.Request) {
	t.Helper()
	for _, r := range []*request.Request{r, r.Filled([][]byte{[]byte("a longer value")})} {
		if len(r.Files) != 2 {
			t.Fatalf("a form has %d files, want 2", len(r.Files))
		}
		for i, want := range []string{
			"name=\"p\"; filename=\"a.jpg\"\r\nContent-Type: application/octet-stream\r\n\r\n",
			"name=\"q\"; filename=\"q.bin\"\r\nContent-Type: x/y\r\n\r\n",
		} {
			at := r.Files[i].At
			if !strings.HasSuffix(string(r.Body[:at]), want) || !strings.HasPrefix(string(r.Body[at:]), "\r\n--hyperscale-") {
				t.Errorf("file %d stands behind %q", i, r.Body[max(0, at-200):at])
			}
		}
	}
}

func TestGlobErrors(t *testing.T) {
	disk := folder{"up/a.jpg": "a"}
	for i := range 1001 {
		disk[fmt.Sprintf("up/many/%d", i)] = "x"
	}
	for _, test := range []struct{ call, want string }{
		{`file.glob("up/*.png")`, `file.glob: no file below the folder of main.star has a name like "up/*.png"`},
		{`file.glob("../*")`, `file.glob: "../*" is not a path inside the file's folder`},
		{`file.glob("/up/*")`, "is not a path inside the file's folder"},
		{`file.glob("up/[a")`, `file.glob: "up/[a" has a [ without its ]`},
		{`file.glob("up" + "/*")`, "the pattern must stand in the call as it is"},
		{`file.glob()`, "file.glob: pattern is missing"},
		{`file.glob("up/many/*")`, "more than 1000 files have such a name"},
		{`file.glob("up/*")[0].digest`, `file has no "digest"`},
		{`len(file.glob("up/*")[0])`, "file"},
		{`json.decode(file.glob("up/*")[0])`, "file"},
	} {
		disk["main.star"] = "x = " + test.call + "\nworkflow(name = \"w\", steps = [step(\"a\", http.get(\"http://h/\"))])\n"
		files, large, err := collect.Files("main.star", disk)
		if err == nil {
			_, err = workflow.Load(message.Program{Main: "main.star", Files: files, Feeds: elsewhere(large, 1)})
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v\nwant %s", test.call, err, test.want)
		}
	}
}

// A large file of rows may be sent, too: it is named twice.
func TestLargeRowsAreSent(t *testing.T) {
	disk := folder{"people.csv": strings.Repeat("user,age\n", 40<<10), "main.star": `
workflow(name = "w", feed = feed.csv("people.csv"), steps = [step("a", http.post("http://h/${user}", body = file("people.csv")))])
`}
	files, large, err := collect.Files("main.star", disk)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]collect.Large{{Name: "people.csv"}, {Name: "people.csv", Whole: true}}, large); diff != "" {
		t.Error(diff)
	}
	feeds := elsewhere(large, 9)
	feeds[0].Rows, feeds[0].Columns = 2, []string{"user", "age"}
	for range 2 { // in any order
		p, err := workflow.Load(message.Program{Main: "main.star", Files: files, Feeds: feeds})
		if err != nil || p.Workflow("w").Feed.Rows != 2 || len(p.Files()) != 1 {
			t.Errorf("got %v", err)
		}
		feeds[0], feeds[1] = feeds[1], feeds[0]
	}
}
