package record_test

import (
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
	"time"

	_ "github.com/cockroachdb/datadriven" // declares -rewrite
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/tinylib/msgp/msgp"
	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/message/record"
)

// kinds returns an empty record of each struct.
func kinds() []record.Record {
	return []record.Record{
		&record.Job{}, &record.Transition{}, &record.JobSubjob{}, &record.Abort{},
		&record.Subjob{}, &record.Workflow{}, &record.Shard{}, &record.Kept{}, &record.Lost{}, &record.Rows{},
		&record.Member{},
	}
}

func nameOf(r record.Record) string { return reflect.TypeOf(r).Elem().Name() }

func empty(r record.Record) record.Record {
	return reflect.New(reflect.TypeOf(r).Elem()).Interface().(record.Record)
}

// fill gives every known field of v a value from draw, which returns small numbers; a number is
// sometimes zero.
func fill(v reflect.Value, draw func(n int) int) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Name != "Unknown" {
				fill(v.Field(i), draw)
			}
		}
	case reflect.Slice:
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
		v.SetString(strings.Repeat(string(rune('a'+draw(26))), draw(40)))
	case reflect.Bool:
		v.SetBool(draw(2) == 1)
	case reflect.Int64:
		v.SetInt(int64(draw(100)-50) << draw(56))
	default:
		v.SetUint((uint64(draw(200)) << draw(v.Type().Bits())) & (1<<v.Type().Bits() - 1))
	}
}

// drawn is a random record; a job has its key.
func drawn(t *rapid.T) record.Record {
	r := empty(rapid.SampledFrom(kinds()).Draw(t, "struct"))
	fill(reflect.ValueOf(r).Elem(), func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") })
	if j, ok := r.(*record.Job); ok && j.Key == "" {
		j.Key = "k"
	}
	return r
}

// counting returns a draw that goes through all small numbers.
func counting() func(int) int {
	at := 0
	return func(n int) int { at++; return (at*7 + 1) % n }
}

func TestRecordsAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawn(t)
		b := record.Append(nil, want)
		got := empty(want)
		if err := record.Read(b, got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%s (-written +read):\n%s", nameOf(want), diff)
		}
	})
}

// Read rejects each proper prefix of a record, and a record with a tail.
func TestReadTakesAWholeRecordAndNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawn(t)
		b := record.Append(nil, r)
		rejected := func(what string, b []byte) {
			if err := record.Read(b, empty(r)); !errors.Is(err, record.ErrRecord) {
				t.Fatalf("%s %s: %v, want ErrRecord", nameOf(r), what, err)
			}
		}
		rejected("cut short", b[:rapid.IntRange(0, len(b)-1).Draw(t, "cut")])
		rejected("with a tail", append(b[:len(b):len(b)], rapid.SliceOfN(rapid.Byte(), 1, 9).Draw(t, "tail")...))
	})
}

func TestHostileRecordsAreRejected(t *testing.T) {
	many := msgp.AppendMapHeader(nil, record.FieldsMax+1)
	for i := range record.FieldsMax + 1 {
		many = field(many, "new"+string(rune('a'+i)))
	}
	large := msgp.AppendBytes(msgp.AppendString(msgp.AppendMapHeader(nil, 1), "new"), make([]byte, record.UnknownMax))
	deep := append([]byte{0x81, 0xa3, 'n', 'e', 'w'}, append([]byte(strings.Repeat("\x91", 200)), 1)...)
	for _, tc := range []struct {
		name string
		of   record.Record
		b    []byte
	}{
		{"nothing", &record.Rows{}, nil},
		{"an array", &record.Rows{}, []byte{0x90}},
		{"the JSON of former versions", &record.Job{}, []byte(`{"key":"k"}`)},
		{"a known field twice", &record.Rows{}, field(field([]byte{0x82}, "ask"), "ask")},
		{"an unknown field twice", &record.Rows{}, field(field([]byte{0x82}, "new"), "new")},
		{"a core of 33 bits", &record.Rows{}, msgp.AppendUint64(msgp.AppendString([]byte{0x81}, "core"), 1<<32)},
		{"a text for a number", &record.Rows{}, msgp.AppendString(msgp.AppendString([]byte{0x81}, "ask"), "x")},
		{"a fence of two epochs", &record.Kept{}, append(msgp.AppendString([]byte{0x81}, "fence"), 0x92, 1, 1)},
		{"a list above its bound", &record.Job{}, append(msgp.AppendArrayHeader(msgp.AppendString([]byte{0x81}, "named"), 4097), make([]byte, 4097)...)},
		{"too many unknown fields", &record.Rows{}, many},
		{"unknown fields that are too large", &record.Rows{}, large},
		{"an unknown field that is too deep", &record.Rows{}, deep},
		{"a job without a key", &record.Job{}, field([]byte{0x81}, "number")},
		{"a field without a name", &record.Rows{}, []byte{0x81, 1, 1}},
	} {
		if err := record.Read(tc.b, tc.of); !errors.Is(err, record.ErrRecord) {
			t.Errorf("%s: %v, want ErrRecord", tc.name, err)
		}
	}
}

// Append does not write a list that Read would reject.
func TestAppendAssertsTheBoundsOfLists(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a list of 4097 was written, 4096 is the bound")
		}
	}()
	record.Append(nil, &record.Job{Key: "k", Named: make([]string, 4097)})
}

// Read asserts that the struct is zero: it would mix two records.
func TestReadAssertsAnEmptyStruct(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a record was read into a struct that is not zero")
		}
	}()
	_ = record.Read([]byte{0x80}, &record.Rows{Unknown: field(nil, "new")})
}

// field appends a field that is one.
func field(b []byte, name string) []byte { return msgp.AppendInt(msgp.AppendString(b, name), 1) }

func TestOffsetsKeepTheirTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := time.Duration(rapid.Int64Range(0, 1<<60).Draw(t, "since"))
		if got, ever := record.OffsetOf(want).Since(); got != want || !ever {
			t.Fatalf("%v became %v, %v", want, got, ever)
		}
	})
	if _, ever := record.Offset(0).Since(); ever {
		t.Error("never became an instant")
	}
	if got, _ := record.OffsetOf(-time.Second).Since(); got != 0 {
		t.Errorf("a second before became %v", got)
	}
}

// rewrite reports whether the flag -rewrite, which datadriven declares, is set.
func rewrite() bool { return flag.Lookup("rewrite").Value.String() == "true" }

// minorsOf returns the versions that added fields to a type, and to those within it.
func minorsOf(t reflect.Type) (all []string) {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if since := t.Field(i).Tag.Get("since"); since != "" {
				all = append(all, since)
			}
			all = append(all, minorsOf(t.Field(i).Type)...)
		}
	case reflect.Slice, reflect.Array, reflect.Pointer:
		all = minorsOf(t.Elem())
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// testdata/golden has encodings of each struct. Every later version must read them with the
// same values, and write those of a newer version again byte by byte.
func TestOldEncodingsAreStillRead(t *testing.T) {
	for _, r := range kinds() {
		file := filepath.Join("testdata", "golden", nameOf(r)+".txt")
		if _, err := os.Stat(file); rewrite() && errors.Is(err, os.ErrNotExist) {
			full := empty(r)
			fill(reflect.ValueOf(full).Elem(), counting())
			writeGolden(t, file, record.Append(nil, full), full)
		}
		for _, minor := range minorsOf(reflect.TypeOf(r)) {
			file := filepath.Join("testdata", "golden", nameOf(r)+"-1."+minor+".txt")
			_, err := os.Stat(file)
			if err != nil && !rewrite() {
				t.Errorf("version 1.%s added fields to %s, and has no golden encoding: run this test with -rewrite once", minor, nameOf(r))
			} else if err != nil {
				full := empty(r)
				fill(reflect.ValueOf(full).Elem(), counting())
				writeGolden(t, file, record.Append(nil, full), full)
			}
		}
		if name := nameOf(r); name == "Job" || name == "Subjob" {
			file := filepath.Join("testdata", "golden", name+"OfANewerVersion.txt")
			if _, err := os.Stat(file); rewrite() && errors.Is(err, os.ErrNotExist) {
				full := empty(r)
				fill(reflect.ValueOf(full).Elem(), counting())
				writeGolden(t, file, newer(full, counting()), full)
			}
		}
	}
	files, err := filepath.Glob("testdata/golden/*.txt")
	if err != nil || len(files) < len(kinds())+2 {
		t.Fatalf("%d golden encodings of %d structs, %v: run this test with -rewrite once", len(files), len(kinds()), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(name, func(t *testing.T) { readGolden(t, file, name) })
	}
}

func writeGolden(t *testing.T, file string, b []byte, r record.Record) {
	values, err := json.MarshalIndent(r, "", " ")
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

func readGolden(t *testing.T, file, name string) {
	var r record.Record
	for _, k := range kinds() {
		base, _, _ := strings.Cut(strings.TrimSuffix(name, "OfANewerVersion"), "-")
		if base == nameOf(k) {
			r = k
		}
	}
	raw, err := os.ReadFile(file)
	if err != nil || r == nil {
		t.Fatalf("no struct has this name, or %v", err)
	}
	code, values, _ := strings.Cut(string(raw), "\n")
	b, err := hex.DecodeString(code)
	if err != nil {
		t.Fatal(err)
	}
	want := empty(r)
	if err := json.Unmarshal([]byte(values), want); err != nil {
		t.Fatal(err)
	}
	if err := record.Read(b, r); err != nil {
		t.Fatalf("a record of an older build can no longer be read: %v", err)
	}
	unknown := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Unknown" }, cmp.Ignore())
	if diff := cmp.Diff(want, r, cmpopts.EquateEmpty(), unknown); diff != "" {
		t.Errorf("(-golden +now):\n%s", diff)
	}
	if again := record.Append(nil, r); strings.HasSuffix(name, "OfANewerVersion") && hex.EncodeToString(again) != code {
		t.Errorf("what a newer version wrote is not passed on as it was:\n%x\n%s", again, code)
	}
}

func FuzzRead(f *testing.F) {
	for i, r := range kinds() {
		fill(reflect.ValueOf(r).Elem(), counting())
		b := record.Append(nil, r)
		f.Add(byte(i), b)
		f.Add(byte(i), newer(r, counting()))
	}
	f.Fuzz(func(t *testing.T, kind byte, b []byte) {
		if len(b) > message.FrameMax {
			return
		}
		r := kinds()[int(kind)%len(kinds())]
		// The fuzzer's own work allocates too: only three violations of the bound count.
		bound := uint64(64<<10 + 1024*len(b))
		for try := 1; allocated(b, empty(r)) > bound; try++ {
			if try == 3 {
				t.Fatalf("%d bytes made the decoder allocate more than %d", len(b), bound)
			}
		}
		if record.Read(b, r) != nil {
			return
		}
		again, once := empty(r), record.Append(nil, r)
		if err := record.Read(once, again); err != nil {
			t.Fatalf("what was read cannot be read again: %v", err)
		}
		if diff := cmp.Diff(r, again, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%s (-read +again):\n%s", nameOf(r), diff)
		}
	})
}

// allocated returns the bytes that reading b once allocates.
func allocated(b []byte, r record.Record) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_ = record.Read(b, r)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
