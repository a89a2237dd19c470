package http2

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/http2/hpack"
	"pgregory.net/rapid"

	"hyperscale/runtime/protocol/http1"
)

// decodeAll decodes one block with our decoder, without pseudo-headers.
func decodeAll(d *decoder, block []byte) (fields []hpack.HeaderField, h head, err *http1.Error) {
	var c http1.Collector
	h.reset(false, &c)
	err = d.decode(block, &h)
	for i := range c.Len() {
		name, value := c.At(i)
		fields = append(fields, hpack.HeaderField{Name: string(name), Value: string(value)})
	}
	return fields, h, err
}

// tableOf lists a dynamic table, newest first, as RFC 7541's appendix C does.
func tableOf(t *table) []string {
	var all []string
	for i := range uint64(t.count) {
		r, _ := t.at(i)
		name, value := t.text(r)
		all = append(all, fmt.Sprintf("%s: %s", name, value))
	}
	return append(all, fmt.Sprint(t.size))
}

// The responses of RFC 7541, appendix C.6: Huffman code, evictions, a table of 256 bytes.
func TestVectorsOfTheStandard(t *testing.T) {
	var d decoder
	d.reset()
	d.table.limit(256)
	for i, tt := range []struct {
		block  string
		status int
		table  []string
	}{
		{"4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3", 302,
			[]string{"location: https://www.example.com", "date: Mon, 21 Oct 2013 20:13:21 GMT", "cache-control: private", ":status: 302", "222"}},
		{"4883 640e ffc1 c0bf", 307,
			[]string{":status: 307", "location: https://www.example.com", "date: Mon, 21 Oct 2013 20:13:21 GMT", "cache-control: private", "222"}},
		{"88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07", 200,
			[]string{"set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1", "content-encoding: gzip", "date: Mon, 21 Oct 2013 20:13:22 GMT", "215"}},
	} {
		block, err := hex.DecodeString(strings.ReplaceAll(tt.block, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		_, h, wrong := decodeAll(&d, block)
		if got := tableOf(&d.table); wrong != nil || h.bad != nil || h.status != tt.status || !slices.Equal(got, tt.table) {
			t.Errorf("response %d: got %v, %v, status %d, table %q, want status %d, table %q", i, wrong, h.bad, h.status, got, tt.status, tt.table)
		}
	}
}

func TestStaticTableIsTheTwins(t *testing.T) {
	for i := 1; i < len(staticFields); i++ {
		twin, err := hpack.NewDecoder(0, nil).DecodeFull([]byte{0x80 | byte(i)})
		if err != nil || twin[0].Name != staticFields[i].Name || twin[0].Value != staticFields[i].Value {
			t.Errorf("static entry %d: got %v, want %v", i, staticFields[i], twin)
		}
	}
}

func TestHuffmanIsTheTwins(t *testing.T) {
	var all []byte
	for c := range 256 {
		all = append(all, byte(c))
		one := string([]byte{byte(c), byte(255 - c), byte(c)})
		if got, want := appendHuffman(nil, one), hpack.AppendHuffmanString(nil, one); !bytes.Equal(got, want) {
			t.Errorf("code of %q: got %x, want %x", one, got, want)
		}
	}
	for from := range all {
		text := string(all[from:])
		coded := hpack.AppendHuffmanString(nil, text)
		if got, ok := decodeHuffman(nil, coded); !ok || string(got) != text || huffmanLen(text) != len(coded) {
			t.Fatalf("from %d: got %q %t, want %q", from, got, ok, text)
		}
	}
}

func TestBadBlocks(t *testing.T) {
	bomb := append([]byte{0x40, 1, 'a', 0x7f, 0xa1, 0x1e}, bytes.Repeat([]byte{'x'}, 4000)...)
	for _, tt := range []struct {
		name  string
		block []byte
		want  *http1.Error
	}{
		{"index 0", []byte{0x80}, errIndex},
		{"index beyond the table", []byte{0x80 | 62}, errIndex},
		{"name beyond the table", []byte{0x7f, 0, 1, 'a'}, errIndex},
		{"a number that never ends", []byte{0xff, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80}, errInteger},
		{"a number cut", []byte{0xff}, errCut},
		{"a string cut", []byte{0x00, 5, 'a'}, errCut},
		{"no value", []byte{0x00, 1, 'a'}, errCut},
		{"Huffman padding of zeros", []byte{0x00, 0x81, 0x00, 0}, errHuffman},
		{"Huffman padding of a whole byte", []byte{0x00, 0x82, 0x1f, 0xff, 0}, errHuffman},
		{"Huffman end of string", []byte{0x00, 0x84, 0xff, 0xff, 0xff, 0xff, 0}, errHuffman},
		{"update beyond the offer", []byte{0x3f, 0xe2, 0x1f}, errUpdate},
		{"update after a field", []byte{0x88, 0x20}, errUpdate},
		{"a bomb", append(bomb, bytes.Repeat([]byte{0xbe}, 16)...), errBomb},
		{"many headers", bytes.Repeat([]byte{0x90}, 1001), errManyHead},
	} {
		var d decoder
		d.reset()
		if _, _, err := decodeAll(&d, tt.block); err != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, err, tt.want)
		}
	}
}

// Random valid blocks: insertions, evictions, names from entries that the insertion pushes
// out, changes of the table's size; enough of them for its bytes to be shifted often.
func TestDecoderIsTheTwins(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		var d decoder
		d.reset()
		var silent, direct decoder // without a collector: with the last block remembered, and not
		silent.reset()
		direct.reset()
		twin := hpack.NewDecoder(tableMost, nil)
		var again []byte // a block that changed nothing
		for range 200 {
			b := again
			if again == nil || random.IntN(2) > 0 {
				b = randomBlock(random, int(d.table.count))
			}
			changes := d.table.changes
			if !sameBlock(rt, &d, twin, b) {
				return // an index that the table has lost meanwhile
			}
			if d.table.changes == changes {
				again = b
			}
			var got, want head
			got.reset(false, nil)
			want.reset(false, nil)
			if err, wrong := silent.decode(b, &got), direct.fields(b, &want); err != nil || wrong != nil || got != want {
				rt.Fatalf("got %v, %+v; want %v, %+v", err, got, wrong, want)
			}
			if !slices.Equal(tableOf(&silent.table), tableOf(&d.table)) {
				rt.Fatal("the table is another one when nobody collects")
			}
		}
	})
}

// randomBlock has one representation, behind a size update now and then.
func randomBlock(random *rand.Rand, rows int) []byte {
	var b []byte
	if random.IntN(50) == 0 {
		b, rows = appendInteger(b, 0x20, 5, random.IntN(tableMost+1)), 0
	}
	most := len(staticFields) + rows - 1
	if random.IntN(3) == 0 {
		return appendInteger(b, 0x80, 7, 1+random.IntN(most))
	}
	first, prefix := byte(0x40), uint(6)
	if random.IntN(4) == 0 {
		first, prefix = byte(random.IntN(2))<<4, 4
	}
	if random.IntN(2) == 0 {
		b = appendInteger(b, first, prefix, most-random.IntN(min(most, 20)))
	} else {
		b = appendText(appendInteger(b, first, prefix, 0), "name-"+strconv.Itoa(random.IntN(100)))
	}
	longest := []int{4, 60, 600, 4200}[random.IntN(4)]
	return appendText(b, strings.Repeat(string(rune(random.IntN(256))), random.IntN(longest)))
}

// FuzzHPACK decodes a sequence of blocks, each behind its length, with our decoder and the
// twin: same fields, same failures.
func FuzzHPACK(f *testing.F) {
	f.Add([]byte("\x02\x88\x88\x06\x40\x01a\x02bc\xbe\x01\xbe"))
	f.Add([]byte("\x03\x3f\xe1\x1f\x08\x20\x40\x81\x1f\x82\x1f\x1f\xbe"))
	f.Fuzz(func(t *testing.T, in []byte) {
		var d decoder
		d.reset()
		twin := hpack.NewDecoder(tableMost, nil)
		for len(in) > 0 {
			n := min(int(in[0]), len(in)-1)
			block := in[1 : 1+n]
			in = in[1+n:]
			if !sameBlock(t, &d, twin, block) {
				return
			}
		}
	})
}

func sameBlock(t rapid.TB, d *decoder, twin *hpack.Decoder, block []byte) bool {
	got, h, err := decodeAll(d, block)
	want, twinErr := twin.DecodeFull(block)
	if err == errUpdate || err == errBomb || err == errInteger || err == errManyHead {
		return false // ours is stricter: a late update, and bounds that the twin leaves to callers
	}
	if (err != nil) != (twinErr != nil) {
		t.Fatalf("block %x: got %v, want %v", block, err, twinErr)
	}
	if err != nil {
		return false
	}
	size := 0
	for _, f := range want {
		size += int(f.Size())
		if f.Name == ":status" && h.bad == nil && fmt.Sprint(h.status) != f.Value {
			t.Fatalf("block %x: got status %d, want %s", block, h.status, f.Value)
		}
	}
	if h.size != size || h.fields != len(want) {
		t.Fatalf("block %x: got %d fields of %d, want %d of %d", block, h.fields, h.size, len(want), size)
	}
	want = slices.DeleteFunc(want, func(f hpack.HeaderField) bool { return f.Name == "" || f.Name[0] == ':' })
	for i := range want {
		want[i].Sensitive = false
	}
	if !slices.Equal(got, want) {
		t.Fatalf("block %x: got %v, want %v", block, got, want)
	}
	if d.table.size > d.table.most || cap(d.table.bytes) > 4*tableMost || len(d.table.rows) > 2*rowsMost {
		t.Fatalf("block %x: the table has %d bytes, %d kept, %d rows", block, d.table.size, cap(d.table.bytes), len(d.table.rows))
	}
	return true
}
