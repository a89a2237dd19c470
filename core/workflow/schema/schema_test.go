package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"pgregory.net/rapid"

	"hyperscale/core/workflow/schema"
)

const shop = `syntax = "proto3";
package shop.v1;
import "google/protobuf/timestamp.proto";
import "parts/kinds.proto";
service Orders {
  rpc Get(Item) returns (Item);
  rpc Watch(Item) returns (stream Item);
  rpc Upload(stream Item) returns (Item);
  rpc Talk(stream Item) returns (stream Item);
}
message Item {
  string id = 1; bytes raw = 2; bool good = 3; Kind kind = 4;
  int32 a = 5; int64 b = 6; uint32 c = 7; uint64 d = 8; sint32 e = 9; sint64 f = 10;
  fixed32 g = 11; fixed64 h = 12; sfixed32 i = 13; sfixed64 j = 14; float k = 15; double l = 16;
  Item inner = 17; repeated string names = 18; repeated int64 numbers = 19; map<string, int64> counts = 20;
  map<string, Item> items = 21; google.protobuf.Timestamp at = 22; repeated Item list = 23;
  oneof choice { string left = 24; string right = 25; }
}
`

const kinds = `syntax = "proto3"; package shop.v1; enum Kind { NONE = 0; SMALL = 1; LARGE = 2; }`

func files(name string) ([]byte, bool) {
	text, ok := map[string]string{"shop.proto": shop, "parts/kinds.proto": kinds, "loop.proto": `syntax = "proto3"; import "loop.proto";`,
		"lost.proto": `syntax = "proto3"; import "nowhere.proto";`, "bad.proto": `syntax = "proto3"; message M { Missing m = 1; }`}[name]
	return []byte(text), ok
}

func shopSchema(t interface{ Fatal(...any) }) *schema.Schema {
	s, err := schema.Proto("shop.proto", files)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestProtoFiles(t *testing.T) {
	s := shopSchema(t)
	if got := strings.Join(s.Names(), " "); got != "shop.v1.Orders/Get shop.v1.Orders/Talk shop.v1.Orders/Upload shop.v1.Orders/Watch" {
		t.Errorf("got %s", got)
	}
	//lint:orderfree each is looked up alone
	for name, want := range map[string][2]bool{"Get": {}, "Watch": {false, true}, "Upload": {true, false}, "Talk": {true, true}} {
		if m := s.Method("/shop.v1.Orders/" + name); m == nil || [2]bool{m.ClientStreams, m.ServerStreams} != want {
			t.Errorf("%s: got %+v", name, m)
		}
	}
	//lint:orderfree each is a compilation of its own
	for name, want := range map[string]string{
		"loop.proto": "loop.proto imports itself, directly or by others", "lost.proto": "there is no file nowhere.proto, which lost.proto imports",
		"none.proto": "there is no file none.proto", "bad.proto": "bad.proto:1:32: field M.m: unknown type Missing",
	} {
		if _, err := schema.Proto(name, files); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
	}
	if got := fmt.Sprint(schema.Imports([]byte(shop))); got != "[google/protobuf/timestamp.proto parts/kinds.proto]" {
		t.Errorf("imports: %s", got)
	}
	if got := fmt.Sprint(schema.Beside("api/shop.proto", []string{"vendor"}, "a/b.proto")); got != "[api/a/b.proto a/b.proto vendor/a/b.proto]" {
		t.Errorf("beside: %s", got)
	}
}

func TestDescriptorSets(t *testing.T) {
	set := &descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{{
		Name: proto.String("x.proto"), Package: proto.String("x"), Syntax: proto.String("proto3"), Dependency: []string{"google/protobuf/empty.proto"},
		Service: []*descriptorpb.ServiceDescriptorProto{{Name: proto.String("S"), Method: []*descriptorpb.MethodDescriptorProto{{
			Name: proto.String("M"), InputType: proto.String(".google.protobuf.Empty"), OutputType: proto.String(".google.protobuf.Empty"),
		}}}},
	}}}
	b, err := proto.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Descriptors(b)
	if err != nil || s.Method("x.S/M") == nil {
		t.Fatalf("got %v, %v", s, err)
	}
	for _, wrong := range []string{"", "text", string(b[:len(b)-1])} {
		if _, err := schema.Descriptors([]byte(wrong)); err == nil {
			t.Errorf("%q is read", wrong)
		}
	}
}

// filled fills a template of JSON with words, and returns it as JSON.
func filled(m *schema.Method, text string, values ...string) (string, error) {
	var holes []schema.Hole
	var given [][]byte
	for i, v := range values {
		holes = append(holes, schema.Hole{Word: fmt.Sprintf("v%04dv", i), Name: fmt.Sprintf("n%d", i), Value: i})
		given = append(given, []byte(v))
	}
	made, err := m.Compile([]byte(text), holes)
	if err != nil {
		return "", err
	}
	b, err := made.Append([]byte("before"), given)
	if err != nil {
		return "", err
	}
	b, ok := bytes.CutPrefix(b, []byte("before"))
	if !ok {
		return "", fmt.Errorf("what lay before is gone")
	}
	out, err := m.JSON(b)
	return string(out), err
}

func TestTemplates(t *testing.T) {
	m := shopSchema(t).Method("shop.v1.Orders/Get")
	for _, tt := range []struct {
		text   string
		values []string
		want   string
	}{
		{`{}`, nil, `{}`},
		{`{"id": "7"}`, nil, `{"id":"7"}`},
		{`{"id": "a-v0000v-b-v0001v"}`, []string{"1", strings.Repeat("x", 300)}, `{"id":"a-1-b-` + strings.Repeat("x", 300) + `"}`},
		{`{"raw": "v0000v"}`, []string{"\x00\xff"}, `{"raw":"AP8="}`},
		{`{"good": "v0000v", "kind": "v0001v", "a": "v0002v", "b": "v0003v"}`, []string{"true", "LARGE", "-5", "-6"}, `{"good":true,"kind":"LARGE","a":-5,"b":"-6"}`},
		{`{"kind": "v0000v", "c": "v0001v", "d": "v0002v", "e": "v0003v", "f": "v0004v"}`, []string{"1", "7", "8", "-9", "-10"}, `{"kind":"SMALL","c":7,"d":"8","e":-9,"f":"-10"}`},
		{`{"g": "v0000v", "h": "v0001v", "i": "v0002v", "j": "v0003v", "k": "v0004v", "l": "v0005v"}`, []string{"1", "2", "-3", "-4", "1.5", "2.5"}, `{"g":1,"h":"2","i":-3,"j":"-4","k":1.5,"l":2.5}`},
		{`{"inner": {"inner": {"id": "v0000v", "a": 3}}, "id": "x"}`, []string{"deep"}, `{"id":"x","inner":{"inner":{"id":"deep","a":3}}}`},
		{`{"names": ["a", "v0000v", "b"], "numbers": [1, "v0001v", "3"]}`, []string{"x", "2"}, `{"names":["a","x","b"],"numbers":["1","2","3"]}`},
		{`{"counts": {"a": 1, "b": "v0000v"}, "items": {"x": {"id": "v0001v"}}}`, []string{"2", "y"}, `{"counts":{"a":"1","b":"2"},"items":{"x":{"id":"y"}}}`},
		{`{"list": [{"id": "1"}, {"id": "v0000v"}], "left": "v0000v"}`, []string{"2"}, `{"list":[{"id":"1"},{"id":"2"}],"left":"2"}`},
	} {
		if got, err := filled(m, tt.text, tt.values...); err != nil || got != tt.want {
			t.Errorf("%s: got %s, %v, want %s", tt.text, got, err, tt.want)
		}
	}
}

func TestWrongMessages(t *testing.T) {
	m := shopSchema(t).Method("shop.v1.Orders/Get")
	for _, tt := range []struct {
		text   string
		values []string
		want   string
	}{
		{`{"idd": "7"}`, nil, `it is no shop.v1.Item: (line 1:2): unknown field "idd"`},
		{`{"idd": "v0000v"}`, []string{"1"}, `shop.v1.Item has no field "idd"`},
		{`{"a": "x"}`, nil, `it is no shop.v1.Item: (line 1:7): invalid value for int32 field a: "x"`},
		{`{"a": "v0000v"}`, []string{"x"}, `${n0} is "x", which is no int32`},
		{`{"a": "v0000v"}`, []string{"3000000000"}, `${n0} is "3000000000", which is no int32`},
		{`{"c": "v0000v"}`, []string{"-1"}, `${n0} is "-1", which is no uint32`},
		{`{"good": "v0000v"}`, []string{"1"}, `${n0} is "1", which is no bool`},
		{`{"kind": "v0000v"}`, []string{"HUGE"}, `${n0} is "HUGE", which is no shop.v1.Kind`},
		{`{"id": "v0000v"}`, []string{"\xff"}, `${n0} is not UTF-8, which a string must be`},
		{`{"a": "1v0000v"}`, []string{"1"}, `a has text beside ${...}, and a int32 is one value`},
		{`{"at": "v0000v"}`, []string{"x"}, `at is a google.protobuf.Timestamp, and no value stands in one: write it out, or send it from a function`},
		{`{"inner": "v0000v"}`, []string{"x"}, `inner must be an object of shop.v1.Item`},
		{`{"names": "v0000v"}`, []string{"x"}, `names must be a list`},
		{`{"v0000v": "x"}`, []string{"x"}, `the message: a field's name cannot be filled`},
		{`{"left": "v0000v", "right": "x"}`, []string{"x"}, `the message: the oneof choice is set twice`},
	} {
		if _, err := filled(m, tt.text, tt.values...); err == nil || err.Error() != tt.want {
			t.Errorf("%s: got %v, want %s", tt.text, err, tt.want)
		}
	}
}

// SCHEMA-2: a template that is filled is the message that its JSON with the same values is.
func TestTemplatesAreTheirJSON(t *testing.T) {
	m := shopSchema(t).Method("shop.v1.Orders/Get")
	rapid.Check(t, func(t *rapid.T) {
		n := 0
		var values []string
		text := rapid.StringMatching(`[a-z0-9 ]{0,200}`)
		var object func(depth int, holes bool) map[string]any
		object = func(depth int, holes bool) map[string]any {
			out := map[string]any{}
			put := func(name, value string) {
				if rapid.Bool().Draw(t, "has") {
					return
				}
				if !holes || rapid.Bool().Draw(t, "fixed") {
					out[name] = value
					return
				}
				values = append(values, value)
				out[name] = fmt.Sprintf("v%04dv", n)
				n++
			}
			put("id", text.Draw(t, "text"))
			put("b", fmt.Sprint(rapid.Int64().Draw(t, "int64")))
			put("e", fmt.Sprint(rapid.Int32().Draw(t, "sint32")))
			put("h", fmt.Sprint(rapid.Uint64().Draw(t, "fixed64")))
			put("left", text.Draw(t, "left"))
			if depth > 0 {
				out["inner"] = object(depth-1, holes)
				out["list"] = []any{object(depth-1, holes), object(0, false)}
				out["items"] = map[string]any{"x": object(depth-1, holes)}
			}
			return out
		}
		with := object(2, true)
		b, err := json.Marshal(with)
		if err != nil {
			t.Fatal(err)
		}
		plain := string(b)
		for i, v := range values {
			plain = strings.ReplaceAll(plain, fmt.Sprintf("v%04dv", i), v)
		}
		got, err := filled(m, string(b), values...)
		if err != nil {
			t.Fatal(err)
		}
		want, err := filled(m, plain)
		if err != nil {
			t.Fatal(err)
		}
		if !same(got, want) {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	})
}

// same compares JSON: a field that is filled with its default value is there, and one that is not
// filled is left out.
func same(a, b string) bool {
	strip := func(s string) string {
		for _, zero := range []string{`"id":"",`, `"id":""`, `"b":"0",`, `"b":"0"`} {
			s = strings.ReplaceAll(s, zero, "")
		}
		return s
	}
	return strip(a) == strip(b)
}

// SCHEMA-1: no bytes make it panic.
func FuzzAnswers(f *testing.F) {
	m := shopSchema(f).Method("shop.v1.Orders/Get")
	f.Add([]byte("\x0a\x01x"))
	f.Add(bytes.Repeat([]byte{0x8a, 0x01, 0x7f}, 100))
	f.Fuzz(func(t *testing.T, b []byte) {
		if text, err := m.JSON(b); err == nil && !json.Valid(text) {
			t.Errorf("%x: %s", b, text)
		}
	})
}

// wrongSets are descriptors that no schema can be made of.
func wrongSets(t testing.TB) map[string][]byte {
	t.Helper()
	deep := &descriptorpb.DescriptorProto{Name: proto.String("m")}
	for range 500 {
		deep = &descriptorpb.DescriptorProto{Name: proto.String("m"), NestedType: []*descriptorpb.DescriptorProto{deep}}
	}
	all := map[string][]byte{}
	for _, file := range []*descriptorpb.FileDescriptorProto{{Name: proto.String("deep.proto"), MessageType: []*descriptorpb.DescriptorProto{deep}}, {Name: proto.String("loop.proto"), Syntax: proto.String("proto3"), Dependency: []string{"loop.proto"}}} {
		b, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{file}})
		if err != nil {
			t.Fatal(err)
		}
		all[file.GetName()] = b
	}
	return all
}

func TestWrongDescriptors(t *testing.T) {
	//lint:orderfree each is read alone
	for name, b := range wrongSets(t) {
		if _, err := schema.Descriptors(b); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// SCHEMA-1: nor do descriptors, which a server may have told.
func FuzzDescriptors(f *testing.F) {
	//lint:orderfree each is a seed
	for _, b := range wrongSets(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := schema.Descriptors(b)
		if err != nil {
			return
		}
		for _, name := range s.Names() {
			_, _ = s.Method(name).JSON(b)
		}
	})
}

// SCHEMA-1: no file makes it panic. Instrumented for fuzzing the parser takes seconds a file, so rapid
// breaks files here.
func TestBrokenProtoFiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(rapid.SampledFrom([]string{shop, kinds}).Draw(t, "file"))
		for range rapid.IntRange(1, 5).Draw(t, "changes") {
			at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
			switch rapid.IntRange(0, 2).Draw(t, "change") {
			case 0:
				text[at] = rapid.Byte().Draw(t, "byte")
			case 1:
				text = append(text[:at:at], text[at+1:]...)
			case 2:
				until := rapid.IntRange(at, min(at+100, len(text))).Draw(t, "until")
				text = append(append(text[:until:until], text[at:until]...), text[until:]...)
			}
		}
		schema.Imports(text)
		_, _ = schema.Proto("x.proto", func(name string) ([]byte, bool) {
			if name == "x.proto" {
				return text, true
			}
			return files(name)
		})
	})
}
