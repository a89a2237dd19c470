package http1

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawInserts draws the own bytes of a body and inserts in it, and what both are together.
func drawInserts(t *rapid.T) (own []byte, inserts []Insert, whole string) {
	for i := range rapid.IntRange(0, 4).Draw(t, "inserts") {
		text := rapid.StringN(0, 5, 5).Draw(t, fmt.Sprintf("own %d", i))
		data := rapid.StringN(1, 9, 20).Draw(t, fmt.Sprintf("data %d", i))
		own = append(own, text...)
		inserts = append(inserts, Insert{len(own), []byte(data)})
		whole += text + data
	}
	text := rapid.StringN(0, 5, 5).Draw(t, "rest")
	return append(own, text...), inserts, whole + text
}

// However a message is cut into writes, its bytes and its inserts go out in order.
func TestMessagesGoOutWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		own, inserts, whole := drawInserts(t)
		call, err := Request{Method: "POST", URL: "http://h/", Body: own, Inserts: inserts}.Compile()
		if err != nil {
			t.Fatal(err)
		}
		m := call.Message()
		var out []byte
		for len(out) < m.Len() {
			some := m.From(len(out))
			if len(some) == 0 {
				t.Fatalf("nothing follows byte %d of %d", len(out), m.Len())
			}
			out = append(out, some[:rapid.IntRange(1, len(some)).Draw(t, "taken")]...)
		}
		if len(m.From(len(out))) != 0 {
			t.Fatal("something follows the end")
		}
		head, body, _ := strings.Cut(string(out), "\r\n\r\n")
		if body != whole || !strings.HasSuffix(head, fmt.Sprintf("Content-Length: %d", len(whole))) || len(head)+4 != call.HeadLen {
			t.Fatalf("got %q\nwant %q", out, whole)
		}
	})
}

// A template puts its values around inserts, and counts both.
func TestTemplatesWithInserts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := bytes.Repeat([]byte("f"), rapid.SampledFrom([]int{1, 9, 90, 99, 1000}).Draw(t, "data"))
		value := []byte(rapid.StringN(0, 50, 50).Draw(t, "value"))
		call, err := Request{
			Method: "POST", URL: "http://h/", Body: []byte("a=VALUEb=VALUEc"), Inserts: []Insert{{7, data}, {15, data}},
			Placeholders: []Placeholder{{Word: "VALUE", Name: "value"}},
		}.Compile()
		if err != nil {
			t.Fatal(err)
		}
		values := [][]byte{value}
		b, head, err := call.Fill(nil, values)
		if err != nil {
			t.Fatal(err)
		}
		m := Message{b, head, call.Placed(nil, values)}
		var out []byte
		for len(out) < m.Len() {
			out = append(out, m.From(len(out))...)
		}
		want := fmt.Sprintf("a=%s%sb=%sc%s", value, data, value, data)
		want = fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(want), want)
		if !strings.HasSuffix(string(out), want) {
			t.Fatalf("got %q\nwant %q", out, want)
		}
		if at := call.At(m); len(at.Inserts) != 2 || at.HeadLen != head {
			t.Fatalf("as a call it is %+v", at)
		}
	})
}

// FuzzInserts cuts any bytes into a message: From returns each byte once.
func FuzzInserts(f *testing.F) {
	f.Add([]byte("head"), []byte("insert"), 2, 3)
	f.Fuzz(func(t *testing.T, own, data []byte, head, at int) {
		if len(data) == 0 || head < 0 || at < 0 || head > len(own) || at > len(own)-head {
			return
		}
		m := Message{own, head, []Insert{{at, data}, {len(own) - head, data}}}
		want := string(own[:head+at]) + string(data) + string(own[head+at:]) + string(data)
		for gone := range want {
			if some := m.From(gone); len(some) == 0 || !strings.HasPrefix(want[gone:], string(some)) {
				t.Fatalf("behind %d bytes of %q follows %q", gone, want, some)
			}
		}
	})
}
