package record_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tinylib/msgp/msgp"
	"pgregory.net/rapid"

	"hyperscale/core/message/record"
)

// A simple model of the codec: a record is a tree of maps, lists and values, whose fields have
// no meaning. It represents a newer version with fields that this one does not know.

// treeOf decodes a record.
func treeOf(b []byte) map[string]any {
	m, rest, err := msgp.ReadMapStrIntfBytes(b, nil)
	if err != nil || len(rest) > 0 {
		panic(fmt.Sprintf("%x is no record: %v, %d bytes are left", b, err, len(rest)))
	}
	return m
}

// encoded encodes a tree: known fields in the order of their names, then those of a newer
// version, which begin with a +.
func encoded(b []byte, v any) []byte {
	switch v := v.(type) {
	case map[string]any:
		b = msgp.AppendMapHeader(b, uint32(len(v)))
		names := slices.Sorted(maps.Keys(v))
		for _, late := range []bool{false, true} {
			for _, k := range names {
				if (k[0] == '+') == late {
					b = encoded(msgp.AppendString(b, k), v[k])
				}
			}
		}
		return b
	case []any:
		b = msgp.AppendArrayHeader(b, uint32(len(v)))
		for _, e := range v {
			b = encoded(b, e)
		}
		return b
	}
	b, err := msgp.AppendIntf(b, v)
	if err != nil {
		panic(err)
	}
	return b
}

// each calls f with every struct of a tree and its path.
func each(path string, v any, f func(path string, m map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			each(path+"."+k, v[k], f)
		}
		f(path, v)
	case []any:
		for i, e := range v {
			each(fmt.Sprintf("%s[%d]", path, i), e, f)
		}
	}
}

// extend adds fields of a newer version to the structs of a tree, and returns them.
func extend(tree map[string]any, draw func(int) int) map[string]map[string]any {
	added := map[string]map[string]any{}
	each("", tree, func(path string, m map[string]any) {
		for i := range draw(3) {
			if added[path] == nil {
				added[path] = map[string]any{}
			}
			added[path][fmt.Sprintf("+new%d", i)] = value(draw, 3)
		}
	})
	each("", tree, func(path string, m map[string]any) { maps.Copy(m, added[path]) })
	return added
}

// value is any value that a newer version may have in a field.
func value(draw func(int) int, depth int) any {
	switch n := draw(6 + min(depth, 2)); n {
	case 0:
		return "text"
	case 1:
		return []byte{1, 2, byte(draw(256))}
	case 2:
		return true
	case 3:
		return int64(draw(1 << 20))
	case 4:
		return -int64(draw(1<<20)) - 1
	case 5:
		return nil
	case 6:
		list := []any{}
		for range draw(3) {
			list = append(list, value(draw, depth-1))
		}
		return list
	default:
		m := map[string]any{}
		for i := range draw(3) {
			m[fmt.Sprintf("in%d", i)] = value(draw, depth-1)
		}
		return m
	}
}

// newer is an encoded record with fields of a newer version.
func newer(r record.Record, draw func(int) int) []byte {
	tree := treeOf(record.Append(nil, r))
	extend(tree, draw)
	again := empty(r)
	if err := record.Read(encoded(nil, tree), again); err != nil {
		panic(err)
	}
	return record.Append(nil, again) // known fields in the order of their declaration
}

// change replaces some numbers and texts of a struct, as an older version does when it
// continues a job. It adds and removes no elements of lists.
func change(v reflect.Value, draw func(int) int) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Name != "Unknown" {
				change(v.Field(i), draw)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			change(v.Index(i), draw)
		}
	default:
		if draw(4) == 0 {
			fill(v, draw)
		}
	}
}

// An older version reads a record of a newer one, changes it and writes it again. The result
// has all changes, and every field of the newer version in its place.
func TestOlderVersionsLoseNoField(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }
		r := drawn(t)
		tree := treeOf(record.Append(nil, r))
		added := extend(tree, draw)
		b := encoded(nil, tree)
		older := empty(r)
		if err := record.Read(b, older); err != nil {
			t.Fatalf("an older version cannot read it: %v", err)
		}
		clear(b) // it shares no memory with what it read
		change(reflect.ValueOf(older).Elem(), draw)
		if j, ok := older.(*record.Job); ok && j.Key == "" {
			j.Key = "k"
		}
		got := treeOf(record.Append(nil, older))
		found := map[string]map[string]any{}
		each("", got, func(path string, m map[string]any) {
			for _, k := range slices.Sorted(maps.Keys(m)) {
				if k[0] == '+' {
					if found[path] == nil {
						found[path] = map[string]any{}
					}
					found[path][k] = m[k]
				}
			}
		})
		if diff := cmp.Diff(added, found); diff != "" {
			t.Fatalf("fields of the newer version (-written +after the older):\n%s", diff)
		}
		strip(reflect.ValueOf(older).Elem())
		known := treeOf(record.Append(nil, older))
		each("", got, func(_ string, m map[string]any) {
			maps.DeleteFunc(m, func(k string, _ any) bool { return k[0] == '+' })
		})
		if diff := cmp.Diff(pruned(known), pruned(got)); diff != "" {
			t.Fatalf("fields of the older version (-changed +written):\n%s", diff)
		}
	})
}

// strip removes all unknown fields.
func strip(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Name == "Unknown" {
				v.Field(i).SetZero()
			} else {
				strip(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			strip(v.Index(i))
		}
	}
}

// pruned drops structs without fields, which existed for their unknown ones.
func pruned(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			v[k] = pruned(v[k])
			if m, ok := v[k].(map[string]any); ok && len(m) == 0 {
				delete(v, k)
			}
		}
	case []any:
		for i := range v {
			v[i] = pruned(v[i])
		}
	}
	return v
}

// The model reads what it writes.
func TestTreesAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := map[string]any{"a": value(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }, 3)}
		if diff := cmp.Diff(tree, treeOf(encoded(nil, tree))); diff != "" {
			t.Fatal(diff)
		}
	})
}
