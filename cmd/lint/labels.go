package main

import (
	"fmt"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// label begins the line of a package comment that states an invariant.
var label = regexp.MustCompile(`^//\t([A-Z][A-Z0-9]*-?[0-9]+)\s`)

// labels counts how often the tree states an invariant under one label. A label
// that two packages use says nothing where a third one quotes it.
func labels(fset *token.FileSet, directories []*directory, add func(figure)) {
	places := map[string][]string{}
	for _, d := range directories {
		f := d.all["doc.go"]
		if f == nil || f.Doc == nil {
			continue
		}
		for _, comment := range f.Doc.List {
			if is := label.FindStringSubmatch(comment.Text); is != nil {
				at := fset.PositionFor(comment.Pos(), false)
				places[is[1]] = append(places[is[1]], fmt.Sprintf("%s:%d", at.Filename, at.Line))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(places)) {
		first, _, _ := strings.Cut(places[name][0], ":")
		add(figure{measure: "label", place: name, value: len(places[name]), path: first, detail: strings.Join(places[name], " ")})
	}
}
