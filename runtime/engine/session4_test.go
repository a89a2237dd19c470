package engine

import (
	"bytes"
	"context"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

const bothWays = `
def visit(vu):
    ws = vu.websocket.open("TARGET/chat?a=b", protocols = [], headers = {"Authorization": "Bearer hidden"})
    ws.send("from a function")
    expect.equal(ws.receive(timeout = "30s").data, "from a function")
    return ws.close()
workflow(name = "test", vu_iterations = 2, vus = 1, duration = "60s", ` + anyTLS + `, steps = [
    step("echo", websocket.exchange("TARGET/echo", send = ["from a step"])),
    step(visit),
])`

// A proxy opens a tunnel for each connection, with TLS and without.
func TestWebSocketThroughAProxy(t *testing.T) {
	eachScheme(t, func(t *testing.T, secure bool) {
		for _, expect := range []string{"", "Basic YW5uOnA="} {
			f := &forwarder{expect: expect}
			proxy := httptest.NewServer(f)
			s := echo(t, secure, nil)
			w := loadFile(t, s.URL, bothWays)
			through(t, w, proxy.URL, "ann", "p")
			r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 30 * time.Second})
			s.stop()
			proxy.Close()
			for _, step := range r.Stats.Steps {
				if step.OK != 2 {
					t.Errorf("%s: ok %d of %d: %v", step.Name, step.OK, step.Started, step.Errors)
				}
			}
			tunnel := "CONNECT " + s.listener.Addr().String()
			if saw := f.saw(); len(saw) != 3 || slices.ContainsFunc(saw, func(asked string) bool { return asked != tunnel }) || s.upgrades.Load() != 3 {
				t.Errorf("the proxy was asked %q, %d upgrades", saw, s.upgrades.Load())
			}
		}
	})
}

// Debug shows each upgrade with both heads, and each message, but no credentials.
func TestDebugShowsUpgrades(t *testing.T) {
	eachScheme(t, func(t *testing.T, secure bool) {
		s := echo(t, secure, nil)
		var out bytes.Buffer
		w := loadFile(t, s.URL, bothWays)
		run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 30 * time.Second, Debug: &out})
		s.stop()
		shown := out.String()
		for _, want := range []string{
			"* GET " + s.URL + "/echo\n> GET /echo HTTP/1.1\n", "* GET " + s.URL + "/chat?a=b\n", "> Sec-WebSocket-Version: 13\n", "> Sec-WebSocket-Key: ",
			"< HTTP/1.1 101 Switching Protocols\n", "< Sec-WebSocket-Accept: ", "> from a step\n", "< from a step\n", "> from a function\n", "< from a function\n",
			"* " + s.URL + "/echo: 101 in ", "step echo: ok\n", "step visit: ok\n",
		} {
			if !strings.Contains(shown, want) {
				t.Errorf("%q is not shown:\n%s", want, shown)
			}
		}
		if strings.Contains(shown, "hidden") || strings.Contains(shown, "http://") || strings.Contains(shown, "https://") {
			t.Errorf("it shows too much:\n%s", shown)
		}
	})
}
