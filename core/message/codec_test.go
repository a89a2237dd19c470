package message_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	_ "github.com/cockroachdb/datadriven" // declares -rewrite
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/tinylib/msgp/msgp"
	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// rewrite reports whether the flag -rewrite, which datadriven declares, is set.
func rewrite() bool { return flag.Lookup("rewrite").Value.String() == "true" }

// fill gives every field of v a value from draw, which returns small numbers.
func fill(v reflect.Value, draw func(n int) int) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), draw)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(text(draw, 40)))
			return
		}
		n := draw(4)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(v.Index(i), draw)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), draw)
		}
	case reflect.String:
		v.SetString(text(draw, 40))
	case reflect.Bool:
		v.SetBool(draw(2) == 1)
	case reflect.Int64:
		v.SetInt(int64(1+draw(100)) << draw(56))
		if draw(4) == 0 {
			v.SetInt(-v.Int())
		}
	default:
		bits := v.Type().Bits()
		v.SetUint((uint64(1+draw(200)) << draw(bits)) & (1<<(bits-1) - 1))
		if v.Uint() == 0 {
			v.SetUint(1)
		}
	}
}

func text(draw func(n int) int, limit int) string {
	return "x" + strings.Repeat(string(rune('a'+draw(26))), draw(limit))
}

func filled(k node.Kind, draw func(int) int) message.Body {
	m := message.New(k)
	fill(reflect.ValueOf(m).Elem(), draw)
	return m
}

// counting returns a draw that goes through all small numbers.
func counting() func(int) int {
	at := 0
	return func(n int) int { at++; return at * 7 % n }
}

func TestEveryMessageSurvivesItsCodec(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.SampledFrom(message.Kinds()).Draw(t, "kind")
		m := filled(k, func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") })
		got, _, err := message.Clone(m, nil)
		if err != nil {
			t.Fatalf("clone %s: %v", message.Name(k), err)
		}
		if diff := cmp.Diff(m, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%s changed on its way (-sent +received):\n%s", message.Name(k), diff)
		}
		if m.Digest() != got.Digest() || m.Size() != got.Size() {
			t.Fatalf("%s: digest %x and size %d became %x and %d", message.Name(k), m.Digest(), m.Size(), got.Digest(), got.Size())
		}
	})
}

func TestDigestSeesEveryField(t *testing.T) {
	for _, k := range message.Kinds() {
		m := filled(k, counting())
		visit(reflect.ValueOf(m).Elem(), message.Name(k), func(path string, v reflect.Value) {
			before := m.Digest()
			old := reflect.ValueOf(v.Interface())
			switch v.Kind() {
			case reflect.String:
				v.SetString(v.String() + "!")
			case reflect.Bool:
				v.SetBool(!v.Bool())
			case reflect.Int64:
				v.SetInt(v.Int() + 1)
			default:
				v.SetUint(v.Uint() ^ 1)
			}
			if m.Digest() == before {
				t.Errorf("%s can change without the digest changing", path)
			}
			v.Set(old)
		})
	}
}

// visit calls f with every leaf of a value.
func visit(v reflect.Value, path string, f func(string, reflect.Value)) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			visit(v.Field(i), path+"."+v.Type().Field(i).Name, f)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			visit(v.Index(i), path+"[]", f)
		}
	default:
		f(path, v)
	}
}

// minorsOf returns the versions that added fields to a type, and to those within it.
func minorsOf(t reflect.Type) (all []string) {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if since := f.Tag.Get("since"); since != "" {
				all = append(all, since)
			}
			all = append(all, minorsOf(f.Type)...)
		}
	case reflect.Slice, reflect.Array, reflect.Pointer:
		all = minorsOf(t.Elem())
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// testdata/golden has one encoding of every message, from the time when its kind was new, and one of
// each later version that added a field. Every later Decode must read them, with the same values.
func TestOldEncodingsAreStillRead(t *testing.T) {
	var names []string
	kinds := map[string]node.Kind{}
	for _, k := range message.Kinds() {
		for _, minor := range append([]string{""}, minorsOf(reflect.TypeOf(message.New(k)))...) {
			name := message.Name(k)
			if minor != "" {
				name += "-1." + minor
			}
			names, kinds[name] = append(names, name), k
		}
	}
	for _, name := range names {
		k := kinds[name]
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata", "golden", name+".txt")
			if _, err := os.Stat(file); rewrite() && errors.Is(err, os.ErrNotExist) {
				writeGolden(t, file, filled(k, counting()))
			}
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("no golden encoding: run this test with -rewrite once: %v", err)
			}
			code, values, _ := strings.Cut(string(raw), "\n")
			b, err := hex.DecodeString(code)
			if err != nil {
				t.Fatal(err)
			}
			m, err := message.Decode(b)
			if err != nil {
				t.Fatalf("a peer of an older build can no longer be read: %v", err)
			}
			var want, got any
			if err := json.Unmarshal([]byte(values), &want); err != nil {
				t.Fatal(err)
			}
			again, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(again, &got); err != nil {
				t.Fatal(err)
			}
			contains(t, name, want, got)
		})
	}
}

func writeGolden(t *testing.T, file string, m message.Body) {
	b, err := message.Append(nil, m)
	if err != nil {
		t.Fatal(err)
	}
	values, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(hex.EncodeToString(b)+"\n"+string(values)+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// contains requires all of want in got; got may have more fields.
func contains(t *testing.T, path string, want, got any) {
	w, ok := want.(map[string]any)
	if !ok {
		if diff := cmp.Diff(want, got); diff != "" {
			if ws, isList := want.([]any); isList {
				gs, _ := got.([]any)
				if len(ws) == len(gs) {
					for i := range ws {
						contains(t, path, ws[i], gs[i])
					}
					return
				}
			}
			t.Errorf("%s (-golden +now):\n%s", path, diff)
		}
		return
	}
	g, _ := got.(map[string]any)
	//lint:orderfree each field is compared alone
	for k := range w {
		contains(t, path+"."+k, w[k], g[k])
	}
}

func TestMissingRequiredFieldIsNamed(t *testing.T) {
	//lint:orderfree each case stands alone
	for name, tc := range map[string]struct {
		kind node.Kind
		want string
	}{
		"the first of a flat message":  {message.KindHello, "major"},
		"a field inside another":       {message.KindShardAccepted, "slice.job"},
		"an id that answers rest upon": {message.KindJobSubmit, "request.counter"},
	} {
		t.Run(name, func(t *testing.T) {
			b := []byte{0, byte(tc.kind >> 8), byte(tc.kind), 0x80} // an empty map
			_, err := message.Decode(b)
			var missing *message.MissingError
			if !errors.As(err, &missing) || missing.Path != tc.want {
				t.Fatalf("decode of an empty %s: got %v, want a missing %q", message.Name(tc.kind), err, tc.want)
			}
		})
	}
}

func TestUnknownFieldsAreSkipped(t *testing.T) {
	b := []byte{0, 0, byte(message.KindClientPing)}
	b = msgp.AppendMapHeader(b, 3)
	b = msgp.AppendUint64(msgp.AppendString(b, "counter"), 7)
	b = msgp.AppendString(msgp.AppendString(b, "colour"), "blue")
	b = msgp.AppendArrayHeader(msgp.AppendString(b, "more"), 2)
	b = msgp.AppendBool(msgp.AppendMapHeader(b, 0), true)
	m, err := message.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.(*message.ClientPing).Counter; got != 7 {
		t.Fatalf("counter: got %d, want 7", got)
	}
}

func TestHostileFramesAreRefused(t *testing.T) {
	deep := bytes.Repeat([]byte{0x91}, 200)
	//lint:orderfree each case stands alone
	for name, b := range map[string][]byte{
		"empty":                       {},
		"only half a header":          {0, 1},
		"unknown flags":               {9, 0, 6, 0x80},
		"unknown kind":                {0, 0xff, 0xff, 0x80},
		"body missing":                {0, 0, 6},
		"array of four billion":       {0, 0, 28, 0x81, 0xa4, 'j', 'o', 'b', 's', 0xdd, 0xff, 0xff, 0xff, 0xff},
		"map of four billion":         {0, 0, 6, 0xdf, 0xff, 0xff, 0xff, 0xff},
		"string of four billion":      {0, 0, 2, 0x81, 0xa5, 'f', 'i', 'e', 'l', 'd', 0xdb, 0xff, 0xff, 0xff, 0xff},
		"deeply nested unknown field": append([]byte{0, 0, 6, 0x81, 0xa1, 'q'}, append(deep, 0)...),
		"something behind the body":   {0, 0, 6, 0x80, 0x80},
		"a field twice":               {0, 0, 6, 0x82, 0xa7, 'c', 'o', 'u', 'n', 't', 'e', 'r', 1, 0xa7, 'c', 'o', 'u', 'n', 't', 'e', 'r', 1},
	} {
		t.Run(name, func(t *testing.T) {
			if m, err := message.Decode(b); !errors.Is(err, message.ErrFrame) {
				t.Fatalf("got %v and error %v, want ErrFrame", m, err)
			}
		})
	}
}

func TestTooLargeAMessageIsNotEncoded(t *testing.T) {
	m := &message.JobProgress{Subjob: message.DatacenterResult{Error: strings.Repeat("x", message.FrameMax)}}
	if _, err := message.Append(nil, m); err == nil {
		t.Fatal("a frame above FrameMax was encoded")
	}
}

// allocated returns the bytes that one decode of b allocates.
func allocated(b []byte) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _ = message.Decode(b)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func FuzzDecode(f *testing.F) {
	for _, k := range message.Kinds() {
		b, err := message.Append(nil, filled(k, counting()))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > message.FrameMax {
			return
		}
		// Background work of the fuzzer allocates too, but not repeatably: only three
		// violations of the bound count.
		bound := uint64(64<<10 + 1024*len(b))
		for try := 1; allocated(b) > bound; try++ {
			if try == 3 {
				t.Fatalf("%d bytes made the decoder allocate more than %d", len(b), bound)
			}
		}
		m, err := message.Decode(b)
		if err != nil {
			return
		}
		again, _, err := message.Clone(m, nil)
		if err != nil {
			t.Fatalf("what was decoded cannot be sent on: %v", err)
		}
		if again.Digest() != m.Digest() {
			t.Fatalf("%s changed when sent on", message.Name(m.Kind()))
		}
	})
}

func BenchmarkCodec(b *testing.B) {
	for _, k := range []node.Kind{message.KindBeat, message.KindManagerHeartbeat, message.KindShardDispatch, message.KindShardProgress} {
		m := filled(k, counting())
		b.Run("clone/"+message.Name(k), func(b *testing.B) {
			b.ReportAllocs()
			var scratch []byte
			for b.Loop() {
				_, scratch, _ = message.Clone(m, scratch)
			}
		})
		b.Run("digest/"+message.Name(k), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = m.Digest()
			}
		})
	}
}

func TestCodesTellAll(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range message.Codes() {
		if c.String() == message.Code(60000).String() || c.Remedy() == "" {
			t.Errorf("code %d has no entry", c)
		}
		if seen[c.String()] {
			t.Errorf("code %d says the same as another: %q", c, c)
		}
		seen[c.String()] = true
	}
}

func TestJobIDReadsWhatItPrints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var id message.JobID
		copy(id[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
		got, err := message.ParseJobID(id.String())
		if err != nil || got != id {
			t.Fatalf("got %v, %v; want %v", got, err, id)
		}
	})
	if _, err := message.ParseJobID("hello"); !errors.Is(err, message.ErrJobID) {
		t.Fatalf("got %v, want ErrJobID", err)
	}
}

// A program of half a megabyte and a histogram with all buckets are ordinary: the bound on
// arrays does not limit bytes.
func TestBytesHaveABoundOfTheirOwn(t *testing.T) {
	for _, m := range []node.Message{
		&message.JobSubmit{
			Request: message.RequestID{Counter: 1}, Key: "k",
			Program: message.Program{Main: "a.star", Files: []message.File{{Name: "a.star", Data: make([]byte, 512<<10)}}},
			Plan:    message.Plan{Source: "a.star"},
		},
		&message.ExecResult{State: message.WorkflowCompleted, Stats: message.Stats{Steps: []message.StepStats{{
			Name: "get", Kind: message.StepRequest, Latency: message.Histogram{Buckets: make([]byte, 64<<10)},
		}}}},
	} {
		if _, _, err := message.Clone(m, nil); err != nil {
			t.Errorf("%s: %v", message.Name(m.Kind()), err)
		}
	}
}
