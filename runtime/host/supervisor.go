package host

import (
	"log/slog"
	"net"
	"strconv"
	"strings"
	"time"
)

// Supervisor is a service manager that started this process and waits for what it tells: systemd, by sd_notify(3).
type Supervisor struct {
	Socket   string        // of datagrams; one that begins with @ has no file; empty: nothing waits
	Watchdog time.Duration // how long it waits for a sign of life before it kills the process; 0: for ever
}

// FindSupervisor reads what the service manager gives the process of a number.
func FindSupervisor(getenv func(string) string, pid int) Supervisor {
	s := Supervisor{Socket: getenv("NOTIFY_SOCKET")}
	usec, err := strconv.ParseUint(getenv("WATCHDOG_USEC"), 10, 63)
	own := getenv("WATCHDOG_PID")
	if err == nil && (own == "" || own == strconv.Itoa(pid)) {
		s.Watchdog = time.Duration(min(usec, uint64(time.Hour/time.Microsecond))) * time.Microsecond // a sign more often does no harm
	}
	return s
}

// Bounds of what a supervisor hears.
const (
	superviseEvery = time.Second
	superviseWrite = time.Second // for a supervisor that does not read
)

// Supervise tells the supervisor, until the node ends, that it is ready, that it stops, why it is not ready, and
// that it lives: as /readyz and /healthz do.
func (n *Node) Supervise(s Supervisor) {
	if s.Socket == "" {
		return
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: s.Socket, Net: "unixgram"})
	if err != nil {
		n.logger.Warn("the service manager hears nothing of this node", "socket", s.Socket, "error", err.Error())
		return
	}
	defer conn.Close()
	every := superviseEvery
	if s.Watchdog > 0 {
		every = min(every, s.Watchdog/3)
	}
	t := teller{conn: conn, logger: n.logger, dog: s.Watchdog > 0}
	ticker := time.NewTicker(max(every, time.Millisecond))
	defer ticker.Stop()
	for {
		ready, why := n.ready()
		alive, _ := n.alive()
		t.tell(standing{ready: ready, why: why, alive: alive, stops: n.loop.Stopping()})
		select {
		case <-ticker.C:
		case <-n.done:
			return
		}
	}
}

// standing is how a node is at one moment.
type standing struct {
	ready, alive, stops bool
	why                 string
}

// teller tells what is new, and each time that the node lives.
type teller struct {
	conn   net.Conn
	logger *slog.Logger
	dog    bool   // the supervisor waits for signs of life
	told   string // what it knows
	failed bool
}

func (t *teller) tell(s standing) {
	text := "ready"
	switch {
	case s.ready && s.why != "":
		text = "ready; " + s.why
	case !s.ready:
		text = s.why
	}
	text = "STATUS=" + strings.ReplaceAll(text, "\n", " ") + "\n"
	switch {
	case s.stops:
		text += "STOPPING=1\n"
	case s.ready:
		text += "READY=1\n"
	}
	message := ""
	if text != t.told {
		message = text
	}
	if t.dog && s.alive {
		message += "WATCHDOG=1\n"
	}
	if message == "" {
		return
	}
	_ = t.conn.SetWriteDeadline(time.Now().Add(superviseWrite)) // sockets have deadlines
	_, err := t.conn.Write([]byte(message))
	if err == nil {
		t.told = text
	} else if !t.failed {
		t.logger.Warn("the service manager does not hear this node", "error", err.Error())
	}
	t.failed = err != nil
}
