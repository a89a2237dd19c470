package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// built is the binary of one state of the repository.
type built struct {
	name, path   string
	size, packed int64
	modules      []string // that go.mod names and that packages of ours import
}

// buildCommit builds an export of a commit; a binary that is there is that commit's.
func buildCommit(ctx context.Context, out, commit string) (built, error) {
	name, err := output(ctx, ".", "git", "rev-parse", "--short=9", "--verify", commit+"^{commit}")
	if err != nil {
		return built{}, fmt.Errorf("-base %s: %w: name a commit that git log shows", commit, err)
	}
	folder, err := os.MkdirTemp("", "hyperscale-size-")
	if err != nil {
		return built{}, err
	}
	defer os.RemoveAll(folder)
	archive := filepath.Join(folder, "commit.tar")
	if _, err := output(ctx, ".", "git", "archive", "-o", archive, name); err != nil {
		return built{}, err
	}
	if _, err := output(ctx, folder, "tar", "-x", "-f", archive); err != nil {
		return built{}, err
	}
	return release(ctx, folder, filepath.Join(out, name), name)
}

// buildTree builds the work tree.
func buildTree(ctx context.Context, out string) (built, error) {
	path := filepath.Join(out, "now")
	if err := os.RemoveAll(path); err != nil {
		return built{}, err
	}
	return release(ctx, ".", path, "now")
}

// release lets cmd/release build what is in root into a folder, unless it has.
func release(ctx context.Context, root, to, name string) (built, error) {
	system := runtime.GOOS + "/" + runtime.GOARCH
	b := built{name: name, path: filepath.Join(to, "hyperscale-"+strings.ReplaceAll(system, "/", "-"))}
	if _, err := os.Stat(filepath.Join(to, "SHA256SUMS")); err != nil { // what release writes last
		if _, err := output(ctx, ".", "go", "run", "./cmd/release", "-root", root, "-version", "size", "-systems", system, "-o", to); err != nil {
			return b, err
		}
	}
	var err error
	if b.modules, err = modules(ctx, root); err != nil {
		return b, err
	}
	b.size, b.packed, err = weigh(b.path)
	return b, err
}

// weigh returns how long a file is, and how long it is packed as registries do it.
func weigh(path string) (size, packed int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	var n counter
	z := gzip.NewWriter(&n)
	if size, err = io.Copy(z, f); err == nil {
		err = z.Close()
	}
	return size, int64(n), err
}

// counter counts what is written to it.
type counter int64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// modules lists the direct requirements of a go.mod.
func modules(ctx context.Context, root string) (names []string, err error) {
	text, err := output(ctx, root, "go", "mod", "edit", "-json")
	if err != nil {
		return nil, err
	}
	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	if err := json.Unmarshal([]byte(text), &mod); err != nil {
		return nil, fmt.Errorf("read go.mod: %w", err)
	}
	for _, r := range mod.Require {
		if !r.Indirect {
			names = append(names, r.Path)
		}
	}
	return names, nil
}

// missing lists what is in a and not in b.
func missing(a, b []string) (out []string) {
	for _, name := range a {
		if !slices.Contains(b, name) {
			out = append(out, name)
		}
	}
	return out
}

// output runs a command and returns what it prints.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var told, faults bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &told, &faults
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, args[0], err, bytes.TrimSpace(faults.Bytes()))
	}
	return strings.TrimSpace(told.String()), nil
}
