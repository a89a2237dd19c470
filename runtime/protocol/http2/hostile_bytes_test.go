package http2

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hyperscale/runtime/protocol/http1"
)

// script writes a server's bytes.
type script []byte

func (s script) frame(kind, flags byte, stream uint32, payload string) script {
	return append(appendFrame(s, len(payload), kind, flags, stream), payload...)
}

func (s script) settings(pairs ...uint32) script {
	var payload []byte
	for i := 0; i < len(pairs); i += 2 {
		payload = appendSetting(payload, uint16(pairs[i]), pairs[i+1])
	}
	return s.frame(typeSettings, 0, 0, string(payload))
}

func (s script) head(stream uint32, flags byte, fields ...string) script {
	return s.frame(typeHeaders, flags|flagEndHeaders, stream, fieldsBlock(fields...))
}

func (s script) data(stream uint32, flags byte, body string) script {
	return s.frame(typeData, flags, stream, body)
}

// whole is a whole answer of two bytes.
func (s script) whole(streams ...uint32) script {
	for _, id := range streams {
		s = s.head(id, 0, ":status", "200", "content-length", "2").data(id, flagEndStream, "ok")
	}
	return s
}

func (s script) times(n int, more func(script) script) script {
	for range n {
		s = more(s)
	}
	return s
}

func fieldsBlock(fields ...string) string {
	var b []byte
	for i := 0; i < len(fields); i += 2 {
		b = appendText(appendText(append(b, 0), fields[i]), fields[i+1])
	}
	return string(b)
}

func words(numbers ...uint32) string {
	var b []byte
	for _, n := range numbers {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	return string(b)
}

// outcome is all that a connection may decide, whichever way its bytes were cut.
type outcome struct {
	Kind   http1.Kind
	By     map[uint64]*record
	Sent   string // the frames that we sent, the preface's left out
	Away   string
	Usable bool
}

// scene is what the client does before the server's bytes arrive: its streams are 1, 3, 5, with
// the same numbers as tags.
type scene struct {
	config  Config
	methods []string // GET three times by default
	body    int
	collect int64 // the limit of a collector on every stream, 0 is none
	cancel  uint32
	eof     bool // the server closes at the end
}

func play(t testing.TB, sc scene, in []byte, cuts []int) outcome {
	var c Conn
	c.Reset(sc.config)
	on := newRecords()
	if sc.collect > 0 {
		on.keep = func(uint64) *http1.Collector { return &http1.Collector{Limit: sc.collect} }
	}
	c.Sent(len(c.Output()))
	feed := func(b []byte) error {
		for i := 0; len(b) > 0; i++ {
			n := len(b)
			if len(cuts) > 0 {
				n = min(n, max(1, cuts[min(i, len(cuts)-1)]))
			}
			piece := bytes.Clone(b[:n]) // a piece is gone once it was fed
			err := c.Feed(piece, on)
			for j := range piece {
				piece[j] = 0xAA
			}
			if b = b[n:]; err != nil {
				return err
			}
		}
		return nil
	}
	if sc.methods == nil {
		sc.methods = []string{"GET", "GET", "GET"}
	}
	// The server's own preface, except in stories that begin with something else.
	err := error(nil)
	if bytes.HasPrefix(in, []byte("raw:")) {
		in = in[4:]
	} else {
		err = feed(script{}.settings())
	}
	for _, method := range sc.methods {
		c.Open(mustCompile(t, http1.Request{Method: method, URL: "http://h/", Body: make([]byte, sc.body)}), uint64(c.streams.next), nil)
	}
	out := bytes.Clone(c.Output())
	c.Sent(len(out))
	if sc.cancel != 0 {
		c.Cancel(sc.cancel)
	}
	if err == nil {
		err = feed(in)
	}
	if sc.eof {
		c.Close(nil, on)
	}
	for len(c.Output()) > 0 {
		out = append(out, c.Output()...)
		c.Sent(len(c.Output()))
	}
	return outcome{http1.KindOf(err), on.by, frames(t, out), fmt.Sprint(c.farewell), c.Usable()}
}

// frames lists the client's frames, and counts equal frames in a row.
func frames(t testing.TB, out []byte) string {
	var all []string
	count := 1
	for len(out) > 0 {
		f := parseFrame(out)
		payload := out[frameHead : frameHead+f.length]
		out = out[frameHead+f.length:]
		one := tellFrame(f, payload)
		switch n := len(all); {
		case one == "":
			continue
		case n > 0 && (all[n-1] == one || count > 1 && all[n-1] == fmt.Sprintf("%s x%d", one, count)):
			count++
			all[n-1] = fmt.Sprintf("%s x%d", one, count)
		default:
			all, count = append(all, one), 1
		}
	}
	return strings.Join(all, ", ")
}

func tellFrame(f frame, payload []byte) string {
	switch f.kind {
	case typeHeaders, typeContinuation:
		return ""
	case typeSettings:
		return "ack"
	case typePing:
		return "pong"
	case typeData:
		if f.flags&flagEndStream != 0 {
			return fmt.Sprintf("data %d %d end", f.stream, f.length)
		}
		return fmt.Sprintf("data %d %d", f.stream, f.length)
	case typeReset:
		return fmt.Sprintf("reset %d %v", f.stream, Code(binary.BigEndian.Uint32(payload)))
	case typeGoaway:
		return fmt.Sprintf("goaway %v", Code(binary.BigEndian.Uint32(payload[4:])))
	case typeWindow:
		return fmt.Sprintf("window %d %d", f.stream, binary.BigEndian.Uint32(payload))
	}
	return fmt.Sprintf("a frame of type %d", f.kind)
}

// tell describes the outcomes of streams 1, 3 and 5 in one word each.
func (o outcome) tell() string {
	var all []string
	for _, tag := range []uint64{1, 3, 5} {
		r := o.By[tag]
		switch {
		case r == nil:
			all = append(all, "-")
		case r.Done:
			all = append(all, fmt.Sprintf("%d/%d", r.Status, r.Body))
		case r.Failed == 1:
			all = append(all, string(r.Kind))
		case r.Failed == 0:
			all = append(all, fmt.Sprintf("%d/%d...", r.Status, r.Body))
		default:
			all = append(all, fmt.Sprint("failed ", r.Failed))
		}
	}
	return strings.Join(all, " ")
}

func TestHostileServers(t *testing.T) {
	for _, tt := range stories() {
		t.Run(tt.name, func(t *testing.T) {
			got := play(t, tt.scene, tt.in, nil)
			if got.tell() != tt.want || got.Kind != tt.kind || got.Sent != tt.sent {
				t.Errorf("got %q, %q, sent %q; want %q, %q, sent %q\n%v",
					got.tell(), got.Kind, got.Sent, tt.want, tt.kind, tt.sent, detail(got))
			}
		})
	}
}

func detail(o outcome) (all []string) {
	for _, tag := range []uint64{1, 3, 5} {
		if r := o.By[tag]; r != nil {
			all = append(all, r.Detail)
		}
	}
	return all
}

func TestHoweverBytesAreCut(t *testing.T) {
	all := stories()
	rapid.Check(t, func(rt *rapid.T) {
		tt := all[rapid.IntRange(0, len(all)-1).Draw(rt, "story")]
		cuts := rapid.SliceOfN(rapid.OneOf(rapid.IntRange(1, 12), rapid.IntRange(1, 20000)), 1, 40).Draw(rt, "cuts")
		if len(tt.in) > 100_000 {
			cuts = append(cuts, 4096)
		}
		if diff := cmp.Diff(play(t, tt.scene, tt.in, nil), play(t, tt.scene, tt.in, cuts)); diff != "" {
			rt.Fatalf("%s cut as %v differs from one piece:\n%s", tt.name, cuts, diff)
		}
	})
}

// FuzzConn feeds anything: no panic, whole and cut alike, every stream ends at most once.
func FuzzConn(f *testing.F) {
	for _, tt := range stories() {
		if len(tt.in) < 1<<14 {
			f.Add([]byte(tt.in), uint16(7))
		}
	}
	f.Fuzz(func(t *testing.T, in []byte, cut uint16) {
		sc := scene{body: 100, collect: 1000, methods: []string{"GET", "POST", "HEAD"}}
		whole := play(t, sc, in, nil)
		for tag, r := range whole.By {
			if r.Failed > 1 || r.Done && r.Failed > 0 || !slices.Contains([]uint64{1, 3, 5}, tag) {
				t.Fatalf("tag %d ended twice or was never given: %+v", tag, r)
			}
		}
		if diff := cmp.Diff(whole, play(t, sc, in, []int{int(cut)})); diff != "" {
			t.Fatalf("cut by %d differs:\n%s", cut, diff)
		}
	})
}
