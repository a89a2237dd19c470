package main

import (
	"bufio"
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// topLevel lists the entries of the root, except names that start with a dot. bench holds
// separate modules, which compare parts of ours with others' and whose dependencies must not
// become the product's.
var topLevel = []string{
	"core", "sim", "netsim", "runtime", "scenarios", "checker", "cmd", "testdata", "examples", "deploy", "docs", "bench",
	"README.md", "SECURITY.md", "LICENSE", "DESIGN.md", "CONTRIBUTING.md", "Makefile", "go.mod", "go.sum",
}

// built is what make and go test leave there; git ignores it.
var built = []string{"bin", "out", "*.test", "*.prof"}

func checkTopLevel(t *tree) ([]complaint, error) {
	entries, err := os.ReadDir(t.root)
	if err != nil {
		return nil, err
	}
	var found []complaint
	for _, entry := range entries {
		name := entry.Name()
		ignored := slices.ContainsFunc(built, func(pattern string) bool {
			ok, _ := path.Match(pattern, name) // the patterns are ours and well formed
			return ok
		})
		if strings.HasPrefix(name, ".") || slices.Contains(topLevel, name) || ignored {
			continue
		}
		found = append(found, complaint{path: name, wrong: "it does not belong at the top level",
			remedy: "move it into one of " + strings.Join(topLevel[:12], " ")})
	}
	return found, nil
}

// hashComments are the files, by extension or name, whose comments start with #.
var hashComments = []string{".sh", ".bash", ".yml", ".yaml", ".star", ".toml", "Makefile", "Dockerfile", ".gitignore"}

// note is put together from halves, so that this file does not complain of itself
// when a comment quotes it.
var note = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|X` + `XX|HA` + `CK)\b`)

// checkNotes finds notes that promise later work. It reads files as they are, also those that
// the build excludes on this platform.
func checkNotes(t *tree) ([]complaint, error) {
	var found []complaint
	err := filepath.WalkDir(t.root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return skipDir(t.root, name, entry)
		}
		comments := commentsOf(name)
		if comments == nil || !entry.Type().IsRegular() {
			return nil
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		below, _ := filepath.Rel(t.root, name) // it was found below the root
		for _, c := range comments(string(content)) {
			c.path = filepath.ToSlash(below)
			found = append(found, c)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read comments: %w", err)
	}
	return found, nil
}

// skipDir skips directories that lint does not judge: built files, caches, git, and planted
// violations, which are separate modules.
func skipDir(root, name string, entry fs.DirEntry) error {
	below, _ := filepath.Rel(root, name) // it was found below the root
	if below == "." {
		return nil
	}
	if slices.Contains([]string{".git", "bin", "out", filepath.Join(".ci", "cache")}, below) {
		return filepath.SkipDir
	}
	if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil {
		return filepath.SkipDir
	}
	return nil
}

// commentsOf picks the reader of a file's comments, nil if it has none.
func commentsOf(name string) func(string) []complaint {
	base, extension := filepath.Base(name), filepath.Ext(name)
	if extension == ".go" {
		return goNotes
	}
	script := filepath.Base(filepath.Dir(name)) == ".ci"
	if script || slices.Contains(hashComments, extension) || slices.Contains(hashComments, base) {
		return hashNotes
	}
	return nil
}

func goNotes(content string) []complaint {
	var found []complaint
	var s scanner.Scanner
	fset := token.NewFileSet()
	source := fset.AddFile("", fset.Base(), len(content))
	s.Init(source, []byte(content), func(token.Position, string) {}, scanner.ScanComments)
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			return found
		}
		if tok == token.COMMENT {
			start := source.PositionFor(pos, false)
			found = append(found, notesIn(literal, start.Line, start.Column)...)
		}
	}
}

var hashComment = regexp.MustCompile(`(^|\s)#.*`)

func hashNotes(content string) []complaint {
	var found []complaint
	lines := bufio.NewScanner(strings.NewReader(content))
	lines.Buffer(nil, len(content)+1)
	for number := 1; lines.Scan(); number++ {
		if at := hashComment.FindStringIndex(lines.Text()); at != nil {
			found = append(found, notesIn(lines.Text()[at[0]:], number, at[0]+1)...)
		}
	}
	return found
}

// notesIn reports the words in a comment that starts at line and col.
func notesIn(comment string, line, col int) []complaint {
	var found []complaint
	for _, at := range note.FindAllStringIndex(comment, -1) {
		before := comment[:at[0]]
		c := complaint{line: line + strings.Count(before, "\n"), col: col + at[0],
			wrong: comment[at[0]:at[1]] + " in a comment", remedy: "open an issue and delete the note, or do it now"}
		if newline := strings.LastIndexByte(before, '\n'); newline >= 0 {
			c.col = at[0] - newline
		}
		found = append(found, c)
	}
	return found
}
