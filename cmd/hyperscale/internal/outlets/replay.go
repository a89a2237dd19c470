package outlets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/files"
	"hyperscale/runtime/ui/units"
)

// replayWait is how long a replay waits for a place if no flag says so.
const replayWait = 5 * time.Minute

func newReplay() *cobra.Command {
	wait := replayWait
	cmd := &cobra.Command{
		Use:   "replay FILE KIND=PLACE",
		Short: "deliver the rows of a file to a place",
		Long: `Deliver the rows of a file to a place: dead letters, once their reason is gone, or what an
output jsonl wrote. Rows that an exact kind has already change nothing.

Exit codes: 0 the place has each row; 1 it lacks some; 2 bad usage, or a file that cannot be read.`,
		Example: "  hyperscale outputs replay dead.jsonl sqlite=rows.db",
		Args:    command.Exactly("FILE", "KIND=PLACE"),
		RunE: command.Runs(func(cmd *cobra.Command, args []string) error {
			s, err := place(args[1])
			if err != nil {
				return err
			}
			if s.Kind.Sums {
				return command.Usage("%s takes the rows of a job that runs alone: it stores sums, which no file has: replay into another kind", s.Kind.Name)
			}
			rows, err := files.Read(args[0], "")
			if errors.Is(err, outputs.ErrTorn) {
				fmt.Fprintln(cmd.ErrOrStderr(), units.CleanLines(err.Error()))
			} else if err != nil {
				return command.AsUsage(err)
			}
			shell, err := ready(s)
			if err != nil {
				return err
			}
			defer shell.Close()
			ctx, cancel := context.WithTimeout(cmd.Context(), wait)
			defer cancel()
			return replay(ctx, cmd, shell, rows)
		}),
	}
	command.AddSpan(cmd.Flags(), &wait, "wait", replayWait, time.Second, "how long to try")
	return cmd
}

// replay delivers the rows of one job after another's. Parcels keep each row as it is: a queue would join windows that
// it has no room for, and a place that has the windows would have their requests twice.
func replay(ctx context.Context, cmd *cobra.Command, shell *outputs.Shell, rows []outputs.Row) error {
	var jobs []string
	of := map[string][]outputs.Row{}
	for i := range rows {
		job := rows[i].Job
		if of[job] == nil {
			jobs = append(jobs, job)
		}
		of[job] = append(of[job], rows[i])
	}
	behind, failed := uint64(0), ""
	for _, job := range jobs {
		told := shell.Carry(ctx, &outputs.Parcel{Rows: of[job]})
		behind, failed = behind+told.Behind, cmp.Or(failed, told.Failed)
	}
	o := shell.Finish(ctx)
	o.Behind, o.Failed = behind, cmp.Or(failed, o.Failed)
	line := fmt.Sprintf("%d rows delivered, %d rejected, %d not delivered", o.Delivered, o.Rejected, o.Behind+o.Lost)
	if o.PerhapsTwice > 0 {
		line += fmt.Sprintf(", %d perhaps twice", o.PerhapsTwice)
	}
	if _, err := fmt.Fprintln(cmd.OutOrStdout(), line); err != nil {
		return err
	}
	if !o.Whole() {
		return command.Exit(command.ExitFailed, fmt.Errorf("rows are missing: %s", o.Because()))
	}
	return nil
}
