package export

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"hyperscale/runtime/report"
)

// XML writes the result file as XML. An element has the name of its field, in the order of the file; a list has an `item`
// for each of its values, and what is found by a name an `entry` with that name.
func XML(r *report.Result) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(xml.Header)
	if err := xmlValue(&b, reflect.ValueOf(*r), "result", 0); err != nil {
		return nil, fmt.Errorf("encode the result as XML: %w", err)
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// xmlValue writes an element, without a line end behind it. Open is its name with its attributes.
func xmlValue(b *bytes.Buffer, v reflect.Value, open string, depth int) error {
	name, _, _ := strings.Cut(open, " ")
	b.WriteString(strings.Repeat("  ", depth) + "<" + open + ">")
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	start := b.Len()
	err := xmlParts(b, v, depth+1)
	if err == nil && b.Len() == start {
		err = xmlScalar(b, v)
	} else if err == nil {
		b.WriteString("\n" + strings.Repeat("  ", depth))
	}
	b.WriteString("</" + name + ">")
	return err
}

// xmlParts writes what a value is made of, each behind a line end; nothing if it has no parts.
func xmlParts(b *bytes.Buffer, v reflect.Value, depth int) error {
	part := func(open string, of reflect.Value) error {
		b.WriteByte('\n')
		return xmlValue(b, of, open, depth)
	}
	switch v.Kind() {
	case reflect.Struct:
		return xmlFields(v, part)
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if err := part("item", v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range keys {
			var name bytes.Buffer
			if err := xml.EscapeText(&name, []byte(k.String())); err != nil {
				return err
			}
			if err := part(`entry name="`+name.String()+`"`, v.MapIndex(k)); err != nil {
				return err
			}
		}
	}
	return nil
}

// xmlFields calls part for each field of a struct that the result file has.
func xmlFields(v reflect.Value, part func(open string, of reflect.Value) error) error {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" && field.Anonymous {
			if err := xmlFields(v.Field(i), part); err != nil {
				return err
			}
			continue
		}
		if name == "-" || options == "omitempty" && xmlEmpty(v.Field(i)) {
			continue
		}
		if err := part(name, v.Field(i)); err != nil {
			return err
		}
	}
	return nil
}

// xmlEmpty is what omitempty leaves out.
func xmlEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

// xmlScalar writes a text, a number or a truth; nothing for a value without parts. What XML cannot hold becomes U+FFFD.
func xmlScalar(b *bytes.Buffer, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Struct, reflect.Slice, reflect.Array, reflect.Map, reflect.Pointer:
		return nil
	case reflect.String:
		return xml.EscapeText(b, []byte(v.String()))
	}
	text, err := json.Marshal(v.Interface()) // as in the file
	b.Write(text)
	return err
}
