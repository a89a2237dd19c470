package engine

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hyperscale/core/workflow"
)

// quick is a server of HTTP/2 that allocates nothing: every request gets the same answer, and
// one write answers all of one read.
type quick struct {
	listener net.Listener
	served   atomic.Uint64
	silent   atomic.Int64 // so many connections send SETTINGS, and nothing more
	all      sync.WaitGroup
}

func serveQuick(t testing.TB) *quick {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	q := &quick{listener: listener}
	q.all.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			q.all.Go(func() { q.serve(c) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		q.all.Wait()
	})
	return q
}

func (q *quick) url() string { return "http://" + q.listener.Addr().String() }

func (q *quick) serve(c net.Conn) {
	defer c.Close()
	in := make([]byte, 0, 1<<17)
	if _, err := io.ReadFull(c, in[:24]); err != nil {
		return
	}
	out := []byte{0, 0, 0, 4, 0, 0, 0, 0, 0} // SETTINGS
	if q.silent.Add(-1) >= 0 {
		_, _ = c.Write(out)
		_, _ = io.Copy(io.Discard, c)
		return
	}
	for {
		n, err := c.Read(in[len(in):cap(in)])
		if err != nil {
			return
		}
		rest := in[:len(in)+n]
		for len(rest) >= 9 {
			length := int(rest[0])<<16 | int(rest[1])<<8 | int(rest[2])
			if len(rest) < 9+length {
				break
			}
			switch kind, stream := rest[3], binary.BigEndian.Uint32(rest[5:]); {
			case kind == 4 && rest[4] == 0:
				out = append(out, 0, 0, 0, 4, 1, 0, 0, 0, 0)
			case kind == 1:
				q.served.Add(1)
				out = binary.BigEndian.AppendUint32(append(out, 0, 0, 1, 1, 4), stream)
				out = binary.BigEndian.AppendUint32(append(out, 0x88, 0, 0, 2, 0, 1), stream)
				out = append(out, "ok"...)
			}
			rest = rest[9+length:]
		}
		in = in[:copy(in[:cap(in)], rest)]
		if _, err := c.Write(out); err != nil {
			return
		}
		out = out[:0]
	}
}

// mallocs2 counts all allocations of a run over HTTP/2.
func mallocs2(t *testing.T, d time.Duration, change func(*workflow.Workflow)) cost {
	q := serveQuick(t)
	w := over2(flow(get("a", q.url()+"/"), get("b", q.url()+"/"), get("c", q.url()+"/", 0, 1)), 16)
	change(w)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 32, Duration: d})
	runtime.ReadMemStats(&after)
	n := uint64(0)
	for _, s := range r.Stats.Steps {
		n += s.OK
	}
	if got := q.served.Load(); got != n {
		t.Errorf("%d requests are ok, the server counted %d", n, got)
	}
	return cost{n, after.Mallocs - before.Mallocs}
}

// TestStreamsAllocateNothing fails when a request over HTTP/2 begins to allocate.
func TestStreamsAllocateNothing(t *testing.T) {
	//lint:orderfree each is a test of its own
	for name, change := range map[string]func(*workflow.Workflow){
		"a connection each": func(*workflow.Workflow) {},
		"shared":            func(w *workflow.Workflow) { w.Plan.Connections = 4 },
		"shared by many":    func(w *workflow.Workflow) { w.Plan.Connections, w.HTTP.Streams = 2, 4 },
		"open":              func(w *workflow.Workflow) { w.Plan.Rate, w.Plan.Connections = 10_000_000, 4 },
	} {
		var requests, more float64
		good := false
		for range 5 { // on a busy machine the longer run may do less, or let histograms grow
			short, long := mallocs2(t, 100*time.Millisecond, change), mallocs2(t, 400*time.Millisecond, change)
			requests = float64(long.requests) - float64(short.requests)
			more = float64(long.mallocs) - float64(short.mallocs)
			if good = requests >= 1000 && more <= 200+requests/100; good { // windows and histograms grow now and then
				break
			}
		}
		if !good {
			t.Errorf("%s: %v more requests made %v more allocations, want none", name, requests, more)
		}
		t.Logf("%s: %v more requests made %v more allocations", name, requests, more)
	}
}
