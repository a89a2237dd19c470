package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A small module in the product's place: its main package, and the variable of its version.
var small = map[string]string{
	"go.mod":                 "module hyperscale\n\ngo 1.26\n",
	"cmd/hyperscale/main.go": "package main\n\nimport \"hyperscale/cmd/hyperscale/internal/command\"\n\nfunc main() { println(command.Version()) }\n",
	"cmd/hyperscale/slim.go": "//go:build node\n\npackage main\n\nfunc init() { print(\"no simulator, \") }\n",
	"cmd/hyperscale/internal/command/build.go": "package command\n\nvar stamped string\n\nfunc Version() string { return stamped }\n",
}

func writeSmall(t *testing.T, folder string) {
	t.Helper()
	for name, text := range small {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBuildIsReproducible builds the same sources in two folders, the second time with other flags in
// the environment: the bytes are equal, and the binary says its version.
func TestBuildIsReproducible(t *testing.T) {
	var sums []string
	for _, folder := range []string{filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "deeper", "than", "the", "first")} {
		writeSmall(t, folder)
		if len(sums) == 1 {
			t.Setenv("GOFLAGS", "-gcflags=-N")
			t.Setenv("CGO_ENABLED", "1")
		}
		path := filepath.Join(folder, "out")
		if err := build(t.Context(), folder, command, path, platform{system: runtime.GOOS, arch: runtime.GOARCH}, "v1.2.3-test"); err != nil {
			t.Fatal(err)
		}
		s, err := sum(path)
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, s.sum)
		out, err := exec.Command(path).CombinedOutput()
		if err != nil || string(bytes.TrimSpace(out)) != "v1.2.3-test" {
			t.Errorf("the binary says %q, %v, want its version", out, err)
		}
	}
	if sums[0] != sums[1] {
		t.Errorf("not reproducible: %s in one folder, %s in another", sums[0], sums[1])
	}
}

// TestStampHasItsVariable: the linker says nothing where -X names no variable.
func TestStampHasItsVariable(t *testing.T) {
	path, name, _ := strings.Cut(strings.TrimPrefix(stamp, "hyperscale/"), ".")
	text, err := os.ReadFile(filepath.Join("..", "..", path, "build.go"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "\nvar " + name + " string\n"; !strings.Contains(string(text), want) {
		t.Errorf("%s/build.go has no %q: the version of a release would be lost", path, strings.TrimSpace(want))
	}
}

// TestRelease writes a whole release of the small module, twice compared, and reads it back.
func TestRelease(t *testing.T) {
	root, out := t.TempDir(), filepath.Join(t.TempDir(), "release")
	writeSmall(t, root)
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "-m", "first"}, {"-c", "user.name=t", "-c", "user.email=t@t", "tag", "-m", "v0.1.0", "v0.1.0"}} {
		if text, err := exec.Command("git", append([]string{"-C", root}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, text)
		}
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(out, "of-an-earlier-one"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	r := release{root: root, out: out, twice: true, log: &bytes.Buffer{}}
	target := runtime.GOOS + "/" + runtime.GOARCH
	if err := r.run(t.Context(), []string{target, target + "/node"}); err != nil {
		t.Fatal(err)
	}
	name := "hyperscale-" + runtime.GOOS + "-" + runtime.GOARCH
	for file, want := range map[string]string{name: "v0.1.0", name + "-node": "no simulator, v0.1.0"} {
		if text, err := exec.Command(filepath.Join(out, file)).CombinedOutput(); err != nil || strings.TrimSpace(string(text)) != want {
			t.Errorf("%s says %q, %v, want %q", file, text, err, want)
		}
	}
	check := exec.Command("sha256sum", "--check", "--strict", "SHA256SUMS")
	check.Dir = out
	if text, err := check.CombinedOutput(); err != nil || !strings.Contains(string(text), name+": OK") || !strings.Contains(string(text), name+".spdx.json: OK") {
		t.Errorf("sha256sum: %v: %s", err, text)
	}
	text, err := os.ReadFile(filepath.Join(out, name+".spdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range faultsOf(text) {
		t.Error(fault)
	}
	files, err := os.ReadDir(out)
	if err != nil || len(files) != 5 {
		t.Errorf("%d files, %v, want two binaries, their bills and sums alone", len(files), err)
	}
	for _, bad := range []string{"linux", "linux/amd64/slim", "linux/amd64/node/node"} {
		if err := r.run(t.Context(), []string{bad}); err == nil || !strings.Contains(err.Error(), bad+": it is no GOOS/GOARCH such as linux/amd64") {
			t.Errorf("%s: got %v, want a refusal", bad, err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte("module hyperscale\n\ngo 1.26\n\n// changed\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := r.run(t.Context(), []string{target}); err == nil || !strings.Contains(err.Error(), "the work tree has changes: commit them first") {
		t.Errorf("a changed work tree: got %v, want a refusal", err)
	}
}
