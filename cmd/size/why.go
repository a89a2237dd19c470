package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// shown is how many packages are listed.
const shown = 30

// explain links the work tree once more, with its symbols, and asks the linker what reaches what.
func explain(ctx context.Context, out string, w io.Writer) error {
	path := filepath.Join(out, "symbols")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-dumpdep", "-o", path, "./cmd/hyperscale")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	edges, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	chains, faults := keepers(edges)
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("go build: %w: %s", err, faults)
	}
	fmt.Fprintln(w, "\nmethods are called by names of run time, so that all exported ones are kept, in:")
	for _, c := range chains {
		fmt.Fprintln(w, "  "+strings.Join(c, "\n    reached from "))
	}
	if len(chains) == 0 {
		fmt.Fprintln(w, "  nothing")
	}
	symbols, err := output(ctx, ".", "go", "tool", "nm", "-size", path)
	if err != nil {
		return err
	}
	sizes := packages(strings.NewReader(symbols))
	fmt.Fprintln(w, "\ncode by package, in kB; tables for traces and the collector are some 0.7 of it more:")
	for _, name := range slices.SortedFunc(maps.Keys(sizes), func(a, b string) int { return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(a, b)) })[:min(shown, len(sizes))] {
		fmt.Fprintf(w, "  %6d  %s\n", sizes[name]/1000, name)
	}
	return nil
}

// marked is how the linker marks a function that calls methods by a name of run time.
const marked = " <ReflectMethod>"

// keepers reads what -dumpdep prints, and returns the chain from each marked function up to main. The linker walks from
// main, so the first edge to a symbol says what reached it. Lines that are no edges are faults of the build.
func keepers(r io.Reader) (chains [][]string, faults string) {
	from := map[string]string{}
	var found []string
	for lines := bufio.NewScanner(r); lines.Scan(); {
		a, b, ok := strings.Cut(lines.Text(), " -> ")
		if !ok {
			if len(faults) < 1000 {
				faults += lines.Text() + "\n"
			}
			continue
		}
		source, target := plain(a), plain(b)
		if _, has := from[target]; !has && source != target {
			from[target] = source
			if strings.Contains(b, marked) && !strings.HasPrefix(target, "reflect.") { // reflect's own are reached once another one is
				found = append(found, target)
			}
		}
	}
	for _, symbol := range found {
		chain := []string{symbol}
		for at := from[symbol]; at != "" && !slices.Contains(chain, at); at = from[at] {
			chain = append(chain, at)
			if at == "main.main" {
				break
			}
		}
		chains = append(chains, chain)
	}
	return chains, faults
}

// plain is a symbol without the linker's marks.
func plain(symbol string) string {
	return strings.TrimSuffix(strings.ReplaceAll(symbol, marked, ""), " <UsedInIface>")
}

// packages sums what `go tool nm -size` says of functions, in bytes.
func packages(r io.Reader) map[string]int64 {
	sizes := map[string]int64{}
	for lines := bufio.NewScanner(r); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 4 || fields[2] != "T" && fields[2] != "t" {
			continue
		}
		n, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil {
			continue
		}
		name, _, _ := strings.Cut(fields[3], "[")
		slash := strings.LastIndex(name, "/") + 1
		pkg, _, _ := strings.Cut(name[slash:], ".")
		sizes[name[:slash]+pkg] += n
	}
	return sizes
}
