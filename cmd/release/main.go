package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
)

// systems are where the product runs; macOS has no engine: see DESIGN.md.
const systems = "linux/amd64,linux/amd64/node,linux/arm64,linux/arm64/node,darwin/arm64,darwin/amd64"

func main() {
	r := release{log: os.Stderr}
	flag.StringVar(&r.out, "o", "out/release", "`folder` to write the release into")
	flag.StringVar(&r.root, "root", ".", "`folder` of the repository")
	flag.StringVar(&r.version, "version", "", "version to stamp; what git describes if not given")
	targets := flag.String("systems", systems, "`GOOS/GOARCH,...` to build for; with /node behind it: the binary of the image, which has no simulator")
	flag.BoolVar(&r.twice, "twice", false, "build each binary again, from an export of the commit in another folder, and compare")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "release: %q is not taken: see -help\n", flag.Arg(0))
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := r.run(ctx, strings.Split(*targets, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to stop
	}
}

// release is one run of the command.
type release struct {
	root, out string
	version   string
	twice     bool
	log       io.Writer
}

// run builds for each system, and writes SHA256SUMS last: a folder without it is unfinished.
func (r *release) run(ctx context.Context, targets []string) error {
	commit, err := r.commit(ctx)
	if err != nil {
		return err
	}
	if r.twice && commit.changed {
		return errors.New("-twice builds an export of the commit, and the work tree has changes: commit them first")
	}
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil { //nolint:gosec // others copy what is in it
		return err
	}
	other := ""
	if r.twice {
		if other, err = r.export(ctx); err != nil {
			return err
		}
		defer os.RemoveAll(other)
	}
	var sums strings.Builder
	for _, target := range targets {
		files, err := r.target(ctx, commit, target, other)
		if err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
		for _, f := range files {
			fmt.Fprintf(&sums, "%s  %s\n", f.sum, f.name)
			fmt.Fprintf(r.log, "%s %9d bytes  %s\n", f.sum[:16], f.size, f.name)
		}
	}
	return os.WriteFile(r.out+"/SHA256SUMS", []byte(sums.String()), 0o644) //nolint:gosec // public
}
