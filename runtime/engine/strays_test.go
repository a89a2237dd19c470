package engine

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"hyperscale/core/workflow/request"
)

// Cookies of a broken or an interim answer belong to no user: least of all to the user of the
// next answer.
func TestCookiesOfABrokenAnswerAreNobodys(t *testing.T) {
	odd := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Set-Cookie", "stray=1")
		w.WriteHeader(103)
		time.Sleep(20 * time.Millisecond)
		panic(http.ErrAbortHandler)
	}))
	odd.EnableHTTP2 = true
	odd.Config.ErrorLog = log.New(io.Discard, "", 0)
	odd.StartTLS()
	defer odd.Close()
	var strays atomic.Int64
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Cookie") != "" {
			strays.Add(1)
		}
	}))
	defer plain.Close()
	w := flow(get("a", odd.URL+"/"), get("b", plain.URL+"/"))
	w.HTTP.Version, w.HTTP.Insecure = request.VersionAuto, true
	r := run(t, context.Background(), Config{Workflow: w, VUs: 4, Duration: 200 * time.Millisecond})
	if s := r.Stats.Steps[1]; strays.Load() > 0 || s.OK < 8 {
		t.Errorf("%d of %d requests brought another server's cookie", strays.Load(), s.Started)
	}
}
