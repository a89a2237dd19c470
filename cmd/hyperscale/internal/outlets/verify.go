package outlets

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/export"
	"hyperscale/runtime/outputs"
)

func newVerify() *cobra.Command {
	return &cobra.Command{
		Use:   "verify KIND=PLACE JOB",
		Short: "read the rows of a job back, and add them up",
		Long: `Read the rows of a job back, and add them up: for each step, the windows are the result and
what was lost, by count, status, kind of error and bucket of the latency.

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
			if err != nil {
				return command.Usage("%s=%s: %v", s.Kind.Name, export.Discreet(s.Place), err)
			}
			steps := outputs.Verify(rows)
			if len(steps) == 0 {
				return command.Exit(command.ExitFailed, fmt.Errorf("%s=%s has no rows of job %s", s.Kind.Name, export.Discreet(s.Place), args[1]))
			}
			return printVerified(cmd.OutOrStdout(), steps)
		}),
	}
}

func printVerified(w io.Writer, steps []outputs.Verified) error {
	lines := [][]string{{"datacenter", "workflow", "step", "windows", "requests", "lost", ""}}
	wrong := 0
	for _, s := range steps {
		lines = append(lines, []string{s.Datacenter, s.Workflow, s.Step, fmt.Sprint(s.Windows), fmt.Sprint(s.Begun), fmt.Sprint(s.Lost), s.Why})
		if !s.Whole {
			wrong++
		}
	}
	if err := command.PrintRows(w, lines); err != nil {
		return err
	}
	if wrong > 0 {
		return command.Exit(command.ExitFailed, fmt.Errorf("%d of %d steps do not add up", wrong, len(steps)))
	}
	return nil
}
