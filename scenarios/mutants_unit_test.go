package scenarios_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// rapidTries matches the number of draws after which a property failed.
var rapidTries = regexp.MustCompile(`failed after (\d+) tests`)

// unitTries bounds the draws of a property before it fails.
const unitTries = 1000

// unit hunts a bug with a test of its package: a property, or a test with an assertion. The
// test passes without the bug. With it, it fails with a text that contains expect.
func (m *mutant) unit(s *schemata, dir string, shrink time.Duration) (r row) {
	r = row{mutant: m.name, left: -1}
	bin, bug := s.bin(m.tested()), s.bugs[m.name]
	if bug == 0 {
		var err error
		if bin, err = m.buildUnit(dir); err != nil {
			r.trouble = err.Error()
			return r
		}
	}
	out, err := m.runUnit(bin, bug, shrink)
	r.tries = 1
	if n := rapidTries.FindStringSubmatch(out); n != nil {
		r.tries, _ = strconv.Atoi(n[1])
		r.tries++
	}
	switch {
	case err == nil:
		r.trouble = "survived " + m.test
	case !strings.Contains(out, "--- FAIL") && !strings.Contains(out, "panic: "):
		r.trouble = fmt.Sprintf("%s: %v\n%s", m.test, err, out)
	case !strings.Contains(out, m.expect):
		r.trouble = fmt.Sprintf("%s broke something else: %s", m.test, out)
	default:
		if trouble := m.clean(s); trouble != "" {
			r.trouble = trouble
			return r
		}
		r.caught, r.scenario = "a test", m.test
	}
	return r
}

// cleanUnits holds the outcome without a bug of each test that mutants name: many name the same
// one.
var cleanUnits sync.Map // of a test's name, to func() string

// clean runs the test without the bug, once for all mutants, and returns what is wrong.
func (m *mutant) clean(s *schemata) string {
	once, _ := cleanUnits.LoadOrStore(m.test, sync.OnceValue(func() string {
		if out, err := m.runUnit(s.bin(m.tested()), 0, 0); err != nil {
			return fmt.Sprintf("%s fails without the bug: %v\n%s", m.test, err, out)
		}
		return ""
	}))
	return once.(func() string)()
}

// buildUnit builds the tests of the package with the bug alone.
func (m *mutant) buildUnit(dir string) (string, error) {
	overlay, err := m.overlay(dir, false)
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "planted")
	_, err = compile(bin, []string{m.tested()}, "-overlay", overlay)
	return bin, err
}

// runUnit runs the one test with a bug of the build. A property draws from a fixed seed, so
// that the verdict depends only on the commit. It shrinks its failure for the given time, and
// leaves no file of it.
func (m *mutant) runUnit(bin string, bug int, shrink time.Duration) (string, error) {
	pkg, test, _ := strings.Cut(m.test, " ")
	args := []string{"-test.run=^" + test + "$", "-test.timeout=" + playMax.String()}
	if inTests(pkg, `"pgregory.net/rapid"`) {
		args = append(args, "-rapid.nofailfile", "-rapid.seed=1", fmt.Sprintf("-rapid.checks=%d", unitTries), "-rapid.shrinktime="+shrink.String())
	}
	run := exec.Command(bin, args...)
	run.Dir = filepath.Join(root, pkg)
	run.Env = append(os.Environ(), chosen(bug))
	out, err := run.CombinedOutput()
	return string(out), err
}

// inTests reports whether a test file of a package contains a text.
func inTests(pkg, text string) bool {
	files, _ := filepath.Glob(filepath.Join(root, pkg, "*_test.go"))
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && strings.Contains(string(b), text) {
			return true
		}
	}
	return false
}
