package event_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hyperscale/core/event"
)

// A history could contain an event whose name New does not know, but could not be read back.
func TestCatalogueIsWhole(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string]bool{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "EventName" {
				declared[f.Recv.List[0].Type.(*ast.Ident).Name] = true
			}
		}
	}
	listed := map[string]bool{}
	names := map[string]bool{}
	for _, e := range event.All() {
		listed[reflect.TypeOf(e).Elem().Name()] = true
		if name := e.EventName(); names[name] || !regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`).MatchString(name) {
			t.Errorf("name %q is used twice, or not words joined by hyphens", name)
		} else {
			names[name] = true
		}
	}
	if diff := cmp.Diff(declared, listed); diff != "" {
		t.Errorf("All does not list what is declared (-declared +listed):\n%s", diff)
	}
}

// An event of any kind and with any values survives a history. New finds each kind by its
// name, empty, and knows no other name.
func TestEventsSurviveJSON(t *testing.T) {
	names := map[string]int{}
	for i, e := range event.All() {
		names[e.EventName()] = i
	}
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.IntRange(0, len(names)-1).Draw(t, "kind")
		e := event.All()[kind]
		fill(t, reflect.ValueOf(e).Elem())
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatalf("%s: %v", e.EventName(), err)
		}
		got := event.New(e.EventName())
		if diff := cmp.Diff(event.All()[kind], got); diff != "" {
			t.Fatalf("New(%q) is not an empty event of its kind (-want +got):\n%s", e.EventName(), diff)
		}
		if err := json.Unmarshal(b, got); err != nil {
			t.Fatalf("%s: %v", e.EventName(), err)
		}
		if diff := cmp.Diff(e, got); diff != "" {
			t.Fatalf("%s (-written +read):\n%s", e.EventName(), diff)
		}
		other := e.EventName()[:rapid.IntRange(0, len(e.EventName())-1).Draw(t, "cut")]
		if _, listed := names[other]; !listed && event.New(other) != nil {
			t.Fatalf("New(%q) is a %s", other, event.New(other).EventName())
		}
	})
}

// Every event is in some role's golden, so that a story explains it.
func TestEveryEventIsInAStory(t *testing.T) {
	files, err := filepath.Glob("../*/testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	var all strings.Builder
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	for _, e := range event.All() {
		if !strings.Contains(all.String(), "\n! "+e.EventName()+" ") {
			t.Errorf("%s is in no story of a role: write one, or drop the event", e.EventName())
		}
	}
}

func fill(t *rapid.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(t, v.Index(i))
		}
	case reflect.Slice:
		if n := rapid.IntRange(0, 2).Draw(t, "length"); n > 0 { // a history does not distinguish empty from nil
			v.Set(reflect.MakeSlice(v.Type(), n, n))
		}
		for i := range v.Len() {
			fill(t, v.Index(i))
		}
	case reflect.String:
		v.SetString(rapid.String().Draw(t, "text"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "yes"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, "number"))
	default:
		v.SetUint(rapid.Uint64().Draw(t, "count") >> (64 - v.Type().Bits()))
	}
}
