package scenarios_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// Compiling takes longer than playing. These binaries are not debugged, as nothing is that CI builds, and the worlds,
// the largest package, spend no time in their own code.
const (
	quick    = "-gcflags=all=-dwarf=false"
	quickest = "-gcflags=hyperscale/scenarios=-dwarf=false -N -l"
)

// worlds is the package whose test binary plays worlds.
const worlds = "hyperscale/scenarios"

// compile builds test binaries and returns go's output.
func compile(bin string, packages []string, flags ...string) ([]byte, error) {
	playingAtOnce <- struct{}{}
	defer func() { <-playingAtOnce }()
	args := append([]string{"test", "-c", "-vet=off", "-ldflags=-s -w", quick, quickest, "-o", bin}, flags...)
	out, err := exec.Command("go", append(args, packages...)...).CombinedOutput()
	if err != nil {
		told := "\n" + string(out)
		if _, complaints, ok := strings.Cut(told, "\n# hyperscale/"); ok {
			told = complaints // without what -x prints before them
		}
		return out, fmt.Errorf("build: %w\n%s", err, told)
	}
	return out, nil
}

// warm builds the packages that no bug changes once, before all builds of single bugs.
var warm = sync.OnceValue(func() error {
	_, err := compile(os.DevNull, []string{worlds})
	return err
})

// cached matches a line of go's -x that names the file of the build cache of a package.
var cached = regexp.MustCompile(`(?m)^cp \$WORK\S+ (\S+-d) # internal$`)

// build builds the test binary with the bug. The shared build cache has all but the changed
// packages. Those are removed again: no other build needs them, and those of all bugs together
// fill a small disk.
func (m *mutant) build(dir string) (string, error) {
	if err := warm(); err != nil {
		return "", err
	}
	overlay, err := m.overlay(dir, true)
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "planted")
	out, err := compile(bin, []string{worlds}, "-x", "-overlay", overlay)
	for _, file := range cached.FindAllSubmatch(out, -1) {
		_ = os.Remove(string(file[1])) // go rebuilds a missing file
	}
	return bin, err
}
