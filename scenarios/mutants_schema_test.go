package scenarios_test

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// chosenBug is the environment variable that chooses the bug of a process.
const chosenBug = "HYPERSCALE_PLANTED_BUG"

func chosen(bug int) string { return fmt.Sprintf("%s=%d", chosenBug, bug) }

// plantedPackage reads the choice once, when the process starts.
const plantedPackage = `package planted

import (
	"os"
	"strconv"
)

var Bug, _ = strconv.Atoi(os.Getenv("` + chosenBug + `"))
`

// schemata is one build of the test binaries with all bugs that change function bodies alone.
type schemata struct {
	dir   string
	asked []*mutant
	bugs  map[string]int // the bugs of the build, by name: numbers from 1
	apart map[string]bool
	files map[string]*schema // by path of the original
	named map[string]*schema // by the file name of the variants that the compiler reports
}

// newSchemata builds all requested bugs. It leaves out a bug that does not compile: the bug's
// own build reports why.
func newSchemata(dir string, asked []*mutant) (*schemata, error) {
	s := &schemata{dir: dir, asked: asked, apart: map[string]bool{}}
	for {
		overlay, err := s.plant()
		if err != nil {
			return nil, err
		}
		out, err := compile(s.dir+"/", s.packages(), "-overlay", overlay)
		if err == nil {
			return s, s.changesNothing()
		}
		if !s.leaveOut(out) {
			return nil, err
		}
	}
}

// packages returns the packages whose tests catch the bugs.
func (s *schemata) packages() (all []string) {
	for _, m := range s.asked {
		all = append(all, m.tested())
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// tested returns the package whose test binary catches the bug.
func (m *mutant) tested() string {
	if pkg, _, ok := strings.Cut(m.test, " "); ok {
		return "hyperscale/" + pkg
	}
	return worlds
}

// plant writes the sources of the build and returns the file for go's -overlay.
func (s *schemata) plant() (string, error) {
	s.bugs, s.files, s.named = map[string]int{}, map[string]*schema{}, map[string]*schema{}
	counted := map[string]bool{} // files with a bug that a world catches
	for i, m := range s.asked {
		sources, err := m.sources()
		if err != nil || s.apart[m.name] || !s.add(i+1, sources) {
			s.apart[m.name] = true
			continue
		}
		s.bugs[m.name] = i + 1
		//lint:orderfree sets a flag for each
		for file := range sources {
			counted[file] = counted[file] || m.test == ""
		}
	}
	o := newOverlay(s.dir)
	above, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	if _, err := o.put(filepath.Join(above, "planted", "planted.go"), plantedPackage); err != nil {
		return "", err
	}
	for _, file := range slices.Sorted(maps.Keys(s.files)) {
		c := s.files[file]
		if len(c.variants) == 0 {
			continue
		}
		if _, err := o.put(file, c.heads("hyperscale")); err != nil {
			return "", err
		}
		put := o.put
		if counted[file] {
			put = o.count
		}
		name, err := put(besidePath(file), c.beside())
		if err != nil {
			return "", err
		}
		s.named[filepath.Base(name)] = c
	}
	return o.write()
}

func besidePath(file string) string { return strings.TrimSuffix(file, ".go") + "_planted.go" }

// add adds the variants of one bug; it adds none if the bug changes more than bodies.
func (s *schemata) add(bug int, sources map[string]string) bool {
	//lint:orderfree each file has its own schema
	for file, text := range sources {
		if s.files[file] == nil {
			original, err := os.ReadFile(file)
			if err != nil {
				return false
			}
			if s.files[file], err = newSchema(string(original)); err != nil {
				return false
			}
		}
		if !s.files[file].plant(bug, text) {
			//lint:orderfree removes from each
			for _, c := range s.files {
				c.remove(bug)
			}
			return false
		}
	}
	return true
}

// complaint matches the place of a compiler error.
var complaint = regexp.MustCompile(`(planted[0-9]+\.go):([0-9]+):`)

// leaveOut leaves out the bugs that the compiler reports, and returns whether there is one.
func (s *schemata) leaveOut(out []byte) (some bool) {
	for _, at := range complaint.FindAllSubmatch(out, -1) {
		c, line := s.named[string(at[1])], 0
		if c != nil {
			line, _ = strconv.Atoi(string(at[2]))
		}
		//lint:orderfree each bug is judged alone
		for name, bug := range s.bugs {
			if c != nil && c.has(bug, line) {
				s.apart[name], some = true, true
			}
		}
	}
	return some
}

// changesNothing compares a world in the build without a bug with the unchanged product.
func (s *schemata) changesNothing() error {
	if !slices.Contains(s.packages(), worlds) {
		return nil
	}
	p := playing{Scenario: "storm", Seed: 1, Virtual: time.Minute}
	got, err := p.play(s.bin(worlds))
	if err != nil {
		return err
	}
	want, err := p.control(0)
	if err == nil && got.Hash != want.Hash {
		err = fmt.Errorf("storm, seed 1: the build with no bug chosen has hash %x, the product %x: a head changes what its function does", got.Hash, want.Hash)
	}
	return err
}

func (s *schemata) bin(pkg string) string { return filepath.Join(s.dir, path.Base(pkg)+".test") }

// world returns the binary that plays a bug, and the run without scenario and seed.
func (s *schemata) world(m *mutant, dir string) (string, playing, error) {
	bug, ok := s.bugs[m.name]
	if !ok {
		bin, err := m.build(dir)
		return bin, playing{Planted: m.spans()}, err
	}
	p := playing{Bug: bug}
	for _, at := range m.spans() {
		file, err := filepath.Abs(filepath.Join(root, at.File))
		if err != nil {
			return "", p, err
		}
		if shift, ok := s.files[file].shift(bug, at.First); ok {
			p.Planted = append(p.Planted, span{besidePath(at.File), at.First + shift, at.Last + shift})
		}
	}
	return s.bin(worlds), p, nil
}

// alone returns the bugs that have their own builds.
func (s *schemata) alone() []string { return slices.Sorted(maps.Keys(s.apart)) }
