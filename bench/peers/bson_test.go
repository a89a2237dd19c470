package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"testing"

	driver "go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"hyperscale/core/workflow/bson"
)

// drawValue returns a value of extended JSON.
func drawValue(rt *rapid.T, depth int) string {
	quoted := func(s string) string {
		b, _ := json.Marshal(s)
		return string(b)
	}
	most := 12
	if depth == 0 {
		most = 10
	}
	switch rapid.IntRange(0, most).Draw(rt, "kind") {
	case 0:
		return "null"
	case 1:
		return strconv.FormatBool(rapid.Bool().Draw(rt, "truth"))
	case 2:
		return strconv.FormatInt(rapid.Int64().Draw(rt, "int"), 10)
	case 3:
		return strconv.FormatInt(int64(rapid.Int32().Draw(rt, "int32")), 10)
	case 4:
		return fmt.Sprintf(`{"$numberDouble":"%s"}`, strconv.FormatFloat(rapid.Float64().Draw(rt, "float"), 'g', -1, 64))
	case 5:
		return quoted(rapid.StringN(0, 8, -1).Draw(rt, "text"))
	case 6:
		return fmt.Sprintf(`{"$date":{"$numberLong":"%d"}}`, rapid.Int64Range(-1<<50, 1<<50).Draw(rt, "date"))
	case 7:
		return fmt.Sprintf(`{"$oid":"%024x"}`, rapid.Uint64().Draw(rt, "id"))
	case 8:
		return fmt.Sprintf(`{"$numberDecimal":"%d.%dE%d"}`, rapid.Int64().Draw(rt, "whole"), rapid.Uint32().Draw(rt, "fraction"), rapid.IntRange(-6000, 6000).Draw(rt, "exponent"))
	case 9:
		return fmt.Sprintf(`{"$timestamp":{"t":%d,"i":%d}}`, rapid.Uint32().Draw(rt, "t"), rapid.Uint32().Draw(rt, "i"))
	case 10:
		return rapid.SampledFrom([]string{`{"$binary":{"base64":"AQID","subType":"05"}}`, `{"$minKey":1}`, `{"$maxKey":1}`, `{"$code":"f()"}`, `{"$regularExpression":{"pattern":"^t","options":"xi"}}`, `{"$numberDouble":"NaN"}`, `{"$numberDouble":"-Infinity"}`, `{"$symbol":"s"}`}).Draw(rt, "rare")
	}
	n, out := rapid.IntRange(0, 3).Draw(rt, "members"), ""
	array := rapid.Bool().Draw(rt, "array")
	for i := range n {
		if i > 0 {
			out += ","
		}
		if !array {
			out += quoted(fmt.Sprint(rapid.StringMatching("[a-zé.]{0,4}").Draw(rt, "name"), i)) + ":"
		}
		out += drawValue(rt, depth-1)
	}
	if array {
		return "[" + out + "]"
	}
	return "{" + out + "}"
}

// Our BSON is that of MongoDB's own driver: the same bytes of a text, and the same text of bytes.
func TestBSON(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := `{"v":` + drawValue(rt, 3) + `}`
		var theirs driver.D
		if err := driver.UnmarshalExtJSON([]byte(text), false, &theirs); err != nil {
			rt.Fatalf("the twin: %s: %v", text, err)
		}
		want, err := driver.Marshal(theirs)
		if err != nil {
			rt.Fatalf("the twin: %s: %v", text, err)
		}
		c, err := bson.Compile(text, nil)
		if err != nil {
			rt.Fatalf("%s: %v", text, err)
		}
		got, err := c.Append(nil, nil)
		if err != nil || bson.Check(got) != nil || !bytes.Equal(got, want) {
			rt.Fatalf("%s: %x, the twin has %x: %v", text, got, want, err)
		}
		shown, err := driver.MarshalExtJSON(theirs, false, false)
		if err != nil {
			rt.Fatalf("the twin: %s: %v", text, err)
		}
		var ours, others any
		if err := json.Unmarshal(bson.AppendJSON(nil, got), &ours); err != nil {
			rt.Fatal(err)
		}
		if err := json.Unmarshal(shown, &others); err != nil || !reflect.DeepEqual(ours, others) {
			rt.Fatalf("%s, the twin has %s: %v", bson.AppendJSON(nil, got), shown, err)
		}
	})
}
