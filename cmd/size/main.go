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
	"time"
)

func main() {
	var c comparison
	flag.StringVar(&c.base, "base", "HEAD", "`commit` to compare with")
	flag.StringVar(&c.out, "o", "out/size", "`folder` for both binaries; that of a commit is kept")
	flag.IntVar(&c.starts, "starts", 41, "how often the executor of each binary starts")
	flag.Float64Var(&c.grow, "grow", 6, "`MB` by which the stripped binary may grow")
	flag.IntVar(&c.modules, "modules", 12, "modules that go.mod may name anew")
	why := flag.Bool("why", false, "say which packages weigh, and what keeps methods that nothing calls")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := c.check(flag.Args())
	if err == nil {
		err = c.run(ctx, os.Stdout)
	}
	if *why && !errors.Is(err, errUsage) {
		err = errors.Join(err, explain(ctx, c.out, os.Stdout))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "size:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to stop
	}
}

// Bounds of an executor's start.
const (
	laterMost  = 5 * time.Millisecond
	memoryMost = 1 << 20
)

var errUsage = errors.New("see -help")

// comparison is one run of the command.
type comparison struct {
	base, out       string
	starts, modules int
	grow            float64
}

func (c *comparison) check(rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("%q is not taken: %w", rest[0], errUsage)
	case c.starts < 3:
		return fmt.Errorf("-starts = %d must be 3 or more, as the median counts: %w", c.starts, errUsage)
	}
	return nil
}

func (c *comparison) run(ctx context.Context, w io.Writer) error {
	before, err := buildCommit(ctx, c.out, c.base)
	if err != nil {
		return err
	}
	now, err := buildTree(ctx, c.out)
	if err != nil {
		return err
	}
	starts, err := inTurns(ctx, c.starts, before.path, now.path)
	if err != nil {
		return err
	}
	fresh := missing(now.modules, before.modules)
	table := []line{
		{"stripped", "MB", mega(before.size), mega(now.size), c.grow},
		{"packed, gzip", "MB", mega(before.packed), mega(now.packed), 0},
		{"modules of go.mod", "", float64(len(before.modules)), float64(len(now.modules)), 0},
		{"  of these new", "", 0, float64(len(fresh)), float64(c.modules)},
		{"executor: until ready", "ms", milli(starts[0].wall), milli(starts[1].wall), milli(laterMost)},
		{"executor: processor", "ms", milli(starts[0].cpu), milli(starts[1].cpu), 0},
		{"executor: own memory", "MiB", mebi(starts[0].own), mebi(starts[1].own), mebi(memoryMost)},
		{"executor: all memory", "MiB", mebi(starts[0].all), mebi(starts[1].all), 0},
	}
	return c.tell(w, before.name, table, fresh)
}

// line is one figure of both. It may grow by at most so much; zero: no bound.
type line struct {
	name, unit  string
	before, now float64
	most        float64
}

// tell writes the table, and returns which bounds are missed.
func (c *comparison) tell(w io.Writer, base string, table []line, fresh []string) error {
	fmt.Fprintf(w, "%-24s %10s %10s %10s  bound\n", "", base, "now", "more")
	var missed []string
	for _, l := range table {
		bound := ""
		if l.most > 0 {
			bound = fmt.Sprintf("%g %s: met", l.most, l.unit)
			if l.now-l.before > l.most {
				bound = fmt.Sprintf("%g %s: missed", l.most, l.unit)
				missed = append(missed, strings.TrimSpace(l.name))
			}
		}
		text := fmt.Sprintf("%-24s %10.2f %10.2f %+10.2f  %s", strings.TrimRight(l.name+" "+l.unit, " "), l.before, l.now, l.now-l.before, bound)
		fmt.Fprintln(w, strings.TrimRight(text, " "))
	}
	for _, m := range fresh {
		fmt.Fprintln(w, "  new:", m)
	}
	fmt.Fprintf(w, "executors: medians of %d starts each, in turns; load of the machine: %s\n", c.starts, load())
	if len(missed) > 0 {
		return fmt.Errorf("bound missed: %s", strings.Join(missed, ", "))
	}
	return nil
}

// load is what the machine does beside.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(text))[:3], " ")
}

func mega(n int64) float64          { return float64(n) / 1e6 }
func mebi(n int64) float64          { return float64(n) / (1 << 20) }
func milli(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
