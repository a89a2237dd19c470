package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The codec of core/message/record equals the generator's output for its structs.
func TestCodecOfRecordsIsUpToDate(t *testing.T) {
	dir, home := t.TempDir(), filepath.Join("..", "..", "core", "message", "record")
	for _, name := range []string{"job.go", "subjob.go", "member.go"} {
		text, err := os.ReadFile(filepath.Join(home, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := runRecords(dir); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "record_gen.go"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join(home, "record_gen.go"))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("core/message/record/record_gen.go is another one: run `go generate ./core/message/record`")
	}
}

// The generator rejects a struct that could drop a field, or not be read again.
func TestRecordsThatDropFieldsAreRejected(t *testing.T) {
	many := ""
	for i := range recordFields + 1 {
		many += "F" + string(rune('a'+i%26)) + string(rune('a'+i/26)) + " uint64 `rec:\"f" + string(rune('a'+i%26)) + string(rune('a'+i/26)) + "\"`\n"
	}
	for _, tc := range []struct{ what, fields, want string }{
		{"no Unknown", "A uint64 `rec:\"a\"`", "must be Unknown"},
		{"nothing at all", "", "must be Unknown"},
		{"a message of the catalogue", "A message.Stats `rec:\"a\"`\nUnknown Unknown", "cannot hold a message.Stats"},
		{"a map", "A map[string]string `rec:\"a\"`\nUnknown Unknown", "cannot hold a"},
		{"a field without a name", "A uint64\nUnknown Unknown", "give it a rec tag"},
		{"a list without a bound", "A []string `rec:\"a\"`\nUnknown Unknown", "give it a max tag"},
		{"a name twice", "A uint64 `rec:\"a\"`\nB uint64 `rec:\"a\"`\nUnknown Unknown", "stands twice"},
		{"too many fields", many + "Unknown Unknown", "is the bound"},
	} {
		dir := t.TempDir()
		source := "package record\n\ntype Thing struct {\n" + tc.fields + "\n}\n\ntype Unknown []byte\n"
		if err := os.WriteFile(filepath.Join(dir, "thing.go"), []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := runRecords(dir); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want an error that says %q", tc.what, err, tc.want)
		}
	}
}
