package engine

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A client's options hold over HTTP/2 as over HTTP/1.1: cookies, encodings, the largest body,
// names and a proxy.
func TestOptionsOverHTTP2(t *testing.T) {
	s := &cookieServer{seen: map[string][]string{}}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			w.WriteHeader(505)
			return
		}
		switch r.URL.Path {
		case "/long":
			_, _ = w.Write(make([]byte, 5000))
		case "/gzip":
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			_, _ = z.Write([]byte(strings.Repeat("hello ", 100)))
			_ = z.Close()
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(b.Bytes())
		default:
			s.ServeHTTP(w, r)
		}
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	f := &forwarder{}
	p := httptest.NewServer(f)
	defer p.Close()
	url := strings.Replace(server.URL, "127.0.0.1", "shop.invalid", 1)
	for _, proxy := range []string{"", `proxy = "` + p.URL + `", `} {
		w := loadFile(t, url, fmt.Sprintf(`
def read(vu, login):
    return vu.http.get("TARGET/gzip") if "hello hello" in vu.http.get("TARGET/gzip").text() else fail("not decoded")

workflow(
    name = "test",
    http = http.client(version = "auto", %stls = tls(verify = False), compression = True, max_body = "2000B", dns = dns(hosts = {"shop.invalid": "127.0.0.1"})),
    steps = [
        step("login", http.get("TARGET/login")),
        step("home", http.get("TARGET/home", cookies = {"a": "b"}), after = ["login"]),
        step(read, after = ["login"]),
        step("long", http.get("TARGET/long")),
    ],
)
`, proxy))
		if proxy != "" { // it looks the name up itself
			w = loadFile(t, server.URL, strings.ReplaceAll(fmt.Sprintf(`
workflow(name = "test", http = http.client(version = "auto", %stls = tls(verify = False)), steps = [step("login", http.get("TARGET/login")), step("home", http.get("TARGET/home"), after = ["login"])])
`, proxy), "TARGET", server.URL))
		}
		r := run(t, context.Background(), Config{Workflow: w, VUs: 1})
		for _, step := range r.Stats.Steps {
			if step.Name == "long" && kinds(step)["too_large"] != 1 || step.Name != "long" && step.Kind.Measured() && step.OK != 1 {
				t.Errorf("%s %s: ok %d, %v", proxy, step.Name, step.OK, step.Errors)
			}
		}
	}
	if diff := cmp.Diff([]string{"a=b; id=1; safe=1", "id=2; safe=1"}, s.at("/home")); diff != "" {
		t.Error(diff)
	}
	if got := f.saw(); len(got) != 1 || !strings.HasPrefix(got[0], "CONNECT ") {
		t.Errorf("the proxy saw %v", got)
	}
}
