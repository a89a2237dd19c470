package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

// Hole is a word in JSON that a value replaces. It consists of letters and digits.
type Hole struct {
	Word, Name string
	Value      int // index into the values that Append gets
}

// Template is a message, or bytes with places for values.
type Template struct{ parts []part }

// part is bytes, a value, or other parts behind their length.
type part struct {
	literal []byte
	value   int               // index, behind the literal; noValue: none
	name    string            // of the value
	kind    protoreflect.Kind // of the field that the value fills; 0: it is a text, or bytes
	utf8    bool              // the text must be UTF-8
	sized   []part            // behind the literal, if they have a length
	enum    protoreflect.EnumDescriptor
}

const noValue = -1

// Compile makes a message of an object in JSON.
func (m *Method) Compile(text []byte, holes []Hole) (*Template, error) {
	e := encoder{holes: holes, m: m}
	if !e.has(string(text)) {
		b, err := e.fixed(m.in, text, false)
		if err != nil {
			return nil, err
		}
		return &Template{[]part{{literal: b, value: noValue}}}, nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var object any
	if err := d.Decode(&object); err != nil {
		return nil, fmt.Errorf("it is no JSON: %w", err)
	}
	err := e.message(m.in, object, "", 0)
	return &Template{joined(e.parts)}, err
}

// Fixed returns the message's bytes if it has no values.
func (t *Template) Fixed() (b []byte, ok bool) {
	switch {
	case len(t.parts) == 0:
		return nil, true
	case len(t.parts) == 1 && t.parts[0].value == noValue && t.parts[0].sized == nil:
		return t.parts[0].literal, true
	}
	return nil, false
}

// joined puts neighbouring bytes together.
func joined(all []part) []part {
	var out []part
	for _, p := range all {
		if p.sized != nil {
			p.sized = joined(p.sized)
		}
		if last := len(out) - 1; last >= 0 && out[last].value == noValue && out[last].sized == nil {
			p.literal = append(slices.Clip(out[last].literal), p.literal...)
			out[last] = p
			continue
		}
		out = append(out, p)
	}
	return out
}

// encoder makes parts.
type encoder struct {
	m     *Method
	holes []Hole
	parts []part
}

func (e *encoder) bytes(b []byte) { e.parts = append(e.parts, part{literal: b, value: noValue}) }

// has reports whether a text has a hole.
func (e *encoder) has(text string) bool {
	return slices.ContainsFunc(e.holes, func(h Hole) bool { return strings.Contains(text, h.Word) })
}

// holds reports whether a value of JSON has a hole.
func (e *encoder) holds(v any) bool {
	switch v := v.(type) {
	case string:
		return e.has(v)
	case []any:
		return slices.ContainsFunc(v, e.holds)
	case map[string]any:
		//lint:orderfree any one of them decides
		for key, value := range v {
			if e.has(key) || e.holds(value) {
				return true
			}
		}
	}
	return false
}

// fixed returns the bytes of an object without holes.
func (e *encoder) fixed(of protoreflect.MessageDescriptor, text []byte, partial bool) ([]byte, error) {
	made := dynamicpb.NewMessage(of)
	if err := (protojson.UnmarshalOptions{AllowPartial: partial, Resolver: e.m.types, RecursionLimit: nestingMost}).Unmarshal(text, made); err != nil {
		return nil, fmt.Errorf("it is no %s: %s", of.FullName(), clean(err))
	}
	b, err := proto.MarshalOptions{AllowPartial: partial, Deterministic: true}.Marshal(made)
	if err != nil {
		return nil, fmt.Errorf("it is no %s: %s", of.FullName(), clean(err))
	}
	return b, nil
}

// rest returns the bytes of those fields of an object that have no holes.
func (e *encoder) rest(of protoreflect.MessageDescriptor, fields map[string]any) error {
	text, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	b, err := e.fixed(of, text, true)
	e.bytes(b)
	return err
}

// message encodes an object with holes.
func (e *encoder) message(of protoreflect.MessageDescriptor, v any, at string, depth int) error {
	object, ok := v.(map[string]any)
	switch {
	case strings.HasPrefix(string(of.FullName()), "google.protobuf."):
		return fmt.Errorf("%s is a %s, and no value stands in one: write it out, or send it from a function", place(at), of.FullName())
	case !ok:
		return fmt.Errorf("%s must be an object of %s", place(at), of.FullName())
	case depth > nestingMost:
		return fmt.Errorf("%s nests more than %d deep", place(at), nestingMost)
	}
	plain, names := map[string]any{}, make([]string, 0, len(object))
	//lint:orderfree names are sorted, and plain is a set
	for name, value := range object {
		if e.has(name) {
			return fmt.Errorf("%s: a field's name cannot be filled", place(at))
		}
		if e.holds(value) {
			names = append(names, name)
		} else {
			plain[name] = value
		}
	}
	if err := e.rest(of, plain); err != nil {
		return err
	}
	slices.Sort(names)
	chosen := map[protoreflect.FullName]bool{}
	for name := range slices.Values(slices.Sorted(keys(plain))) {
		if f := fieldOf(of, name); f != nil && f.ContainingOneof() != nil {
			chosen[f.ContainingOneof().FullName()] = true
		}
	}
	for _, name := range names {
		f := fieldOf(of, name)
		if f == nil {
			return fmt.Errorf("%s has no field %q", of.FullName(), name)
		}
		if o := f.ContainingOneof(); o != nil {
			if chosen[o.FullName()] {
				return fmt.Errorf("%s: the oneof %s is set twice", place(at), o.Name())
			}
			chosen[o.FullName()] = true
		}
		if err := e.field(of, f, object[name], at+"."+name, depth); err != nil {
			return err
		}
	}
	return nil
}

func keys(m map[string]any) func(func(string) bool) {
	return func(yield func(string) bool) {
		//lint:orderfree the caller sorts them
		for name := range m {
			if !yield(name) {
				return
			}
		}
	}
}

// fieldOf finds a field by its name in JSON or in the file.
func fieldOf(of protoreflect.MessageDescriptor, name string) protoreflect.FieldDescriptor {
	if f := of.Fields().ByJSONName(name); f != nil {
		return f
	}
	return of.Fields().ByTextName(name)
}

// place names where a value stands.
func place(at string) string {
	if at == "" {
		return "the message"
	}
	return at[1:]
}

// field encodes a field with holes.
func (e *encoder) field(of protoreflect.MessageDescriptor, f protoreflect.FieldDescriptor, v any, at string, depth int) error {
	switch {
	case f.IsMap():
		return e.entries(f, v, at, depth)
	case f.IsList():
		list, ok := v.([]any)
		if !ok {
			return fmt.Errorf("%s must be a list", place(at))
		}
		for i, one := range list {
			if !e.holds(one) {
				if err := e.rest(of, map[string]any{f.JSONName(): []any{one}}); err != nil {
					return err
				}
				continue
			}
			if err := e.one(f, one, fmt.Sprintf("%s[%d]", at, i), depth); err != nil {
				return err
			}
		}
		return nil
	}
	return e.one(f, v, at, depth)
}

// entries encodes a map with holes: each entry is a message of a key and a value.
func (e *encoder) entries(f protoreflect.FieldDescriptor, v any, at string, depth int) error {
	object, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%s must be an object", place(at))
	}
	of := f.ContainingMessage()
	for _, key := range slices.Sorted(keys(object)) {
		if e.has(key) {
			return fmt.Errorf("%s: a key cannot be filled", place(at))
		}
		if !e.holds(object[key]) {
			if err := e.rest(of, map[string]any{f.JSONName(): map[string]any{key: object[key]}}); err != nil {
				return err
			}
			continue
		}
		text, err := json.Marshal(map[string]any{f.MapKey().JSONName(): key})
		if err != nil {
			return err
		}
		b, err := e.fixed(f.Message(), text, true)
		if err != nil {
			return err
		}
		inner := encoder{m: e.m, holes: e.holes}
		inner.bytes(b)
		if err := inner.one(f.MapValue(), object[key], at+"."+key, depth); err != nil {
			return err
		}
		e.parts = append(e.parts, part{literal: protowire.AppendTag(nil, f.Number(), protowire.BytesType), value: noValue, sized: inner.parts})
	}
	return nil
}

// one encodes a single value with holes.
func (e *encoder) one(f protoreflect.FieldDescriptor, v any, at string, depth int) error {
	switch f.Kind() {
	case protoreflect.GroupKind:
		return fmt.Errorf("%s is a group, and no value stands in one", place(at))
	case protoreflect.MessageKind:
		inner := encoder{m: e.m, holes: e.holes}
		if err := inner.message(f.Message(), v, at, depth+1); err != nil {
			return err
		}
		e.parts = append(e.parts, part{literal: protowire.AppendTag(nil, f.Number(), protowire.BytesType), value: noValue, sized: inner.parts})
		return nil
	}
	text, ok := v.(string)
	if !ok {
		return fmt.Errorf("%s must be one value of %s", place(at), f.Kind())
	}
	switch f.Kind() {
	case protoreflect.StringKind:
		e.parts = append(e.parts, part{literal: protowire.AppendTag(nil, f.Number(), protowire.BytesType), value: noValue, sized: e.cut(text)})
		return nil
	}
	at2 := slices.IndexFunc(e.holes, func(h Hole) bool { return h.Word == text })
	if at2 < 0 {
		return fmt.Errorf("%s has text beside ${...}, and a %s is one value", place(at), f.Kind())
	}
	h := e.holes[at2]
	if f.Kind() == protoreflect.BytesKind {
		e.parts = append(e.parts, part{literal: protowire.AppendTag(nil, f.Number(), protowire.BytesType), value: noValue, sized: []part{{value: h.Value, name: h.Name}}})
		return nil
	}
	e.parts = append(e.parts, part{
		literal: protowire.AppendTag(nil, f.Number(), wireType(f.Kind())), value: h.Value, name: h.Name, kind: f.Kind(), enum: f.Enum(),
	})
	return nil
}

// cut cuts a text at its holes.
func (e *encoder) cut(text string) (all []part) {
	for {
		first, at := (*Hole)(nil), len(text)
		for i := range e.holes {
			if k := strings.Index(text[:at], e.holes[i].Word); k >= 0 {
				first, at = &e.holes[i], k
			}
		}
		if first == nil {
			return append(all, part{literal: []byte(text), value: noValue})
		}
		all = append(all, part{literal: []byte(text[:at]), value: first.Value, name: first.Name, utf8: true})
		text = text[at+len(first.Word):]
	}
}

// compact takes the blanks out of JSON, which the library varies on purpose.
func compact(text []byte) []byte {
	var out bytes.Buffer
	if err := json.Compact(&out, text); err != nil {
		return text
	}
	return out.Bytes()
}
