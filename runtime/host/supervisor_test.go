package host

import (
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/node"
)

func TestFindSupervisor(t *testing.T) {
	for name, tt := range map[string]struct {
		variables map[string]string
		want      Supervisor
	}{
		"none":                        {},
		"one that waits for ready":    {map[string]string{"NOTIFY_SOCKET": "/run/n"}, Supervisor{Socket: "/run/n"}},
		"one with a watchdog":         {map[string]string{"NOTIFY_SOCKET": "@n", "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "7"}, Supervisor{"@n", 30 * time.Second}},
		"a watchdog without a number": {map[string]string{"NOTIFY_SOCKET": "@n", "WATCHDOG_USEC": "2000000"}, Supervisor{"@n", 2 * time.Second}},
		"a watchdog of another":       {map[string]string{"NOTIFY_SOCKET": "@n", "WATCHDOG_USEC": "2000000", "WATCHDOG_PID": "8"}, Supervisor{Socket: "@n"}},
		"a watchdog of two hours":     {map[string]string{"NOTIFY_SOCKET": "@n", "WATCHDOG_USEC": "7200000000"}, Supervisor{"@n", time.Hour}},
		"no number":                   {map[string]string{"NOTIFY_SOCKET": "@n", "WATCHDOG_USEC": "soon"}, Supervisor{Socket: "@n"}},
		"beyond an hour":              {map[string]string{"NOTIFY_SOCKET": "@n", "WATCHDOG_USEC": "18446744073709551615"}, Supervisor{Socket: "@n"}},
	} {
		if got := FindSupervisor(func(name string) string { return tt.variables[name] }, 7); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", name, got, tt.want)
		}
	}
}

// supervisor is a socket in the service manager's place.
func supervisor(t *testing.T) *net.UnixConn {
	t.Helper()
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// heard reads one message.
func heard(t *testing.T, c *net.UnixConn) string {
	t.Helper()
	b := make([]byte, 4096)
	if err := c.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	n, err := c.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(b[:n])
}

// TestTeller: what a service manager hears of each standing, once, and of its life each time.
func TestTeller(t *testing.T) {
	for _, dog := range []bool{false, true} {
		c := supervisor(t)
		conn, err := net.Dial("unixgram", c.LocalAddr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		told := teller{conn: conn, logger: slog.New(slog.DiscardHandler), dog: dog}
		const lives = "WATCHDOG=1\n"
		for _, step := range []struct {
			standing
			want string // without the sign of life
		}{
			{standing{alive: true, why: "no manager has\ntaken this node in"}, "STATUS=no manager has taken this node in\n"},
			{standing{alive: true, why: "no manager has\ntaken this node in"}, ""},
			{standing{alive: true, ready: true}, "STATUS=ready\nREADY=1\n"},
			{standing{alive: true, ready: true}, ""},
			{standing{alive: true, ready: true, why: "gate.jobs_max = 10 is near"}, "STATUS=ready; gate.jobs_max = 10 is near\nREADY=1\n"},
			{standing{why: "one step of the machine has been running for 12s"}, "STATUS=one step of the machine has been running for 12s\n"},
			{standing{why: "one step of the machine has been running for 12s"}, ""},
			{standing{alive: true, stops: true, why: "the node is stopping"}, "STATUS=the node is stopping\nSTOPPING=1\n"},
		} {
			told.tell(step.standing)
			want := step.want
			if dog && step.alive {
				want += lives
			}
			if want == "" {
				continue // the next step shows that nothing came
			}
			if got := heard(t, c); got != want {
				t.Errorf("watchdog %t, %+v: heard %q, want %q", dog, step.standing, got, want)
			}
		}
	}
}

// A real node tells why it is not ready, then that it is, and that it stops.
func TestSupervise(t *testing.T) {
	c := supervisor(t)
	o := options("worker-1", newPinger("127.0.0.1:1"))
	o.Role = node.RoleWorker
	n := start(t, o)
	ended := make(chan struct{})
	go func() {
		n.Supervise(Supervisor{Socket: c.LocalAddr().String(), Watchdog: 30 * time.Millisecond})
		close(ended)
	}()
	until := func(what string) (lives int) {
		t.Helper()
		for end := time.Now().Add(time.Minute); time.Now().Before(end); {
			got := heard(t, c)
			lives += strings.Count(got, "WATCHDOG=1\n")
			if strings.Contains(got, what) {
				return lives
			}
			if strings.Contains(got, "READY=1") {
				t.Fatalf("heard %q before %q", got, what)
			}
		}
		t.Fatalf("never heard %q", what)
		return 0
	}
	until("STATUS=no manager has taken this node in")
	n.work.observe(event.PeerRegistered{Peer: "manager-1", Role: node.RoleManager})
	if lives := until("READY=1"); lives == 0 {
		t.Error("no sign of life comes with the news")
	}
	for range 3 {
		if got := heard(t, c); got != "WATCHDOG=1\n" {
			t.Errorf("a standing node says %q, want a sign of life", got)
		}
	}
	n.Kill()
	<-ended
}
