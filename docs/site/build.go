package site

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
)

// shownMax is the largest file of the repository that a page shows.
const shownMax = 256 << 10

// Fault is a mistake that a reader would notice.
type Fault struct {
	Source string
	Line   int // 0: the whole
	What   string
}

func (f Fault) String() string {
	if f.Line == 0 {
		return f.Source + ": " + f.What
	}
	return fmt.Sprintf("%s:%d: %s", f.Source, f.Line, f.What)
}

// page is a file or folder of the repository that is shown.
type page struct {
	source, out string
	title       string
	text        []byte   // Markdown's
	root        ast.Node // nil if it is no Markdown
	headings    []heading
	links       []link
	plain       string   // a file's text
	list        []string // a folder's files
}

type heading struct {
	Level    int
	ID, Text string
}

type builder struct {
	tree   fs.FS
	pages  map[string]*page // by source
	queue  []string         // sources still to be read
	files  map[string][]byte
	faults []Fault
}

// Build makes the site of a repository, as files by name, and lists its faults.
func Build(tree fs.FS) (map[string][]byte, []Fault) {
	b := &builder{tree: tree, pages: map[string]*page{}, files: map[string][]byte{}}
	b.start()
	for len(b.queue) > 0 {
		source := b.queue[0]
		b.queue = b.queue[1:]
		b.read(source)
	}
	sources := slices.Sorted(maps.Keys(b.pages))
	for _, source := range sources {
		b.resolve(b.pages[source])
	}
	for _, source := range sources {
		if source != readme {
			b.write(b.pages[source])
		}
	}
	return b.files, b.faults
}

// Save writes the site's files into a folder. It leaves files of an earlier site that this one
// no longer has.
func Save(files map[string][]byte, folder string) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		at := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(at, files[name], 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) fault(source string, line int, format string, args ...any) {
	b.faults = append(b.faults, Fault{source, line, fmt.Sprintf(format, args...)})
}

// start queues the pages that the navigation names, and reports manuals that it does not name.
func (b *builder) start() {
	named := map[string]bool{}
	for _, s := range Navigation() {
		for _, e := range s.Entries {
			named[e.Source] = true
			b.want(e.Source)
		}
	}
	b.want(readme)
	manuals, err := fs.Glob(b.tree, "docs/*.md")
	if err != nil {
		b.fault("docs", 0, "%v", err)
	}
	for _, m := range manuals {
		if !named[m] {
			b.fault(m, 0, "no navigation names it: add a line to docs/site/pages.go")
			b.want(m)
		}
	}
}

// want queues a source once.
func (b *builder) want(source string) {
	if b.pages[source] == nil {
		b.pages[source] = &page{source: source}
		b.queue = append(b.queue, source)
	}
}

// read reads a source; in Markdown it also follows the links.
func (b *builder) read(source string) {
	p := b.pages[source]
	info, err := fs.Stat(b.tree, source)
	if err != nil {
		b.fault(source, 0, "it is not there")
		return
	}
	p.out = outOf(source, info.IsDir())
	p.title = path.Base(source)
	switch {
	case info.IsDir():
		b.readFolder(p)
	case info.Size() > shownMax:
		b.fault(source, 0, "%d bytes are too many for a page, %d is the limit: link to its folder", info.Size(), shownMax)
	case isMarkdown(source):
		b.readMarkdown(p)
	default:
		text, err := fs.ReadFile(b.tree, source)
		if err != nil || !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
			b.fault(source, 0, "it is no text, so that no page can show it: %v", err)
			return
		}
		p.plain = string(text)
	}
}

// readFolder lists the files of one that a reader has use for; Go code is not.
func (b *builder) readFolder(p *page) {
	entries, err := fs.ReadDir(b.tree, p.source)
	if err != nil {
		b.fault(p.source, 0, "%v", err)
		return
	}
	for _, e := range entries {
		if e.IsDir() || path.Ext(e.Name()) == ".go" {
			continue
		}
		name := path.Join(p.source, e.Name())
		p.list = append(p.list, name)
		b.want(name)
	}
}
