package convert_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/convert"
	"hyperscale/runtime/convert/curl"
	"hyperscale/runtime/convert/har"
	"hyperscale/runtime/convert/openapi"
	"hyperscale/runtime/convert/postman"
	"hyperscale/runtime/edit/format"
	"hyperscale/runtime/report/reporttest"
)

// readers are the kinds of sources, by the folder of their corpus.
var readers = map[string]func([]byte, convert.Options) (*convert.File, error){
	"curl":    func(data []byte, o convert.Options) (*convert.File, error) { return curl.Convert(string(data), o) },
	"har":     har.Convert,
	"openapi": openapi.Convert,
	"postman": postman.Convert,
}

// corpus are the files from the wild of a kind.
func corpus(t testing.TB, kind string) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", kind, "*"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(path)] = data
	}
	return all
}

// loads fails unless the text is a workflow file without a mistake.
func loads(t testing.TB, text string) *workflow.Program {
	t.Helper()
	loaded, err := workflow.Load(message.Program{Main: "made.star", Files: []message.File{{Name: "made.star", Data: []byte(text)}}, Seed: 1})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return loaded
}

// What people have is converted, loads, and is what testdata/golden says, notes and all.
func TestCorpus(t *testing.T) {
	least := map[string]int{"curl": 40, "har": 10, "openapi": 10, "postman": 5}
	//lint:orderfree each is a test of its own
	for kind, read := range readers {
		files := corpus(t, kind)
		if len(files) < least[kind] {
			t.Errorf("%d files of %s, want %d", len(files), kind, least[kind])
		}
		//lint:orderfree each is a test of its own
		for name, data := range files {
			t.Run(kind+"/"+name, func(t *testing.T) {
				made, err := read(data, convert.Options{File: "made.star", From: name})
				if err != nil {
					t.Fatal(err)
				}
				loads(t, made.Text)
				styled(t, made.Text)
				got := made.Text + "\n"
				for _, note := range made.Notes {
					got += "# note: " + note + "\n"
				}
				reporttest.Golden(t, filepath.Join("testdata", "golden", kind+"-"+name+".star"), got)
				all, err := read(data, convert.Options{File: "made.star", From: name, All: true, Has: func(string) bool { return false }})
				if err != nil {
					t.Fatal(err)
				}
				loads(t, all.Text)
				styled(t, all.Text)
			})
		}
	}
}

// styled fails unless the text is in the formatter's style.
func styled(t testing.TB, text string) {
	t.Helper()
	got, err := format.File("made.star", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(text, string(got)); diff != "" {
		t.Errorf("it is not in the one style (-made +formatted):\n%s", diff)
	}
}

// The converted requests equal those of the original line, as another HTTP implementation reads
// them.
func TestCurlSaysTheSame(t *testing.T) {
	type asked struct{ Method, URI, Kind, Body, Header string }
	var got asked
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body := make([]byte, 1000)
		n, _ := r.Body.Read(body)
		got = asked{r.Method, r.URL.RequestURI(), r.Header.Get("Content-Type"), string(body[:n]), r.Header.Get("X-A")}
	}))
	defer server.Close()
	for _, test := range []struct {
		line string
		want asked
	}{
		{`curl URL/a?b=c`, asked{"GET", "/a?b=c", "", "", ""}},
		{`curl URL/a -d 'x=1&y=a%20b'`, asked{"POST", "/a", "application/x-www-form-urlencoded", "x=1&y=a+b", ""}},
		{`curl -XPUT URL/a -H 'X-A: it'\''s' --json '{"a":[1,"$${x}",null,true,1.5]}'`, asked{"PUT", "/a", "application/json", `{"a":[1,"$${x}",null,true,1.5]}`, "it's"}},
		{`curl -G URL/a --data-urlencode 'q=a b&c' -d z=2`, asked{"GET", "/a?q=a+b%26c&z=2", "", "", ""}},
		{`curl URL/a -d $'a\nb' -H 'content-type: text/plain'`, asked{"POST", "/a", "text/plain", "a\nb", ""}},
	} {
		made, err := curl.Convert(strings.ReplaceAll(test.line, "URL", server.URL), convert.Options{File: "a.star"})
		if err != nil {
			t.Fatal(test.line, err)
		}
		loaded := loads(t, made.Text)
		for _, s := range loaded.Workflow("a").Steps {
			send(t, s.Request)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s\n%s\n%s", test.line, diff, made.Text)
		}
	}
}

// send sends a request as net/http does.
func send(t *testing.T, r *request.Request) {
	t.Helper()
	address := r.URL
	query := url.Values{}
	for _, p := range r.Params {
		query.Add(p.Name, p.Value)
	}
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	request, err := http.NewRequest(r.Method, address, strings.NewReader(string(r.Body)))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", r.ContentType)
	if r.ContentType == "" {
		request.Header.Del("Content-Type")
	}
	for _, h := range r.Headers {
		request.Header.Set(h.Name, h.Value)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
}
