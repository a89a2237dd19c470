package http2

import (
	"bytes"
	"strconv"
	"testing"

	"golang.org/x/net/http2/hpack"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// block encodes fields as a server does; a nil encoder uses a new dynamic table.
func block(encoder *hpack.Encoder, buffer *bytes.Buffer, fields ...string) []byte {
	buffer.Reset()
	for i := 0; i < len(fields); i += 2 {
		encoder.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return bytes.Clone(buffer.Bytes())
}

func typicalFields(second int) []string {
	return []string{":status", "200", "content-type", "text/plain; charset=utf-8", "content-length", "13",
		"date", "Mon, 21 Oct 2013 20:13:" + strconv.Itoa(10+second%50) + " GMT", "server", "nginx/1.27.4"}
}

type discard struct{ done int }

func (d *discard) Begins(uint64) *http1.Collector { return nil }
func (d *discard) Head(uint64, int)               {}
func (d *discard) Body(uint64, []byte)            {}
func (d *discard) Done(uint64)                    { d.done++ }
func (d *discard) Failed(uint64, error)           {}

// crowd is 8 connections of 16 streams each, answered with canned bytes.
type crowd struct {
	call    *codec.Operation
	conns   [8]Conn
	first   []byte // the first head of a connection fills the dynamic table
	later   []byte
	answers []byte
	on      discard
}

const width = 16

func newCrowd(t testing.TB) *crowd {
	k := &crowd{call: mustCompile(t, http1.Request{Method: "GET", URL: "http://127.0.0.1:8080/plaintext"})}
	var buffer bytes.Buffer
	encoder := hpack.NewEncoder(&buffer)
	k.first, k.later = block(encoder, &buffer, typicalFields(0)...), block(encoder, &buffer, typicalFields(0)...)
	for i := range k.conns {
		k.conns[i].Reset(Config{Streams: width})
		if err := k.conns[i].Feed(appendFrame(nil, 0, typeSettings, 0, 0), &k.on); err != nil {
			t.Fatal(err)
		}
		k.turn(t, &k.conns[i], k.first)
	}
	k.on.done = 0
	return k
}

// turn opens all streams of a connection and answers them in one piece.
func (k *crowd) turn(t testing.TB, c *Conn, head []byte) {
	k.answers = k.answers[:0]
	for range width {
		id := c.Open(k.call, 1, nil)
		k.answers = append(appendFrame(k.answers, len(head), typeHeaders, flagEndHeaders, id), head...)
		k.answers = append(appendFrame(k.answers, 13, typeData, flagEndStream, id), "Hello, World!"...)
		head = k.later
	}
	c.Sent(len(c.Output()))
	if err := c.Feed(k.answers, &k.on); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkEightTimesSixteen: an iteration is one request with its response.
func BenchmarkEightTimesSixteen(b *testing.B) {
	k := newCrowd(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i%width == 0 {
			k.turn(b, &k.conns[i/width%len(k.conns)], k.later)
		}
	}
	if want := (b.N + width - 1) / width * width; k.on.done != want {
		b.Fatalf("got %d responses, want %d", k.on.done, want)
	}
}

// TestNothingIsAllocated fails when the hot path begins to allocate.
func TestNothingIsAllocated(t *testing.T) {
	k := newCrowd(t)
	if n := testing.AllocsPerRun(1000, func() { k.turn(t, &k.conns[0], k.later) }); n != 0 {
		t.Errorf("got %v allocations a turn of %d requests, want none", n, width)
	}
}

func BenchmarkHPACK(b *testing.B) {
	var buffer bytes.Buffer
	for _, bb := range []struct {
		name  string
		size  uint32
		dates int
		by    func(*decoder, []byte, *head) *http1.Error
	}{
		{"indexed", tableMost, 1, (*decoder).fields},
		{"new date each time", tableMost, 50, (*decoder).decode},
		{"literals", 0, 1, (*decoder).fields},
		{"the same again", 0, 1, (*decoder).decode},
	} {
		b.Run(bb.name, func(b *testing.B) {
			encoder := hpack.NewEncoder(&buffer)
			encoder.SetMaxDynamicTableSize(bb.size)
			var d decoder
			var h head
			d.reset()
			var blocks [][]byte
			for i := range 500 {
				blocks = append(blocks, block(encoder, &buffer, typicalFields(i%bb.dates)...))
			}
			last := 0
			decode := func(i int) {
				h.reset(false, nil)
				if err := bb.by(&d, blocks[i], &h); err != nil || h.status != 200 || h.length != 13 {
					b.Fatal(err, h.status)
				}
			}
			for last < 100 {
				decode(last)
				last++
			}
			b.ReportAllocs()
			for b.Loop() {
				if last == len(blocks) {
					last = 100 // the table then holds what it held there: the dates come round
				}
				decode(last)
				last++
			}
		})
	}
}
