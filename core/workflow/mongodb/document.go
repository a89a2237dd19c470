package mongodb

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"hyperscale/core/workflow/bson"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/request"
	"hyperscale/core/workflow/secret"
)

// writer writes a command as extended JSON.
type writer struct {
	fn    string
	draft *request.Draft
	most  int // bytes
	b     []byte
}

// field begins a field of the command.
func (w *writer) field(name string) {
	if w.b = append(w.b, ','); len(w.b) == 1 {
		w.b[0] = '{'
	}
	w.b = append(language.AppendQuoted(w.b, name), ':')
}

// document writes an argument that is a dict.
func (w *writer) document(argument string, v starlark.Value) error {
	switch v.(type) {
	case *starlark.Dict, *starlarkstruct.Struct:
		return w.value(argument, v, 0)
	}
	return language.WrongType(w.fn, argument, "a dict", v)
}

// value writes any value of an argument.
func (w *writer) value(argument string, v starlark.Value, depth int) error {
	switch {
	case depth == bson.DepthMost:
		return language.Faultf("%s: %s nests more than %d deep", w.fn, argument, depth).In(argument)
	case len(w.b) > w.most:
		return language.Faultf("%s has more than %s", w.fn, guard.Size(uint64(w.most))).In(argument).Do("send less at once")
	}
	switch v := v.(type) {
	case starlark.NoneType:
		w.b = append(w.b, "null"...)
	case starlark.Bool:
		w.b = strconv.AppendBool(w.b, bool(v))
	case starlark.Int:
		n, ok := v.Int64()
		if !ok {
			return language.Faultf("%s: %s has %s, which does not fit into 64 bits", w.fn, argument, language.Clip(v.String(), 40)).In(argument).Do("write a float, or {\"$numberDecimal\": \"1\"}")
		}
		w.b = strconv.AppendInt(w.b, n, 10)
	case starlark.Float:
		w.float(float64(v))
	case starlark.String, *secret.Text:
		text, err := w.draft.Text(argument, v)
		w.b = language.AppendQuoted(w.b, text)
		return err
	case starlark.Bytes:
		w.b = append(w.b, `{"$binary":{"base64":"`...)
		w.b = append(base64.StdEncoding.AppendEncode(w.b, []byte(v)), `","subType":"00"}}`...)
	case *starlark.Dict:
		return w.fields(argument, v.Items(), depth)
	case *starlarkstruct.Struct:
		return w.fields(argument, guard.Fields(v), depth)
	case *starlark.List, starlark.Tuple:
		return w.list(argument, v.(starlark.Indexable), depth)
	default:
		return language.Faultf("%s: %s has %s in it, which is no value of a document", w.fn, argument, language.Describe(v)).In(argument).Do("use texts, numbers, bytes, True, False, None, lists and dicts of them")
	}
	return nil
}

// float writes a number that stays a double.
func (w *writer) float(f float64) {
	switch {
	case math.IsNaN(f):
		w.b = append(w.b, `{"$numberDouble":"NaN"}`...)
	case math.IsInf(f, 0):
		w.b = append(w.b, `{"$numberDouble":"Infinity"}`...)
		if f < 0 {
			w.b = append(w.b[:len(w.b)-len(`Infinity"}`)], `-Infinity"}`...)
		}
	default:
		text := strconv.FormatFloat(f, 'g', -1, 64)
		if w.b = append(w.b, text...); !strings.ContainsAny(text, ".e") {
			w.b = append(w.b, ".0"...)
		}
	}
}

func (w *writer) list(argument string, v starlark.Indexable, depth int) error {
	w.b = append(w.b, '[')
	for i := range v.Len() {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		if err := w.value(argument, v.Index(i), depth+1); err != nil {
			return err
		}
	}
	w.b = append(w.b, ']')
	return nil
}

func (w *writer) fields(argument string, items []starlark.Tuple, depth int) error {
	w.b = append(w.b, '{')
	for i, kv := range items {
		name, ok := kv[0].(starlark.String)
		if !ok {
			return language.Faultf("%s: %s has the key %s, which is no text", w.fn, argument, language.Describe(kv[0])).In(argument).Do("write str(key)")
		}
		before := 0
		if strings.Contains(string(name), "${") {
			before = len(w.draft.Words())
		}
		filled, err := w.draft.Text(argument, name)
		switch {
		case err != nil:
			return err
		case strings.ContainsRune(string(name), 0):
			return language.Faultf("%s: %s has a key with a zero byte", w.fn, argument).In(argument)
		case filled != string(name) && len(w.draft.Words()) > before:
			return language.Faultf("%s: %s has ${ in the key %q, and values stand in texts", w.fn, argument, language.Clip(string(name), 40)).In(argument).Do("write the key out")
		}
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.b = append(language.AppendQuoted(w.b, filled), ':')
		if err := w.value(argument, kv[1], depth+1); err != nil {
			return err
		}
	}
	w.b = append(w.b, '}')
	return nil
}

// end ends the command, and checks that it can become BSON.
func (w *writer) end(database string) (string, error) {
	w.field("$db")
	w.b = append(language.AppendQuoted(w.b, database), '}')
	var words []bson.Word
	for _, text := range w.draft.Words() {
		words = append(words, bson.Word{Text: text})
	}
	if _, err := bson.Compile(string(w.b), words); err != nil {
		return "", language.Faultf("%s: %s", w.fn, err).Do("look at extended JSON for what stands behind $, as in {\"$oid\": \"65f000000000000000000001\"}")
	}
	return string(w.b), nil
}

// number writes a field with a number, without a comma before it.
func (w *writer) number(name string, n int) {
	w.b = append(language.AppendQuoted(w.b, name), ':')
	w.b = strconv.AppendInt(w.b, int64(n), 10)
}
