package scenarios_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"hyperscale/scenarios"
)

// mutant is one planted bug, as a file of testdata/mutants describes it.
type mutant struct {
	name       string
	file       string
	about      string
	scenarios  []string // that may catch it; the first one does with seed
	seed       uint64
	virtual    time.Duration // of a run; zero: virtualOf
	expect     string        // a word of the verdict's detail: "T8", "bug:"
	test       string        // a package and its test, which catches it instead of a world
	equivalent string        // why nothing can catch it, for a bug that changes nothing
	changes    []change
}

// change is a piece of code and its replacement.
type change struct {
	file    string // below the repository's root
	find    string
	replace string

	first, last int // its lines in the planted file
	function    int // where its function begins
}

const root = ".."

func mutants(t *testing.T) []mutant {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "testdata", "mutants", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no mutants found: %v", err)
	}
	var all []mutant
	for _, f := range files {
		m, err := parseMutant(f)
		if err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		all = append(all, m)
	}
	return all
}

// parseMutant reads comments, then `key: value` lines, then one or more pairs of
// `--- find` and `--- replace`. The keys are scenario (several, with commas), seed,
// expect, virtual, test and equivalent. A line `file:` holds for the pairs after it, and may
// stand between them.
func parseMutant(file string) (mutant, error) {
	m := mutant{name: strings.TrimSuffix(filepath.Base(file), ".txt"), file: file}
	text, err := os.ReadFile(file)
	if err != nil {
		return m, err
	}
	var source string
	var into *string
	for line := range strings.Lines(string(text)) {
		key, value, pair := strings.Cut(strings.TrimSpace(line), ": ")
		switch {
		case line == "--- find\n":
			m.changes = append(m.changes, change{file: source})
			into = &m.changes[len(m.changes)-1].find
		case line == "--- replace\n" && into != nil:
			into = &m.changes[len(m.changes)-1].replace
		case pair && key == "file" && strings.HasPrefix(line, key):
			source = value
		case into != nil:
			*into += line
		case strings.HasPrefix(line, "#"):
			m.about += strings.TrimPrefix(strings.TrimSpace(line), "# ") + " "
		case key == "scenario":
			m.scenarios = strings.Split(strings.ReplaceAll(value, " ", ""), ",")
		case key == "equivalent":
			m.equivalent = value
		case key == "test":
			m.test = value
		case key == "virtual":
			if m.virtual, err = time.ParseDuration(value); err != nil {
				return m, err
			}
		case key == "expect":
			m.expect = value
		case key == "seed":
			if m.seed, err = strconv.ParseUint(value, 10, 64); err != nil {
				return m, err
			}
		case strings.TrimSpace(line) != "":
			return m, fmt.Errorf("line %q: want file, scenario, seed, expect, virtual, test or equivalent", line)
		}
	}
	if len(m.changes) == 0 {
		return m, fmt.Errorf("no line `--- find`")
	}
	return m, nil
}

// span is a piece of a file, by lines.
type span struct {
	File        string // below the repository's root
	First, Last int
}

// block is a piece of code without branches, and how often it was executed.
type block struct {
	span
	count uint64
}

// spans returns where the bug is, once sources has planted it. Removed code cannot run: for
// that it returns the beginning of its function.
func (m *mutant) spans() (all []span) {
	for _, c := range m.changes {
		s := span{c.file, c.first, c.last}
		if strings.TrimSpace(c.replace) == "" {
			s.First, s.Last = c.function, c.function
		}
		all = append(all, s)
	}
	return all
}

// functionAt returns the line on which the body of the function around a line begins, or that
// line itself outside of functions.
func functionAt(source string, line int) (int, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "planted.go", source, parser.SkipObjectResolution)
	if err != nil {
		return 0, err
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if ok && f.Body != nil && set.Position(f.Pos()).Line <= line && line <= set.Position(f.End()).Line {
			return set.Position(f.Body.Lbrace).Line, nil
		}
	}
	return line, nil
}

// sources returns the files that the bug changes, each with the bug in it, by absolute path.
func (m *mutant) sources() (map[string]string, error) {
	sources := map[string]string{}
	for i := range m.changes {
		c := &m.changes[i]
		path, err := filepath.Abs(filepath.Join(root, c.file))
		if err != nil {
			return nil, err
		}
		if sources[path] == "" {
			source, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			sources[path] = string(source)
		}
		if n := strings.Count(sources[path], c.find); n != 1 {
			return nil, fmt.Errorf("the code to change occurs %d times in %s, want once: the code has moved on, move the mutant too\n%s", n, c.file, c.find)
		}
		before, _, _ := strings.Cut(sources[path], c.find)
		c.first = 1 + strings.Count(before, "\n")
		c.last = max(c.first, c.first+strings.Count(c.replace, "\n")-1)
		sources[path] = strings.Replace(sources[path], c.find, c.replace, 1)
		if c.function, err = functionAt(sources[path], c.first); err != nil {
			return nil, err
		}
	}
	return sources, nil
}

// Each mutant still fits the code, in every `go test`.
func TestPlantedBugsFitTheCode(t *testing.T) {
	for _, m := range mutants(t) {
		t.Run(m.name, func(t *testing.T) {
			if _, err := m.sources(); err != nil {
				t.Error(err)
			}
			if m.about == "" || m.equivalent == "" && m.test == "" && (m.expect == "" || len(m.scenarios) == 0) {
				t.Error("a mutant needs a sentence, a scenario and what it must break, or a test, or a sentence that says why nothing can catch it")
			}
			if pkg, name, ok := strings.Cut(m.test, " "); m.test != "" && (!ok || !inTests(pkg, "func "+name+"(t *testing.T)")) {
				t.Errorf("%q names no test: want a package and a test of it, as in `core/gate TestX`", m.test)
			}
			for _, name := range m.scenarios {
				if _, err := scenarios.Find(name); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
