package format

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bazelbuild/buildtools/build"
	"go.starlark.net/syntax"

	"hyperscale/core/workflow"
)

// BytesMax bounds one file: all files of a program together have no more.
const BytesMax = 512 << 10

// File returns data, the bytes of a workflow file of that name, in the style. A file
// that does not parse is refused with a *workflow.Error, as `validate` refuses it.
func File(name string, data []byte) ([]byte, error) {
	if len(data) > BytesMax {
		return nil, fmt.Errorf("%s has %d bytes, more than a workflow file may (%d): keep data out of it", name, len(data), BytesMax)
	}
	before, err := workflow.Parse(name, data)
	if err != nil {
		return nil, err
	}
	text := bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	d := disguise{name: unused(text)}
	printed, err := reprint(name, d.put(text, before))
	if err != nil {
		return nil, err
	}
	out := d.take(printed)
	after, err := workflow.Parse(name, out)
	if err != nil || !slices.Equal(shape(before), shape(after)) || !slices.Equal(comments(data), comments(out)) {
		return nil, fmt.Errorf("%s: the formatter would change what it means, so that it stays as it is: please report this file", name)
	}
	return out, nil
}

// reprint is buildifier's printer behind its parser, neither of which is ours.
func reprint(name string, text []byte) (out string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: the formatter gave up: %v: please report this file", name, r)
		}
	}()
	file, err := build.ParseDefault(name, text)
	if err != nil {
		var wrong build.ParseError
		if errors.As(err, &wrong) {
			return "", fmt.Errorf("%s:%d:%d: the formatter does not know this: %s", name, wrong.Pos.Line, wrong.Pos.LineRune, wrong.Message)
		}
		return "", fmt.Errorf("%s: the formatter does not know this: %w", name, err)
	}
	return string(build.FormatWithoutRewriting(file)), nil
}

// disguise replaces what buildifier's parser does not know: while, and literals of bytes. Its
// name occurs nowhere in the file, so Format finds the replacements in the printed text.
type disguise struct{ name string }

// put writes `while x` as `for NAME in x`, and `b"x"` as `NAME & "x"`.
func (d disguise) put(text []byte, file *syntax.File) []byte {
	type edit struct {
		at       syntax.Position
		old, new string
	}
	var edits []edit
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.WhileStmt:
			edits = append(edits, edit{n.While, "while", "for " + d.name + " in "})
		case *syntax.Literal:
			if n.Token == syntax.BYTES {
				prefix, _, _ := strings.Cut(n.Raw, n.Raw[len(n.Raw)-1:])
				edits = append(edits, edit{n.TokenPos, prefix, d.name + " & " + strings.Trim(prefix, "b")})
			}
		}
		return true
	})
	if len(edits) == 0 {
		return text
	}
	// The last one first, so that the places of the others stay.
	slices.SortFunc(edits, func(a, b edit) int {
		return cmp.Or(cmp.Compare(b.at.Line, a.at.Line), cmp.Compare(b.at.Col, a.at.Col))
	})
	lines := strings.Split(string(text), "\n")
	for _, e := range edits {
		line, column := []rune(lines[e.at.Line-1]), int(e.at.Col)-1
		lines[e.at.Line-1] = string(line[:column]) + e.new + string(line[column+len(e.old):])
	}
	return []byte(strings.Join(lines, "\n"))
}

// take turns all of them back.
func (d disguise) take(printed string) []byte {
	return []byte(strings.NewReplacer(
		"for "+d.name+" in ", "while ",
		d.name+" & r", "rb",
		d.name+" & ", "b",
	).Replace(printed))
}

// unused is a name that stands nowhere in the text.
func unused(text []byte) string {
	for i := 0; ; i++ {
		if name := fmt.Sprintf("while_%d", i); !bytes.Contains(text, []byte(name)) {
			return name
		}
	}
}
