package target

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// client2 speaks only HTTP/2.
func client2(t *testing.T, s *Server) *http.Client {
	c := client(t, s)
	transport := c.Transport.(*http.Transport)
	transport.Protocols = new(http.Protocols)
	transport.Protocols.SetHTTP2(true)
	transport.Protocols.SetUnencryptedHTTP2(true)
	return c
}

func TestHTTP2AnswersAsHTTP1(t *testing.T) {
	for _, secure := range []bool{false, true} {
		s := start(t, func(c *Config) { c.TLS, c.Size = secure, 100_000 })
		var counted [2]Stats
		var told [2]string
		for i, c := range []*http.Client{client(t, s), client2(t, s)} {
			var all strings.Builder
			for _, r := range [][]string{
				{"GET", "/", ""}, {"HEAD", "/", ""}, {"POST", "/a?b=c", strings.Repeat("x", 300_000)}, {"POST", "/login", `{"user":"u1"}`}, {"POST", "/login", "{"},
				{"POST", "/graphql", `{"query":"{ user { name } }","variables":{"name":"bo"}}`}, {"POST", "/graphql", `{"query":"{ missing }"}`}, {"POST", "/graphql", "{"},
				{"GET", "/me", ""}, {"POST", "/me", ""}, {"GET", "/json", ""}, {"GET", "/redirect", ""}, {"GET", "/cookie", ""}, {"GET", "/%41", ""},
			} {
				request, err := http.NewRequest(r[0], s.URL()+r[1], strings.NewReader(r[2]))
				if err != nil {
					t.Fatal(err)
				}
				request.Header.Set("Authorization", "Bearer user-7531")
				response, err := c.Do(request)
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(response.Body)
				if err != nil || response.ProtoMajor != i+1 {
					t.Fatal(err, response.Proto)
				}
				response.Header.Del("Date")
				all.WriteString(response.Status + " " + string(body))
				if err := response.Header.Write(&all); err != nil {
					t.Fatal(err)
				}
			}
			told[i] = all.String()
			_, counters := ask(t, c, "GET", s.URL()+"/__stats", nil)
			if !strings.Contains(counters, `"requests":14`) {
				t.Errorf("got %s, want 14 requests", counters)
			}
			counted[i] = s.Stats()
			if counted[i].BytesOut < 3*100_000 || counted[i].BytesIn < 300_000 {
				t.Errorf("%d bytes in and %d out are too few", counted[i].BytesIn, counted[i].BytesOut)
			}
			counted[i].BytesIn, counted[i].BytesOut = 0, 0
			ask(t, c, "POST", s.URL()+"/__reset", nil)
		}
		if diff := cmp.Diff(told[0], told[1]); diff != "" {
			t.Errorf("answers differ (-HTTP/1.1 +HTTP/2):\n%s", diff)
		}
		counted[0].Connections = 0 // the second connection is only made after the reset
		counted[1].Connections--
		if diff := cmp.Diff(counted[0], counted[1]); diff != "" {
			t.Errorf("counters differ (-HTTP/1.1 +HTTP/2):\n%s", diff)
		}
	}
}

// Hostile options affect single streams: the other streams continue.
func TestHTTP2IsHostile(t *testing.T) {
	s := start(t, func(c *Config) { c.ErrorEvery, c.CloseEvery, c.StallEvery, c.StallFor = 3, 5, 7, time.Hour })
	c := client2(t, s)
	c.Timeout = 3 * time.Second
	ask(t, c, "GET", s.URL()+"/__stats", nil)
	var mu sync.Mutex
	var all sync.WaitGroup
	got := map[string]int{}
	for range 105 {
		all.Go(func() {
			kind := ""
			r, err := c.Get(s.URL())
			switch {
			case err == nil:
				kind = r.Status
				_, _ = io.Copy(io.Discard, r.Body) // to give it up would be counted
				_ = r.Body.Close()
			case strings.Contains(err.Error(), "INTERNAL_ERROR"):
				kind = "reset"
			case strings.Contains(err.Error(), "Timeout"):
				kind = "late"
			default:
				kind = err.Error()
			}
			mu.Lock()
			got[kind]++
			mu.Unlock()
		})
	}
	all.Wait()
	// 15 of 105 stall; of the others 18 are reset, and of those left 24 fail.
	want := map[string]int{"late": 15, "reset": 18, "500 Internal Server Error": 24, "200 OK": 48}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := s.Stats(); n.Requests != 105 || n.Responses != 72 || n.Connections > 1 {
		t.Errorf("got %+v", n)
	}
}

// The preface may come byte by byte, and with the first request in the same read.
func TestPreface(t *testing.T) {
	for _, secure := range []bool{false, true} {
		s := start(t, func(c *Config) { c.TLS = secure })
		for _, pieces := range []bool{false, true} {
			var c net.Conn
			c, err := net.Dial("tcp", s.Addr())
			if err != nil {
				t.Fatal(err)
			}
			if secure {
				roots := x509.NewCertPool()
				roots.AppendCertsFromPEM(s.CertificatePEM())
				c = tls.Client(c, &tls.Config{RootCAs: roots, ServerName: "localhost"}) // no ALPN: knowledge is enough
			}
			text := []byte(preface + "\x00\x00\x00\x04\x00\x00\x00\x00\x00")
			for len(text) > 0 {
				n := len(text)
				if pieces {
					n = 1
				}
				if _, err := c.Write(text[:n]); err != nil {
					t.Fatal(err)
				}
				text = text[n:]
			}
			got := make([]byte, 9)
			if _, err := io.ReadFull(c, got); err != nil || got[3] != 4 || !bytes.Equal(got[4:], make([]byte, 5)) {
				t.Errorf("got %x, %v, want SETTINGS", got, err)
			}
			_ = c.Close()
		}
	}
}
