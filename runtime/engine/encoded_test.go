package engine

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/andybalholm/brotli"
)

// encodedServer encodes as requested: /gzip and /br, truncated or a bomb by the query.
func encodedServer(t *testing.T, asked *atomic.Value) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.Header.Get("Accept-Encoding"))
		text := []byte(`{"token": "t0k", "filler": "` + strings.Repeat("x", 5000) + `"}`)
		if r.URL.RawQuery == "bomb" {
			text = make([]byte, 2<<20)
		}
		var b bytes.Buffer
		if coding := r.URL.Path[1:]; coding == "gzip" {
			z := gzip.NewWriter(&b)
			_, _ = z.Write(text)
			_ = z.Close()
			w.Header().Set("Content-Encoding", coding)
		} else {
			z := brotli.NewWriter(&b)
			_, _ = z.Write(text)
			_ = z.Close()
			w.Header().Set("Content-Encoding", coding)
		}
		out := b.Bytes()
		if r.URL.RawQuery == "cut" {
			out = out[:len(out)/2]
		}
		_, _ = w.Write(out)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// The engine decodes bodies for functions, and for request steps that inspect them; it counts
// the encoded bytes. A bomb and a truncated body fail the step that reads them, each with its
// own kind.
func TestEncodings(t *testing.T) {
	for query, want := range map[string]string{"": "", "bomb": "bomb", "cut": "encoding"} {
		for _, coding := range []string{"gzip", "br"} {
			var asked atomic.Value
			url := encodedServer(t, &asked)
			w := loadFile(t, url, fmt.Sprintf(`
def read(vu):
    r = vu.http.get("TARGET/%[1]s?%[2]s")
    if r.json()["token"] != "t0k" or len(r.body) < 5000 or len(r.text()) < 5000:
        fail("not decoded")
    return r

workflow(name = "test", http = http.client(compression = True, max_body = "1MiB"), steps = [
    step(read),
    step("unread", lambda vu: vu.http.get("TARGET/%[1]s?%[2]s")),
    step("expected", http.get("TARGET/%[1]s?%[2]s"), extract = {"token": json_path("$.token")}, expect = [body_contains("t0k")]),
    step("uses", http.get("TARGET/%[1]s?${token}"), after = ["expected"]),
    step("counted", http.get("TARGET/%[1]s?%[2]s")),
])
`, coding, query))
			r := run(t, context.Background(), Config{Workflow: w, VUs: 1})
			for _, s := range r.Stats.Steps {
				reads := s.Name == "read" || s.Name == "expected"
				switch {
				case s.Name == "uses" && want != "":
					if s.Skipped != 1 {
						t.Errorf("%s %q: uses was not skipped", coding, query)
					}
				case reads && want != "":
					if kinds(s)[want] != 1 {
						t.Errorf("%s %q: %s: %v", coding, query, s.Name, s.Errors)
					}
				case s.OK != 1:
					t.Errorf("%s %q: %s: %v", coding, query, s.Name, s.Errors)
				case query == "" && s.BytesIn > 1000:
					t.Errorf("%s: %s: %d bytes in", coding, s.Name, s.BytesIn)
				}
			}
			if asked.Load() != "gzip, deflate, br, zstd" {
				t.Errorf("asked for %v", asked.Load())
			}
		}
	}
}

// Without compression the engine requests none, and a body stays as it was sent.
func TestNoEncodings(t *testing.T) {
	var asked atomic.Value
	url := encodedServer(t, &asked)
	w := loadFile(t, url, `
def read(vu):
    r = vu.http.get("TARGET/gzip")
    return r if r.body[:1] == b"\x1f" else fail("decoded")

workflow(name = "test", steps = [step(read)])
`)
	ended(t, run(t, context.Background(), Config{Workflow: w, VUs: 1}))
	if asked.Load() != "" {
		t.Errorf("asked for %v", asked.Load())
	}
}
