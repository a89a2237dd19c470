package language_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/collect"
	"hyperscale/core/workflow/inspect"
	"hyperscale/docs"
	"hyperscale/runtime/edit/language"
	"hyperscale/runtime/edit/manual"
)

// editor is the other end of a session.
type editor struct {
	t    *testing.T
	in   io.WriteCloser
	out  *bufio.Reader
	done chan error
	id   int
}

func load(path string, open func(string) ([]byte, error)) (*workflow.Program, []inspect.Finding, error) {
	files, _, err := collect.Files(filepath.Base(path), collect.Reads(func(name string) ([]byte, error) {
		at := filepath.Join(filepath.Dir(path), name)
		if data, err := open(at); err == nil {
			return data, nil
		}
		return os.ReadFile(at)
	}))
	if err != nil {
		return nil, nil, err
	}
	return workflow.Inspect(message.Program{Main: filepath.Base(path), Files: files, Seed: 1})
}

func newEditor(t *testing.T) *editor {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	e := &editor{t: t, in: toServer, out: bufio.NewReader(fromServer), done: make(chan error, 1)}
	server := &language.Server{Load: load, Manual: manual.New(docs.Workflows, workflow.Words()), Version: "test"}
	go func() {
		err := server.Serve(in, out)
		_ = out.Close()
		e.done <- err
	}()
	silent := time.AfterFunc(time.Minute, func() { _ = fromServer.Close() }) // the test fails, and does not hang
	t.Cleanup(func() { silent.Stop(); _ = toServer.Close(); _ = fromServer.Close() })
	return e
}

func (e *editor) send(body string) {
	e.t.Helper()
	if _, err := fmt.Fprintf(e.in, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		e.t.Fatal(err)
	}
}

func (e *editor) notify(method, params string) {
	e.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params))
}

// ask sends a request and returns the answer to it, as it was written.
func (e *editor) ask(method, params string) string {
	e.t.Helper()
	e.id++
	e.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, e.id, method, params))
	for {
		got := e.read()
		if strings.Contains(got, fmt.Sprintf(`"id":%d,`, e.id)) {
			return got
		}
	}
}

func (e *editor) read() string {
	e.t.Helper()
	length := 0
	for {
		line, err := e.out.ReadString('\n')
		if err != nil {
			e.t.Fatal("the server is silent:", err)
		}
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			break
		}
		length, _ = strconv.Atoi(strings.TrimPrefix(line, "Content-Length: "))
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(e.out, body); err != nil {
		e.t.Fatal(err)
	}
	return string(body)
}

func text(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func (e *editor) open(uri, content string) {
	e.notify("textDocument/didOpen", fmt.Sprintf(`{"textDocument":{"uri":%q,"languageId":"starlark","version":1,"text":%s}}`, uri, text(content)))
}

func (e *editor) change(uri, content string) {
	e.notify("textDocument/didChange", fmt.Sprintf(`{"textDocument":{"uri":%q},"contentChanges":[{"text":%s}]}`, uri, text(content)))
}

func (e *editor) at(method, uri string, line, character int) string {
	return e.ask(method, fmt.Sprintf(`{"textDocument":{"uri":%q},"position":{"line":%d,"character":%d}}`, uri, line, character))
}

func want(t *testing.T, got string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(got, p) {
			t.Errorf("got %s\nwant %s", got, p)
		}
	}
}

const (
	uri  = "file:///nowhere/test.star"
	good = "# a test\nworkflow(\n    name = \"w\",\n    steps = [\n        step(\"a\", http.get(\"http://h/\"), extract = {\"token\": json_path(\"$.t\")}),\n        step(\"b\", http.get(\"http://h/${token}\"), after = [\"a\"]),\n    ],\n)\n"
)

func TestSession(t *testing.T) {
	e := newEditor(t)
	want(t, e.ask("initialize", `{"processId":1,"capabilities":{}}`), `"hoverProvider":true`, `"textDocumentSync":1`)
	e.notify("initialized", `{}`)

	// errors as one types, with their place and their remedy
	e.open(uri, "\nx = \"😀é\"; workflow(name = \"w\", steps = [step(\"a\", http.get(\"http://h/\")), step(\"b\", http.get(\"http://h/\"), after = [\"😀aa\"])])\n")
	want(t, e.read(), "publishDiagnostics", uri, `comes after`, `"severity":1`, `"line":1,"character":117`, `"character":123`)
	e.change(uri, "stpe(1)\n")
	want(t, e.read(), `"start":{"line":0,"character":0},"end":{"line":0,"character":4}`, `unknown name \"stpe\"\ndid you mean \"step\"?`)
	// mistakes in functions, all of them
	e.change(uri, "def a(vu):\n    vu.log(vu.ws)\n    return vu.htpp\ndef b(vu):\n    return 1\nworkflow(name = \"w\", steps = [step(a)])\n")
	want(t, e.read(), `"severity":1`, `vu has no \"ws\"`, `vu has no \"htpp\"\ndid you mean \"http\"?`, `"severity":2`, `b is used nowhere`)
	e.change(uri, good)
	want(t, e.read(), `"diagnostics":[]`)

	// the word at a place
	want(t, e.at("textDocument/completion", uri, 4, 26), `"label":"get"`, `"kind":3`, `http.get(`)
	want(t, e.at("textDocument/completion", uri, 2, 4), `"label":"graceful_stop"`, `"insertText":"name = "`, `"label":"http"`, `"label":"len"`)
	e.change(uri, strings.Replace(good, "token}", "to", 1))
	want(t, e.at("textDocument/completion", uri, 5, 41), `"result":[{"label":"token"`)
	e.change(uri, good)
	want(t, e.at("textDocument/completion", uri, 0, 4), `"result":[]`)
	want(t, e.at("textDocument/hover", uri, 4, 10), "# step", "```python")
	want(t, e.at("textDocument/hover", uri, 4, 25), "# http.get", "redirects")
	want(t, e.at("textDocument/hover", uri, 3, 6), "`steps`", "a list of")
	want(t, e.at("textDocument/hover", uri, 0, 3), `"result":null`)
	want(t, e.at("textDocument/hover", uri, 99, 99), `"result":null`)

	// formatting
	want(t, e.ask("textDocument/formatting", fmt.Sprintf(`{"textDocument":{"uri":%q},"options":{}}`, uri)), `"result":null`)
	e.change(uri, "x=1\ny =2 # é😀")
	want(t, e.ask("textDocument/formatting", fmt.Sprintf(`{"textDocument":{"uri":%q},"options":{}}`, uri)), `"newText":"x = 1\ny = 2  # é😀\n"`, `"end":{"line":1,"character":10}`)
	e.change(uri, "x = (")
	want(t, e.ask("textDocument/formatting", fmt.Sprintf(`{"textDocument":{"uri":%q},"options":{}}`, uri)), `"result":null`)

	// unsupported requests
	want(t, e.ask("textDocument/rename", `{}`), `"code":-32601`)
	want(t, e.ask("textDocument/hover", `[1]`), `"code":-32602`)
	e.notify("$/cancelRequest", `{"id":1}`)
	e.notify("textDocument/didChange", `7`)
	e.send("{")
	for got := ""; !strings.Contains(got, `"code":-32700`); {
		got = e.read()
	}

	e.notify("textDocument/didClose", fmt.Sprintf(`{"textDocument":{"uri":%q}}`, uri))
	for got := ""; !strings.Contains(got, `"diagnostics":[]`); {
		got = e.read()
	}
	want(t, e.ask("shutdown", `null`), `"result":null`)
	want(t, e.ask("textDocument/hover", `{}`), `"code":-32600`)
	e.notify("exit", `null`)
	if err := <-e.done; err != nil {
		t.Errorf("got %v, want a good end", err)
	}
}

// A mistake in a loaded file appears in that file; an open text takes precedence over the disk.
func TestSeveralFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "lib.star"), []byte("url = 1 +\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	e := newEditor(t)
	main, lib := "file://"+dir+"/main.star", "file://"+dir+"/lib.star"
	e.open(main, "load(\"lib.star\", \"url\")\nworkflow(name = \"w\", steps = [step(\"a\", http.get(url))])\n")
	want(t, e.read(), lib, "syntax error")
	want(t, e.read(), main, `"diagnostics":[]`)
	e.open(lib, "url = \"http://h/\"\n")
	want(t, e.read(), lib, "declares no workflow", `"severity":3`)
	want(t, e.read(), main, `"diagnostics":[]`)
}

func TestEnds(t *testing.T) {
	e := newEditor(t)
	e.notify("exit", `null`)
	if err := <-e.done; !errors.Is(err, language.ErrNoShutdown) {
		t.Errorf("exit alone: got %v", err)
	}
	e = newEditor(t)
	_ = e.in.Close()
	if err := <-e.done; !errors.Is(err, language.ErrNoShutdown) {
		t.Errorf("end of the input: got %v", err)
	}
	for _, head := range []string{"Content-Length: 99999999999\r\n\r\n", "Content-Length: -1\r\n\r\n", "hello\r\n\r\n", "\r\n", strings.Repeat("x", 10000), fmt.Sprintf("Content-Length: %d\r\n\r\n", language.FrameMax+1)} {
		e = newEditor(t)
		go func() { _, _ = io.WriteString(e.in, head) }()
		if err := <-e.done; err == nil || errors.Is(err, language.ErrNoShutdown) {
			t.Errorf("%.40q: got %v, want a refusal", head, err)
		}
	}
}

// Whatever an editor sends, the server answers or ends, and its output consists of frames.
func FuzzServe(f *testing.F) {
	m := manual.New(docs.Workflows, workflow.Words())
	frame := func(bodies ...string) []byte {
		var b strings.Builder
		for _, body := range bodies {
			fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(body), body)
		}
		return []byte(b.String())
	}
	f.Add(frame(`{"id":1,"method":"initialize"}`, `{"id":2,"method":"shutdown"}`, `{"method":"exit"}`))
	f.Add(frame(`{"method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///a","text":"http.get(\"${"}}}`,
		`{"id":1,"method":"textDocument/completion","params":{"textDocument":{"uri":"file:///a"},"position":{"line":0,"character":12}}}`,
		`{"id":"x","method":"textDocument/hover","params":{"textDocument":{"uri":"file:///a"},"position":{"line":-1,"character":-5}}}`,
		`{"id":3,"method":"textDocument/formatting","params":{"textDocument":{"uri":"file:///a"}}}`))
	f.Add([]byte("Content-Length: 5\nContent-Type: x\n\n{}   "))
	f.Fuzz(func(t *testing.T, in []byte) {
		var out strings.Builder
		s := &language.Server{Manual: m, Load: func(string, func(string) ([]byte, error)) (*workflow.Program, []inspect.Finding, error) {
			return nil, nil, errors.New("not loaded here")
		}}
		_ = s.Serve(strings.NewReader(string(in)), &out)
		for rest := out.String(); rest != ""; {
			head, body, ok := strings.Cut(rest, "\r\n\r\n")
			n, err := strconv.Atoi(strings.TrimPrefix(head, "Content-Length: "))
			if !ok || err != nil || n > len(body) || !json.Valid([]byte(body[:n])) {
				t.Fatalf("no frame: %q", rest)
			}
			rest = body[n:]
		}
	})
}
