package convert_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/collect"
	"hyperscale/runtime/convert"
	"hyperscale/runtime/convert/curl"
	"hyperscale/runtime/engine"
)

// A line of testdata/differential is a command that a user pastes. The lines above it may be
//
//	# set name=value    the value of a param, as a file has no secrets
//	# told text         a required note; requests are still compared
//	# not compared      the next line needs a note and cannot be expressed in a workflow file
//	# curl ...          what bash runs instead of the line, which is for another shell
type pasted struct {
	name, line, bash string
	set, told        []string
	alone            bool
}

func pastes(t *testing.T) []pasted {
	t.Helper()
	var all []pasted
	files, err := filepath.Glob(filepath.Join("testdata", "differential", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, block := range strings.Split(string(text), "\n---\n") {
			one := pasted{name: fmt.Sprintf("%s/%02d", strings.TrimSuffix(filepath.Base(file), ".txt"), i+1)}
			for strings.HasPrefix(block, "# ") {
				line, rest, _ := strings.Cut(block, "\n")
				key, value, _ := strings.Cut(line[2:], " ")
				switch block = rest; key {
				case "set":
					one.set = append(one.set, value)
				case "told":
					one.told = append(one.told, value)
				case "not":
					one.alone = true
				case "curl":
					one.bash = line[2:]
				default:
					t.Fatalf("%s: %s is not known", one.name, key)
				}
			}
			one.line = strings.TrimSuffix(block, "\n")
			if one.bash == "" {
				one.bash = one.line
			}
			all = append(all, one)
		}
	}
	return all
}

// arrived is a request as a server understands it.
type arrived struct {
	Method, Path string
	Query        string
	Headers      map[string][]string
	Body         any
}

// escape is one in a URL: its letters are large or small.
var escape = regexp.MustCompile(`%[0-9a-f]{2}`)

// listener keeps what arrives.
type listener struct {
	mutex sync.Mutex
	all   []arrived
}

func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		data = []byte(err.Error())
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.all = append(l.all, arrivedOf(r, data))
	if to := r.Header.Get("X-Redirect"); to != "" && r.URL.Path != "/landed" {
		w.Header().Set("Location", "/landed")
		w.WriteHeader(map[string]int{"301": 301, "302": 302, "303": 303, "307": 307, "308": 308}[to])
	}
}

func (l *listener) take() []arrived {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	all := l.all
	l.all = nil
	return all
}

func arrivedOf(r *http.Request, data []byte) arrived {
	a := arrived{Method: r.Method, Path: escape.ReplaceAllStringFunc(r.URL.EscapedPath(), strings.ToUpper), Query: plainQuery(r.URL.RawQuery), Headers: map[string][]string{"Host": {r.Host}}}
	kind, options, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	//lint:orderfree into another map
	for name, values := range r.Header {
		switch name {
		case "User-Agent", "Accept":
			if value := values[0]; strings.HasPrefix(value, "curl/") || strings.HasPrefix(value, "hyperscale") || value == "*/*" {
				continue // of the client, not of the line
			}
		case "Accept-Encoding":
			if values[0] != "br" {
				continue
			}
		case "Cookie":
			values = strings.Split(strings.ReplaceAll(strings.Join(values, ";"), "; ", ";"), ";")
		case "Content-Length", "Connection", "Expect":
			continue
		case "Content-Type":
			switch kind {
			case "multipart/form-data":
				values = []string{kind}
			case "application/octet-stream":
				continue // which none means too (RFC 9110, 8.3)
			}
		}
		a.Headers[name] = values
	}
	a.Body = bodyOf(kind, options["boundary"], data)
	return a
}

// plainQuery undoes escapes: %20 and + are one to servers.
func plainQuery(raw string) string {
	all := []string{}
	for _, part := range strings.Split(raw, "&") {
		if text, err := url.QueryUnescape(part); err == nil {
			part = text
		}
		if part != "" {
			all = append(all, part)
		}
	}
	return strings.Join(all, " & ")
}

func bodyOf(kind, boundary string, data []byte) any {
	switch kind {
	case "application/x-www-form-urlencoded":
		return plainQuery(string(data))
	case "application/json":
		var v any
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		if d.Decode(&v) == nil && bytes.Count(data, []byte(`":`)) == bytes.Count(bytes.ReplaceAll(data, []byte(`" :`), []byte(`":`)), []byte(`":`)) {
			return v
		}
	case "multipart/form-data":
		var parts []string
		for r := multipart.NewReader(bytes.NewReader(data), boundary); ; {
			p, err := r.NextRawPart()
			if err != nil {
				return parts
			}
			text, _ := io.ReadAll(p) // a shorter body shows in the comparison
			parts = append(parts, fmt.Sprintf("%s|%s|%s|%q", p.FormName(), p.FileName(), p.Header.Get("Content-Type"), text))
		}
	}
	return string(data)
}

// TestSendsWhatCurlSends runs each line with curl itself and as its conversion: the same
// requests arrive, or a note reports the difference.
func TestSendsWhatCurlSends(t *testing.T) {
	for _, program := range []string{"curl", "bash"} {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("HYPERSCALE_CI") != "" {
				t.Fatal(err) // without curl's own requests there is nothing to compare with
			}
			t.Skip(err)
		}
	}
	folder := t.TempDir()
	for name, text := range map[string]string{"a.txt": "first\r\nsecond\n", "b.json": "{\"n\": 1}", "note.txt": "x=1&y=2\n", "h.txt": "X-File: yes\n", "raw.bin": "\x00\xff\xfe"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l := &listener{}
	server := httptest.NewServer(l)
	defer server.Close()
	for _, one := range pastes(t) {
		t.Run(one.name, func(t *testing.T) {
			made, got := l.converted(t, one, folder, server.URL)
			for _, told := range one.told {
				if !slices.ContainsFunc(made.Notes, func(n string) bool { return strings.Contains(n, told) }) {
					t.Errorf("%q is not told of %s: %q", told, one.line, made.Notes)
				}
			}
			if one.alone {
				return
			}
			bash := exec.CommandContext(t.Context(), "bash", "-c", strings.ReplaceAll(one.bash, "URL", server.URL))
			bash.Dir, bash.Env = folder, append(os.Environ(), "CURL_HOME="+folder, "no_proxy=*")
			if out, err := bash.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			want := l.take()
			if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
				t.Errorf("%s\n(-curl +made):\n%s\n%s\nnotes %q", one.line, diff, made.Text, made.Notes)
			}
		})
	}
}

func (l *listener) converted(t *testing.T, one pasted, folder, server string) (*convert.File, []arrived) {
	t.Helper()
	read := func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(folder, filepath.FromSlash(name))) }
	made, err := curl.Convert(strings.ReplaceAll(one.line, "URL", server), convert.Options{File: "made.star", Has: func(name string) bool {
		_, err := read(name)
		return err == nil
	}})
	if err != nil {
		t.Fatalf("%s: %v", one.line, err)
	}
	styled(t, made.Text)
	files, _, err := collect.Files("made.star", collect.Reads(func(name string) ([]byte, error) {
		if name == "made.star" {
			return []byte(made.Text), nil
		}
		return read(name)
	}))
	if err != nil {
		t.Fatalf("%v\n%s", err, made.Text)
	}
	program := message.Program{Main: "made.star", Files: files, Seed: 1}
	for _, set := range one.set {
		name, value, _ := strings.Cut(set, "=")
		program.Params = append(program.Params, message.Param{Name: name, Value: value})
	}
	loaded, err := workflow.Load(program)
	if err != nil {
		t.Fatalf("%v\n%s", err, made.Text)
	}
	for _, name := range slices.Sorted(maps.Keys(workflows(loaded))) {
		w := loaded.Workflow(name)
		w.Plan.Think, w.Plan.ThinkMax = 0, 0
		if _, err := engine.Run(t.Context(), engine.Config{Workflow: w, VUs: 1, Seed: 1, Timeout: 5 * time.Second}); err != nil {
			t.Fatalf("%v\n%s", err, made.Text)
		}
	}
	return made, l.take()
}

func workflows(p *workflow.Program) map[string]bool {
	all := map[string]bool{}
	for _, plan := range p.Plan().Workflows {
		all[plan.Name] = true
	}
	return all
}
