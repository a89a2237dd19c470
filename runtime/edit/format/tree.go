package format

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.starlark.net/syntax"
)

// shape lists the content of a syntax tree without positions: two files of one shape mean the
// same.
func shape(file *syntax.File) []string {
	var out []string
	for _, s := range file.Stmts {
		out = describe(out, reflect.ValueOf(s))
	}
	return out
}

func describe(out []string, v reflect.Value) []string {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return append(out, "nil")
		}
		if bracket, ok := v.Interface().(*syntax.ParenExpr); ok {
			return describe(out, reflect.ValueOf(bracket.X))
		}
		return describe(out, v.Elem())
	case reflect.Slice:
		out = append(out, fmt.Sprintf("[%d", v.Len()))
		for i := range v.Len() {
			out = describe(out, v.Index(i))
		}
		return out
	case reflect.Struct:
		if value, ok := v.Interface().(syntax.Literal); ok { // Raw is how it is written
			return append(out, fmt.Sprintf("literal %v %v", value.Token, value.Value))
		}
		out = append(out, v.Type().Name())
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if !field.IsExported() || field.Type == reflect.TypeFor[syntax.Position]() {
				continue
			}
			out = describe(out, v.Field(i))
		}
		return out
	}
	return append(out, fmt.Sprint(v.Interface()))
}

// comments are those of a file that parses, sorted: a comment at the end of a line may
// move above it.
func comments(data []byte) []string {
	file, err := (&syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true}).Parse("", data, syntax.RetainComments)
	if err != nil {
		return nil // it has parsed before
	}
	var all []string
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			return true
		}
		if c := n.Comments(); c != nil {
			for _, list := range [][]syntax.Comment{c.Before, c.Suffix, c.After} {
				for _, comment := range list {
					all = append(all, strings.TrimSpace(comment.Text))
				}
			}
		}
		return true
	})
	slices.Sort(all)
	return all
}
