package outlets

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/named"
	"hyperscale/runtime/ui/units"
)

func newVerify() *cobra.Command {
	return &cobra.Command{
		Use:   "verify KIND=PLACE JOB",
		Short: "read the rows of a job back, and add them up",
		Long: `Read the rows of a job back, and add them up: for each step, the windows are the result and
what was lost, by count, status, kind of error and bucket of the latency; the steps have the
requests that the job's end counts, and the datacenters those of the whole job.

Exit codes: 0 they are; 1 rows are missing; 2 bad usage, or a place that cannot be read.`,
		Example: "  hyperscale outputs verify jsonl=rows.jsonl 9mbdapyqq0frty1aedxpmb7wqm",
		Args:    command.Exactly("KIND=PLACE", "JOB"),
		RunE: command.Runs(func(cmd *cobra.Command, args []string) error {
			s, err := place(args[0])
			if err != nil {
				return err
			}
			if s.Kind.ReadBack == nil {
				return command.Usage("rows of kind %s cannot be read back: ask the place itself", s.Kind.Name)
			}
			rows, err := s.Kind.ReadBack(s, args[1])
			shown := named.Shown(s)
			if errors.Is(err, outputs.ErrTorn) {
				fmt.Fprintln(cmd.ErrOrStderr(), units.CleanLines(err.Error()))
			} else if err != nil {
				return command.Usage("%s: %v", shown, err)
			}
			if len(rows) == 0 {
				return command.Exit(command.ExitFailed, fmt.Errorf("%s has no rows of job %s", shown, args[1]))
			}
			v := outputs.Verify(rows)
			return printVerified(cmd.OutOrStdout(), &v)
		}),
	}
}

func printVerified(w io.Writer, v *outputs.Verification) error {
	lines := [][]string{{"datacenter", "workflow", "step", "kind", "windows", "requests", "lost", ""}}
	wrong := 0
	for _, s := range v.Steps {
		lines = append(lines, []string{s.Datacenter, s.Workflow, s.Step, s.Kind, fmt.Sprint(s.Windows), fmt.Sprint(s.Begun), fmt.Sprint(s.Lost), s.Why})
		if !s.Whole {
			wrong++
		}
	}
	if len(v.Steps) > 0 {
		if err := command.PrintRows(w, lines); err != nil {
			return err
		}
	} else if v.Whole() {
		_, err := fmt.Fprintln(w, "the job has no requests, and the place has its end")
		return err
	}
	faults := v.Wrong
	if wrong > 0 {
		faults = append([]string{fmt.Sprintf("%d of %d steps do not add up", wrong, len(v.Steps))}, faults...)
	}
	if len(faults) > 0 {
		return command.Exit(command.ExitFailed, errors.New(strings.Join(faults, "\n")))
	}
	return nil
}
