package epoll

import (
	"errors"
	"net"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newPoller(t *testing.T) *Poller {
	t.Helper()
	p, err := New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return p
}

func pair(t *testing.T) (here, there int) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { Close(fds[0]); Close(fds[1]) })
	return fds[0], fds[1]
}

// waitOne waits for exactly one event.
func waitOne(t *testing.T, p *Poller) Event {
	t.Helper()
	var events [8]Event
	for {
		n, err := p.Wait(events[:], 10*time.Second)
		if err != nil || n > 1 {
			t.Fatalf("Wait: %d events, error %v", n, err)
		}
		if n == 1 {
			return events[0]
		}
	}
}

func TestPollerTellsTokenAndReadiness(t *testing.T) {
	p := newPoller(t)
	here, there := pair(t)
	const token = 0xfedc_ba98_7654_3210
	if err := p.Add(here, In, token); err != nil {
		t.Fatal(err)
	}
	var events [8]Event
	if n, err := p.Wait(events[:], 0); n != 0 || err != nil {
		t.Fatalf("nothing is ready: got %d events, error %v", n, err)
	}
	if _, errno := Read(here, make([]byte, 1)); errno != unix.EAGAIN {
		t.Errorf("Read of nothing: got %v, want EAGAIN", errno)
	}
	if n, errno := Write(there, []byte("hello")); n != 5 || errno != 0 {
		t.Fatalf("Write: got %d, %v", n, errno)
	}
	if e := waitOne(t, p); e.Token() != token || !e.Readable() || e.Writable() {
		t.Errorf("got token %x readable %v writable %v", e.Token(), e.Readable(), e.Writable())
	}
	b := make([]byte, 9)
	if n, errno := Read(here, b); string(b[:n]) != "hello" || errno != 0 {
		t.Errorf("Read: got %q, %v", b[:n], errno)
	}
	if err := p.Mod(here, In|Out, 7); err != nil {
		t.Fatal(err)
	}
	if e := waitOne(t, p); e.Token() != 7 || !e.Writable() {
		t.Errorf("after Mod: got token %d writable %v, want 7 true", e.Token(), e.Writable())
	}
	if err := p.Del(here); err != nil {
		t.Fatal(err)
	}
	if n, err := p.Wait(events[:], 0); n != 0 || err != nil {
		t.Errorf("after Del: got %d events, error %v", n, err)
	}
	if err := p.Del(here); !errors.Is(err, unix.ENOENT) {
		t.Errorf("second Del: got %v, want ENOENT", err)
	}
}

func TestWaitLastsItsTimeout(t *testing.T) {
	for _, coarse := range []bool{false, true} {
		p := newPoller(t)
		p.coarse.Store(coarse)
		var events [8]Event
		begin := time.Now()
		n, err := p.Wait(events[:], 1500*time.Microsecond)
		if took := time.Since(begin); n != 0 || err != nil || took < 1500*time.Microsecond {
			t.Errorf("coarse %v: got %d events, error %v after %v", coarse, n, err, took)
		}
	}
}

// A doze is as long as it should be on both sides of its bound, and ends with an event.
func TestDoze(t *testing.T) {
	for _, coarse := range []bool{false, true} {
		p := newPoller(t)
		p.coarse.Store(coarse)
		var events [8]Event
		for _, timeout := range []time.Duration{dozeMost / 2, dozeMost, 3 * dozeMost} {
			for until := time.Now().Add(timeout); time.Now().Before(until); { // a signal may end it early
				if n, err := p.Doze(events[:], time.Until(until)+1); n != 0 || err != nil {
					t.Errorf("coarse %v: got %d events, error %v", coarse, n, err)
				}
			}
		}
		for _, early := range []time.Duration{0, dozeMost / 4, 2 * dozeMost} {
			wake := time.AfterFunc(early, func() { _ = p.Wake() })
			n, err := 0, error(nil)
			for n == 0 && err == nil {
				n, err = p.Doze(events[:], time.Second)
			}
			if n != 1 || err != nil || events[0].Token() != WakeToken {
				t.Errorf("coarse %v: got %d events, error %v", coarse, n, err)
			}
			wake.Stop()
		}
	}
}

func TestMilliseconds(t *testing.T) {
	for in, want := range map[time.Duration]int{-1: -1, 1: 1, time.Millisecond: 1, time.Millisecond + 1: 2, 1 << 62: 1 << 30} {
		if got := milliseconds(in); got != want {
			t.Errorf("milliseconds(%d): got %d, want %d", in, got, want)
		}
	}
}

func TestWakeEachTime(t *testing.T) {
	p := newPoller(t)
	for range 3 {
		done := make(chan error, 1)
		go func() { done <- p.Wake() }()
		if e := waitOne(t, p); e.Token() != WakeToken {
			t.Errorf("got token %x, want WakeToken", e.Token())
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
}

// finish waits for a started connection.
func finish(t *testing.T, fd int) error {
	t.Helper()
	p := newPoller(t)
	if err := p.Add(fd, Out, 1); err != nil {
		t.Fatal(err)
	}
	waitOne(t, p)
	return Connected(fd)
}

func TestDial(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	target := netip.MustParseAddrPort(listener.Addr().String())
	fd, done, err := Dial(target, netip.MustParseAddr("127.0.0.9"))
	if err != nil {
		t.Fatal(err)
	}
	defer Close(fd)
	if !done {
		if err := finish(t, fd); err != nil {
			t.Fatal(err)
		}
	}
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if got := conn.RemoteAddr().(*net.TCPAddr).IP.String(); got != "127.0.0.9" {
		t.Errorf("source address: got %s, want 127.0.0.9", got)
	}
	_, _ = conn.Close(), listener.Close() // so that the next dial is refused

	fd, done, err = Dial(target, netip.Addr{})
	if err == nil {
		defer Close(fd)
		if !done {
			err = finish(t, fd)
		}
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("dial a closed port: got %v, want ECONNREFUSED", err)
	}
	if _, _, err := Dial(target, netip.MustParseAddr("::1")); !errors.Is(err, syscall.EAFNOSUPPORT) {
		t.Errorf("source of the other family: got %v, want EAFNOSUPPORT", err)
	}
	if _, _, err := Dial(target, netip.MustParseAddr("192.0.2.1")); !errors.Is(err, syscall.EADDRNOTAVAIL) {
		t.Errorf("source that is not ours: got %v, want EADDRNOTAVAIL", err)
	}
}

// Small writes leave at once, on a connection that has some.
func TestDialSendsSmallWritesAtOnce(t *testing.T) {
	for name, address := range map[string]string{"IPv4": "127.0.0.1:0", "IPv6": "[::1]:0"} {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("skipped %s: %v", name, err)
			continue
		}
		defer func() { _ = listener.Close() }() // nothing is on it
		target := netip.MustParseAddrPort(listener.Addr().String())
		for want, dial := range []func(netip.AddrPort, netip.Addr) (int, bool, error){DialQuiet, Dial} {
			fd, done, err := dial(target, netip.Addr{})
			if err == nil && !done {
				err = finish(t, fd)
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			defer Close(fd)
			if _, peer, err := Ends(fd); err != nil || peer != target {
				t.Errorf("%s: connected to %v, want %v: %v", name, peer, target, err)
			}
			if got, err := unix.GetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY); err != nil || got != want {
				t.Errorf("%s: TCP_NODELAY is %d, want %d: %v", name, got, want, err)
			}
		}
	}
}

func TestDialAllocatesNothing(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }() // nothing is on it
	target := netip.MustParseAddrPort(listener.Addr().String())
	allocs := testing.AllocsPerRun(20, func() {
		fd, _, err := Dial(target, netip.Addr{})
		if err != nil {
			t.Fatal(err)
		}
		Close(fd)
	})
	if allocs != 0 {
		t.Errorf("got %v allocations, want 0", allocs)
	}
}

func TestWaitAllocatesNothing(t *testing.T) {
	p := newPoller(t)
	here, there := pair(t)
	if err := p.Add(here, In, 1); err != nil {
		t.Fatal(err)
	}
	var events [8]Event
	b := []byte{1}
	allocs := testing.AllocsPerRun(100, func() {
		_, _ = Write(there, b)
		n, err := p.Wait(events[:], Forever)
		if n != 1 || err != nil {
			t.Fatalf("got %d events, error %v", n, err)
		}
		_, _ = Read(here, b)
	})
	if allocs != 0 {
		t.Errorf("got %v allocations, want 0", allocs)
	}
}
