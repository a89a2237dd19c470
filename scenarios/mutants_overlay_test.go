package scenarios_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// overlay holds the files that a build reads instead of others, or in addition to them.
type overlay struct {
	dir      string
	replace  map[string]string // by absolute path
	counters []counter
}

// counter is the variable of a package that counts what one of its files executes.
type counter struct{ name, path string }

func newOverlay(dir string) *overlay { return &overlay{dir: dir, replace: map[string]string{}} }

// put makes the build read a text instead of a file. The compiler's errors name the file that
// put returns.
func (o *overlay) put(path, text string) (string, error) {
	file := filepath.Join(o.dir, fmt.Sprintf("planted%d.go", len(o.replace)))
	o.replace[path] = file
	return file, os.WriteFile(file, []byte(text), 0o644)
}

// count does the same, and the file counts what it executes.
func (o *overlay) count(path, text string) (string, error) {
	file, err := o.put(path, text)
	if err != nil {
		return "", err
	}
	c := counter{fmt.Sprintf("Planted%d", len(o.replace)), path}
	counted := strings.TrimSuffix(file, ".go") + "counted.go"
	cover := exec.Command("go", "tool", "cover", "-mode=count", "-var="+c.name, "-o", counted, filepath.Base(file))
	cover.Dir = o.dir // the text names no folder, so that go finds earlier builds
	if out, err := cover.CombinedOutput(); err != nil {
		return "", fmt.Errorf("count: %w\n%s", err, out)
	}
	o.counters = append(o.counters, c)
	o.replace[path] = counted
	return file, nil
}

// write returns the file that go reads with -overlay.
func (o *overlay) write() (string, error) {
	if len(o.counters) > 0 {
		if err := o.readCounters(); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": o.replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(o.dir, "overlay.json")
	return file, os.WriteFile(file, text, 0o644)
}

// readCounters writes an executed that reads all counters, instead of the one in
// executed_test.go. The go command itself counts nothing in files of an overlay.
func (o *overlay) readCounters() error {
	above, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	var packages []string
	var imports, body strings.Builder
	for _, c := range o.counters {
		file, err := filepath.Rel(above, c.path)
		if err != nil {
			return err
		}
		p := slices.Index(packages, filepath.Dir(file))
		if p < 0 {
			p = len(packages)
			packages = append(packages, filepath.Dir(file))
			fmt.Fprintf(&imports, "\tp%d %q\n", p, "hyperscale/"+packages[p])
		}
		fmt.Fprintf(&body, "\tfor i, n := range p%d.%s.Count {\n", p, c.name)
		fmt.Fprintf(&body, "\t\tall = append(all, block{span{%q, int(p%d.%s.Pos[3*i]), int(p%d.%s.Pos[3*i+1])}, uint64(n)})\n\t}\n", file, p, c.name, p, c.name)
	}
	text := "package scenarios_test\n\nimport (\n" + imports.String() + ")\n\nfunc executed() (all []block) {\n" + body.String() + "\treturn all\n}\n"
	_, err = o.put(filepath.Join(above, "scenarios", "executed_test.go"), text)
	return err
}

// overlay plants the bug alone in a folder and returns the file for go's -overlay. With
// counting, the planted files count what they execute.
func (m *mutant) overlay(dir string, counting bool) (string, error) {
	sources, err := m.sources()
	if err != nil {
		return "", err
	}
	o := newOverlay(dir)
	for _, path := range slices.Sorted(maps.Keys(sources)) {
		plant := o.put
		if counting {
			plant = o.count
		}
		if _, err := plant(path, sources[path]); err != nil {
			return "", err
		}
	}
	return o.write()
}
