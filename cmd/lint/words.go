package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// banned are words that hide the agent, or metaphors where the field has a term. Halves make up
// the patterns, so that this file counts none.
var banned = []struct {
	stem    string // of every match, in lower case
	pattern *regexp.Regexp
	instead string
}{
	{`who` + `ever`, word(`who` + `ever`), "name the agent: the gate, the worker, the user"},
	{`no` + `body`, word(`no` + `body`), "name who does not: no gate, no worker"},
	{`body`, word(`(some|any)` + `body`), "name the agent: a gate, a client, a caller"},
	{`com`, word(`(come|comes|coming)` + ` to`), "write the verb itself, or becomes, reaches"},
	{`told`, word(`(is|are|was|were|be|been|being)` + ` told`), "say which node reports, publishes or acknowledges it"},
	{`fel` + `low`, word(`fel` + `lows?`), "write peer"},
	{`un` + `told`, word(`un` + `told`), "write unreported"},
	{`un` + `kept`, word(`un` + `kept`), "write not persisted"},
	{`who` + ` `, word(`who` + ` (asks|wants)`), "name the agent: the member that asks, a caller"},
	{`in` + ` vain`, word(`in` + ` vain`), "say what failed: no gate answered"},
	{`house`, word(`(keep|keeps|keeping)` + ` house`), "say what it sweeps, or write leads"},
}

// word matches whole words, also across a line break of a comment or a string.
func word(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b` + strings.ReplaceAll(pattern, " ", `\s+(?://\s*)?`) + `\b`)
}

// occurrence is a banned word at its place.
type occurrence struct {
	path    string
	line    int
	text    string
	instead string
}

func (o occurrence) String() string {
	return fmt.Sprintf("%s:%d: %q: %s", o.path, o.line, o.text, o.instead)
}

// wordsIn finds the banned words of a text that begins at a line of a file.
func wordsIn(path string, line int, text string) []occurrence {
	var found []occurrence
	lower := strings.ToLower(text)
	for _, b := range banned {
		if !strings.Contains(lower, b.stem) {
			continue // a pattern costs a hundred times more
		}
		for _, at := range b.pattern.FindAllStringIndex(text, -1) {
			found = append(found, occurrence{path: path, line: line + strings.Count(text[:at[0]], "\n"), text: text[at[0]:at[1]], instead: b.instead})
		}
	}
	return found
}

// words finds those in the comments and strings of one package, tests included.
func (d *directory) words(fset *token.FileSet) []occurrence {
	var found []occurrence
	for _, base := range slices.Sorted(maps.Keys(d.all)) {
		f := d.all[base]
		look := func(n ast.Node, text string) {
			at := fset.PositionFor(n.Pos(), false)
			found = append(found, wordsIn(at.Filename, at.Line, text)...)
		}
		for _, group := range f.Comments {
			var lines []string
			for _, comment := range group.List {
				lines = append(lines, comment.Text)
			}
			look(group, strings.Join(lines, "\n"))
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				look(literal, literal.Value)
			}
			return true
		})
	}
	return found
}

// wordsFigure counts the occurrences at a place, and names the words.
func wordsFigure(place string, found []occurrence) figure {
	var texts []string
	for _, o := range found {
		texts = append(texts, strings.ToLower(strings.Join(strings.Fields(strings.ReplaceAll(o.text, "//", "")), " ")))
	}
	slices.Sort(texts)
	return figure{measure: "words", place: place, value: len(found), path: found[0].path, line: found[0].line,
		detail: strings.Join(slices.Compact(texts), ", ")}
}

// pages are the manuals: each counts for itself.
var pages = []string{"*.md", "docs/*.md", "docs/editors/*.md"}

func wordsOfPages(root string) (map[string][]occurrence, error) {
	found := map[string][]occurrence{}
	for _, pattern := range pages {
		names, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			content, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			below, _ := filepath.Rel(root, name) // it was found below the root
			page := filepath.ToSlash(below)
			found[page] = wordsIn(page, 1, string(content))
		}
	}
	return found, nil
}

// listWords prints the banned words of a package or page, of all for ".".
func listWords(root, place string, w io.Writer) error {
	fset, directories, err := source(root)
	if err != nil {
		return err
	}
	found, err := wordsOfPages(root)
	if err != nil {
		return err
	}
	for _, d := range directories {
		found[d.pkg] = d.words(fset)
	}
	if _, ok := found[place]; !ok && place != "." {
		return fmt.Errorf("%s is no package and no page", place)
	}
	for _, each := range slices.Sorted(maps.Keys(found)) {
		if place != "." && place != each {
			continue
		}
		for _, o := range found[each] {
			fmt.Fprintln(w, o)
		}
	}
	return nil
}
