package engine

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// More users leave a run that goes on than connections may wait for the answers to their goodbyes. The
// oldest one is closed, also when it is its own answer that arrives.
func TestMoreGoodbyesThanMayWait(t *testing.T) {
	t.Parallel()
	const users = 4200 // some more than linger at once
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s := &patientServer{wants: users - 1, all: make(chan struct{})}
	go func() {
		for first := true; ; first = false {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go s.speak(c, first)
		}
	}()
	w := loadFile(t, "http://"+l.Addr().String(), fmt.Sprintf(`workflow(name = "test", vus = %d, think = "60s", duration = "12s", timeout = "50s", steps = [
    step("mail", smtp.send(smtp.client("smtp://%s"), sender = "a@x.test", to = "b@y.test", subject = "s", body = "b"))])`, users, l.Addr()))
	r := run(t, context.Background(), Config{Workflow: w, VUs: users, Duration: 12 * time.Second, Timeout: 50 * time.Second})
	if got := r.Stats.Steps[0]; got.OK != users {
		t.Errorf("%d of %d are ok: %v", got.OK, got.Started, got.Errors)
	}
}

// patientServer takes messages. It answers one of them when all the goodbyes that it wants have come.
type patientServer struct {
	goodbyes atomic.Int64
	wants    int64
	all      chan struct{}
}

func (s *patientServer) speak(c net.Conn, last bool) {
	defer c.Close()
	lines, inBody := bufio.NewReader(c), false
	for answer := "220 ready"; ; {
		if answer != "" {
			fmt.Fprintf(c, "%s\r\n", answer)
		}
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		switch answer = "250 ok"; {
		case inBody && line != ".\r\n":
			answer = ""
		case inBody:
			if inBody = false; last {
				<-s.all
				time.Sleep(500 * time.Millisecond) // the run goes on while the answers to the goodbyes arrive
			}
		case strings.HasPrefix(line, "DATA"):
			inBody, answer = true, "354 go on"
		case strings.HasPrefix(line, "QUIT"):
			if s.goodbyes.Add(1) == s.wants {
				close(s.all)
			}
			fmt.Fprint(c, "221 bye\r\n")
			return
		}
	}
}
