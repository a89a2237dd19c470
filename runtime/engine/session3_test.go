package engine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"hyperscale/core/plan"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/protocol/hostile/authority"
	"hyperscale/runtime/protocol/hostile/hostiletest"
	hostile "hyperscale/runtime/protocol/hostile/websocket"
	"hyperscale/runtime/protocol/http1"
)

// pythonMessages is a server that shares no line with this one: python3-websockets. It prints its
// port, and at the end of its input how many connections, messages in and messages out it had.
const pythonMessages = `
import asyncio, sys, websockets
counts = [0, 0, 0]
async def serve(ws, path = ""):
    counts[0] += 1
    try:
        async for m in ws:
            counts[1] += 1
            await ws.send(m)
            counts[2] += 1
    except websockets.ConnectionClosed:
        pass
async def main():
    async with websockets.serve(serve, "127.0.0.1", 0, subprotocols = ["chat"]) as server:
        print(server.sockets[0].getsockname()[1], flush = True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    print(*counts, flush = True)
asyncio.run(main())
`

// nginx starts one before a server, and returns its address.
func nginx(t *testing.T, port string) string {
	t.Helper()
	program := hostiletest.Need(t, "nginx", "nginx-light")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	dir := t.TempDir()
	paths := ""
	for _, name := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		paths += fmt.Sprintf("%s_temp_path %s/%s;\n", name, dir, name)
	}
	conf := filepath.Join(dir, "nginx.conf")
	text := fmt.Sprintf(`daemon off; master_process off; pid %[1]s/pid; error_log %[1]s/error.log;
events { worker_connections 256; }
http {
	access_log off;
	%[2]s
	server {
		listen %[3]s;
		location / {
			proxy_pass http://127.0.0.1:%[4]s;
			proxy_http_version 1.1;
			proxy_set_header Upgrade $http_upgrade;
			proxy_set_header Connection "upgrade";
			proxy_set_header Host $host;
		}
	}
}
`, dir, paths, address, port)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	hostiletest.Start(t, program, "-p", dir, "-c", conf, "-e", filepath.Join(dir, "error.log"))
	for began := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
			return address
		}
		if time.Since(began) > 30*time.Second {
			t.Fatalf("nginx does not listen: %v", err)
		}
	}
}

// Another implementation of WebSocket hears what is sent and says what is received, with compression
// and without, also behind a proxy of servers; its own counts are the engine's.
func TestMessagesOfAnotherServer(t *testing.T) {
	t.Parallel()
	python := hostiletest.Python(t, "websockets")
	for _, behind := range []string{"", "nginx"} {
		for _, compression := range []string{"False", "True", `"takeover"`} {
			if behind != "" && compression != "True" {
				continue
			}
			t.Run(behind+compression, func(t *testing.T) {
				server := hostiletest.Start(t, python, "-c", pythonMessages)
				address := "127.0.0.1:" + server.Line()
				if behind != "" {
					address = nginx(t, strings.TrimPrefix(address, "127.0.0.1:"))
				}
				w := loadFile(t, "ws://"+address, strings.ReplaceAll(`
def visit(vu):
    ws = vu.websocket.open("TARGET/", protocols = ["chat"], compression = HOW, name = "talk")
    for text in ["caf\u00e9", "x" * 70000, ""]:
        ws.send(text)
        expect.equal(ws.receive(timeout = "30s").data, text)
    ws.send(b"\x00\xff" * 100)
    expect.equal(ws.receive(timeout = "30s").data, b"\x00\xff" * 100)
    expect.equal(ws.ping(timeout = "30s").error, "")
    r = ws.close()
    expect.equal((r.headers["sec-websocket-protocol"], r.headers.get("upgrade")), ("chat", "websocket"))
    return r
workflow(name = "test", vu_iterations = 5, vus = 4, duration = "60s", steps = [
    step("echo", websocket.exchange("TARGET/", send = ["hello " * 100, b"\x00" * 5000], receive = 2, compression = HOW)),
    step(visit),
])`, "HOW", compression))
				r := run(t, context.Background(), Config{Workflow: w, VUs: 4, Duration: time.Minute, Timeout: 30 * time.Second})
				for _, s := range r.Stats.Steps {
					if s.OK != 20 {
						t.Errorf("%s: ok %d of %d: %v", s.Name, s.OK, s.Started, s.Errors)
					}
				}
				sent, received := uint64(0), uint64(0)
				for _, s := range r.Stats.Steps {
					all := measured(s)
					sent, received = sent+all[plan.MeasureMessagesSent].Count, received+all[plan.MeasureMessagesReceived].Count
				}
				want := fmt.Sprintf("%d %d %d", 4+20, sent, received) // each user keeps the connection of its exchanges
				if got := server.Stop(); got != want || sent != 20*6 {
					t.Errorf("the server has had %s connections and messages, want %s", got, want)
				}
			})
		}
	}
}

// converseInSession plays an entry of the catalogue of WebSocket servers in a session.
func converseInSession(t *testing.T, e *hostile.Entry) error {
	s, err := hostile.Start(e)
	if err != nil {
		return err
	}
	defer s.Close()
	offers := ""
	if e.Ask.Compressed {
		offers = ", compression = True"
	}
	if len(e.Ask.Protocols) > 0 {
		offers += fmt.Sprintf(", protocols = [%q, %q]", e.Ask.Protocols[0], e.Ask.Protocols[len(e.Ask.Protocols)-1])
	}
	timeout := 30 * time.Second // an entry that ends by its server's deed
	if e.Want.Late() || e.Want.Kind == http1.KindNone && e.Want.Reuse != hostile.ReuseMust {
		timeout = 300 * time.Millisecond
	}
	w := loadFile(t, "", fmt.Sprintf(`
def visit(vu):
    ws = vu.websocket.open(%q%s)
    ws.send("x" * %d)
    m = ws.receive()
    if not m.error and WANT != None and m.data != WANT:
        fail("another message: %%s" %% m.data)
    return ws.close()
WANT = %s
workflow(name = "test", vu_iterations = 1, vus = 1, duration = "60s", http = http.client(tls = tls(verify = False)), steps = [step(visit)])`,
		s.URL(), offers, max(e.Ask.Size, 4), wantedText(e)))
	r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: timeout})
	part := r.Stats.Steps[len(r.Stats.Steps)-1]
	kind := string(e.Want.Kind)
	if e.Want.Kind == http1.KindStatus {
		kind = measure.StatusKind(e.Want.Status)
	}
	switch {
	case part.Started != 1 || part.OK+part.Failed+part.TimedOut != 1:
		return fmt.Errorf("ok %d, failed %d, timed out %d, cancelled %d of %d", part.OK, part.Failed, part.TimedOut, part.Cancelled, part.Started)
	case s.Breach() != "":
		return errors.New(s.Breach())
	case timeout < time.Second: // how it ends depends on who is first
	case kind == "server 1000" || kind == "" || e.Name == "a goodbye without a code": // orderly
		if part.OK != 1 {
			return fmt.Errorf("%v", part.Errors)
		}
	case kinds(part)[kind] != 1:
		return fmt.Errorf("ok %d: %v, want %q", part.OK, part.Errors, kind)
	}
	return nil
}

// wantedText is the right message of an entry, as a function writes it.
func wantedText(e *hostile.Entry) string {
	if e.Want.Binary || len(e.Want.Message) > 1000 || !utf8.ValidString(e.Want.Message) || e.Want.Kind != http1.KindNone {
		return "None"
	}
	return strconv.Quote(e.Want.Message)
}

// Every behaviour of the catalogue, met by a session: it ends once, with the right kind.
func TestCatalogueOfWebSocketInSessions(t *testing.T) {
	t.Parallel()
	authority.Roots()
	all := hostile.All()
	faults := make([]error, len(all))
	slots := make(chan struct{}, 16)
	var running sync.WaitGroup
	for i := range all {
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			faults[i] = converseInSession(t, &all[i])
		})
	}
	running.Wait()
	for i, err := range faults {
		if err != nil {
			t.Errorf("%s: %v", all[i].Name, err)
		}
	}
}
