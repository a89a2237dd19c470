package convert_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/extract"
	"hyperscale/runtime/convert"
	"hyperscale/runtime/convert/har"
	"hyperscale/runtime/engine"
)

// everything is a server that answers every path, also as a proxy: with the status that a step
// expects, and with the recording's content for the path.
type everything struct {
	mutex    sync.Mutex
	statuses map[string][]int // by method and path, in the order of the steps
	bodies   map[string]recorded
	asked    map[string]int
}

type recorded struct{ kind, text string }

func (e *everything) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, err := io.Copy(io.Discard, r.Body)
	key := r.Method + " " + r.URL.EscapedPath()
	e.mutex.Lock()
	e.asked[key]++
	status := http.StatusOK
	if left := e.statuses[key]; len(left) > 0 {
		status = left[0]
		if len(left) > 1 {
			e.statuses[key] = left[1:]
		}
	}
	body := e.bodies[key]
	e.mutex.Unlock()
	if err != nil {
		status = http.StatusBadRequest
	}
	if body.kind != "" {
		w.Header().Set("Content-Type", body.kind)
	}
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body.text)) // HEAD and 304 have no body
}

// learn has the server answer as a recording did.
func (e *everything) learn(har []byte) {
	var file struct {
		Log struct {
			Entries []struct {
				Request  struct{ Method, URL string }
				Response struct {
					Content struct{ MimeType, Text, Encoding string }
				}
			}
		}
	}
	if json.Unmarshal(har, &file) != nil {
		return
	}
	for _, one := range file.Log.Entries {
		r, err := http.NewRequest(one.Request.Method, one.Request.URL, nil)
		if c := one.Response.Content; err == nil && c.Encoding == "" && c.Text != "" {
			e.bodies[r.Method+" "+r.URL.EscapedPath()] = recorded{c.MimeType, c.Text}
		}
	}
}

var (
	addresses = regexp.MustCompile(`(?m)^(\w+) = param\("(\w+)", default = "https?://[^/"]+([^"]*)"`)
	pauses    = regexp.MustCompile(`vu\.sleep\("[^"]*"\)`)
	proxies   = regexp.MustCompile(`proxy = "[^"]*"`)
)

// here loads a converted file with all of its servers replaced by one.
func here(t *testing.T, text, server string) *workflow.Program {
	t.Helper()
	text = pauses.ReplaceAllString(text, `vu.sleep("1ms")`)
	text = proxies.ReplaceAllString(text, fmt.Sprintf("proxy = %q", server))
	program := message.Program{Main: "made.star", Files: []message.File{{Name: "made.star", Data: []byte(text)}}, Seed: 1}
	for _, found := range addresses.FindAllStringSubmatch(text, -1) {
		program.Params = append(program.Params, message.Param{Name: found[2], Value: server + found[3]})
	}
	loaded, err := workflow.Load(program)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return loaded
}

// once makes each step of a workflow run in one iteration, and gives the server the status that each expects.
func (e *everything) once(t *testing.T, w *workflow.Workflow) {
	t.Helper()
	w.Plan.Think, w.Plan.ThinkMax = 0, 0
	for i := range w.Steps {
		s := &w.Steps[i]
		s.Plan.Weight = 0
		if s.Request == nil || len(s.Expect) == 0 {
			continue
		}
		r, err := http.NewRequest(s.Request.Method, s.Request.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		for status := 200; status < 600; status++ {
			if s.Expect[0].Fails(&extract.View{Status: status}) == "" {
				key := s.Request.Method + " " + r.URL.EscapedPath()
				e.mutex.Lock()
				e.statuses[key] = append(e.statuses[key], status)
				e.mutex.Unlock()
				break
			}
		}
	}
}

// TestCorpusRuns: one iteration of each file that was made of one from the wild sends each of its
// requests once, to a server that answers them all, and all is good.
func TestCorpusRuns(t *testing.T) {
	//lint:orderfree each is a test of its own
	for kind, read := range readers {
		//lint:orderfree each is a test of its own
		for name, data := range corpus(t, kind) {
			t.Run(kind+"/"+name, func(t *testing.T) {
				made, err := read(data, convert.Options{File: "made.star", From: name, All: true})
				if err != nil {
					t.Fatal(err)
				}
				e := &everything{statuses: map[string][]int{}, bodies: map[string]recorded{}, asked: map[string]int{}}
				e.learn(data)
				server := httptest.NewServer(e)
				defer server.Close()
				loaded := here(t, made.Text, server.URL)
				for _, plan := range loaded.Plan().Workflows {
					w := loaded.Workflow(plan.Name)
					e.once(t, w)
					iteration(t, e, w, made.Text)
				}
			})
		}
	}
}

func iteration(t *testing.T, e *everything, w *workflow.Workflow, text string) {
	t.Helper()
	result, err := engine.Run(t.Context(), engine.Config{Workflow: w, VUs: 1, Seed: 1, Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	sent := 0
	for i := range result.Stats.Steps {
		s := &result.Stats.Steps[i]
		if s.Started != 1 || s.OK != 1 {
			t.Errorf("step %s: started %d, ok %d, failed %d, skipped %d, %+v", s.Name, s.Started, s.OK, s.Failed, s.Skipped, s.Errors)
		}
		if s.Kind == message.StepRequest {
			sent++
		}
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	asked := 0
	//lint:orderfree a sum
	for _, n := range e.asked {
		asked += n
	}
	if asked != sent || result.State != message.WorkflowCompleted {
		t.Errorf("%v: %d steps ask, the server was asked %d times: %v %s\n", result.State, sent, asked, e.asked, result.Error)
	}
	if t.Failed() {
		t.Log(strings.TrimSpace(text))
	}
}

// TestRecordedNumbersAreFilledIn: a later body contains the number from an earlier answer, next
// to a param whose value JSON escapes.
func TestRecordedNumbersAreFilledIn(t *testing.T) {
	made, err := har.Convert([]byte(session), convert.Options{File: "shop.star", From: "shop.har"})
	if err != nil {
		t.Fatal(err)
	}
	orders := make(chan string, 9)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		switch {
		case err != nil:
			w.WriteHeader(http.StatusBadRequest)
		case r.URL.Path == "/login" && r.Method == http.MethodGet:
			_, _ = io.WriteString(w, `<input name="csrf" value="another">`) // the client reads it or fails
		case r.URL.Path == "/login":
			_, _ = io.WriteString(w, `{"auth":{"token":"t0ken"},"cart":{"id":55501}}`) // the same
		case r.URL.Path == "/orders":
			orders <- r.Header.Get("Content-Type") + " " + string(body)
			w.WriteHeader(http.StatusCreated)
		}
	}))
	defer server.Close()
	text := pauses.ReplaceAllString(made.Text, `vu.sleep("1ms")`)
	program := message.Program{Main: "made.star", Files: []message.File{{Name: "made.star", Data: []byte(text)}}, Seed: 1,
		Params: []message.Param{{Name: "password", Value: `it's "odd"`}, {Name: "target", Value: server.URL}}}
	loaded, err := workflow.Load(program)
	if err != nil {
		t.Fatal(err)
	}
	result, err := engine.Run(t.Context(), engine.Config{Workflow: loaded.Workflow("shop"), VUs: 1, Seed: 1, Timeout: 5 * time.Second})
	if err != nil || result.State != message.WorkflowCompleted {
		t.Fatal(err, result)
	}
	if want := `application/json {"cart": 55501, "note": "${x}", "password": "it's \"odd\""}`; len(orders) != 1 {
		t.Errorf("%d orders\n%s", len(orders), made.Text)
	} else if got := <-orders; got != want {
		t.Errorf("the order was %s, want %s\n%s", got, want, made.Text)
	}
}
