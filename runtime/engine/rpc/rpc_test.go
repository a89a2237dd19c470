package rpc

import (
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/request"
	"hyperscale/core/workflow/schema"
	"hyperscale/runtime/protocol/grpc"
)

const text = "syntax = \"proto3\"; package p; service S { rpc One(M) returns (M); rpc Many(M) returns (stream M); } message M { string s = 1; repeated M l = 2; }"

func method(t interface{ Fatal(...any) }, name string) *schema.Method {
	s, err := schema.Proto("p.proto", func(name string) ([]byte, bool) { return []byte(text), name == "p.proto" })
	if err != nil {
		t.Fatal(err)
	}
	return s.Method("p.S/" + name)
}

// The messages of a list are counted without decoding it.
func TestCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := []any{}
		for range rapid.IntRange(0, 5).Draw(t, "messages") {
			one := map[string]any{}
			for range rapid.IntRange(0, 3).Draw(t, "fields") {
				one[rapid.StringMatching(`[a-z,{}\[\]"\\]{0,5}`).Draw(t, "name")] = rapid.SampledFrom([]any{"x,{", []any{1, []any{}, map[string]any{"a": 1, "b": 2}}, "\\\"", nil, 1.5}).Draw(t, "value")
			}
			list = append(list, one)
		}
		b, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		if got := count(b); got != len(list) {
			t.Fatalf("%s: got %d", b, got)
		}
	})
}

// What messages become is what they were, one or a list, whatever their compression.
func TestDecoder(t *testing.T) {
	for _, name := range []string{"One", "Many"} {
		m := method(t, name)
		rapid.Check(t, func(t *rapid.T) {
			packs := rapid.Bool().Draw(t, "gzip")
			var all []*schema.Template
			want := ""
			for i := range rapid.IntRange(1, 4).Draw(t, "messages") {
				one := fmt.Sprintf(`{"s":"%d"}`, i+rapid.IntRange(1, 1000).Draw(t, "s"))
				made, err := m.Compile([]byte(one), nil)
				if err != nil {
					t.Fatal(err)
				}
				if all = append(all, made); i > 0 {
					want += ","
				}
				if want += one; name == "One" {
					break
				}
			}
			if name == "Many" {
				want = "[" + want + "]"
			}
			b, err := (&messages{all: all, compress: packs}).append(nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			head := pairs{{Name: "grpc-encoding", Value: "gzip"}}
			got, kind, why := Decoder{Of: &request.GRPC{Method: m}, Head: head}.Decode(b)
			if kind != "" || string(got) != want {
				t.Fatalf("got %s, %s %s, want %s", got, kind, why, want)
			}
			if _, kind, _ := (Decoder{Of: &request.GRPC{Method: m}, Head: head, Limit: 5}).Decode(b); kind != "too_large" && kind != "bomb" {
				t.Fatalf("beyond the limit: got %q", kind)
			}
		})
	}
}

// pairs are the fields of a head.
type pairs []builtin.Pair

func (p pairs) Len() int                      { return len(p) }
func (p pairs) At(i int) (name, value []byte) { return []byte(p[i].Name), []byte(p[i].Value) }

// Messages whose lengths lie make nothing panic.
func FuzzDecoder(f *testing.F) {
	m := method(f, "Many")
	from := grpc.Begin(nil)
	f.Add(append(from, 1<<3|2, 1, 'x'))
	f.Add([]byte{1, 0, 0, 0, 1, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		out, kind, _ := Decoder{Of: &request.GRPC{Method: m}, Head: pairs{}, Limit: 1000}.Decode(b)
		if kind == "" && !json.Valid(out) {
			t.Errorf("%x: %s", b, out)
		}
	})
}
