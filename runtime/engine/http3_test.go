package engine

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/runtime/protocol/hostile/authority"
	"hyperscale/runtime/protocol/hostile/hostiletest"
	hostile "hyperscale/runtime/protocol/hostile/http3"
)

// over3 runs a workflow of one request step over HTTP/3 against a server that behaves well.
func over3(t *testing.T, ctx context.Context, url, client, ask, more string, vus uint64) message.StepStats {
	t.Helper()
	w := loadFile(t, url, fmt.Sprintf("workflow(name = \"test\", vus = %d, duration = \"60s\"%s, http = http.client(version = \"3\", tls = tls(verify = False)%s), steps = [step(\"a\", %s)])", vus, more, client, ask))
	return run(t, ctx, Config{Workflow: w, VUs: vus, Duration: time.Minute, Timeout: 30 * time.Second}).Stats.Steps[0]
}

// What a run counts is what the server counts, and connections are as many as the workflow says.
func TestRequestsAgreeOverHTTP3(t *testing.T) {
	t.Parallel()
	for _, vus := range []uint64{1, 64, 500} {
		for name, tt := range map[string]struct {
			more, client, ask string
			conns             int
		}{
			"each its own":     {"", "", `http.get("TARGET")`, int(vus)},
			"shared":           {", connections = 2", ", streams = 16", `http.get("TARGET")`, 2},
			"more than allows": {", connections = 1", ", streams = 1000", `http.get("TARGET")`, 1},
			"bodies":           {", connections = 2", "", `http.post("TARGET", body = "b" * 30000)`, 2},
			"one at a time":    {", connections = 1", ", streams = 1", `http.get("TARGET")`, 1},
		} {
			if vus == 500 && name != "shared" && name != "more than allows" {
				continue // handshakes of QUIC take two milliseconds each
			}
			vus := vus
			if name == "each its own" {
				vus = min(vus, 24) // quic-go's server refuses the 33rd connection that waits for it
				tt.conns = int(vus)
			}
			t.Run(fmt.Sprintf("%s/%d", name, vus), func(t *testing.T) {
				s, err := hostile.Start(&hostile.Entry{})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				client := tt.client
				n := 3 * vus
				got := over3(t, context.Background(), s.URL(), client, tt.ask, ", vu_iterations = 3"+tt.more, vus)
				if got.OK != n || got.Sent != n || s.Asked() != n {
					t.Errorf("ok %d, sent %d, the server counted %d of %d: %v", got.OK, got.Sent, s.Asked(), n, got.Errors)
				}
				if want := min(tt.conns, int(vus)); s.Conns() != want {
					t.Errorf("%d connections, want %d", s.Conns(), want)
				}
			})
		}
	}
}

// However a run ends, what is good has come, what came was sent, and what was sent has started.
func TestRequestsAgreeWhenARunOverHTTP3Breaks(t *testing.T) {
	t.Parallel()
	for _, vus := range []uint64{1, 64} {
		t.Run(fmt.Sprint(vus), func(t *testing.T) {
			s, err := hostile.Start(&hostile.Entry{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			ctx, cancel := context.WithCancel(context.Background())
			go func() {
				for s.Asked() < 300 {
					time.Sleep(time.Millisecond)
				}
				cancel()
			}()
			got := over3(t, ctx, s.URL(), "", `http.post("TARGET", body = "b" * 3000)`, ", connections = 4", vus)
			if asked := s.Asked(); got.OK > asked || asked > got.Sent || got.Sent > got.Started || got.Failed+got.TimedOut > 0 || got.OK < 200 {
				t.Errorf("%d started, %d sent, the server counted %d, %d ok: %v", got.Started, got.Sent, asked, got.OK, got.Errors)
			}
		})
	}
}

// A user takes up the session of its connection, and the result tells so.
func TestHTTP3ResumesSessions(t *testing.T) {
	t.Parallel()
	s, err := hostile.Start(&hostile.Entry{Server: hostile.Behaviour{Then: func(x *hostile.Exchange) { _ = x.Conn.CloseWithError(0x100, "") }}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w := loadFile(t, s.URL(), `workflow(name = "test", vus = 1, iterations = 3, duration = "60s", http = http.client(version = "3", tls = tls(verify = False, resume = True)), steps = [step("a", http.get("TARGET"))])`)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 30 * time.Second})
	if got := r.Stats.Steps[0]; got.OK != 2 || s.Conns() != 2 || !strings.Contains(fmt.Sprint(r.Stats), "1 of 2 connections resumed a session") {
		t.Errorf("ok %d, %d connections: %v", got.OK, s.Conns(), r.Stats)
	}
}

// A connection whose server breaks HTTP/3 ends with the code that says how, and another one with H3_NO_ERROR.
func TestHTTP3SaysWhyItCloses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		says string
		code uint64
	}{
		"good":              {hostile.Head() + hostile.Frame(0, hostile.Good), 0x100},
		"a frame of HTTP/2": {"\x08\x00", 0x105},
		"a dynamic table":   {hostile.Frame(1, "\x02\x00\x80"), 0x200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			left := make(chan uint64, 16)
			s, err := hostile.Start(&hostile.Entry{Server: hostile.Behaviour{Then: func(x *hostile.Exchange) { x.End(tt.says) }, Left: func(code uint64) { left <- code }}})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			got := over3(t, context.Background(), s.URL(), "", `http.get("TARGET")`, ", iterations = 1", 1)
			if code := <-left; code != tt.code {
				t.Errorf("the connection ends with the code %#x, want %#x: %v", code, tt.code, got.Errors)
			}
		})
	}
}

// caddy starts one, and returns its address and the lines of its access log.
func caddy(t *testing.T) (address string, lines func() int) {
	t.Helper()
	program := hostiletest.Need(t, "caddy", "caddy")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = l.Addr().String()
	l.Close()
	dir := t.TempDir()
	certificate, key, _ := authority.Files()
	file := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	log := filepath.Join(dir, "access.log")
	text := fmt.Sprintf("{\n\tadmin off\n\tauto_https off\n\tdefault_sni localhost\n\tstorage file_system %[1]s\n}\nhttps://%[2]s {\n\ttls %[3]s %[4]s\n\tlog {\n\t\toutput file %[5]s\n\t}\n\theader X-Seen {http.request.header.X-One}\n\theader /cookie Set-Cookie seen=1\n\trespond \"{http.request.method} {http.request.uri} {http.request.proto} {http.request.header.Cookie}\"\n}\n",
		dir, address, file("cert.pem", certificate), file("key.pem", key), log)
	t.Setenv("HOME", dir)
	hostiletest.Start(t, program, "run", "--adapter", "caddyfile", "--config", file("Caddyfile", []byte(text)))
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
			break
		}
		if time.Since(began) > 30*time.Second {
			t.Fatalf("caddy does not listen: %v", err)
		}
	}
	return address, func() int {
		b, _ := os.ReadFile(log)
		return bytes.Count(b, []byte(`"proto":"HTTP/3.0"`))
	}
}

// A server that others wrote reads the requests as they were meant, and its log has each once.
func TestHTTP3AgreesWithCaddy(t *testing.T) {
	address, lines := caddy(t)
	w := loadFile(t, "https://"+address, `
def visit(vu):
    r = vu.http.get("TARGET/cookie", headers = {"X-One": "first"})
    expect.equal((r.status, r.headers["x-seen"], r.text()[:20]), (200, "first", "GET /cookie HTTP/3.0"))
    r = vu.http.post("TARGET/next?a=1&b=%20", body = "b" * 50000)
    expect.equal(r.text(), "POST /next?a=1&b=%20 HTTP/3.0 seen=1")
    return r
workflow(name = "test", vu_iterations = 5, vus = 4, duration = "60s", http = http.client(version = "3", tls = tls(verify = False)), steps = [
    step("a", http.get("TARGET/a", headers = {"X-One": "é"}), expect = [body_contains("GET /a HTTP/3.0")]),
    step(visit),
])`)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 4, Duration: time.Minute, Timeout: 30 * time.Second})
	for _, s := range r.Stats.Steps {
		if s.OK != s.Started {
			t.Errorf("%s: ok %d of %d: %v", s.Name, s.OK, s.Started, s.Errors)
		}
	}
	want := 4 * 5 * 3
	for until := time.Now().Add(10 * time.Second); lines() < want && time.Now().Before(until); {
		time.Sleep(10 * time.Millisecond)
	}
	if got := lines(); got != want {
		t.Errorf("the log has %d requests, want %d", got, want)
	}
}

// The example runs as it stands.
func TestExampleOfHTTP3(t *testing.T) {
	t.Parallel()
	s, err := hostile.Start(&hostile.Entry{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	text, err := os.ReadFile("../../examples/http3.star")
	if err != nil {
		t.Fatal(err)
	}
	p, err := workflow.Load(message.Program{Main: "http3.star", Files: []message.File{{Name: "http3.star", Data: text}}, Params: []message.Param{{Name: "target", Value: strings.TrimSuffix(s.URL(), "/")}}})
	if err != nil {
		t.Fatal(err)
	}
	got := run(t, context.Background(), Config{Workflow: p.Workflow("http3"), VUs: 5, Duration: 300 * time.Millisecond}).Stats.Steps[0]
	if got.OK == 0 || got.OK != got.Started || s.Asked() != got.Sent {
		t.Errorf("ok %d of %d, the server counted %d: %v", got.OK, got.Started, s.Asked(), got.Errors)
	}
}
