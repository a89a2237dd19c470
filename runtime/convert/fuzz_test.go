package convert_test

import (
	"slices"
	"testing"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/runtime/convert"
)

// converts asserts for any source: Convert refuses it, or its result loads, and a second call
// gives the same.
func converts(f *testing.F, kind string, more ...string) {
	for _, text := range more {
		f.Add([]byte(text), true)
	}
	n := 0
	//lint:orderfree a corpus is a set
	for _, data := range corpus(f, kind) {
		if n++; len(data) < 6000 {
			f.Add(data, n%2 == 0)
		}
	}
	read := readers[kind]
	f.Fuzz(func(t *testing.T, data []byte, all bool) {
		o := convert.Options{File: "made.star", From: "source", All: all}
		made, err := read(data, o)
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error that says nothing")
			}
			return
		}
		program := message.Program{Main: "made.star", Files: []message.File{{Name: "made.star", Data: []byte(made.Text)}}, Seed: 1}
		if _, err := workflow.Load(program); err != nil {
			t.Fatalf("%v\n%s", err, made.Text)
		}
		again, err := read(data, o)
		if err != nil || again.Text != made.Text || !slices.Equal(again.Notes, made.Notes) {
			t.Fatalf("the second time it differs: %v", err)
		}
	})
}

func FuzzFromCurl(f *testing.F) {
	converts(f, "curl", `curl $'a\x41' "$b${c}" -d '${x}$' -u :a --data-urlencode "$x=1" ^`+"\n-b a=b", "curl http://$HOST/$A/${B}?$C=$D#x -d $E")
}

func FuzzFromHAR(f *testing.F) { converts(f, "har", session) }

func FuzzFromOpenAPI(f *testing.F) {
	converts(f, "openapi", `{"openapi":"3.1.0","servers":[{"url":"/v1"}],"paths":{"/a/{b}":{"post":{"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/x"}}}}}}},"x":{"properties":{"y":{"$ref":"#/x"},"z":{"type":"number"}}}}`)
}

func FuzzFromPostman(f *testing.F) {
	converts(f, "postman", `{"item":[{"request":{"url":"{{base}}/a/${{b}}?c={{d}}","method":"POST","body":{"mode":"raw","raw":"{\"x\":\"{{y}}\",\"n\":{{n}}}"}}}],"variable":[{"key":"base","value":"a.example"},{"key":"b","value":"{x"}]}`)
}
