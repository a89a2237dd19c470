package encoding_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"hyperscale/runtime/protocol/encoding"
	"hyperscale/runtime/protocol/http1"
)

// packed encodes a text; "raw" is deflate without its frame.
func packed(t testing.TB, coding string, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	var err error
	switch coding {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "raw":
		w, err = flate.NewWriter(&b, 6)
	case "br":
		w = brotli.NewWriter(&b)
	case "zstd":
		w, err = zstd.NewWriter(&b)
	}
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func codings() []string { return []string{"gzip", "deflate", "raw", "br", "zstd"} }

func field(coding string) string { return strings.Replace(coding, "raw", "deflate", 1) }

// Each coding returns its input, from decoders with earlier successes and failures. A truncated
// body, a bomb and invalid bytes have distinct errors.
func TestDecode(t *testing.T) {
	texts := [][]byte{{}, []byte("x"), []byte(strings.Repeat("hello, world\n", 5000))}
	for round := range 3 {
		for _, coding := range codings() {
			for _, text := range texts {
				got, err := encoding.Decode(field(coding), packed(t, coding, text), 0)
				if err != nil || !bytes.Equal(got, text) {
					t.Fatalf("%s of %d bytes: %d bytes, %v", coding, len(text), len(got), err)
				}
			}
			body := packed(t, coding, texts[2])
			kinds := []struct {
				why   string
				field string
				body  []byte
				limit int64
				want  http1.Kind
			}{
				{"cut", field(coding), body[:len(body)/2], 0, http1.KindEncoding},
				{"one byte", field(coding), body[:1], 0, http1.KindEncoding},
				{"false", field(coding), []byte("<html>this is no such thing"), 0, http1.KindEncoding},
				{"just within", field(coding), body, int64(len(texts[2])), ""},
				{"just beyond", field(coding), body, int64(len(texts[2]) - 1), http1.KindBomb},
			}
			if round == 0 {
				kinds[3].body, kinds[3].limit = packed(t, coding, make([]byte, 20<<20)), 20<<20
				kinds[4].body, kinds[4].limit = kinds[3].body, 0
			}
			for _, k := range kinds {
				_, err := encoding.Decode(k.field, k.body, k.limit)
				if got := http1.KindOf(err); got != k.want {
					t.Errorf("%s, %s: %q (%v), want %q", coding, k.why, got, err, k.want)
				}
			}
		}
	}
}

func TestFields(t *testing.T) {
	text := []byte("hello")
	twice := packed(t, "br", packed(t, "gzip", text))
	for _, test := range []struct {
		field string
		body  []byte
		want  string // of the error
	}{
		{"", text, ""},
		{"identity", text, ""},
		{"GZIP , br", twice, ""},
		{"x-gzip", packed(t, "gzip", text), ""},
		{"gzip", nil, ""},
		{"compress", text, "did not ask for it"},
		{"gzip, gzip, gzip, gzip", text, "more than 3 codings"},
	} {
		got, err := encoding.Decode(test.field, test.body, 0)
		if test.want == "" && (err != nil || len(test.body) > 0 && string(got) != "hello") || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%q: %q %v", test.field, got, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for i, coding := range codings() {
		f.Add(uint8(i), packed(f, coding, []byte(strings.Repeat("hello, world\n", 50))))
	}
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		got, err := encoding.Decode(field(codings()[int(which)%len(codings())]), body, 1<<16)
		var known *http1.Error
		if len(got) > 1<<16 || err != nil && !errors.As(err, &known) {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
	})
}
