package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// measure is a figure that a place of the tree may not exceed, unless
// exceptions.txt lists the place with its figure of today.
type measure struct {
	name   string
	bound  func(pkg string) int
	what   string // "has %d methods"
	remedy string
}

// measures are in the order of the list of exceptions.
var measures = []measure{
	{"methods", methodsBound, "has %d methods", "move what it decides into a value with its own tests, and let the type wire values"},
	{"fields", always(20), "has %d fields", "group what changes together into a struct with its own methods"},
	{"bools", always(3), "has %d bools", "name the states: one sum type instead of a set of bools"},
	{"functions", functionsBound, "stores %d functions", "store a small value that says what follows, and switch on it"},
	{"files", always(20), "has %d files", "move one idea into a sub-package that imports earlier ones only"},
	{"knot", always(8), "has %d files that call each other in a circle", "let values decide and one file wire them, so that calls go one way"},
	{"label", always(1), "is stated %d times", "name it after its package, as GATE-3, and follow it where it is quoted"},
	{"words", always(0), "counts %d of the banned words", "name the agent and use the field's verb"},
}

func always(bound int) func(string) int { return func(string) int { return bound } }

// methodsBound gives the parts that are one protocol each the size of a protocol.
func methodsBound(pkg string) int {
	if pkg == "core/lease" || pkg == "core/swim" {
		return 60
	}
	return 40
}

// functionsBound lets a harness call back into its test.
func functionsBound(pkg string) int {
	if isHarness(pkg) {
		return 1 << 30
	}
	return 0
}

// figure is the result of one measure at one place.
type figure struct {
	measure string
	place   string // package, package.Type, label, page
	value   int
	path    string // where a complaint points
	line    int
	detail  string // which files, where else
}

// pkg is the package of a place.
func (f figure) pkg() string {
	slash := strings.LastIndexByte(f.place, '/') + 1
	if dot := strings.IndexByte(f.place[slash:], '.'); dot > 0 {
		return f.place[:slash+dot]
	}
	return f.place
}

func (f figure) key() key { return key{f.measure, f.place} }

// key finds the entry of a figure.
type key struct{ measure, place string }

func compareKeys(a, b key) int {
	rank := func(name string) int {
		return slices.IndexFunc(measures, func(m measure) bool { return m.name == name })
	}
	return cmp.Or(cmp.Compare(rank(a.measure), rank(b.measure)), cmp.Compare(a.place, b.place))
}

// figures measures the tree at root.
func figures(root string) ([]figure, error) {
	fset, directories, err := source(root)
	if err != nil {
		return nil, err
	}
	var found []figure
	add := func(f figure) { found = append(found, f) }
	for _, d := range directories {
		d.shapes(fset, add)
		if words := d.words(fset); len(words) > 0 {
			add(wordsFigure(d.pkg, words))
		}
	}
	labels(fset, directories, add)
	byPage, err := wordsOfPages(root)
	if err != nil {
		return nil, fmt.Errorf("measure: %w", err)
	}
	for page, words := range byPage {
		if len(words) > 0 {
			add(wordsFigure(page, words))
		}
	}
	slices.SortFunc(found, func(a, b figure) int { return compareKeys(a.key(), b.key()) })
	return found, nil
}

// checkRatchet compares every figure with its bound, or with its entry in the list of
// exceptions, and every entry with its figure.
func checkRatchet(t *tree) ([]complaint, error) {
	found, err := figures(t.root)
	if err != nil {
		return nil, err
	}
	list, complaints, err := readExceptions(t.root)
	if err != nil {
		return nil, err
	}
	measured := map[key]figure{}
	for _, f := range found {
		measured[f.key()] = f
		complaints = append(complaints, f.check(list.entries[f.key()])...)
	}
	for _, e := range list.entries {
		complaints = append(complaints, e.check(measured[e.key])...)
	}
	return complaints, nil
}

// listFigures prints all figures, one per line, in the format of the list of exceptions.
func listFigures(root string, w io.Writer) error {
	found, err := figures(root)
	for _, f := range found {
		fmt.Fprintln(w, f.measure, f.place, f.value)
	}
	return err
}

func measureOf(name string) measure {
	return measures[slices.IndexFunc(measures, func(m measure) bool { return m.name == name })]
}

// check complains of a figure above its bound and above its entry.
func (f figure) check(e *exception) []complaint {
	m := measureOf(f.measure)
	bound := m.bound(f.pkg())
	if f.value <= bound || e != nil && f.value <= e.value {
		return nil
	}
	wrong := f.place + " " + fmt.Sprintf(m.what, f.value)
	remedy := m.remedy
	if f.detail != "" {
		wrong += " (" + f.detail + ")"
	}
	switch {
	case e != nil:
		wrong += fmt.Sprintf(", %d is what %s allows", e.value, exceptionsFile)
	default:
		wrong += fmt.Sprintf(", %d is the limit", bound)
		remedy += fmt.Sprintf("; or list it in %s: %s %s %d <reason>", exceptionsFile, f.measure, f.place, f.value)
	}
	if f.measure == "words" {
		remedy += fmt.Sprintf("; `go run ./cmd/lint -words %s` lists them with their replacements", f.place)
	}
	return []complaint{{path: f.path, line: f.line, wrong: wrong, remedy: remedy}}
}

// check complains of an entry that allows more than is there.
func (e *exception) check(f figure) []complaint {
	if f.value >= e.value {
		return nil
	}
	c := complaint{path: exceptionsFile, line: e.line, wrong: fmt.Sprintf("%s %s is listed with %d, and measures %d", e.measure, e.place, e.value, f.value)}
	if f.value <= measureOf(e.measure).bound(figure{place: e.place}.pkg()) {
		c.remedy = "delete the line: `go run ./cmd/lint -lower` does"
	} else {
		c.remedy = fmt.Sprintf("write, or let `go run ./cmd/lint -lower` write: %s %s %d %s", e.measure, e.place, f.value, e.reason)
	}
	return []complaint{c}
}
