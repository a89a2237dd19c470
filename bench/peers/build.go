package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// goPeer is a peer that is built from the Go module proxy.
type goPeer struct {
	name     string
	module   string
	versions []string // the first that builds
	below    string   // the program's package below the module; empty: the module's own
}

var goPeers = []goPeer{
	{"k6", "go.k6.io/k6", []string{"v1.8.1", "v1.3.0"}, ""},
	{"ghz", "github.com/bojand/ghz", []string{"v0.121.0", "v0.120.0"}, "/cmd/ghz"},
	{"vegeta", "github.com/tsenart/vegeta/v12", []string{"v12.12.0"}, ""},
	{"bombardier", "github.com/codesenberg/bombardier", []string{"v1.2.6"}, ""},
	{"hey", "github.com/rakyll/hey", []string{"v0.1.5"}, ""},
}

// tool is a program that can be run.
type tool struct {
	Path    string
	Version string
	Env     []string
	Missing string // why it is not there, and what would bring it
}

// tools finds or builds every peer; what is missing says so.
func tools(cache string, say io.Writer, wanted func(string) bool) (map[string]tool, error) {
	found := map[string]tool{}
	for _, p := range goPeers {
		if !wanted(p.name) {
			continue
		}
		t, err := p.build(cache, say)
		if err != nil {
			return nil, err
		}
		found[p.name] = t
	}
	wrk := tool{Path: lookup("wrk"), Missing: "apt-get install wrk"}
	if wrk.Path != "" {
		wrk.Version = word(output(wrk.Path, "-v"), 1)
	}
	oha := tool{Path: lookup("oha", filepath.Join(os.Getenv("HOME"), ".cargo/bin/oha")), Missing: "cargo install oha, Debian has no package of it"}
	if oha.Path != "" {
		oha.Version = word(output(oha.Path, "--version"), 1)
	}
	found["wrk"], found["oha"] = wrk, oha
	if wanted("h2load") {
		found["h2load"] = h2load(cache, say)
	}
	return found, nil
}

// build makes a program in the cache, in a module of its own, as `go install
// module@version` also asks the proxy which versions there are, and a proxy need
// not know that.
func (p goPeer) build(cache string, say io.Writer) (tool, error) {
	var why []string
	for _, version := range p.versions {
		path := filepath.Join(cache, "bin", p.name+"-"+version)
		if _, err := os.Stat(path); err == nil {
			return tool{Path: path, Version: version}, nil
		}
		dir := filepath.Join(cache, "build", p.name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return tool{}, err
		}
		text := fmt.Sprintf("module peer\n\ngo 1.26.0\n\nrequire %s %s\n", p.module, version)
		if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o644); err != nil {
			return tool{}, err
		}
		if err := os.Remove(filepath.Join(dir, "go.sum")); err != nil && !errors.Is(err, os.ErrNotExist) {
			return tool{}, err
		}
		_, _ = fmt.Fprintf(say, "building %s %s\n", p.module, version)
		ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
		cmd := exec.CommandContext(ctx, "go", "build", "-mod=mod", "-o", path, p.module+p.below)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=0")
		out, err := cmd.CombinedOutput()
		cancel()
		if err == nil {
			return tool{Path: path, Version: version}, nil
		}
		why = append(why, fmt.Sprintf("%s: %s", version, lastLine(out)))
	}
	return tool{Missing: "it does not build: " + strings.Join(why, "; ")}, nil
}

// h2load is the machine's, or unpacked from Debian's packages: nothing is installed.
func h2load(cache string, say io.Writer) tool {
	t := tool{Path: lookup("h2load"), Missing: "apt-get install nghttp2-client"}
	dir := filepath.Join(cache, "debian")
	if t.Path == "" {
		t.Path = lookup(filepath.Join(dir, "usr/bin/h2load"))
		t.Env = libraries(dir)
	}
	if t.Path == "" && lookup("apt-get") != "" && lookup("dpkg-deb") != "" && os.MkdirAll(dir, 0o755) == nil {
		_, _ = fmt.Fprintln(say, "unpacking nghttp2-client of Debian")
		if err := unpack(dir, "nghttp2-client", "libnghttp2-14", "libev4", "libc-ares2", "libjansson4", "libjemalloc2"); err != nil {
			t.Missing = fmt.Sprintf("%v: %s", err, t.Missing)
			return t
		}
		t.Path, t.Env = lookup(filepath.Join(dir, "usr/bin/h2load")), libraries(dir)
	}
	if t.Path == "" {
		return t
	}
	cmd := exec.Command(t.Path, "--version")
	cmd.Env = append(os.Environ(), t.Env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return tool{Missing: fmt.Sprintf("%s does not start, %s: apt-get install nghttp2-client", t.Path, lastLine(out))}
	}
	t.Version = word(string(out), 1)
	return t
}

func libraries(dir string) []string {
	found, err := filepath.Glob(filepath.Join(dir, "usr/lib/*-linux-gnu"))
	if err != nil || len(found) == 0 {
		return nil
	}
	return []string{"LD_LIBRARY_PATH=" + found[0]}
}

// unpack downloads Debian packages and unpacks them below a folder.
func unpack(dir string, packages ...string) error {
	cmd := exec.Command("apt-get", append([]string{"download", "-q"}, packages...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("apt-get download: %s", lastLine(out))
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil {
		return err
	}
	for _, file := range files {
		if out, err := exec.Command("dpkg-deb", "-x", file, dir).CombinedOutput(); err != nil {
			return fmt.Errorf("dpkg-deb -x %s: %s", file, lastLine(out))
		}
	}
	return nil
}

// lookup returns the first of these that can be run.
func lookup(names ...string) string {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// output is what a program says of itself; wrk's version comes with an error.
func output(path string, args ...string) string {
	out, _ := exec.Command(path, args...).CombinedOutput() // an empty version is told as such
	return string(out)
}

func word(text string, i int) string {
	if fields := strings.Fields(text); i < len(fields) {
		return fields[i]
	}
	return ""
}

func lastLine(out []byte) string {
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	return string(lines[len(lines)-1])
}
