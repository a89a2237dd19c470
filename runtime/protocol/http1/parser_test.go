package http1

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// outcome is all that a response may decide, whichever way its bytes were cut.
type outcome struct {
	Kind     Kind
	Status   int
	Bytes    int64
	Consumed int
	Reusable bool
	Body     string
	Fields   []Pair
}

// play feeds the stream in pieces of the given sizes (the last repeats), then ends it if eof.
func play(stream []byte, method string, limit int64, eof bool, cuts []int) outcome {
	var p Parser
	c := &Collector{Limit: limit}
	p.Reset(method)
	if limit > 0 {
		p.Collect(c)
	}
	var o outcome
	rest, done := stream, false
	var err error
	for i := 0; len(rest) > 0 && err == nil; i++ {
		size := len(rest)
		if len(cuts) > 0 {
			size = min(size, max(1, cuts[min(i, len(cuts)-1)]))
		}
		piece := bytes.Clone(rest[:size]) // a piece is gone once it was fed
		var n int
		n, done, err = p.Feed(piece)
		for j := range piece {
			piece[j] = 0xAA
		}
		o.Consumed += n
		rest = rest[size:]
	}
	if err == nil && eof && !done {
		_, err = p.FinishEOF()
	}
	o.Kind, o.Status, o.Bytes, o.Reusable = KindOf(err), p.Status(), p.BytesBody(), p.Reusable()
	o.Body = string(c.Body)
	for i := range c.Len() {
		name, value := c.At(i)
		o.Fields = append(o.Fields, Pair{string(name), string(value)})
	}
	if err != nil {
		o.Consumed = 0 // where an error is noticed may depend on the cutting
	}
	return o
}

func TestResponses(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	many := func(line string, n int) string { return strings.Repeat(line, n) }
	for _, tt := range []struct {
		name, method, in string
		eof              bool
		kind             Kind
		status           int
		body             string
		reusable         bool
	}{
		{name: "a sized response keeps the connection", in: ok + "Content-Length: 5\r\n\r\nhello", status: 200, body: "hello", reusable: true},
		{name: "no reason phrase", in: "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", status: 200, reusable: true},
		{name: "bare line feeds are accepted", in: "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", status: 200, body: "hi", reusable: true},
		{name: "2: no length, then close, is a whole body", in: ok + "\r\nhello", eof: true, status: 200, body: "hello"},
		{name: "4: short body then end", in: ok + "Content-Length: 9\r\n\r\nhello", eof: true, kind: KindTruncated, status: 200, body: "hello"},
		{name: "5: surplus keeps the result and spends the connection", in: ok + "Content-Length: 2\r\n\r\nhixx", status: 200, body: "hi"},
		{name: "6: differing lengths", in: ok + "Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi", kind: KindProtocol, status: 200},
		{name: "equal lengths", in: ok + "Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi", status: 200, body: "hi", reusable: true},
		{name: "7: chunked wins over a length and spends the connection", in: ok + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", status: 200, body: "abc"},
		{name: "8: negative length", in: ok + "Content-Length: -1\r\n\r\n", kind: KindProtocol, status: 200},
		{name: "8: overflowing length", in: ok + "Content-Length: 99999999999999999999999\r\n\r\n", kind: KindTooLarge, status: 200},
		{name: "8: signed length", in: ok + "Content-Length: +2\r\n\r\nhi", kind: KindProtocol, status: 200},
		{name: "8: empty length", in: ok + "Content-Length:\r\n\r\n", kind: KindProtocol, status: 200},
		{name: "chunked", in: ok + "Transfer-Encoding: Chunked\r\n\r\n3;a=b\r\nabc\r\n00A \r\n0123456789\r\n0\r\n\r\n", status: 200, body: "abc0123456789", reusable: true},
		{name: "9: bad chunk size", in: ok + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", kind: KindProtocol, status: 200},
		{name: "9: negative chunk size", in: ok + "Transfer-Encoding: chunked\r\n\r\n-1\r\n", kind: KindProtocol, status: 200},
		{name: "9: chunk without its end", in: ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n", kind: KindProtocol, status: 200, body: "abc"},
		{name: "9: chunk one shorter than said", in: ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nbody\r\n0\r\n\r\n", kind: KindProtocol, status: 200, body: "body\r"},
		{name: "9: chunk that ends with a bare line feed", in: ok + "Transfer-Encoding: chunked\r\n\r\n4\r\nbody\n0\r\n\r\n", kind: KindProtocol, status: 200, body: "body"},
		{name: "chunk sizes that end with bare line feeds", in: ok + "Transfer-Encoding: chunked\r\n\r\n4\nbody\r\n0\n\n", status: 200, body: "body", reusable: true},
		{name: "10: end before the last chunk", in: ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", eof: true, kind: KindTruncated, status: 200, body: "abc"},
		{name: "11: huge extension", in: ok + "Transfer-Encoding: chunked\r\n\r\n1;" + many("x", 5000) + "\r\na\r\n0\r\n\r\n", kind: KindTooLarge, status: 200},
		{name: "11: many extensions", in: ok + "Transfer-Encoding: chunked\r\n\r\n" + many("1;"+many("x", 1000)+"\r\na\r\n", 30), kind: KindTooLarge, status: 200, body: many("a", 16)},
		{name: "12: sixteen-digit chunk size", in: ok + "Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n", kind: KindTooLarge, status: 200},
		{name: "13: trailers are never merged", in: ok + "Transfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 7\r\nConnection: close\r\n\r\n", status: 200, reusable: true},
		{name: "14: trailer flood", in: ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n" + many("a: b\r\n", 1001) + "\r\n", kind: KindTooLarge, status: 200},
		{name: "15: garbage instead of a status line", in: "SSH-2.0-OpenSSH_9.9\r\n", kind: KindProtocol},
		{name: "15: TLS on a plain port", in: "\x15\x03\x01\x00\x02\x02\x46", kind: KindProtocol},
		{name: "15: status of two digits", in: "HTTP/1.1 20 OK\r\n\r\n", kind: KindProtocol},
		{name: "15: status below 100", in: "HTTP/1.1 099 OK\r\n\r\n", kind: KindProtocol},
		{name: "15: HTTP/2.0", in: "HTTP/2.0 200 OK\r\n\r\n", kind: KindProtocol},
		{name: "16: HTTP/1.0 closes", in: "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", status: 200},
		{name: "16: HTTP/1.0 with keep-alive", in: "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n", status: 200, reusable: true},
		{name: "19: nothing, then close", eof: true, kind: KindClosed},
		{name: "19: half a status line, then close", in: "HTTP/1.1 2", eof: true, kind: KindTruncated},
		{name: "24: interim responses are skipped", in: many("HTTP/1.1 103 Early\r\nLink: x\r\nConnection: close\r\n\r\n", 16) + ok + "Content-Length: 0\r\n\r\n", status: 200, reusable: true},
		{name: "24: too many interim responses", in: many("HTTP/1.1 100 Continue\r\n\r\n", 17), kind: KindProtocol, status: 100},
		{name: "25: 101 unasked", in: "HTTP/1.1 101 Switching\r\n\r\n", kind: KindProtocol, status: 101},
		{name: "26: 204 has no body", in: "HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\n", status: 204, reusable: true},
		{name: "26: 204 with a body", in: "HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\nhello", status: 204},
		{name: "26: 304 has no body", in: "HTTP/1.1 304 Same\r\nContent-Length: 5\r\n\r\n", status: 304, reusable: true},
		{name: "26: HEAD has no body", method: "HEAD", in: ok + "Content-Length: 5\r\n\r\n", status: 200, reusable: true},
		{name: "27: a head of more than 64 KiB", in: ok + "A: " + many("x", 70000) + "\r\n\r\n", kind: KindTooLarge, status: 200},
		{name: "27: ten thousand headers", in: ok + many("a:\r\n", 10000) + "\r\n", kind: KindTooLarge, status: 200},
		{name: "27: an endless status line", in: "HTTP/1.1 200 " + many("x", 70000), kind: KindTooLarge},
		{name: "28: NUL", in: ok + "A: b\x00c\r\n\r\n", kind: KindProtocol, status: 200},
		{name: "28: bare carriage return", in: ok + "A: b\rc\r\n\r\n", kind: KindProtocol, status: 200},
		{name: "28: a fold continues a value", in: ok + "A: b\r\n c\r\nContent-Length: 0\r\n\r\n", status: 200, reusable: true},
		{name: "28: no fold of a length", in: ok + "Content-Length: 1\r\n 0\r\n\r\n", kind: KindProtocol, status: 200},
		{name: "28: no fold of nothing", in: ok + " A: b\r\n\r\n", kind: KindProtocol, status: 200},
		{name: "blank before the colon", in: ok + "Content-Length : 5\r\n\r\n", kind: KindProtocol, status: 200},
		{name: "line without a colon", in: ok + "hello\r\n\r\n", kind: KindProtocol, status: 200},
		{name: "29: a body beyond the limit", in: ok + "\r\n" + many("x", 200), eof: true, kind: KindTooLarge, status: 200, body: many("x", 100)},
		{name: "29: a length beyond the limit", in: ok + "Content-Length: 101\r\n\r\n", kind: KindTooLarge, status: 200},
		{name: "31: close", in: ok + "Connection: foo, Close\r\nContent-Length: 0\r\n\r\n", status: 200},
		{name: "32: no more requests", in: ok + "Keep-Alive: timeout=5, max=0\r\nContent-Length: 0\r\n\r\n", status: 200},
		{name: "another transfer coding", in: ok + "Transfer-Encoding: gzip, chunked\r\n\r\n", kind: KindProtocol, status: 200},
		{name: "chunked twice", in: ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", kind: KindProtocol, status: 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := play([]byte(tt.in), tt.method, 100, tt.eof, nil)
			for _, cuts := range [][]int{{1}, {2, 3}, {7}, {1000}} {
				if diff := cmp.Diff(got, play([]byte(tt.in), tt.method, 100, tt.eof, cuts)); diff != "" {
					t.Errorf("cut in pieces of %v (-whole +cut):\n%s", cuts, diff)
				}
			}
			got.Fields, got.Bytes, got.Consumed = nil, 0, 0
			want := outcome{Kind: tt.kind, Status: tt.status, Body: tt.body, Reusable: tt.reusable}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("input %.200q (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

// Started says whether bytes have arrived, whatever followed.
func TestStarted(t *testing.T) {
	for in, want := range map[string]bool{"": false, "H": true, "x": true, "HTTP/1.1 200 OK\r\n": true, "HTTP/1.1 100 Continue\r\n\r\n": true, small: true} {
		var p Parser
		p.Reset("GET")
		_, _, _ = p.Feed([]byte(in)) // the outcome does not matter here
		before := p.Started()
		_, _ = p.FinishEOF()
		if before != want || p.Started() != want {
			t.Errorf("%q: got %v and %v at the end, want %v", in, before, p.Started(), want)
		}
	}
}

func TestCollectorFields(t *testing.T) {
	var p Parser
	var c Collector
	for range 2 { // the second time in used buffers
		p.Reset("GET")
		p.Collect(&c)
		in := "HTTP/1.1 100 Continue\r\nX: early\r\n\r\nHTTP/1.1 302 Found\r\nLocation: /a\r\nset-cookie: a=1\r\nSet-Cookie:  b=2 \r\nFold: x\r\n\ty\r\nContent-Length: 2\r\nKeep-Alive: timeout=7, max=99999999\r\n\r\nok"
		if _, done, err := p.Feed([]byte(in)); !done || err != nil {
			t.Fatalf("Feed: done %v, error %v", done, err)
		}
		if got, want := c.Headers("SET-COOKIE"), []string{"a=1", "b=2"}; !cmp.Equal(got, want) {
			t.Errorf("Headers: got %q, want %q", got, want)
		}
		if got, _ := c.Header("fold"); got != "x y" {
			t.Errorf("folded value: got %q, want %q", got, "x y")
		}
		if got, ok := c.Header("x"); ok {
			t.Errorf("a field of an interim response was kept: %q", got)
		}
		if p.keepMax != 65534 {
			t.Errorf("Keep-Alive max: got %d, want 65534", p.keepMax)
		}
	}
}

// drawStream makes a response that is mostly valid, then perhaps spoils one byte.
func drawStream(t *rapid.T) []byte {
	var b bytes.Buffer
	for range rapid.IntRange(0, 2).Draw(t, "interims") {
		b.WriteString("HTTP/1.1 100 Continue\r\n\r\n")
	}
	b.WriteString(rapid.SampledFrom([]string{"HTTP/1.1 200 OK\r\n", "HTTP/1.0 200 OK\r\n", "HTTP/1.1 204\n", "HTTP/1.1 404 Not Found\r\n"}).Draw(t, "status"))
	for range rapid.IntRange(0, 5).Draw(t, "fields") {
		b.WriteString(rapid.SampledFrom([]string{"A: b\r\n", "Connection: close\r\n", "Connection: keep-alive\n", "Server: x y\r\n", " fold\r\n"}).Draw(t, "field"))
	}
	body := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "body")
	switch rapid.IntRange(0, 2).Draw(t, "framing") {
	case 0:
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(body), body)
	case 1:
		b.WriteString("Transfer-Encoding: chunked\r\n\r\n")
		for len(body) > 0 {
			n := rapid.IntRange(1, len(body)).Draw(t, "chunk")
			fmt.Fprintf(&b, "%x;e=1\r\n%s\r\n", n, body[:n])
			body = body[n:]
		}
		b.WriteString("0\r\nT: x\r\n\r\n")
	case 2:
		fmt.Fprintf(&b, "\r\n%s", body)
	}
	b.WriteString(rapid.SampledFrom([]string{"", "", "", "x", "HTTP/1.1 200 OK\r\n"}).Draw(t, "surplus"))
	stream := b.Bytes()
	if rapid.Bool().Draw(t, "spoil") {
		stream[rapid.IntRange(0, len(stream)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
	}
	return stream[:rapid.IntRange(0, len(stream)).Draw(t, "length")]
}

func TestAnyCuttingGivesTheSameResult(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stream := drawStream(t)
		method := rapid.SampledFrom([]string{"GET", "HEAD"}).Draw(t, "method")
		limit := rapid.SampledFrom([]int64{0, 50, 1000}).Draw(t, "limit")
		cuts := rapid.SliceOfN(rapid.IntRange(1, 40), 1, 20).Draw(t, "cuts")
		whole := play(stream, method, limit, true, nil)
		if diff := cmp.Diff(whole, play(stream, method, limit, true, cuts)); diff != "" {
			t.Fatalf("%q in pieces of %v (-whole +cut):\n%s", stream, cuts, diff)
		}
	})
}

func FuzzResponse(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"), uint8(3), false)
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n0\r\nT: u\r\n\r\n"), uint8(1), false)
	f.Add([]byte("HTTP/1.0 100 C\n\nHTTP/1.1 200\nA: b\n c\nKeep-Alive: max=1\n\nrest"), uint8(7), true)
	f.Fuzz(func(t *testing.T, stream []byte, cut uint8, head bool) {
		method := "GET"
		if head {
			method = "HEAD"
		}
		for _, limit := range []int64{0, 64} {
			whole := play(stream, method, limit, true, nil)
			pieces := play(stream, method, limit, true, []int{int(cut)})
			if diff := cmp.Diff(whole, pieces); diff != "" {
				t.Fatalf("%q in pieces of %d (-whole +cut):\n%s", stream, cut, diff)
			}
		}
		var p Parser
		c := &Collector{}
		p.Reset(method)
		p.Collect(c)
		_, _, _ = p.Feed(stream) // any outcome is right, only its cost is judged
		if most := 4*len(stream) + bodyFirst + 1024; cap(c.Body)+cap(c.raw)+12*cap(c.fields)+cap(p.chunks.carry) > most+12*len(stream) {
			t.Fatalf("%d bytes made the parser keep body %d, head %d, fields %d, line %d", len(stream), cap(c.Body), cap(c.raw), cap(c.fields), cap(p.chunks.carry))
		}
	})
}

const small = "HTTP/1.1 200 OK\r\nServer: target\r\nDate: Sat, 21 Nov 2026 05:52:47 GMT\r\nContent-Type: text/plain\r\nContent-Length: 40\r\n\r\n0123456789012345678901234567890123456789"

func TestSmallResponseAllocatesNothing(t *testing.T) {
	in := []byte(small)
	chunked := []byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
	var p Parser
	var c Collector
	allocs := testing.AllocsPerRun(100, func() {
		p.Reset("GET")
		_, done, err := p.Feed(in)
		p.Reset("GET")
		p.Collect(&c)
		_, doneChunked, errChunked := p.Feed(chunked)
		if !done || !doneChunked || err != nil || errChunked != nil {
			t.Fatalf("done %v %v, errors %v %v", done, doneChunked, err, errChunked)
		}
	})
	if allocs != 0 {
		t.Errorf("got %v allocations per response, want 0", allocs)
	}
}

func BenchmarkFeed(b *testing.B) {
	for _, bench := range []struct {
		name   string
		cuts   int
		shared bool
	}{{"whole", 0, false}, {"cut", 60, false}, {"again", 0, true}} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			in := []byte(small)
			var p Parser
			if bench.shared {
				p.Share(new(Common))
			}
			for b.Loop() {
				p.Reset("GET")
				if bench.cuts > 0 {
					_, _, _ = p.Feed(in[:bench.cuts])
				}
				if _, done, err := p.Feed(in[bench.cuts:]); !done || err != nil {
					b.Fatalf("done %v, error %v", done, err)
				}
			}
		})
	}
}

// A collector of the head alone holds no body, however large.
func TestHeadOnly(t *testing.T) {
	c := Collector{HeadOnly: true, Limit: 3}
	var p Parser
	p.Reset("GET")
	p.Collect(&c)
	_, done, err := p.Feed([]byte("HTTP/1.1 200 OK\r\nX: y\r\nContent-Length: 10\r\n\r\n0123456789"))
	if v, _ := c.Header("x"); err != nil || !done || v != "y" || c.Body != nil || p.BytesBody() != 10 || p.Collector() != &c {
		t.Errorf("done %v, %v: header %q, body %q of %d", done, err, v, c.Body, p.BytesBody())
	}
}

// The parser passes on Set-Cookie fields in order, whole however the bytes were cut, and keeps
// that setting for the next response.
func TestCookiesAreKept(t *testing.T) {
	const text = "HTTP/1.1 200 OK\r\nSet-Cookie: a=b; Path=/\r\nX: y\r\nset-cookie: c=d\r\nContent-Length: 1\r\n\r\nx"
	for _, size := range []int{1, 7, len(text)} {
		var p Parser
		var c Common
		p.Share(&c)
		for range 2 {
			c.Reset()
			p.Reset("GET")
			for rest := []byte(text); len(rest) > 0; {
				n := min(size, len(rest))
				if _, _, err := p.Feed(rest[:n]); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			if !p.Done() || c.Len() != 2 || string(c.At(0)) != "a=b; Path=/" || string(c.At(1)) != "c=d" {
				t.Errorf("in pieces of %d: %d cookies", size, c.Len())
			}
		}
	}
}

// A shared bound covers kept and dropped bodies, to the byte.
func TestBodyMaxIsShared(t *testing.T) {
	for _, text := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\n\r\n0123456789",
	} {
		for _, most := range []int64{9, 10} {
			var p Parser
			p.Share(&Common{BodyMax: most})
			p.Reset("GET")
			p.Collect(&Collector{Limit: 1})
			_, _, err := p.Feed([]byte(text))
			if got, want := KindOf(err), map[int64]Kind{9: KindTooLarge}[most]; got != want {
				t.Errorf("%q within %d: %q, want %q", text, most, got, want)
			}
		}
	}
}
