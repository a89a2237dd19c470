package engine

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hyperscale/core/message"
	"hyperscale/core/workflow/builtin"
)

// cookieServer sets cookies and records those that return, by path.
type cookieServer struct {
	mu   sync.Mutex
	seen map[string][]string
	next int
}

func (s *cookieServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[r.URL.Path] = append(s.seen[r.URL.Path], r.Header.Get("Cookie"))
	switch r.URL.Path {
	case "/login":
		s.next++
		http.SetCookie(w, &http.Cookie{Name: "id", Value: fmt.Sprint(s.next), Path: "/"})
		w.Header().Add("Set-Cookie", "deep=1; Path=/deep")
		w.Header().Add("Set-Cookie", "safe=1; Secure")
	case "/go":
		w.Header().Add("Set-Cookie", "hop=1; Path=/")
		w.Header().Set("Location", "/home")
		w.WriteHeader(302)
	case "/logout":
		w.Header().Add("Set-Cookie", "id=; Max-Age=0; Path=/")
	}
}

func (s *cookieServer) at(path string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := append([]string(nil), s.seen[path]...)
	sort.Strings(out)
	return out
}

func cookies(t *testing.T) (*cookieServer, string) {
	t.Helper()
	s := &cookieServer{seen: map[string][]string{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, server.URL
}

func ended(t *testing.T, r *message.ExecResult) {
	t.Helper()
	for _, s := range r.Stats.Steps {
		if s.OK == 0 || s.OK != s.Started {
			t.Errorf("%s: ok %d of %d: %v", s.Name, s.OK, s.Started, s.Errors)
		}
	}
}

// Each virtual user has its own jar, which request steps share, redirects included. A request's
// own Cookie field overrides the jar.
func TestCookies(t *testing.T) {
	s, url := cookies(t)
	home := get("home", url+"/home", 0)
	own := get("own", url+"/own", 1)
	own.Request.Cookies = []builtin.Pair{{Name: "a", Value: "b"}, {Name: "id", Value: "mine"}}
	deep := get("deep", url+"/deep/er", 2)
	hop := get("hop", url+"/go", 3)
	hop.Request.Redirects = 2
	out := get("out", url+"/logout", 4)
	last := get("last", url+"/last", 5)
	last.Request.Method, last.Request.Body = "POST", []byte("body")
	ended(t, run(t, context.Background(), Config{Workflow: flow(get("login", url+"/login"), home, own, deep, hop, out, last), VUs: 3}))
	for path, want := range map[string][]string{
		"/login":   {"", "", ""},
		"/home":    {"id=1", "id=1; hop=1", "id=2", "id=2; hop=1", "id=3", "id=3; hop=1"},
		"/own":     {"a=b; id=mine", "a=b; id=mine", "a=b; id=mine"},
		"/deep/er": {"deep=1; id=1", "deep=1; id=2", "deep=1; id=3"},
		"/last":    {"hop=1", "hop=1", "hop=1"},
	} {
		if diff := cmp.Diff(want, s.at(path)); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}

// A session lasts across iterations, or for one.
func TestSessions(t *testing.T) {
	for _, session := range []message.SessionMode{message.SessionVU, message.SessionNone} {
		s, url := cookies(t)
		w := flow(get("login", url+"/login"))
		w.Plan.Session, w.Plan.Iterations = session, 3
		ended(t, run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: 5 * time.Second}))
		want := map[message.SessionMode][]string{message.SessionVU: {"", "id=1", "id=2"}, message.SessionNone: {"", "", ""}}[session]
		if diff := cmp.Diff(want, s.at("/login")); diff != "" {
			t.Errorf("session %v: %s", session, diff)
		}
	}
}

// Functions use the jar of their user too, and secure cookies are sent over TLS.
func TestCookiesOfFunctions(t *testing.T) {
	s := &cookieServer{seen: map[string][]string{}}
	server := httptest.NewTLSServer(s)
	defer server.Close()
	w := loadFile(t, server.URL, `
def login(vu):
    vu.http.get("TARGET/login")
    return vu.http.get("TARGET/home", cookies = {"x": "y"})

workflow(name = "test", http = http.client(tls = tls(verify = False)), steps = [step(login), step("home", http.get("TARGET/home"), after = ["login"])])
`)
	ended(t, run(t, context.Background(), Config{Workflow: w, VUs: 1}))
	if diff := cmp.Diff([]string{"id=1; safe=1", "x=y; id=1; safe=1"}, s.at("/home")); diff != "" {
		t.Error(diff)
	}
}

// A body beyond the client's bound fails its request, kept or not.
func TestMaxBody(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(strings.Repeat("x", 1000)))
	}))
	defer server.Close()
	for most, want := range map[string]uint64{"999B": 2, "1000B": 0} {
		w := loadFile(t, server.URL, `
workflow(name = "test", http = http.client(max_body = "`+most+`"), steps = [step("plain", http.get("TARGET")), step("kept", lambda vu: vu.http.get("TARGET"))])
`)
		r := run(t, context.Background(), Config{Workflow: w, VUs: 1})
		if got := kinds(r.Stats.Steps[0])["too_large"] + kinds(r.Stats.Steps[1])["too_large"]; got != want {
			t.Errorf("within %s: %d too large, want %d", most, got, want)
		}
	}
}
