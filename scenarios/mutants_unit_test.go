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
)

// rapidTries is how rapid tells at which of its draws a property failed.
var rapidTries = regexp.MustCompile(`failed after (\d+) tests`)

// unitTries is how many draws of a property may pass before it fails.
const unitTries = 1000

// unit hunts a bug with a test of the package that has it: a property, or a test with an
// assertion. The test passes without the bug and fails with it, in words that tell expect.
func (m *mutant) unit(dir string) (r row) {
	r = row{mutant: m.name, left: -1}
	overlay, err := m.overlay(dir, false)
	if err != nil {
		r.trouble = err.Error()
		return r
	}
	out, err := m.runUnit(dir, "planted", "-overlay", overlay)
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
		if trouble := m.clean(); trouble != "" {
			r.trouble = trouble
			return r
		}
		r.caught, r.scenario = "a test", m.test
	}
	return r
}

// cleanUnits holds, for each test that mutants name, how it ends without a bug: many name
// the same one.
var cleanUnits sync.Map // of a test's name, to func() string

// clean runs the test without the bug, once for all mutants, and returns what is wrong.
func (m *mutant) clean() string {
	once, _ := cleanUnits.LoadOrStore(m.test, sync.OnceValue(func() string {
		dir, err := os.MkdirTemp("", "clean")
		if err != nil {
			return err.Error()
		}
		defer func() { _ = os.RemoveAll(dir) }()
		if out, err := m.runUnit(dir, "clean"); err != nil {
			return fmt.Sprintf("%s fails without the bug: %v\n%s", m.test, err, out)
		}
		return ""
	}))
	return once.(func() string)()
}

// runUnit builds the tests of the package and runs the one. A property leaves no file of
// its failure.
func (m *mutant) runUnit(dir, name string, flags ...string) (string, error) {
	pkg, test, _ := strings.Cut(m.test, " ")
	folder, err := filepath.Abs(filepath.Join(root, pkg))
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, name)
	build := exec.Command("go", append(append([]string{"test", "-c", "-vet=off", quick, "-o", bin}, flags...), ".")...)
	build.Dir = folder
	if out, err := build.CombinedOutput(); err != nil {
		return string(out), err
	}
	defer func() { _ = os.Remove(bin) }()
	args := []string{"-test.run=^" + test + "$", "-test.timeout=" + playMax.String()}
	if inTests(pkg, `"pgregory.net/rapid"`) {
		args = append(args, "-rapid.nofailfile", fmt.Sprintf("-rapid.checks=%d", unitTries))
	}
	run := exec.Command(bin, args...)
	run.Dir = folder
	out, err := run.CombinedOutput()
	return string(out), err
}

// inTests says whether a test file of a package has a text.
func inTests(pkg, text string) bool {
	files, _ := filepath.Glob(filepath.Join(root, pkg, "*_test.go"))
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && strings.Contains(string(b), text) {
			return true
		}
	}
	return false
}
