package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Where the product is, and the variable of its version.
const (
	binary  = "hyperscale"
	command = "./cmd/hyperscale"
	stamp   = "hyperscale/cmd/hyperscale/internal/command.stamped"
)

// commit is what is built.
type commit struct {
	version string
	at      time.Time // of the commit: a bill says when what it describes was made
	changed bool      // the work tree differs from it
}

// written is one file of a release.
type written struct {
	name, sum string
	size      int64
}

// git asks git about the repository.
func (r *release) git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", r.root}, args...)...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("git %s: %s", args[0], bytes.TrimSpace(exit.Stderr))
	}
	return strings.TrimSpace(string(out)), err
}

// commit reads what git knows; without a repository the version must be given.
func (r *release) commit(ctx context.Context) (c commit, err error) {
	state, err := r.git(ctx, "status", "--porcelain", "--untracked-files=no")
	if err != nil && r.version != "" {
		return commit{version: r.version, at: time.Unix(0, 0)}, nil
	}
	if err != nil {
		return c, fmt.Errorf("no commit to name the release after: %w: build in a clone, or give -version", err)
	}
	c.changed = state != ""
	if c.version = r.version; c.version == "" {
		if c.version, err = r.git(ctx, "describe", "--tags", "--always", "--abbrev=12", "--dirty=+changes"); err != nil {
			return c, err
		}
	}
	at, err := r.git(ctx, "show", "-s", "--format=%cI", "HEAD")
	if err == nil {
		c.at, err = time.Parse(time.RFC3339, at)
	}
	return c, err
}

// export writes the commit's files into a folder of its own.
func (r *release) export(ctx context.Context) (string, error) {
	folder, err := os.MkdirTemp("", "hyperscale-release-")
	if err != nil {
		return "", err
	}
	archive := filepath.Join(folder, "commit.tar")
	if _, err = r.git(ctx, "archive", "-o", archive, "HEAD"); err == nil {
		err = exec.CommandContext(ctx, "tar", "-x", "-f", archive, "-C", folder).Run()
	}
	if err != nil {
		os.RemoveAll(folder)
		return "", fmt.Errorf("export the commit: %w", err)
	}
	return folder, nil
}

// nodeTag is the build tag of the image's binary: cmd/hyperscale leaves the simulator out.
const nodeTag = "node"

// platform is what a binary is for.
type platform struct{ system, arch, tag string }

// parse reads GOOS/GOARCH[/node].
func parse(target string) (p platform, err error) {
	parts := strings.Split(target, "/")
	if len(parts) < 2 || len(parts) > 3 || len(parts) == 3 && parts[2] != nodeTag {
		return p, fmt.Errorf("it is no GOOS/GOARCH such as linux/amd64, nor one with /%s behind it", nodeTag)
	}
	p.system, p.arch = parts[0], parts[1]
	if len(parts) == 3 {
		p.tag = nodeTag
	}
	return p, nil
}

// name is that of the file.
func (p platform) name() string {
	name := fmt.Sprintf("%s-%s-%s", binary, p.system, p.arch)
	if p.tag != "" {
		name += "-" + p.tag
	}
	return name
}

// target builds one system's binary and its bill. With another folder it builds there again, and compares.
func (r *release) target(ctx context.Context, c commit, target, other string) ([]written, error) {
	p, err := parse(target)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(r.out, p.name())
	if err := build(ctx, r.root, command, path, p, c.version); err != nil {
		return nil, err
	}
	program, err := sum(path)
	if err != nil {
		return nil, err
	}
	if other != "" {
		again := filepath.Join(other, p.name())
		if err := build(ctx, other, command, again, p, c.version); err != nil {
			return nil, err
		}
		second, err := sum(again)
		if err == nil && second.sum != program.sum {
			err = fmt.Errorf("it is not reproducible: %s here, and %s of an export", program.sum, second.sum)
		}
		if err != nil {
			return nil, err
		}
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return nil, err
	}
	text, err := bill(p.name(), program.sum, c, info)
	if err != nil {
		return nil, err
	}
	path += ".spdx.json"
	if err := os.WriteFile(path, text, 0o644); err != nil { //nolint:gosec // public
		return nil, err
	}
	paper, err := sum(path)
	return []written{program, paper}, err
}

// build builds a command of a module. The bytes follow from the sources, the version, the platform and Go alone.
func build(ctx context.Context, root, pkg, path string, p platform, version string) error {
	to, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags="+p.tag, "-ldflags", "-s -w -X "+stamp+"="+version, "-o", to, pkg)
	cmd.Dir = root
	// Flags and features of the one who builds would be in the bytes.
	cmd.Env = append(os.Environ(), "GOOS="+p.system, "GOARCH="+p.arch, "CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0", "GOFIPS140=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

func sum(path string) (written, error) {
	f, err := os.Open(path)
	if err != nil {
		return written{}, err
	}
	defer f.Close()
	digest := sha256.New()
	n, err := io.Copy(digest, f)
	return written{name: filepath.Base(path), sum: hex.EncodeToString(digest.Sum(nil)), size: n}, err
}
