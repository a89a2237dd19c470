package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"
)

// telling is a server of server-sent events: each stream has one at once, and one each eventsEvery.
type telling struct {
	listener net.Listener
	counter  *counter
	open     atomic.Int64
}

const eventsEvery = 2 * time.Second

func newTelling(c serverConfig, n *counter) (*telling, error) {
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return nil, err
	}
	return &telling{listener: listener, counter: n}, nil
}

func (e *telling) serve() error {
	for {
		c, err := e.listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer func() { _ = c.Close() }() // the client has gone
			n := e.open.Add(1)
			defer e.open.Add(-1)
			for most := e.counter.most.Load(); n > most && !e.counter.most.CompareAndSwap(most, n); most = e.counter.most.Load() {
			}
			e.stream(c)
		}()
	}
}

// stream answers one request by events, until the client has gone.
func (e *telling) stream(c net.Conn) {
	in := bufio.NewReaderSize(c, 512)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		if line == "\r\n" {
			break
		}
	}
	e.counter.requests.Add(1)
	if _, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"); err != nil {
		return
	}
	for i := 0; ; i++ {
		if _, err := fmt.Fprintf(c, "id: %d\ndata: hello\n\n", i); err != nil {
			return
		}
		time.Sleep(eventsEvery)
	}
}

// customProgram answers each call of a custom step.
const customProgram = `#!/usr/bin/env python3
import json, sys
calls = 0
for line in sys.stdin:
    asked = json.loads(line)
    if "hyperscale" in asked:
        said = {"hyperscale": 1, "name": "bench 1"}
    elif "call" in asked:
        calls += 1
        said = {"id": asked["id"], "ok": True, "status": 200, "body": "hello"}
    elif "end" in asked:
        said = {"calls": calls}
    else:
        continue
    print(json.dumps(said), flush=True)
`

// writeCustom puts the program beside the workflows: executors start it. The server is asked nothing: an experiment has one.
func writeCustom(b *bench) (string, *server, func() error, error) {
	if err := os.WriteFile(filepath.Join(b.dir, "steps.py"), []byte(customProgram), 0o755); err != nil {
		return "", nil, nil, err
	}
	return served("http1")(b)
}
