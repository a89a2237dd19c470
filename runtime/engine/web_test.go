package engine

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/target"
)

func TestTLS(t *testing.T) {
	s := serve(t, func(c *target.Config) { c.TLS = true })
	w := flow(get("home", s.URL()+"/"))
	r := run(t, context.Background(), Config{Workflow: w, VUs: 2})
	if !silent(r) || kinds(r.Stats.Steps[0])["tls_authority"] != 2 || !strings.Contains(r.Stats.Steps[0].Errors[0].Example, "verification") {
		t.Errorf("with an unknown authority: state %v, %q, %v", r.State, r.Error, r.Stats.Steps[0].Errors)
	}
	w.HTTP.Insecure = true
	before := s.Stats()
	r = run(t, context.Background(), Config{Workflow: w, VUs: 5, Duration: 200 * time.Millisecond})
	home, seen := r.Stats.Steps[0], s.Stats()
	if home.OK == 0 || home.OK != home.Started || home.Started != seen.Requests-before.Requests {
		t.Errorf("ok %d of %d, the target saw %d: %v", home.OK, home.Started, seen.Requests, home.Errors)
	}
	if got := seen.Connections - before.Connections; got != 5 {
		t.Errorf("got %d connections, want one for each of 5 virtual users", got)
	}
}

func TestTLSToAPlainPort(t *testing.T) {
	s := serve(t, nil)
	w := flow(get("home", strings.Replace(s.URL(), "http", "https", 1)+"/"))
	r := run(t, context.Background(), Config{Workflow: w, VUs: 1})
	if !silent(r) || r.Stats.Steps[0].Failed != 1 {
		t.Errorf("state %v, %q", r.State, r.Error)
	}
	if kind := r.Stats.Steps[0].Errors[0].Kind; kind != "tls" {
		t.Errorf("got kind %s, want tls: %v", kind, r.Stats.Steps[0].Errors)
	}
}

// hit is a request as a server saw it.
type hit struct{ Method, Path, Authorization, Cookie, Body string }

type hits struct {
	mu  sync.Mutex
	all []hit
}

func (h *hits) see(r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, hit{r.Method, r.URL.RequestURI(), r.Header.Get("Authorization"), r.Header.Get("Cookie"), string(body)})
}

func TestRedirects(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		to     string // "other" stands for another origin
		limit  int
		want   []hit // after the first
		kind   string
	}{
		{name: "303 asks with GET", status: 303, to: "/next", limit: 1, want: []hit{{"GET", "/next", "Bearer t", "a=b", ""}}},
		{name: "302 of a POST asks with GET", status: 302, to: "next?x=1#here", limit: 1, want: []hit{{"GET", "/next?x=1", "Bearer t", "a=b", ""}}},
		{name: "307 sends the body again", status: 307, to: "/next", limit: 1, want: []hit{{"POST", "/next", "Bearer t", "a=b", "body"}}},
		{name: "another origin learns no secret", status: 308, to: "other/next", limit: 3, want: []hit{{"POST", "/next", "", "", "body"}}},
		{name: "a loop ends at the limit", status: 307, to: "/", limit: 2, want: []hit{{"POST", "/", "Bearer t", "a=b", "body"}, {"POST", "/", "Bearer t", "a=b", "body"}}, kind: "redirect"},
		{name: "another scheme is not followed", status: 302, to: "file:///etc/passwd", limit: 2, kind: "redirect"},
		{name: "off by default", status: 302, to: "/next"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var h hits
			other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.see(r) }))
			defer other.Close()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				h.see(r)
				if r.URL.Path == "/" {
					w.Header().Set("Location", strings.Replace(tt.to, "other", other.URL, 1))
					w.WriteHeader(tt.status)
				}
			}))
			defer s.Close()
			first := get("a", s.URL+"/")
			first.Request = &request.Request{
				Method: "POST", URL: s.URL + "/", Body: []byte("body"), ContentType: "text/plain", Redirects: tt.limit,
				Auth: &request.Auth{Kind: "bearer", Token: "t"}, Cookies: []builtin.Pair{{Name: "a", Value: "b"}},
			}
			r := run(t, context.Background(), Config{Workflow: flow(first), VUs: 1})
			a := r.Stats.Steps[0]
			if a.Started != 1 || kinds(a)[tt.kind] != a.Failed || (tt.kind == "") != (a.OK == 1) {
				t.Errorf("ok %d, failed %d: %v", a.OK, a.Failed, a.Errors)
			}
			h.mu.Lock()
			defer h.mu.Unlock()
			want := append([]hit{{"POST", "/", "Bearer t", "a=b", "body"}}, tt.want...)
			if diff := cmp.Diff(want, h.all); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}
