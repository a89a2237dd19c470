package http1

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestMemoChangesNothing plays responses that mostly have the head of another one before
// them: what parsers with a memory conclude is what parsers without one do.
func TestMemoChangesNothing(t *testing.T) {
	recalled := 0
	rapid.Check(t, func(t *rapid.T) {
		var pool []string
		for range rapid.IntRange(1, 4).Draw(t, "heads") {
			head := rapid.SampledFrom([]string{"HTTP/1.1 200 OK\r\n", "HTTP/1.0 200 OK\r\n", "HTTP/1.1 204 No\r\n", "HTTP/1.1 100 Go on\r\n\r\nHTTP/1.1 200 OK\r\n", "HTTP/1.1 404\r\n", "HTTP/2 200\r\n"}).Draw(t, "status")
			fields := []string{
				"Content-Length: 4", "Content-Length: 0", "Content-Length: 9", "Transfer-Encoding: chunked", "Connection: close", "Connection: keep-alive",
				"Keep-Alive: timeout=5, max=1", "Keep-Alive: max=0", "Set-Cookie: a=1", "Date: now", " folded", "X-Pad: " + strings.Repeat("x", 1100), "bad",
			}
			for _, field := range rapid.SliceOfN(rapid.SampledFrom(fields), 0, 4).Draw(t, "fields") {
				head += field + "\r\n"
			}
			pool = append(pool, head+"\r\n")
		}
		shared := &Common{BodyMax: 8}
		var kept, fresh Parser
		kept.Share(shared)
		for range rapid.IntRange(1, 12).Draw(t, "responses") {
			stream := rapid.SampledFrom(pool).Draw(t, "head") + rapid.SampledFrom([]string{"", "body", "bo", "4\r\nbody\r\n0\r\n\r\n", "bodybodybody"}).Draw(t, "body")
			method := rapid.SampledFrom([]string{"GET", "GET", "HEAD"}).Draw(t, "method")
			cuts := rapid.SliceOfN(rapid.IntRange(1, len(stream)), 0, 2).Draw(t, "cuts")
			collects := rapid.IntRange(0, 3).Draw(t, "collects") == 0
			own := &Common{BodyMax: 8}
			fresh = Parser{common: own}
			shared.Reset()
			before := shared.memos.of([]byte(stream)).head
			if len(before) > 0 && !collects && len(cuts) == 0 && strings.HasPrefix(stream, string(before)) {
				recalled++
			}
			a, b := conclude(&fresh, own, stream, method, cuts, collects), conclude(&kept, shared, stream, method, cuts, collects)
			if diff := cmp.Diff(a, b); diff != "" {
				t.Fatalf("%q\nwithout a memory -, with it +:\n%s", stream, diff)
			}
		}
	})
	if recalled == 0 {
		t.Error("no head came again")
	}
}

// conclude lists what a parser reports about a stream.
func conclude(p *Parser, c *Common, stream, method string, cuts []int, collects bool) []string {
	p.Reset(method)
	var kept Collector
	if collects {
		p.Collect(&kept)
	}
	var out []string
	from := 0
	for _, to := range append(cuts, len(stream)) {
		to = max(from, min(len(stream), to))
		n, done, err := p.Feed([]byte(stream[from:to]))
		out = append(out, fmt.Sprint(n, done, KindOf(err), p.Started(), p.Done(), p.Status(), p.BytesBody(), p.Reusable(), p.keepMax, c.Len()))
		from = to
		if done || err != nil {
			return out
		}
	}
	done, err := p.FinishEOF()
	return append(out, fmt.Sprint(done, KindOf(err), p.BytesBody(), p.Reusable(), kept.Len(), len(kept.Body)))
}
