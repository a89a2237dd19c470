package event_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
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
