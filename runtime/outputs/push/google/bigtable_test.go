package google

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"hyperscale/core/stats"
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/outputstest"
	"hyperscale/runtime/outputs/push/otlp"
	"hyperscale/runtime/protocol/grpc"
)

// mutated is a service of gRPC whose answers a test says.
type mutated struct {
	mu      sync.Mutex
	entries map[int]grpc.Code // status by index; an index that is missing gets none
	code    string            // grpc-status
	keys    []string          // of the last request

	held context.CancelFunc // ends the call, which gets no answer; nil: it gets one
	from []string           // who called
}

func (m *mutated) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	m.mu.Lock()
	m.from = append(m.from, r.RemoteAddr)
	held := m.held
	m.mu.Unlock()
	if held != nil {
		held()
		<-r.Context().Done()
		return
	}
	m.keys = nil
	_ = otlp.EachField(b[grpc.HeadLen:], func(field protowire.Number, inner []byte, _ uint64) error {
		if field != requestEntries {
			return nil
		}
		return otlp.EachField(inner, func(field protowire.Number, inner []byte, _ uint64) error {
			if field == entryKey {
				m.keys = append(m.keys, string(inner))
			}
			return nil
		})
	})
	w.Header().Set("Content-Type", "application/grpc")
	if m.code != "0" {
		w.Header().Set("Grpc-Status", m.code)
		w.Header().Set("Grpc-Message", "it is%20so "+r.Header.Get("Authorization"))
		return
	}
	w.Header().Set("Trailer", "Grpc-Status")
	for i := range len(m.keys) {
		code, has := m.entries[i]
		if !has {
			continue
		}
		status := protowire.AppendVarint(protowire.AppendTag(nil, statusCode, protowire.VarintType), uint64(code))
		status = protowire.AppendString(protowire.AppendTag(status, statusText, protowire.BytesType), "row says so")
		entry := protowire.AppendVarint(protowire.AppendTag(nil, answerIndex, protowire.VarintType), uint64(i))
		entry = protowire.AppendBytes(protowire.AppendTag(entry, answerStatus, protowire.BytesType), status)
		message := protowire.AppendBytes(protowire.AppendTag(grpc.Begin(nil), answerEntries, protowire.BytesType), entry)
		grpc.Put(message, 0, false)
		_, _ = w.Write(message)
	}
	w.Header().Set("Grpc-Status", m.code)
}

func newMutated(t *testing.T) (*mutated, outputs.Sink) {
	newMachine(t, nil)
	m := &mutated{code: "0"}
	server := httptest.NewUnstartedServer(m)
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(server.Close)
	return m, open(t, Bigtable(), "shop/load/rows,endpoint="+server.URL)
}

func TestStatusOfEachRow(t *testing.T) {
	m, s := newMutated(t)
	for _, c := range []struct {
		entries map[int]grpc.Code
		want    outputs.Verdict
		rows    []int
	}{
		{map[int]grpc.Code{0: 0, 1: 0, 2: 0}, outputs.VerdictDelivered, nil},
		{map[int]grpc.Code{0: 0, 1: 3, 2: 0}, outputs.VerdictRejected, []int{1}},
		{map[int]grpc.Code{0: 3, 1: 0, 2: 9}, outputs.VerdictRejected, []int{0, 2}},
		{map[int]grpc.Code{0: 3, 1: 14, 2: 0}, outputs.VerdictAgain, nil},
		{map[int]grpc.Code{0: 0, 1: 8, 2: 0}, outputs.VerdictAgain, nil},
		{map[int]grpc.Code{0: 0, 2: 0}, outputs.VerdictUnclear, nil},
		{nil, outputs.VerdictUnclear, nil},
		{map[int]grpc.Code{0: 7, 1: 0, 2: 0}, outputs.VerdictDenied, nil},
	} {
		m.entries = c.entries
		if out := s.Deliver(t.Context(), batch(0)); out.Verdict != c.want || !slices.Equal(out.Rows, c.rows) {
			t.Errorf("rows %v are %+v", c.entries, out)
		}
	}
}

func TestStatusOfTheCall(t *testing.T) {
	m, s := newMutated(t)
	for code, want := range map[string]outputs.Verdict{
		"1": outputs.VerdictUnclear, "3": outputs.VerdictSmaller, "4": outputs.VerdictUnclear, "5": outputs.VerdictRejected, "7": outputs.VerdictDenied, "8": outputs.VerdictAgain,
		"12": outputs.VerdictRejected, "14": outputs.VerdictAgain, "16": outputs.VerdictDenied, "x": outputs.VerdictUnclear,
	} {
		m.code = code
		out := s.Deliver(t.Context(), batch(0))
		if out.Verdict != want || strings.Contains(out.Why, "token-") || code != "x" && !strings.Contains(out.Why, "it is so") {
			t.Errorf("status %s is %+v", code, out)
		}
	}
}

// HTTP/2 would go on with a connection that is perhaps dead.
func TestSilentConnectionIsLeft(t *testing.T) {
	m, s := newMutated(t)
	m.entries = map[int]grpc.Code{0: 0, 1: 0, 2: 0}
	for range 2 {
		if out := s.Deliver(t.Context(), batch(0)); out.Verdict != outputs.VerdictDelivered {
			t.Fatal(out)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	m.mu.Lock()
	m.held = cancel
	m.mu.Unlock()
	if out := s.Deliver(ctx, batch(0)); out.Verdict != outputs.VerdictUnclear {
		t.Fatalf("%+v", out)
	}
	m.mu.Lock()
	m.held = nil
	m.mu.Unlock()
	if out := s.Deliver(t.Context(), batch(0)); out.Verdict != outputs.VerdictDelivered {
		t.Fatal(out)
	}
	if m.from[0] != m.from[1] || m.from[1] != m.from[2] || m.from[2] == m.from[3] {
		t.Fatalf("calls came from %q: the last one used the silent connection", m.from)
	}
}

// Jobs that begin at one time have ids that begin alike, and one server has all rows that do.
func TestRowKeysSpreadJobs(t *testing.T) {
	m, s := newMutated(t)
	m.entries = map[int]grpc.Code{0: 0, 1: 0}
	rows := outputstest.Rows("202603x")[:1]
	rows = append(rows, outputstest.Rows("202603y")[:1]...)
	if out := s.Deliver(t.Context(), outputs.Batch{Number: 1, Try: 1, Rows: rows}); out.Verdict != outputs.VerdictDelivered {
		t.Fatal(out)
	}
	if len(m.keys) != 2 || m.keys[0][0] == m.keys[1][0] || !strings.HasPrefix(m.keys[0], "x306202#window/202603x/") {
		t.Fatalf("the keys are %q", m.keys)
	}
}

// FuzzStatuses: what a service answers is statuses, or an error.
func FuzzStatuses(f *testing.F) {
	f.Add(200, []byte("\x00\x00\x00\x00\x02\x0a\x00"), "0")
	f.Add(200, []byte("\x01\x00\x00\x00\x00"), "13")
	f.Add(503, []byte{}, "")
	f.Fuzz(func(t *testing.T, status int, body []byte, code string) {
		got := &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/grpc"}}, Trailer: http.Header{"Grpc-Status": {code}}}
		end, failed := verdictOf(got, body, []string{"hush"})
		if (end == nil) == (failed == nil) {
			t.Fatal("neither an end nor an outcome")
		}
		if end == nil {
			return
		}
		if out := perRow(end.messages, []int{0, 1}); out.Verdict == outputs.VerdictNone || strings.ContainsAny(fmt.Sprint(out.Why, end.text), "\r\n") {
			t.Fatalf("%+v", out)
		}
	})
}

// Each cell is the figure of its name: no two figures of the row are equal.
func TestCellsAreFiguresOfTheirNames(t *testing.T) {
	f := &outputs.Figures{Begun: 1 << 33, OK: 2, Failed: 3, TimedOut: 4}
	var h stats.Histogram
	for i := range uint64(2000) {
		h.Record(i * 1000)
	}
	f.Latency = h.Wire()
	q := f.Quantiles()
	r := outputs.Row{Kind: outputs.RowWindow, Job: "j", Figures: f}
	want := map[string]uint64{
		"begun": 1 << 33, "ok": 2, "failed": 3, "timed_out": 4, "p50_ns": q[0], "p90_ns": q[1], "p95_ns": q[2], "p99_ns": q[3], "p999_ns": q[4],
	}
	for _, c := range cellsOf(&r)[1:] {
		name := string(c[0])
		if n, has := want[name]; !has || n != binary.BigEndian.Uint64(c[1]) {
			t.Errorf("%s is %d, want %d", name, binary.BigEndian.Uint64(c[1]), n)
		}
		delete(want, name)
	}
	if len(want) > 0 || q[1] == q[2] || q[3] == q[4] {
		t.Errorf("no cell has %v; quantiles %v", want, q)
	}
}
