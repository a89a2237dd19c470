package bson_test

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/core/workflow/bson"
)

// The bytes are those of bsonspec.org and of MongoDB's corpus of tests.
func TestDocuments(t *testing.T) {
	//lint:orderfree each is a test of its own
	for text, want := range map[string]string{
		`{}`:                             "0500000000",
		`{"hello":"world"}`:              "160000000268656c6c6f0006000000776f726c640000",
		`{"BSON":["awesome",5.05,1986]}`: "310000000442534f4e002600000002300008000000617765736f6d65000131003333333333331440103200c20700000000",
		`{"a":{"$oid":"56e1fc72e0c917e9c4714161"}}`:                              "1400000007610056e1fc72e0c917e9c471416100",
		`{"a":{"$date":"2012-12-24T12:15:30.501Z"}}`:                             "10000000096100c5d8d6cc3b01000000",
		`{"a":{"$date":{"$numberLong":"-284643869501"}}}`:                        "10000000096100c33ce7b9bdffffff00",
		`{"a":{"$timestamp":{"t":123456789,"i":42}}}`:                            "100000001161002a00000015cd5b0700",
		`{"a":{"$regularExpression":{"pattern":"abc","options":"im"}}}`:          "0f0000000b610061626300696d0000",
		`{"a":{"$binary":{"base64":"c//SZESzTGmQ6OfR38A11A==","subType":"04"}}}`: "1d000000056100100000000473ffd26444b34c6990e8e7d1dfc035d400",
		`{"d":{"$numberDecimal":"0.1"}}`:                                         "1800000013640001000000000000000000000000003e3000",
		`{"d":{"$numberDecimal":"1E+3"}}`:                                        "180000001364000100000000000000000000000000463000",
		`{"d":{"$numberDecimal":"-Infinity"}}`:                                   "18000000136400000000000000000000000000000000f800",
		`{"d":{"$numberDecimal":"1.000000000000000000000000000000000E+6144"}}`:   "180000001364000000000a5bc138938d44c64d31cc3700" + "00"[:0],
		`{"a":9223372036854775807}`:                                              "10000000126100ffffffffffffff7f00",
		`{"a":-2147483648}`:                                                      "0c0000001061000000008000",
		`{"a":1.0}`:                                                              "10000000016100000000000000f03f00",
		`{"a":{"$minKey":1}}`:                                                    "08000000ff610000",
		`{"a":true,"b":null}`:                                                    "0c00000008610001" + "0a620000",
		`{"$set":{"a":1}}`:                                                       "17000000032473657400" + "0c0000001061000100000000" + "00",
		`{"a":{"$code":"abcd"}}`:                                                 "110000000d6100050000006162636400" + "00",
	} {
		c, err := bson.Compile(text, nil)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		b, err := c.Append(nil, nil)
		if err == nil {
			err = bson.Check(b)
		}
		if err != nil || !strings.HasPrefix(text, `{"d":{"$numberDecimal":"1.0`) && hex.EncodeToString(b) != want {
			t.Errorf("%s: %x, want %s: %v", text, b, want, err)
		}
		if got := string(bson.AppendJSON(nil, b)); got != text {
			t.Errorf("%s shows as %s", text, got)
		}
	}
}

// An error tells the place of what cannot become BSON.
func TestErrors(t *testing.T) {
	//lint:orderfree each is a test of its own
	for text, want := range map[string]string{
		`[1]`:                                                         "a document is a dict",
		`{"a":1`:                                                      "it is not JSON",
		`{"a":{"b":[1,{"$oid":"65"}]}}`:                               `a.b.1: "65" is not 24 hexadecimal digits`,
		`{"a":99999999999999999999}`:                                  "does not fit into 64 bits",
		`{"a":{"$numberInt":"2147483648"}}`:                           "no whole number of 32 bits",
		`{"a":{"$numberLong":1}}`:                                     "$numberLong has a text",
		`{"a":{"$date":"yesterday"}}`:                                 "neither milliseconds",
		`{"a":{"$numberDecimal":"1e7000"}}`:                           "no decimal number",
		`{"a":{"$numberDouble":"0x1p3"}}`:                             "no number",
		`{"a":{"$binary":{"base64":"!","subType":"0"}}}`:              "cannot be read",
		`{"a":{"$uuid":"x"}}`:                                         "no UUID",
		`{"a":{"$code":"x","$scope":{}}}`:                             "not as yet",
		`{"a":{"$dbPointer":{}}}`:                                     "not as yet",
		`{"a":{"$regularExpression":{"pattern":"a"}}}`:                "has pattern and options",
		`{"a":{"$timestamp":{"t":-1,"i":0}}}`:                         "no number of 32 bits",
		`{"a\u0000b":1}`:                                              "zero byte",
		strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200): "nests more than 128 deep",
	} {
		if _, err := bson.Compile(text, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// draw returns a value of JSON, as a text in which values[0] may stand for a word, and with it filled in.
func draw(rt *rapid.T, depth int, word, value string) (open, filled string) {
	text := func(label string) string {
		b, _ := json.Marshal(rapid.StringN(0, 8, -1).Draw(rt, label))
		return string(b)
	}
	inner := func(v string) string {
		b, _ := json.Marshal(v)
		return string(b[1 : len(b)-1])
	}
	kinds := 9
	if depth == 0 {
		kinds = 7
	}
	same := func(s string) (string, string) { return s, s }
	switch rapid.IntRange(0, kinds).Draw(rt, "kind") {
	case 0:
		return same("null")
	case 1:
		return same(strconv.FormatBool(rapid.Bool().Draw(rt, "truth")))
	case 2:
		return same(strconv.FormatInt(rapid.Int64().Draw(rt, "int"), 10))
	case 3:
		f := rapid.Float64().Draw(rt, "float")
		return same(fmt.Sprintf(`{"$numberDouble":"%s"}`, strconv.FormatFloat(f, 'g', -1, 64)))
	case 4:
		return same(text("text"))
	case 5:
		a, b := rapid.StringMatching("[a-z]{0,3}").Draw(rt, "before"), rapid.StringMatching("[a-z]{0,3}").Draw(rt, "behind")
		return `"` + a + word + b + `"`, `"` + a + inner(value) + b + `"`
	case 6:
		return same(fmt.Sprintf(`{"$date":{"$numberLong":"%d"}}`, rapid.Int64().Draw(rt, "date")))
	case 7:
		return same(fmt.Sprintf(`{"$oid":"%024x"}`, rapid.Uint64().Draw(rt, "id")))
	case 8:
		for i := range rapid.IntRange(0, 3).Draw(rt, "members") {
			if i > 0 {
				open, filled = open+",", filled+","
			}
			a, b := draw(rt, depth-1, word, value)
			open, filled = open+a, filled+b
		}
		return "[" + open + "]", "[" + filled + "]"
	}
	for i := range rapid.IntRange(0, 3).Draw(rt, "fields") {
		if i > 0 {
			open, filled = open+",", filled+","
		}
		name, _ := json.Marshal(rapid.StringMatching("[a-z.é]{0,5}").Draw(rt, "name"))
		a, b := draw(rt, depth-1, word, value)
		open, filled = open+string(name)+":"+a, filled+string(name)+":"+b
	}
	return "{" + open + "}", "{" + filled + "}"
}

// BSON-1, BSON-2, BSON-4: a template that is filled is the document of the filled text, which checks, and which
// reads as itself again.
func TestTemplates(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		value := rapid.StringN(0, 6, -1).Draw(rt, "value")
		open, filled := draw(rt, 4, "w0w", value)
		open, filled = `{"v":`+open+`}`, `{"v":`+filled+`}`
		a, err := bson.Compile(open, []bson.Word{{Text: "w0w", Value: 0}})
		if err != nil {
			rt.Fatalf("%s: %v", open, err)
		}
		b, err := bson.Compile(filled, nil)
		if err != nil {
			rt.Fatalf("%s: %v", filled, err)
		}
		one, err := a.Append([]byte("before"), [][]byte{[]byte(value)})
		two, wrong := b.Append([]byte("before"), nil)
		if err != nil || wrong != nil || string(one) != string(two) || a.Open() != strings.Contains(open, "w0w") {
			rt.Fatalf("%s: %x (%v)\n%s: %x (%v)", open, one, err, filled, two, wrong)
		}
		two = two[len("before"):]
		if err := bson.Check(two); err != nil {
			rt.Fatalf("%s: %v", filled, err)
		}
		shown := bson.AppendJSON(nil, two)
		again, err := bson.Compile(string(shown), nil)
		if err != nil || !json.Valid(shown) {
			rt.Fatalf("%s: %v", shown, err)
		}
		if three, err := again.Append(nil, nil); err != nil || string(three) != string(two) {
			rt.Fatalf("%s is %x, and was %x: %v", shown, three, two, err)
		}
	})
}

// BSON-3: a value stands where its type allows.
func TestValues(t *testing.T) {
	for _, tt := range []struct{ text, value, shows, err string }{
		{`{"a":{"$numberInt":"w0w"}}`, "7", `{"a":7}`, ""},
		{`{"a":{"$numberLong":"1w0w"}}`, "7", `{"a":17}`, ""},
		{`{"a":{"$numberDouble":"w0w"}}`, "7", `{"a":7.0}`, ""},
		{`{"a":{"$numberDecimal":"w0w"}}`, "7.10", `{"a":{"$numberDecimal":"7.10"}}`, ""},
		{`{"a":{"$oid":"65f00000000000000000000w0w"}}`, "a", `{"a":{"$oid":"65f00000000000000000000a"}}`, ""},
		{`{"a":{"$date":"w0w"}}`, "1700000000000", `{"a":{"$date":"2023-11-14T22:13:20Z"}}`, ""},
		{`{"a":{"$date":{"$numberLong":"w0w"}}}`, "0", `{"a":{"$date":"1970-01-01T00:00:00Z"}}`, ""},
		{`{"a":{"$numberInt":"w0w"}}`, "seven", "", `"seven" is no whole number`},
		{`{"a":{"$oid":"w0w"}}`, "7", "", "24 hexadecimal digits"},
		{`{"a":"w0w"}`, "\xff", "", "UTF-8"},
		{`{"a":"w0w"}`, "\x00", `{"a":"\u0000"}`, ""},
	} {
		c, err := bson.Compile(tt.text, []bson.Word{{Text: "w0w", Value: 0}})
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		b, err := c.Append([]byte("x"), [][]byte{[]byte(tt.value)})
		if err != nil {
			if tt.err == "" || !strings.Contains(err.Error(), tt.err) || string(b) != "x" {
				t.Errorf("%s with %q: %v, left %q", tt.text, tt.value, err, b)
			}
			continue
		}
		if got := string(bson.AppendJSON(nil, b[1:])); got != tt.shows || bson.Check(b[1:]) != nil {
			t.Errorf("%s with %q shows as %s", tt.text, tt.value, got)
		}
	}
	if _, err := bson.Compile(`{"a":{"$timestamp":{"t":"w0w","i":1}}}`, []bson.Word{{Text: "w0w"}}); err == nil || !strings.Contains(err.Error(), "no value stands") {
		t.Error(err)
	}
}

// Whole numbers differ from others.
func TestWhole(t *testing.T) {
	//lint:orderfree each is a test of its own
	for text, want := range map[string]int64{`{"a":7}`: 7, `{"a":7.0}`: 7, `{"a":true}`: 1, `{"a":7000000000}`: 7_000_000_000} {
		c, _ := bson.Compile(text, nil)
		b, _ := c.Append(nil, nil)
		fields, _ := bson.Fields(b)
		e, _, err := bson.Next(fields)
		if n, is := e.Whole(); err != nil || !is || n != want {
			t.Errorf("%s: %d %v", text, n, is)
		}
	}
	for _, text := range []string{`{"a":7.5}`, `{"a":"7"}`, fmt.Sprintf(`{"a":%g}`, math.MaxFloat64), `{"a":{"$numberDouble":"NaN"}}`} {
		c, _ := bson.Compile(text, nil)
		b, _ := c.Append(nil, nil)
		fields, _ := bson.Fields(b)
		if e, _, _ := bson.Next(fields); e.Type != 0 {
			if n, is := e.Whole(); is {
				t.Errorf("%s: %d", text, n)
			}
		}
	}
}

// BSON-1, BSON-4: no bytes make it panic, and what checks shows as JSON.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{
		"0500000000", "160000000268656c6c6f0006000000776f726c640000", "1a0000000f61001200000001000000000500000000" + "00", "1d000000056100100000000473ffd26444b34c6990e8e7d1dfc035d400",
		"0f0000000b610061626300696d0000", "1a0000000c610002000000620056e1fc72e0c917e9c471416100", "18000000136400000000000000000000000000000000f800", "ffffff7f0361",
	} {
		b, _ := hex.DecodeString(seed)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if bson.Check(b) != nil {
			return
		}
		text := bson.AppendJSON(nil, b)
		if !json.Valid(text) {
			t.Fatalf("%x shows as %s", b, text)
		}
		if c, err := bson.Compile(string(text), nil); err == nil {
			if again, err := c.Append(nil, nil); err != nil || bson.Check(again) != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
	})
}

// A document of small fields has many times its bytes as JSON: what bounds the JSON ends the work as well.
func TestAppendWithin(t *testing.T) {
	b := binary.LittleEndian.AppendUint32(nil, uint32(5+2*1000))
	for range 1000 {
		b = append(b, byte(bson.Null), 0)
	}
	if b = append(b, 0); bson.Check(b) != nil {
		t.Fatal(bson.Check(b))
	}
	if whole := bson.AppendJSON(nil, b); len(whole) < 4000 {
		t.Errorf("%d bytes of JSON", len(whole))
	}
	if some := bson.AppendWithin(nil, b, 100); len(some) <= 100 || len(some) > 200 {
		t.Errorf("%d bytes of JSON, to be more than 100 and not by far", len(some))
	}
}
