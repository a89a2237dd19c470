package sse_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/sse"
)

// heard lists events as text, and has enough after most; 0: never.
type heard struct {
	lines []string
	most  int
}

func (h *heard) Event(e *sse.Event) bool {
	h.lines = append(h.lines, fmt.Sprintf("%q %q %q", e.Type, e.Data, e.ID))
	return len(h.lines) == h.most
}

// read feeds a stream in pieces, which end at the cuts.
func read(t interface{ Fatalf(string, ...any) }, stream []byte, cuts []int, keep bool, most int) ([]string, error) {
	p, h := sse.Parser{Keep: keep}, &heard{most: most}
	from := 0
	for _, to := range append(cuts, len(stream)) {
		piece := bytes.Clone(stream[from:to])
		enough, err := p.Feed(piece, h)
		clear(piece) // the parser kept none of it
		if err != nil {
			return h.lines, err
		}
		if enough != (most > 0 && len(h.lines) >= most) {
			t.Fatalf("enough is %v after %d of %d events", enough, len(h.lines), most)
		}
		from = to
	}
	return h.lines, nil
}

func TestStreams(t *testing.T) {
	tests := []struct{ why, stream, want string }{
		{"two events", "data: a\n\ndata: b\n\n", `"" "a" "" | "" "b" ""`},
		{"the standard's first example", "data: YHOO\ndata: +2\ndata: 10\n\n", `"" "YHOO\n+2\n10" ""`},
		{"comments, ids and names", ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n", `"" "first event" "1" | "" "second event" "" | "" " third event" ""`},
		{"empty data fields", "data\n\ndata\ndata\n\ndata:", `"" "" "" | "" "\n" ""`},
		{"a blank after the colon is optional", "data:test\n\ndata: test\n\n", `"" "test" "" | "" "test" ""`},
		{"CR LF ends one line", "data: a\r\ndata: b\r\n\r\n", `"" "a\nb" ""`},
		{"CR alone ends a line", "data: a\rdata: b\r\r", `"" "a\nb" ""`},
		{"LF after CR LF is a blank line", "data: a\r\n\n", `"" "a" ""`},
		{"a type lasts for one event", "event: x\ndata: a\n\ndata: b\n\n", `"x" "a" "" | "" "b" ""`},
		{"a type without data is no event", "event: x\n\ndata: b\n\n", `"" "b" ""`},
		{"an id without data lasts", "id: 7\n\ndata: b\n\n", `"" "b" "7"`},
		{"an id with NUL does not count", "id: 1\ndata: a\n\nid: 2\x00\ndata: b\n\n", `"" "a" "1" | "" "b" "1"`},
		{"a byte order mark at the beginning does not count", "\ufeffdata: a\n\n", `"" "a" ""`},
		{"a second one does", "\ufeff\ufeffdata: a\n\n", ``},
		{"one within a value stays", "data: \ufeffa\n\n", "\"\" \"\\ufeffa\" \"\""},
		{"half of one is a name", "\xef\xbbdata: a\n\ndata: b\n\n", `"" "b" ""`},
		{"names are exact", "Data: a\nxdata: b\ndatax: c\ndata : d\ndata: e\n\n", `"" "e" ""`},
		{"retry is no event", "retry: 10\n\nretry: x\n\n", ``},
		{"an event without its blank line does not count", "data: a\n\ndata: b\n", `"" "a" ""`},
		{"a colon in the value", "data: a:b: c\n\n", `"" "a:b: c" ""`},
	}
	for _, c := range tests {
		got, err := read(t, []byte(c.stream), nil, true, 0)
		if all := strings.Join(got, " | "); all != c.want || err != nil {
			t.Errorf("%s: got %s, %v, want %s", c.why, all, err, c.want)
		}
		for cut := range len(c.stream) {
			got, err := read(t, []byte(c.stream), []int{cut}, true, 0)
			if all := strings.Join(got, " | "); all != c.want || err != nil {
				t.Errorf("%s, cut at %d: got %s, %v, want %s", c.why, cut, all, err, c.want)
			}
		}
	}
}

// TestCutsChangeNothing cuts streams anywhere, and counts as many events as a parser that keeps them.
func TestCutsChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{
			"data", "data:", "data: ", "event: x", "id: 3", "id:", "id: \x00", ":", "retry: 1", "\n", "\r", "\r\n", "\n\n", "x", " ", "\ufeff", "\xef", "\xbb\xbf", "dat", "a:",
		}), 0, 40).Draw(t, "parts")
		stream := []byte(strings.Join(parts, ""))
		most := rapid.IntRange(0, 3).Draw(t, "most")
		var cuts []int
		for at := range len(stream) {
			if rapid.IntRange(0, 3).Draw(t, "cut") == 0 {
				cuts = append(cuts, at)
			}
		}
		whole, _ := read(t, stream, nil, true, most)
		cut, _ := read(t, stream, cuts, true, most)
		if strings.Join(whole, "\n") != strings.Join(cut, "\n") {
			t.Fatalf("%q cut at %v: got %q, want %q", stream, cuts, cut, whole)
		}
		plain := dumb(string(stream))
		if most > 0 {
			plain = plain[:min(len(plain), most)]
		}
		if strings.Join(plain, "\n") != strings.Join(whole, "\n") {
			t.Fatalf("%q: got %q, want %q", stream, whole, plain)
		}
		counted, _ := read(t, stream, cuts, false, most)
		if len(counted) != len(whole) {
			t.Fatalf("%q: counted %d events, want %d", stream, len(counted), len(whole))
		}
	})
}

// dumb reads a whole stream as the standard's text says it.
func dumb(stream string) (events []string) {
	stream = strings.TrimPrefix(stream, "\ufeff")
	stream = strings.ReplaceAll(stream, "\r\n", "\n")
	stream = strings.ReplaceAll(stream, "\r", "\n")
	lines := strings.Split(stream, "\n")
	data, kind, id := "", "", ""
	for _, line := range lines[:len(lines)-1] {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if data != "" {
				events = append(events, fmt.Sprintf("%q %q %q", kind, strings.TrimSuffix(data, "\n"), id))
			}
			data, kind = "", ""
		case name == "data":
			data += value + "\n"
		case name == "event":
			kind = value
		case name == "id" && !strings.Contains(value, "\x00"):
			id = value
		}
	}
	return events
}

// TestEnoughIsEnough: what was read with the last event is not heard.
func TestEnoughIsEnough(t *testing.T) {
	got, err := read(t, []byte("data: a\n\ndata: b\n\ndata: c\n\n"), nil, true, 2)
	if err != nil || len(got) != 2 {
		t.Errorf("got %q, %v, want the first two", got, err)
	}
}

// TestALargeEventIsRefused whether the parser keeps it or not, and however it comes.
func TestALargeEventIsRefused(t *testing.T) {
	line := bytes.Repeat([]byte("x"), 1<<20)
	for _, keep := range []bool{true, false} {
		p, h := sse.Parser{Keep: keep}, &heard{}
		_, err := p.Feed([]byte("data:"), h)
		fed := 0
		for ; err == nil && fed < sse.EventLimit; fed += len(line) {
			_, err = p.Feed(line, h)
		}
		var known *http1.Error
		if !errors.As(err, &known) || known.Kind != http1.KindTooLarge || fed < sse.EventLimit {
			t.Errorf("keep %v: got %v after %d bytes, want %s after %d", keep, err, fed, http1.KindTooLarge, sse.EventLimit)
		}
		p = sse.Parser{Keep: keep}
		for range 20 { // a comment has no limit, and no memory
			if _, err := p.Feed(append([]byte(":"), line...), h); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestCountingAllocatesNothing however long the stream is.
func TestCountingAllocatesNothing(t *testing.T) {
	stream := []byte("id: 17\nevent: price\ndata: {\"a\":1}\n\n")
	p, h := sse.Parser{}, &count{}
	if n := testing.AllocsPerRun(100, func() { _, _ = p.Feed(stream, h) }); n != 0 {
		t.Errorf("an event allocates %v times", n)
	}
}

type count struct{ n int }

func (c *count) Event(*sse.Event) bool { c.n++; return false }

// FuzzParser cuts any bytes in two: same events.
func FuzzParser(f *testing.F) {
	f.Add([]byte("data: a\r\n\r\nid: 1\x00\ndata\n\n"), uint16(9))
	f.Add([]byte("\ufeffevent: x\rdata: b\r\r"), uint16(1))
	f.Fuzz(func(t *testing.T, stream []byte, at uint16) {
		cut := int(at) % (len(stream) + 1)
		whole, _ := read(t, stream, nil, true, 0)
		parts, _ := read(t, stream, []int{cut}, true, 0)
		if strings.Join(whole, "\n") != strings.Join(parts, "\n") {
			t.Fatalf("%q cut at %d: got %q, want %q", stream, cut, parts, whole)
		}
		if plain := dumb(string(stream)); strings.Join(plain, "\n") != strings.Join(whole, "\n") {
			t.Fatalf("%q: got %q, want %q", stream, whole, plain)
		}
	})
}

// BenchmarkParser reads events of 100 bytes in pieces of 4 KiB.
func BenchmarkParser(b *testing.B) {
	one := "id: 17\nevent: price\ndata: " + strings.Repeat("x", 72) + "\n\n"
	stream := []byte(strings.Repeat(one, 4096/len(one)))
	for _, keep := range []bool{false, true} {
		b.Run(fmt.Sprintf("keep=%v", keep), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(stream)))
			p, c := sse.Parser{Keep: keep}, &count{}
			for b.Loop() {
				_, _ = p.Feed(stream, c)
			}
			if c.n == 0 {
				b.Fatal("no event")
			}
		})
	}
}
