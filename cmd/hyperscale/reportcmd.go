package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"hyperscale/runtime/export"
	"hyperscale/runtime/report"
	"hyperscale/runtime/ui"
)

func newReportCommand() *cobra.Command {
	var f outputFlags
	cmd := &cobra.Command{
		Use:   "report FILE.json",
		Short: "draw the summary, or any output, from a result file again",
		Long: `Print the summary of a run that --out json=FILE wrote, or write other outputs of
it with --out instead. - reads the result from stdin.

Exit codes: 0 it was drawn, however the run ended; 2 bad usage or a bad file.`,
		Example: "  hyperscale report result.json\n  hyperscale report result.json --out csv=result.csv",
		Args:    exactly("FILE.json"),
		RunE: runs(func(cmd *cobra.Command, args []string) error {
			outs, err := f.files()
			if err != nil {
				return err
			}
			r, err := report.Read(args[0])
			if err != nil {
				return asUsage(err)
			}
			return redraw(cmd.OutOrStdout(), r, outs)
		}),
	}
	cmd.Flags().StringArrayVar(&f.outs, "out", nil, "write the result to a file, and no summary: `KIND=FILE`, "+strings.ReplaceAll(outputNames(), "-or-URL", "")+" (repeatable)")
	return cmd
}

// files reads what --out asks for where a run is over: what a server is told is of now.
func (f *outputFlags) files() ([]written, error) {
	for _, s := range f.outs {
		if kind, place, _ := strings.Cut(s, "="); isURL(place) {
			return nil, usage("--out %s=%s: report writes files, a server hears of a run while it lasts: give the address to run or submit", kind, export.Discreet(place))
		}
	}
	return f.outputs(func(string, ...any) {})
}

func redraw(w io.Writer, r *report.Result, outs []written) error {
	if len(outs) == 0 {
		if _, err := io.WriteString(w, ui.Summary(r, ui.StyleOf(os.Stdout))); err != nil {
			return fmt.Errorf("print the summary: %w", err)
		}
		return nil
	}
	var faults []error
	for i := range outs {
		if err := outs[i].check(); err != nil {
			return err
		}
	}
	for i := range outs {
		faults = append(faults, outs[i].write(r))
	}
	return errors.Join(faults...)
}
