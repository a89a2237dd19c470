package island_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"hyperscale/runtime/protocol/island"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// loop is a crew with a loop that sleeps until it is woken.
type loop struct {
	*island.Crew
	woken chan struct{}
	wakes atomic.Int64
}

func newLoop() *loop {
	l := &loop{woken: make(chan struct{}, 1)}
	l.Crew = island.New(func() {
		l.wakes.Add(1)
		select {
		case l.woken <- struct{}{}:
		default:
		}
	})
	return l
}

// take waits until there is something to take.
func (l *loop) take(t *testing.T) []uint64 {
	t.Helper()
	for {
		if tags := l.Take(nil); len(tags) > 0 {
			return tags
		}
		if !l.Asleep() {
			continue
		}
		select {
		case <-l.woken:
		case <-time.After(20 * time.Second):
			t.Fatal("the loop is not woken")
		}
	}
}

// end ends the crew, and fails if anything of it is left.
func (l *loop) end(t *testing.T) {
	t.Helper()
	if left := l.Close(20 * time.Second); left != 0 {
		t.Errorf("%d goroutines are left", left)
	}
}

// ISLAND-2: however the loop feeds bytes and the library reads them, they arrive once and in order, with the
// end behind them; and the same of what the library writes.
func TestStreamsKeepTheOrder(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		l := newLoop()
		shore := l.Shore(7)
		s := island.NewStream(shore, "peer")
		in := rapid.SliceOfN(rapid.Byte(), 0, 5000).Draw(r, "in")
		size := rapid.IntRange(1, 700).Draw(r, "read")
		var got []byte
		var end error
		if err := l.Go(func() {
			b := make([]byte, size)
			for end == nil {
				var n int
				n, end = s.Read(b)
				got = append(got, b[:n]...)
				if _, err := s.Write(b[:n]); err != nil {
					end = err
				}
			}
			_ = s.Close()
		}, func(err error) { t.Error(err) }); err != nil {
			t.Fatal(err)
		}
		var out []byte
		rest, ended := in, false
		for closed := false; !closed; {
			switch {
			case len(rest) > 0:
				n := rapid.IntRange(1, len(rest)).Draw(r, "fed")
				s.Feed(bytes.Clone(rest[:n]))
				rest = rest[n:]
			case !ended:
				ended = s.End(io.EOF)
			}
			for range l.Take(nil) {
				shore.Seen()
			}
			for b := s.Output(); len(b) > 0; b = s.Output() {
				n := rapid.IntRange(1, len(b)).Draw(r, "written")
				out = append(out, b[:n]...)
				s.Sent(n)
			}
			closed = ended && !l.Busy()
		}
		out = append(out, s.Output()...)
		if !errors.Is(end, io.EOF) || !bytes.Equal(got, in) || !bytes.Equal(out, in) {
			t.Fatalf("read %d, wrote %d of %d: %v", len(got), len(out), len(in), end)
		}
		if wrote, _ := s.Wrote(); wrote != uint64(len(in)) {
			t.Fatalf("it says that it wrote %d of %d", wrote, len(in))
		}
		l.end(t)
	})
}

// ISLAND-1: a library that reads nothing makes the loop stop, and reading makes it go on.
func TestStreamsAreBoundedInwards(t *testing.T) {
	l := newLoop()
	shore := l.Shore(1)
	s := island.NewStream(shore, "peer")
	fed := 0
	for ; !s.Full(); fed += 64 << 10 {
		s.Feed(make([]byte, 64<<10))
	}
	if fed > island.StreamUnread {
		t.Errorf("it takes %d bytes that nothing reads", fed)
	}
	_ = l.Go(func() { _, _ = io.CopyN(io.Discard, s, int64(fed)) }, nil)
	if tags := l.take(t); !slices.Equal(tags, []uint64{1}) || s.Full() {
		t.Errorf("it tells %v, and is full: %v", tags, s.Full())
	}
	l.end(t)
}

// ISLAND-1: a library whose bytes the loop does not take waits; ISLAND-5: closing ends that.
func TestStreamsAreBoundedOutwards(t *testing.T) {
	l := newLoop()
	s := island.NewStream(l.Shore(1), "peer")
	wrote := make(chan int, 1)
	_ = l.Go(func() {
		n, err := s.Write(make([]byte, 2*island.StreamUnsent))
		if !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v", err)
		}
		wrote <- n
	}, nil)
	l.take(t)
	for {
		if n, _ := s.Wrote(); n == island.StreamUnsent {
			break
		}
		l.Fed()
		l.Take(nil)
	}
	if n := len(s.Output()); n > island.StreamUnsent {
		t.Errorf("%d bytes wait", n)
	}
	s.Sent(100)
	for {
		if n, _ := s.Wrote(); n == island.StreamUnsent+100 {
			break
		}
		l.Fed()
		l.Take(nil)
	}
	_ = s.Close()
	l.end(t)
	if n := <-wrote; n != island.StreamUnsent+100 {
		t.Errorf("%d bytes were written", n)
	}
}

// ISLAND-3: a loop that sleeps is woken once for a batch, and each tag is taken once.
func TestTellingWakesOnce(t *testing.T) {
	l := newLoop()
	a, b := l.Shore(1), l.Shore(2)
	if !l.Asleep() {
		t.Fatal("something is ready")
	}
	for range 3 {
		a.Tell()
		b.Tell()
	}
	if l.Asleep() {
		t.Error("it sleeps though there is something to take")
	}
	if got := l.Take(nil); !slices.Equal(got, []uint64{1, 2}) || l.wakes.Load() != 1 {
		t.Errorf("took %v after %d wakes", got, l.wakes.Load())
	}
	a.Tell() // it was not seen yet
	if got := l.Take(nil); len(got) != 0 {
		t.Errorf("took %v", got)
	}
	a.Seen()
	a.Tell()
	if got := l.Take(nil); !slices.Equal(got, []uint64{1}) || l.wakes.Load() != 1 {
		t.Errorf("took %v after %d wakes: a loop that works needs none", got, l.wakes.Load())
	}
	l.end(t)
	a.Seen()
	a.Tell()
	if l.Asleep(); l.wakes.Load() != 1 {
		t.Error("a crew that has ended wakes its loop")
	}
}

// ISLAND-4: goroutines and handshakes are bounded, and a panic ends its own work only.
func TestCrewsAreBounded(t *testing.T) {
	l := newLoop()
	hold := make(chan struct{})
	for i := range island.Most {
		if err := l.Go(func() { <-hold }, nil); err != nil {
			t.Fatalf("goroutine %d: %v", i, err)
		}
	}
	if err := l.Go(func() {}, nil); !errors.Is(err, island.ErrMany) {
		t.Errorf("got %v", err)
	}
	if left := l.Close(0); left != island.Most {
		t.Errorf("%d are left", left)
	}
	close(hold)
	for l.Busy() {
		time.Sleep(time.Millisecond)
	}
	if err := l.Go(func() {}, nil); err == nil {
		t.Error("an ended crew begins work")
	}

	l = newLoop()
	gone := make(chan struct{})
	for i := range island.Handshakes / island.OfHost {
		host := fmt.Sprint(i)
		for range island.OfHost {
			if !l.Enter(host, nil) {
				t.Fatal("no room")
			}
		}
		if i == 0 {
			close(gone)
		}
		if l.Enter(host, gone) {
			t.Error("there is room for one more handshake with a host")
		}
	}
	if l.Enter("other", gone) {
		t.Error("there is room for one more handshake")
	}
	if l.Leave("0"); !l.Enter("other", nil) {
		t.Error("a place is not given back")
	}
	if l.Leave("1"); !l.Enter("1", nil) {
		t.Error("a place of a host is not given back")
	}
	for range island.OfHost {
		l.Leave("1")
	}
	broke := make(chan error, 1)
	_ = l.Go(func() { panic("boom") }, func(err error) { broke <- err })
	if err := <-broke; !strings.Contains(fmt.Sprint(err), "boom") {
		t.Errorf("got %v", err)
	}
	l.end(t)
}

// ISLAND-1 and ISLAND-2 of datagrams: they keep their bounds and order, and those that are too many count.
func TestPacketsKeepTheOrder(t *testing.T) {
	l := newLoop()
	from := netip.MustParseAddrPort("127.0.0.1:7")
	var sent []string
	p := island.NewPackets(l.Shore(1), from, func(b []byte, to netip.AddrPort) error {
		sent = append(sent, fmt.Sprint(string(b), " ", to))
		return nil
	})
	b := make([]byte, 100)
	for round := range 3 {
		for i := range island.PacketsUnread + 5 {
			if took := p.Feed(fmt.Append(nil, i), from); took != (i < island.PacketsUnread) {
				t.Fatalf("datagram %d is taken: %v", i, took)
			}
		}
		if d := p.Dropped(); d != uint64(5*(round+1)) {
			t.Errorf("%d are dropped", d)
		}
		for i := range island.PacketsUnread {
			n, at, err := p.ReadFrom(b)
			if err != nil || string(b[:n]) != fmt.Sprint(i) || at.String() != from.String() {
				t.Fatalf("datagram %d is %q of %v: %v", i, b[:n], at, err)
			}
		}
	}
	if n, err := p.WriteTo([]byte("out"), net.UDPAddrFromAddrPort(from)); n != 3 || err != nil || !slices.Equal(sent, []string{"out 127.0.0.1:7"}) {
		t.Errorf("sent %q: %v", sent, err)
	}
	_ = p.Close()
	if _, err := p.WriteTo(b, net.UDPAddrFromAddrPort(from)); !errors.Is(err, net.ErrClosed) || len(sent) != 1 {
		t.Errorf("a closed socket sends: %v", err)
	}
	if _, _, err := p.ReadFrom(b); !errors.Is(err, net.ErrClosed) || p.Feed(b, from) {
		t.Errorf("a closed socket reads: %v", err)
	}
	l.end(t)
}

// A read that waits ends at its deadline, at the end of its socket and when it is closed.
func TestReadsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		ends func(*island.Packets)
		want error
	}{
		"deadline that comes":   {func(p *island.Packets) { _ = p.SetReadDeadline(time.Now().Add(time.Millisecond)) }, os.ErrDeadlineExceeded},
		"deadline that is gone": {func(p *island.Packets) { _ = p.SetReadDeadline(time.Unix(1, 0)) }, os.ErrDeadlineExceeded},
		"end":                   {func(p *island.Packets) { p.End(io.ErrUnexpectedEOF) }, io.ErrUnexpectedEOF},
		"close":                 {func(p *island.Packets) { _ = p.Close() }, net.ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLoop()
			p := island.NewPackets(l.Shore(1), netip.AddrPort{}, nil)
			got := make(chan error, 1)
			_ = l.Go(func() {
				_, _, err := p.ReadFrom(make([]byte, 9))
				got <- err
			}, nil)
			c.ends(p)
			if err := <-got; !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			_ = p.Close()
			l.end(t)
		})
	}
}

// The loop feeds datagrams while one that the kernel does not take at once waits. One that is too long is dropped.
func TestWritesHoldNoFeedBack(t *testing.T) {
	l := newLoop()
	from := netip.MustParseAddrPort("127.0.0.1:7")
	sends, goesOn := make(chan struct{}), make(chan struct{})
	p := island.NewPackets(l.Shore(1), from, func([]byte, netip.AddrPort) error {
		close(sends)
		<-goesOn
		return nil
	})
	_ = l.Go(func() { _, _ = p.WriteTo([]byte("out"), net.UDPAddrFromAddrPort(from)) }, nil)
	<-sends
	fed := make(chan bool, 1)
	go func() { fed <- p.Feed([]byte("in"), from) }()
	select {
	case took := <-fed:
		if !took {
			t.Error("it is dropped")
		}
	case <-time.After(10 * time.Second):
		t.Error("a write holds the loop back")
	}
	close(goesOn)
	if p.Feed(make([]byte, island.PacketMost+1), from) {
		t.Error("it takes a datagram that is too long")
	}
	_ = p.Close()
	l.end(t)
}
