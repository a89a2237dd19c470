package engine

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hyperscale/core/plan"
	"hyperscale/runtime/protocol/hostile/hostiletest"
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
    return ws.close()
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
