package engine

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// A redirect gets the URL's credentials at the same origin, on every path, and at no other
// origin.
func TestRedirectsKeepWhoAsksByTheURL(t *testing.T) {
	var told atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("another origin got the credentials")
		}
	}))
	defer other.Close()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, _, ok := r.BasicAuth(); ok {
			told.Add(1)
		}
		switch r.URL.Path {
		case "/":
			http.Redirect(w, r, "http://"+r.Host+"/absolute", http.StatusFound)
		case "/absolute":
			http.Redirect(w, r, "/relative", http.StatusFound)
		case "/relative":
			http.Redirect(w, r, other.URL+"/", http.StatusFound)
		}
	}))
	defer s.Close()
	step := get("a", strings.Replace(s.URL, "http://", "http://ann:secret@", 1)+"/")
	step.Request.Redirects = 5
	a := run(t, context.Background(), Config{Workflow: flow(step), VUs: 1}).Stats.Steps[0]
	if a.OK != 1 || told.Load() != 3 {
		t.Errorf("ok %d of %d, the origin got the credentials %d times of 3: %v", a.OK, a.Started, told.Load(), a.Errors)
	}
}
