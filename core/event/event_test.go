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

	"hyperscale/core/event"
)

// A type with an EventName that New does not know could be written to a history
// but not read back.
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

func TestEventsSurviveJSON(t *testing.T) {
	for _, e := range event.All() {
		fill(reflect.ValueOf(e).Elem())
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatalf("%s: %v", e.EventName(), err)
		}
		got := event.New(e.EventName())
		if err := json.Unmarshal(b, got); err != nil {
			t.Fatalf("%s: %v", e.EventName(), err)
		}
		if diff := cmp.Diff(e, got); diff != "" {
			t.Errorf("%s (-written +read):\n%s", e.EventName(), diff)
		}
	}
}

// An event leads to the story that explains it: each is in some golden of a role.
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

func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(1))
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	default:
		v.SetUint(9)
	}
}
