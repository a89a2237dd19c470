package engine

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hyperscale/runtime/protocol/hostile/amqp"
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

// A server that confirms nothing and does not answer the goodbye may lack messages: the result says so, whether the
// connection ends or stays silent. It says nothing of messages that are confirmed.
func TestGoodbyesWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	swallows := func(s *amqp.Session) bool {
		_, _ = io.Copy(io.Discard, s.TCPConn)
		return false
	}
	quits := func(s *amqp.Session) bool {
		b, all := make([]byte, 4096), ""
		for !strings.Contains(all, "\x00\x0a\x00\x32") { // the goodbye
			n, err := s.Read(b)
			if err != nil {
				break
			}
			all += string(b[:n])
		}
		return false
	}
	for name, tt := range map[string]struct {
		then amqp.Act
		args string
		told bool
	}{
		"silence": {swallows, "", true},
		"an end":  {quits, "", true},
		"answers": {func(*amqp.Session) bool { return true }, "", false},
		"confirm": {swallows, `, confirm = True, timeout = "300ms"`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := amqp.Start(&amqp.Entry{Server: amqp.Behaviour{Then: tt.then}})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			w := loadFile(t, s.URL(), fmt.Sprintf(`workflow(name = "test", vus = 1, iterations = 1, duration = "60s", steps = [step("put", amqp.publish(amqp.client("TARGET", user = %q, password = %q), key = "q", body = "x"%s))])`, amqp.User, amqp.Password, tt.args))
			r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 20 * time.Second})
			const line = "connections closed before their server answered the goodbye: 1; it may lack the last of their unconfirmed messages"
			if got := r.Stats.Steps[0]; slices.Equal(r.Stats.Logs, []string{line}) != tt.told || !tt.told && len(r.Stats.Logs) > 0 || got.Sent != 1 {
				t.Errorf("sent %d of %d, logs %q: %v", got.Sent, got.Started, r.Stats.Logs, got.Errors)
			}
		})
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
