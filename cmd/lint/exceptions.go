package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// exceptionsFile lists the places that exceed a bound, a line each:
//
//	methods core/gate.Machine 221 why it is so today
const exceptionsFile = "cmd/lint/exceptions.txt"

// exception is a line of the list.
type exception struct {
	key
	value  int
	reason string
	line   int
}

// exceptions is the list: its head, and an entry a place.
type exceptions struct {
	head    []string // lines of comment above the entries
	entries map[key]*exception
}

// readExceptions complains of lines that say nothing, or say it twice. A tree
// without the list has no exceptions.
func readExceptions(root string) (*exceptions, []complaint, error) {
	list := &exceptions{entries: map[key]*exception{}}
	content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(exceptionsFile)))
	if errors.Is(err, fs.ErrNotExist) {
		return list, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the exceptions: %w", err)
	}
	var found []complaint
	for number, line := range strings.Split(string(content), "\n") {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			if line != "" && len(list.entries) == 0 {
				list.head = append(list.head, line)
			}
			continue
		}
		e, wrong := parseException(line)
		if wrong == "" && list.entries[e.key] != nil {
			wrong = fmt.Sprintf("%s %s is listed twice", e.measure, e.place)
		}
		if wrong != "" {
			found = append(found, complaint{path: exceptionsFile, line: number + 1, wrong: wrong, remedy: "write <measure> <place> <figure> <reason>, once a place"})
			continue
		}
		e.line = number + 1
		list.entries[e.key] = e
	}
	return list, found, nil
}

func parseException(line string) (*exception, string) {
	fields := strings.Fields(line)
	if len(fields) < 3 {
		return nil, "the line has no measure, place and figure"
	}
	if !slices.ContainsFunc(measures, func(m measure) bool { return m.name == fields[0] }) {
		return nil, fmt.Sprintf("%q is no measure", fields[0])
	}
	value, err := strconv.Atoi(fields[2])
	if err != nil || value < 1 {
		return nil, fmt.Sprintf("%q is no figure", fields[2])
	}
	if len(fields) == 3 {
		return nil, fmt.Sprintf("%s %s is an exception without a reason", fields[0], fields[1])
	}
	return &exception{key: key{fields[0], fields[1]}, value: value, reason: strings.Join(fields[3:], " ")}, ""
}

// rewriteExceptions lowers every entry to its measured figure and deletes entries within their
// bound. With a reason it also raises and adds entries: a renamed or split place gets a new
// line, and a reviewer sees why.
func rewriteExceptions(root, reason string) error {
	found, err := figures(root)
	if err != nil {
		return err
	}
	list, complaints, err := readExceptions(root)
	if err != nil {
		return err
	}
	if len(complaints) > 0 {
		return fmt.Errorf("mend the list first:\n%s", complaints[0])
	}
	next := map[key]*exception{}
	for _, f := range found {
		if f.value <= measureOf(f.measure).bound(f.pkg()) {
			continue
		}
		old := list.entries[f.key()]
		switch {
		case old != nil && f.value <= old.value:
			next[f.key()] = &exception{key: old.key, value: f.value, reason: old.reason}
		case reason != "":
			next[f.key()] = &exception{key: f.key(), value: f.value, reason: reason}
		case old != nil:
			next[f.key()] = old // lint complains of what exceeds it
		}
	}
	list.entries = next
	return os.WriteFile(filepath.Join(root, filepath.FromSlash(exceptionsFile)), []byte(list.String()), 0o644)
}

func (l *exceptions) String() string {
	var text strings.Builder
	for _, line := range l.head {
		fmt.Fprintln(&text, line)
	}
	for _, k := range slices.SortedFunc(maps.Keys(l.entries), compareKeys) {
		e := l.entries[k]
		fmt.Fprintf(&text, "%s %s %d %s\n", e.measure, e.place, e.value, e.reason)
	}
	return text.String()
}
