package workflow

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
)

// file is file(path): the bytes of a file beside the main one. Files finds it by its name,
// which therefore must be a literal in the call.
func (l *loader) file(_ syntax.Position, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [1]string
	if err := language.Texts("file", []string{"path"}, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	if err := insideFolder("file", in[0]); err != nil {
		return nil, err.In("#1").Do("write file(\"folder/name.txt\")")
	}
	data, err := l.data("file", in[0])
	if err != nil {
		return nil, err
	}
	return starlark.Bytes(data), nil
}

// data returns a file of the program by its name.
func (l *loader) data(fn, name string) ([]byte, error) {
	i := slices.IndexFunc(l.program.Files, func(f message.File) bool { return f.Name == name })
	if i < 0 {
		known := make([]string, len(l.program.Files))
		for i, f := range l.program.Files {
			known[i] = f.Name
		}
		f := language.Faultf("the program has no file %q", language.Clip(name, 80)).In("#1").Meant(name, known[1:])
		if !strings.HasPrefix(f.Remedy, "did you mean") {
			f.Do("it must lie in the folder of %s, and its name must stand in the call as it is: %s(\"name\")", l.program.Main, fn)
		}
		return nil, f
	}
	return l.program.Files[i].Data, nil
}

// insideFolder checks that a name is inside the main file's folder.
func insideFolder(fn, name string) *language.Fault {
	if name == "" || path.IsAbs(name) || strings.Contains(name, "\\") || path.Clean(name) != name || name == ".." || name == "." || strings.HasPrefix(name, "../") {
		return language.Faultf("%s: %q is not a path inside the file's folder", fn, language.Clip(name, 80))
	}
	return nil
}

// reference is a file that another one names.
type reference struct {
	name     string
	at       syntax.Expr
	optional bool // it is data: the load that needs it has a better message
	rows     bool // of a feed: it need not travel
	json     bool
}

// isFeed reports whether a call is that of feed.csv or feed.json, and which.
func isFeed(fn syntax.Expr) (rows, json bool) {
	dot, ok := fn.(*syntax.DotExpr)
	if !ok {
		return false, false
	}
	of, ok := dot.X.(*syntax.Ident)
	json = dot.Name.Name == "json"
	return ok && of.Name == "feed" && (json || dot.Name.Name == "csv"), json
}

// references lists the files that a file names: in load(), and in file() as a literal.
func references(parsed *syntax.File) []reference {
	var all []reference
	syntax.Walk(parsed, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.LoadStmt:
			all = append(all, reference{name: n.Module.Value.(string), at: n.Module})
		case *syntax.CallExpr:
			rows, json := isFeed(n.Fn)
			if fn, ok := n.Fn.(*syntax.Ident); !rows && (!ok || fn.Name != "file" || len(n.Args) != 1) || len(n.Args) == 0 {
				break
			}
			arg := n.Args[0]
			if named, ok := arg.(*syntax.BinaryExpr); ok && named.Op == syntax.EQ {
				arg = named.Y
			}
			if name, ok := arg.(*syntax.Literal); ok && name.Token == syntax.STRING {
				all = append(all, reference{name: name.Value.(string), at: arg, optional: true, rows: rows, json: json})
			}
		}
		return true
	})
	return all
}

// Files collects main and every file that it loads or reads, directly or not. The names are
// relative to main's folder, which read knows. It collects a file that it cannot parse as it
// is: Load explains what is wrong with it. It only names files of rows that are too large for a
// program, which read need not read.
func Files(main string, read func(name string) ([]byte, error)) (files []message.File, large []Large, err error) {
	data, err := read(main)
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", main, err)
	}
	c := collector{read: read, files: []message.File{{Name: main, Data: data}}, total: len(data), code: []int{0}, asked: []int{0}}
	for len(c.code) > 0 {
		i := c.code[0]
		c.code = c.code[1:]
		if c.total > plan.FileBytesMax {
			return nil, nil, tooLarge(c.total)
		}
		src := language.NewSources()
		parsed, err := src.Parse(c.files[i].Name, c.files[i].Data)
		if err != nil {
			continue
		}
		for _, r := range references(parsed) {
			if err := c.add(r); err != nil {
				start, end := r.at.Span()
				return nil, nil, src.ErrorAt(c.files[i].Name, int(start.Line), int(start.Col), src.Width(start, end), err.Message, err.Remedy)
			}
		}
	}
	if c.total > plan.FileBytesMax {
		return nil, nil, tooLarge(c.total)
	}
	return c.files, c.large, nil
}

// Large is a file of rows that does not travel.
type Large struct {
	Name string
	JSON bool // else CSV
}

type collector struct {
	read  func(name string) ([]byte, error)
	large []Large
	rows  int // bytes of feeds among the files
	files []message.File
	total int
	code  []int // files that may name others, and are not parsed yet
	asked []int // those, and the parsed ones
}

// leave notes a file that does not travel.
func (c *collector) leave(r reference) {
	if !slices.ContainsFunc(c.large, func(l Large) bool { return l.Name == r.name }) {
		c.large = append(c.large, Large{Name: r.name, JSON: r.json})
	}
}

func (c *collector) add(r reference) *language.Fault {
	at := slices.IndexFunc(c.files, func(f message.File) bool { return f.Name == r.name })
	if at < 0 {
		what := "load"
		if r.optional {
			what = "file"
			if insideFolder(what, r.name) != nil {
				return nil
			}
		} else if err := checkFileName(r.name); err != nil {
			return err
		}
		if len(c.files) == plan.FilesMax {
			return language.Faultf("more than %d files", plan.FilesMax).Do("put some of them together")
		}
		data, err := c.read(r.name)
		if r.optional && errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if r.rows {
			if c.rows += len(data); errors.Is(err, ErrLarge) || err == nil && (len(data) > feedMax || c.rows > feedInline) {
				c.rows -= len(data)
				c.leave(r)
				return nil
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return language.Faultf("load: %s does not exist", language.Clip(r.name, 80)).Do("check the name: it is a path below the folder of %s", c.files[0].Name)
		}
		if err != nil {
			return language.Faultf("%s: %v", what, err)
		}
		at = len(c.files)
		c.total += len(data)
		c.files = append(c.files, message.File{Name: r.name, Data: data})
	}
	if !r.optional && !slices.Contains(c.asked, at) {
		c.asked, c.code = append(c.asked, at), append(c.code, at)
	}
	return nil
}

// checkFileName checks that load() stays inside the main file's folder.
func checkFileName(name string) *language.Fault {
	if err := insideFolder("load", name); err != nil {
		return err.Do("write load(\"folder/file.star\", \"name\")")
	}
	if !strings.HasSuffix(name, ".star") {
		return language.Faultf("load: %q does not end in .star", language.Clip(name, 80))
	}
	return nil
}

func tooLarge(total int) error {
	return &language.Error{Message: fmt.Sprintf("the program's files have %s, the limit is %s", guard.Size(uint64(total)), guard.Size(plan.FileBytesMax)), Remedy: "keep data out of the files"}
}
