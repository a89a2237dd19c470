package engine

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/protocol/http1"
)

// forwarder is a proxy that may require credentials.
type forwarder struct {
	mu     sync.Mutex
	asked  []string // method and target
	expect string   // of Proxy-Authorization; empty: none required
}

func (f *forwarder) saw() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.asked...)
}

func (f *forwarder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.asked = append(f.asked, r.Method+" "+r.RequestURI)
	f.mu.Unlock()
	if f.expect != "" && r.Header.Get("Proxy-Authorization") != f.expect {
		w.WriteHeader(http.StatusProxyAuthRequired)
		return
	}
	if r.Method == http.MethodConnect {
		to, err := net.Dial("tcp", r.Host)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 200 Connection established\r\nX: y\r\n\r\n")
		go func() { _, _ = io.Copy(to, c); to.Close() }()
		_, _ = io.Copy(c, to)
		c.Close()
		return
	}
	r.RequestURI = ""
	r.Header.Del("Proxy-Authorization")
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer answer.Body.Close()
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.StatusCode)
	_, _ = io.Copy(w, answer.Body)
}

// through makes a workflow use a proxy.
func through(t *testing.T, w *workflow.Workflow, address, user, password string) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	port, _ := strconv.ParseUint(u.Port(), 10, 16)
	w.HTTP.Proxy = &request.Proxy{Host: u.Hostname(), Port: uint16(port), User: user, Password: password}
}

// Requests go through a proxy in the form that it requires, with cookies and bodies; TLS goes
// through a tunnel.
func TestProxy(t *testing.T) {
	f := &forwarder{expect: "Basic YW5uOng="}
	p := httptest.NewServer(f)
	defer p.Close()
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	s, plain := cookies(t)
	secure := httptest.NewTLSServer(s)
	defer secure.Close()
	post := get("post", plain+"/last?x=1", 0)
	post.Request.Method, post.Request.Body = "POST", []byte("body")
	w := flow(get("login", plain+"/login"), post, get("secure", secure.URL+"/home", 1))
	w.HTTP.Insecure = true
	through(t, w, p.URL, "ann", "x")
	r := run(t, context.Background(), Config{Workflow: w, VUs: 1})
	ended(t, r)
	want := fmt.Sprint([]string{"GET " + plain + "/login", "POST " + plain + "/last?x=1", "CONNECT " + strings.TrimPrefix(secure.URL, "https://")})
	if got := fmt.Sprint(f.saw()); got != want {
		t.Errorf("the proxy saw %s, want %s", got, want)
	}
	if got := s.at("/last"); len(got) != 1 || got[0] != "id=1" {
		t.Errorf("cookies through the proxy: %v", got)
	}
}

// A failure at the proxy is reported as one of the proxy.
func TestProxyFails(t *testing.T) {
	strict := httptest.NewServer(&forwarder{expect: "Basic x"})
	defer strict.Close()
	free := httptest.NewServer(&forwarder{})
	defer free.Close()
	raw := func(answer string) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				buffer := make([]byte, 1024)
				_, _ = c.Read(buffer)
				_, _ = io.WriteString(c, answer)
				if answer != "" {
					c.Close()
				} else {
					t.Cleanup(func() { c.Close() })
				}
			}
		}()
		return "http://" + l.Addr().String()
	}
	for _, test := range []struct {
		why, proxy, target string
		kind               http1.Kind
		detail             string
	}{
		{"no credentials", strict.URL, "https://127.0.0.1:1/", http1.KindProxy, "wants credentials (407)"},
		{"a target that is not there", free.URL, "https://127.0.0.1:1/", http1.KindProxy, "answers 502 Bad Gateway to CONNECT"},
		{"a proxy that is not there", "http://127.0.0.1:1", "https://127.0.0.1:2/", http1.KindRefused, "127.0.0.1:1"},
		{"an end", raw("HTTP/1.1 200"), "https://127.0.0.1:2/", http1.KindProxy, "breaks off"},
		{"no HTTP", raw("SSH-2.0-x\r\n"), "https://127.0.0.1:2/", http1.KindProxy, "breaks off"},
		{"more than an answer", raw("HTTP/1.1 200 OK\r\n\r\nhello"), "https://127.0.0.1:2/", http1.KindProxy, "sends more"},
		{"silence", raw(""), "https://127.0.0.1:2/", http1.KindConnectTimeout, ""},
		{"without TLS its answer counts", strict.URL, "http://127.0.0.1:1/", "status 407", ""},
	} {
		w := flow(get("home", test.target))
		through(t, w, test.proxy, "", "")
		r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Timeout: 300 * time.Millisecond})
		errors := r.Stats.Steps[0].Errors
		if len(errors) != 1 || errors[0].Kind != string(test.kind) || !strings.Contains(errors[0].Example, test.detail) {
			t.Errorf("%s: %+v", test.why, errors)
		}
	}
}

// A run whose proxy has an unknown name reports that before it sends anything.
func TestProxyWithoutAddress(t *testing.T) {
	w := flow(get("home", "http://127.0.0.1:1/"))
	w.HTTP.Proxy = &request.Proxy{Host: "proxy.invalid", Port: 3128}
	_, err := Run(context.Background(), Config{Workflow: w, VUs: 1, Timeout: time.Second})
	if err == nil || !strings.Contains(err.Error(), "check the name in http.client(proxy = ...)") {
		t.Errorf("got %v", err)
	}
}
