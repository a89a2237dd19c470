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
var rapidTries = regexp.MustCompile(`(?:failed|panic) after (\d+) tests`)

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
	if strings.HasPrefix(m.test, "runtime/") { // its servers may have addresses that are the same in each run
		alone, _ := sameTest.LoadOrStore(m.test, new(sync.Mutex))
		alone.(*sync.Mutex).Lock()
		defer alone.(*sync.Mutex).Unlock()
	}
	out, err := m.runUnit(bin, bug, unitTries, shrink, "-test.failfast")
	if err != nil && !strings.Contains(out, m.expect) { // the first subtest that fails may say something else
		out, err = m.runUnit(bin, bug, unitTries, shrink)
	}
	r.tries = 1
	draws := unitTries // that the test needs without the bug, to be the same test
	if n := rapidTries.FindStringSubmatch(out); n != nil {
		r.tries, _ = strconv.Atoi(n[1])
		r.tries++
		draws = r.tries
	}
	switch {
	case err == nil:
		r.trouble = "survived " + m.test
	case !strings.Contains(out, "--- FAIL") && !strings.Contains(out, "panic: "):
		r.trouble = fmt.Sprintf("%s: %v\n%s", m.test, err, out)
	case !strings.Contains(out, m.expect):
		r.trouble = fmt.Sprintf("%s broke something else: %s", m.test, out)
	default:
		if trouble := m.clean(s, draws); trouble != "" {
			r.trouble = trouble
			return r
		}
		r.caught, r.scenario = "a test", m.test
	}
	return r
}

// cleanUnits holds the control of each test that mutants name: many name the same one.
var cleanUnits sync.Map // of a test's name, to *control

// sameTest keeps a test from running twice at the same time.
var sameTest sync.Map // of a test's name, to *sync.Mutex

// control is what a test did without a bug.
type control struct {
	mutex   sync.Mutex
	draws   int    // of each property; it passed with so many
	trouble string // it failed with all of them
}

// clean runs the test without the bug and returns what is wrong. A property draws the same values
// as with the bug, up to those that failed: the draws after them prove nothing of this bug. A test
// that wants more of its draws than that gets them all.
func (m *mutant) clean(s *schemata, draws int) string {
	kept, _ := cleanUnits.LoadOrStore(m.test, new(control))
	c := kept.(*control)
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for c.draws < draws && c.trouble == "" {
		out, err := m.runUnit(s.bin(m.tested()), 0, draws, 0)
		switch {
		case err == nil:
			c.draws = draws
		case draws < unitTries:
			draws = unitTries
		default:
			c.trouble = fmt.Sprintf("%s fails without the bug: %v\n%s", m.test, err, out)
		}
	}
	return c.trouble
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

// runUnit runs the one test with a bug of the build. A property draws so often at most, from a
// fixed seed, so that the verdict depends only on the commit. It shrinks its failure for the given
// time, and leaves no file of it.
func (m *mutant) runUnit(bin string, bug, draws int, shrink time.Duration, more ...string) (string, error) {
	pkg, test, _ := strings.Cut(m.test, " ")
	args := append(more, "-test.run=^"+test+"$", "-test.timeout="+playMax.String())
	if inTests(pkg, `"pgregory.net/rapid"`) {
		args = append(args, "-rapid.nofailfile", "-rapid.seed=1", fmt.Sprintf("-rapid.checks=%d", draws), "-rapid.shrinktime="+shrink.String())
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
