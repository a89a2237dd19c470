package glob

import (
	"fmt"
	"slices"
	"strings"
)

// EntriesMax bounds the entries of all folders that one Find looks at.
const EntriesMax = 100_000

// Kind is what an entry of a folder is.
type Kind uint8

// The kinds. A link is what it leads to, if that lies below the folder; a link to a folder is Other.
const (
	Other Kind = iota
	Plain      // a file
	Folder
	Outside // a link that leads out, or nowhere
)

// Entry is a file or a folder below a listed one.
type Entry struct {
	Name  string
	Kind  Kind
	Bytes int64 // of a file
}

// Lister lists folders, by their names below the folder of a Find: "" is that folder. A folder
// that does not exist is empty.
type Lister interface {
	List(folder string) ([]Entry, error)
}

// Find returns the files below a folder whose names have the pattern, at most so many.
func Find(from Lister, p Pattern, most int) ([]Entry, error) {
	f := finder{from: from, pattern: p, most: most}
	if err := f.walk("", p.begin()); err != nil {
		return nil, err
	}
	slices.SortFunc(f.found, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return f.found, nil
}

type finder struct {
	from    Lister
	pattern Pattern
	most    int
	seen    int
	found   []Entry
}

// walk looks at a folder, whose name is empty or ends with a slash.
func (f *finder) walk(folder string, at places) error {
	entries, err := f.from.List(strings.TrimSuffix(folder, "/"))
	if err != nil {
		return err
	}
	if f.seen += len(entries); f.seen > EntriesMax {
		return fmt.Errorf("it would look at more than %d files and folders", EntriesMax)
	}
	for _, e := range entries {
		next := f.pattern.step(at, e.Name)
		e.Name = folder + e.Name
		switch {
		case e.Kind == Folder && next.more():
			if err := f.walk(e.Name+"/", next); err != nil {
				return err
			}
		case !next.ends():
		case e.Kind == Outside:
			return fmt.Errorf("%q is a link that leads out of the folder, or nowhere", e.Name)
		case e.Kind != Plain:
		case len(f.found) == f.most:
			return fmt.Errorf("more than %d files have such a name", f.most)
		default:
			f.found = append(f.found, e)
		}
	}
	return nil
}
