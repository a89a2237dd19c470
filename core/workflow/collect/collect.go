package collect

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/workflow/glob"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/schema"
)

// Folder is where a program's files lie. Read returns ErrLarge for a file that it does not read.
type Folder interface {
	glob.Lister
	Read(name string) ([]byte, error)
}

// Reads is a folder that lists nothing.
type Reads func(name string) ([]byte, error)

var _ Folder = Reads(nil)

// Read implements Folder, as the method below does.
func (f Reads) Read(name string) ([]byte, error)  { return f(name) }
func (f Reads) List(string) ([]glob.Entry, error) { return nil, nil }

// Files collects main and every file that it loads or reads, directly or not. The names are
// relative to main's folder. It collects a file that it cannot parse as it is: Load explains what
// is wrong with it. It only names data that is too large for a program, which it need not read.
func Files(main string, from Folder) (files []message.File, large []Large, err error) {
	data, err := from.Read(main)
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", main, err)
	}
	c := collector{from: from, files: []message.File{{Name: main, Data: data}}, total: len(data), code: []int{0}, asked: []int{0}}
	var globs []placed
	for len(c.code) > 0 {
		i := c.code[0]
		c.code = c.code[1:]
		if c.total > plan.FileBytesMax {
			return nil, nil, TooLarge(c.total)
		}
		src := language.NewSources()
		parsed, err := src.Parse(c.files[i].Name, c.files[i].Data)
		if err != nil {
			continue
		}
		for _, r := range references(parsed) {
			p := placed{r, src, c.files[i].Name}
			if r.kind == isGlob {
				globs = append(globs, p) // what the program names one by one travels first
			} else if err := c.add(r); err != nil {
				return nil, nil, p.explain(err)
			} else if err := c.imported(r); err != nil {
				return nil, nil, p.explain(err)
			}
		}
	}
	for _, p := range globs {
		if err := c.addAll(p.reference); err != nil {
			return nil, nil, p.explain(err)
		}
	}
	if c.total > plan.FileBytesMax {
		return nil, nil, TooLarge(c.total)
	}
	return c.files, c.large, nil
}

// placed is a reference with the file that has it.
type placed struct {
	reference
	src  *language.Sources
	file string
}

func (p placed) explain(err *language.Fault) error {
	start, end := p.at.Span()
	return p.src.ErrorAt(p.file, int(start.Line), int(start.Col), p.src.Width(start, end), err.Message, err.Remedy)
}

// ErrLarge is the error of a reader for a file that is larger than it reads.
var ErrLarge = errors.New("the file is too large to travel with its program")

// Bounds of the data that travels with a program, of one file and of all: a larger file stays
// where it is, and each node that runs the program reads it locally.
const (
	dataMax    = 256 << 10
	dataInline = 384 << 10
)

// Large is a file that does not travel: rows, or bytes.
type Large struct {
	Name  string
	JSON  bool // rows of JSON, else of CSV
	Whole bool // bytes
}

type collector struct {
	from  Folder
	large []Large
	data  int // bytes of data among the files
	files []message.File
	total int
	code  []int // files that may name others, and are not parsed yet
	asked []int // those, and the parsed ones
}

// leave notes a file that does not travel.
func (c *collector) leave(r reference) *language.Fault {
	l := Large{Name: r.name, JSON: r.kind == isJSON, Whole: r.kind == isBytes}
	if slices.Contains(c.large, l) {
		return nil
	}
	if c.full() {
		return tooMany()
	}
	c.large = append(c.large, l)
	return nil
}

func (c *collector) full() bool { return len(c.files)+len(c.large) >= plan.FilesMax }

func tooMany() *language.Fault {
	return language.Faultf("more than %d files", plan.FilesMax).Do("put some of them together, or let file.glob take fewer")
}

// addAll adds the files that a pattern finds.
func (c *collector) addAll(r reference) *language.Fault {
	pattern, wrong := GlobPattern(r.name)
	if wrong != nil {
		return nil // the load that needs it says so
	}
	found, err := glob.Find(c.from, pattern, plan.FilesMax)
	if err != nil {
		return language.Faultf("file.glob: %q: %v", language.Clip(r.name, 80), err).Do("write a pattern that finds other files, or fewer")
	}
	for _, e := range found {
		one := reference{name: e.Name, at: r.at, kind: isBytes}
		switch known := c.known(e.Name); {
		case !known && (e.Bytes > dataMax || c.data+int(e.Bytes) > dataInline):
			wrong = c.leave(one) // without a look at its bytes
		default:
			wrong = c.add(one)
		}
		if wrong != nil {
			return wrong
		}
	}
	return nil
}

// known reports whether a file travels already.
func (c *collector) known(name string) bool { return c.at(name) >= 0 }

func (c *collector) at(name string) int {
	return slices.IndexFunc(c.files, func(f message.File) bool { return f.Name == name })
}

// imported adds the files that a .proto file imports, and those that they do.
func (c *collector) imported(r reference) *language.Fault {
	if r.kind != isProto {
		return nil
	}
	for names := []string{r.name}; len(names) > 0; names = names[1:] {
		at := c.at(names[0])
		if at < 0 {
			continue // the load that needs it says so
		}
		for _, name := range schema.Imports(c.files[at].Data) {
			for _, place := range schema.Beside(r.name, r.folders, name) {
				if InsideFolder("grpc.proto", place) != nil || slices.Contains(names, place) {
					continue
				}
				before := len(c.files)
				if err := c.add(reference{name: place, at: r.at, kind: isProto}); err != nil {
					return err
				}
				if len(c.files) > before {
					names = append(names, place)
				}
				if c.known(place) {
					break
				}
			}
		}
		if c.total > plan.FileBytesMax {
			return language.Faultf("grpc.proto: what %s imports makes the program larger than %d KiB", language.Clip(r.name, 80), plan.FileBytesMax>>10).Do("write grpc.descriptors of a set that has only what is called")
		}
	}
	return nil
}

func (c *collector) add(r reference) *language.Fault {
	at := c.at(r.name)
	if at < 0 {
		what := "load"
		if r.kind != isCode { // the load that needs it has a better message
			what = "file"
			if InsideFolder(what, r.name) != nil {
				return nil
			}
		} else if err := CheckFileName(r.name); err != nil {
			return err
		}
		data, err := c.from.Read(r.name)
		schemas := r.kind == isProto || r.kind == isSet // a load reads them: they travel
		if r.kind != isCode && schemas && errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if r.kind != isCode && !schemas {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case errors.Is(err, ErrLarge), err == nil && (len(data) > dataMax || c.data+len(data) > dataInline):
				return c.leave(r)
			}
			c.data += len(data)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return language.Faultf("load: %s does not exist", language.Clip(r.name, 80)).Do("check the name: it is a path below the folder of %s", c.files[0].Name)
		}
		if err != nil {
			return language.Faultf("%s: %v", what, err)
		}
		if c.full() {
			return tooMany()
		}
		at = len(c.files)
		c.total += len(data)
		c.files = append(c.files, message.File{Name: r.name, Data: data})
	}
	if r.kind == isCode && !slices.Contains(c.asked, at) {
		c.asked, c.code = append(c.asked, at), append(c.code, at)
	}
	return nil
}
