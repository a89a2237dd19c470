package main

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// docLines is the least length of a package comment that says what the package is and is not,
// what it promises, and where to start reading.
const docLines = 5

// vagueNames say nothing about a package's content, so such packages collect everything.
var vagueNames = []string{"util", "utils", "common", "helper", "helpers", "constant", "constants", "misc"}

// door is what checkDoors gathers of one package.
type door struct {
	pkg, name string
	doc       *file
	others    []*file // not tests
}

// checkDoors checks how a package presents itself to new readers.
func checkDoors(t *tree) ([]complaint, error) {
	var found []complaint
	for _, d := range doorsOf(t) {
		found = append(found, d.check()...)
	}
	return found, nil
}

// doorsOf gathers the packages that have code other than tests, in file order.
func doorsOf(t *tree) []*door {
	var doors []*door
	byPackage := map[string]*door{}
	for _, f := range t.files {
		if f.test {
			continue
		}
		d := byPackage[f.pkg]
		if d == nil {
			d = &door{pkg: f.pkg, name: f.syntax.Name.Name}
			byPackage[f.pkg] = d
			doors = append(doors, d)
		}
		if path.Base(f.path) == "doc.go" {
			d.doc = f
		} else {
			d.others = append(d.others, f)
		}
	}
	return doors
}

func (d *door) check() []complaint {
	var found []complaint
	whole := func(wrong, remedy string) {
		found = append(found, complaint{path: d.pkg, wrong: wrong, remedy: remedy})
	}
	if slices.Contains(vagueNames, d.name) || slices.Contains(vagueNames, path.Base(d.pkg)) {
		whole(fmt.Sprintf("package %s is called after nothing that it does", d.name), "name it for its one idea, or move each function beside its user")
	}
	if d.doc == nil {
		whole("package has no doc.go", "write one of 10 to 40 lines: what it is, what it is not, its source, numbered invariants, files in reading order")
	} else if lines := d.commentLines(); lines < docLines {
		found = append(found, d.doc.at(d.doc.syntax.Package, fmt.Sprintf("the package comment has %d lines, the least is %d", lines, docLines),
			"say what it is, what it is not, its source, numbered invariants, files in reading order"))
	}
	if r, ok := roomOf(d.pkg); ok && r.name == "floor" {
		for _, f := range d.others {
			found = append(found, f.at(f.syntax.Package, fmt.Sprintf("code in %s, which is a floor", d.pkg), "move it into a package below; the floor keeps doc.go alone"))
		}
	}
	return found
}

// commentLines counts the package comment's lines that say something.
func (d *door) commentLines() int {
	if d.doc.syntax.Doc == nil {
		return 0
	}
	lines := 0
	for line := range strings.SplitSeq(d.doc.syntax.Doc.Text(), "\n") {
		if strings.TrimSpace(line) != "" {
			lines++
		}
	}
	return lines
}
