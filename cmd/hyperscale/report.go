package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/follow"
	"hyperscale/runtime/export"
	"hyperscale/runtime/report"
	"hyperscale/runtime/ui"
)

func newReportCommand() *cobra.Command {
	var f follow.Flags
	cmd := &cobra.Command{
		Use:   "report FILE.json",
		Short: "draw the summary, or any output, from a result file again",
		Long: `Print the summary of a run that --out json=FILE wrote, or write other outputs of
it with --out instead. - reads the result from stdin.

Exit codes: 0 it was drawn, however the run ended; 2 bad usage or a bad file.`,
		Example: "  hyperscale report result.json\n  hyperscale report result.json --out csv=result.csv",
		Args:    command.Exactly("FILE.json"),
		RunE: command.Runs(func(cmd *cobra.Command, args []string) error {
			outs, err := filesOf(&f)
			if err != nil {
				return err
			}
			r, err := readFile(args[0])
			if err != nil {
				return command.AsUsage(err)
			}
			return redraw(cmd.OutOrStdout(), r, outs)
		}),
	}
	cmd.Flags().StringArrayVar(&f.Outs, "out", nil, "write the result to a file, and no summary: `KIND=FILE`, "+strings.ReplaceAll(follow.OutputNames(), "-or-URL", "")+" (repeatable)")
	return cmd
}

// readFile reads a result file, and says how a missing one is made.
func readFile(name string) (*report.Result, error) {
	r, err := report.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: write one with `%s run FILE --out json=%s`", err, command.Called(), name)
	}
	return r, err
}

// filesOf reads what --out requests after a run: a server gets only current figures.
func filesOf(f *follow.Flags) ([]follow.Written, error) {
	for _, s := range f.Outs {
		if kind, place, _ := strings.Cut(s, "="); command.IsURL(place) {
			return nil, command.Usage("--out %s=%s: report writes files, a server hears of a run while it lasts: give the address to run or submit", kind, export.Discreet(place))
		}
	}
	for _, s := range f.Outs {
		if kind, _, _ := strings.Cut(s, "="); follow.TakesRows(kind) {
			return nil, command.Usage("--out %s=: report writes files, and %s takes rows of a run while it lasts: give the place to run, submit --wait or watch", kind, kind)
		}
	}
	return f.Outputs(func(string, ...any) {})
}

func redraw(w io.Writer, r *report.Result, outs []follow.Written) error {
	if len(outs) == 0 {
		if _, err := io.WriteString(w, ui.Summary(r, ui.StyleOf(os.Stdout))); err != nil {
			return fmt.Errorf("print the summary: %w", err)
		}
		return nil
	}
	var faults []error
	for i := range outs {
		if err := outs[i].Check(); err != nil {
			return err
		}
	}
	for i := range outs {
		faults = append(faults, outs[i].Write(context.Background(), r))
	}
	return errors.Join(faults...)
}
