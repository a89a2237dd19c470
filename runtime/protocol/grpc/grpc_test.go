package grpc_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/runtime/protocol/grpc"
	"hyperscale/runtime/protocol/http1"
)

// framed appends a message with its head.
func framed(b []byte, flag byte, text string) []byte {
	from := len(b)
	b = append(grpc.Begin(b), text...)
	grpc.Put(b, from, flag == 1)
	return b
}

// outcome is what a reader makes of bytes.
func outcome(r *grpc.Reader, err error) string {
	end := error(nil)
	if e := r.End(); e != nil {
		end = e
	}
	return fmt.Sprintf("%d messages, last %q compressed %v packed %v, %v, %v", r.Count, r.Last, r.Compressed, r.Packed, err, end)
}

// GRPC-1, GRPC-3: however the bytes are cut, what is read is the same.
func TestCuts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b []byte
		want := 0
		for range rapid.IntRange(0, 5).Draw(t, "messages") {
			size := rapid.SampledFrom([]int{0, 1, 4, 5, 300, 1000}).Draw(t, "size")
			b = framed(b, byte(rapid.IntRange(0, 1).Draw(t, "flag")), strings.Repeat("x", size))
			want++
		}
		switch rapid.IntRange(0, 3).Draw(t, "end") {
		case 1:
			b = append(b, 0, 0)
		case 2:
			b = append(b, 2, 0, 0, 0, 0, 0)
		case 3:
			b = binary.BigEndian.AppendUint32(append(b, 0), 1001)
		}
		var whole, cut grpc.Reader
		whole.Begin(1000, true)
		cut.Begin(1000, true)
		ended, err := whole.Feed(b)
		if ended != want || whole.Count != want {
			t.Fatalf("got %d of %d", ended, want)
		}
		all := 0
		var last error
		for rest := b; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			var some int
			some, last = cut.Feed(rest[:n])
			rest, all = rest[n:], all+some
		}
		if got := outcome(&cut, last); got != outcome(&whole, err) || all != ended {
			t.Fatalf("cut:   %s\nwhole: %s", got, outcome(&whole, err))
		}
	})
}

// GRPC-2: a length alone reserves no memory.
func TestLengthsReserveNothing(t *testing.T) {
	var r grpc.Reader
	r.Begin(1<<40, true)
	if _, err := r.Feed([]byte{0, 0xff, 0xff, 0xff, 0xff, 'x'}); err != nil || cap(r.Last) > 1<<10 {
		t.Errorf("%v, %d bytes reserved", err, cap(r.Last))
	}
	if r.Begin(0, true); r.Most != grpc.MessageMost {
		t.Errorf("the bound is %d", r.Most)
	}
	if _, err := r.Feed([]byte{0, 0xff, 0xff, 0xff, 0xff}); http1.KindOf(err) != http1.KindTooLarge {
		t.Errorf("got %v", err)
	}
}

func FuzzReader(f *testing.F) {
	f.Add(framed(framed(nil, 0, "ab"), 1, ""), 3)
	f.Add([]byte{0, 0, 0, 0, 9, 1}, 1)
	f.Fuzz(func(t *testing.T, b []byte, at int) {
		var whole, cut grpc.Reader
		whole.Begin(100, true)
		cut.Begin(100, true)
		_, err := whole.Feed(b)
		at = min(max(at, 0), len(b))
		_, e := cut.Feed(b[:at])
		if _, more := cut.Feed(b[at:]); e == nil {
			e = more
		}
		if got, want := outcome(&cut, e), outcome(&whole, err); got != want || cap(whole.Last) > 1000 {
			t.Errorf("got %s\nwant %s", got, want)
		}
	})
}

func TestTimeouts(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "1n", time.Second: "1000m", 5 * time.Second: "5000m", 250 * time.Millisecond: "250m", 99_999_999: "99999999n", 100_000_001: "100001u",
		time.Hour: "3600000m", 30 * time.Hour: "108000S", 100_000_000 * time.Second: "1666667M",
	} {
		if got := grpc.Timeout(d); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
}

// fields are those of an answer.
type fields [][2]string

func (f fields) Len() int { return len(f) }
func (f fields) At(i int) (name, value []byte) {
	return []byte(f[i][0]), []byte(f[i][1])
}

func TestVerdicts(t *testing.T) {
	kind := [2]string{"content-type", "application/grpc+proto"}
	one := framed(nil, 0, "m")
	for _, tt := range []struct {
		name     string
		status   int
		head     fields
		trailers fields
		body     []byte
		want     string
	}{
		{"good", 200, fields{kind}, fields{{"grpc-status", "0"}}, one, "OK"},
		{"told", 200, fields{kind}, fields{{"grpc-status", "14"}, {"grpc-message", "no%20seat%C3%A4"}}, nil, "UNAVAILABLE no seatä"},
		{"broken text", 200, fields{kind}, fields{{"grpc-status", "5"}, {"grpc-message", "%ff%zz%"}}, nil, "NOT_FOUND \uFFFD%zz%"},
		{"status 99", 200, fields{kind}, fields{{"grpc-status", "99"}}, nil, "UNKNOWN"},
		{"trailers only", 200, fields{kind, {"grpc-status", "12"}}, nil, nil, "UNIMPLEMENTED"},
		{"told in the middle", 200, fields{kind}, fields{{"grpc-status", "13"}}, one[:3], "INTERNAL"},
		{"no status", 200, fields{kind}, nil, one, "protocol: the answer has no grpc-status in its trailers"},
		{"in the head", 200, fields{kind, {"grpc-status", "0"}}, fields{{"x", "y"}}, one, "protocol: grpc-status is in the head, and not in the trailers"},
		{"no number", 200, fields{kind}, fields{{"grpc-status", "OK"}}, one, `protocol: grpc-status is "OK", which is no number`},
		{"signed", 200, fields{kind}, fields{{"grpc-status", "+0"}}, one, `protocol: grpc-status is "+0", which is no number`},
		{"empty status", 200, fields{kind}, fields{{"grpc-status", ""}}, one, `protocol: grpc-status is "", which is no number`},
		{"HTML", 200, fields{{"content-type", "text/html"}}, nil, []byte("<html>"), `protocol: the content-type is "text/html", and not application/grpc`},
		{"another type", 200, fields{{"content-type", "application/grpcweb"}}, fields{{"grpc-status", "0"}}, one, `protocol: the content-type is "application/grpcweb", and not application/grpc`},
		{"no type", 200, nil, fields{{"grpc-status", "0"}}, one, `protocol: the content-type is missing, and not application/grpc`},
		{"502 in HTML", 502, fields{{"content-type", "text/html"}}, nil, []byte("<html>"), `UNAVAILABLE HTTP status 502 and no grpc-status: "text/html"`},
		{"404", 404, nil, nil, nil, `UNIMPLEMENTED HTTP status 404 and no grpc-status: missing`},
		{"none", 200, fields{kind}, fields{{"grpc-status", "0"}}, nil, "protocol: status OK came without a message"},
		{"two", 200, fields{kind}, fields{{"grpc-status", "0"}}, framed(one, 0, "n"), "protocol: 2 messages answer a call that has one"},
		{"cut", 200, fields{kind}, fields{{"grpc-status", "0"}}, one[:5], "truncated: the answer ended in the middle of a message"},
		{"flag", 200, fields{kind}, fields{{"grpc-status", "0"}}, []byte("\x02"), "protocol: the first byte of a message is neither 0 nor 1: the answer is no gRPC"},
		{"compressed", 200, fields{kind}, fields{{"grpc-status", "0"}}, framed(nil, 1, "m"), "protocol: a message is compressed, and there is no grpc-encoding"},
		{"compressed as said", 200, fields{kind, {"grpc-encoding", "gzip"}}, fields{{"grpc-status", "0"}}, framed(nil, 1, "m"), "OK"},
	} {
		var r grpc.Reader
		r.Begin(0, false)
		_, _ = r.Feed(tt.body)
		a := grpc.Answer{Status: tt.status, Fields: append(tt.head[:len(tt.head):len(tt.head)], tt.trailers...), Trailers: len(tt.head), Only: tt.trailers == nil && tt.body == nil, Reader: &r, One: true}
		code, text, err := a.Verdict()
		got := strings.TrimSpace(code.String() + " " + text)
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

// What is kept is the last message, in memory that is used again.
func TestKeepsTheLast(t *testing.T) {
	var r grpc.Reader
	r.Begin(0, true)
	_, _ = r.Feed(framed(framed(nil, 0, "first"), 0, "last"))
	if string(r.Last) != "last" {
		t.Errorf("got %q", r.Last)
	}
	_, _ = r.Feed(bytes.Repeat([]byte{0}, 5))
	if len(r.Last) != 0 || r.Count != 3 {
		t.Errorf("got %q of %d", r.Last, r.Count)
	}
	b := framed(nil, 0, strings.Repeat("x", 1000))
	if n := testing.AllocsPerRun(100, func() {
		r.Begin(0, true)
		_, _ = r.Feed(b)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
