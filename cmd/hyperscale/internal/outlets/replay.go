package outlets

import (
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

// replay offers rows as the queue has room for them.
func replay(ctx context.Context, cmd *cobra.Command, shell *outputs.Shell, rows []outputs.Row) error {
	const piece = 500 // rows: a queue of 8 MiB has room for some thousands
	for len(rows) > 0 && ctx.Err() == nil {
		n := min(piece, len(rows))
		shell.Offer(rows[:n])
		rows = rows[n:]
		for ctx.Err() == nil && len(rows) > 0 && shell.Report().Behind > piece {
			select {
			case <-time.After(10 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	}
	o := shell.Finish(ctx)
	o.Behind += uint64(len(rows))
	if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%d rows delivered, %d rejected, %d not delivered\n", o.Delivered, o.Rejected, o.Behind+o.Lost); err != nil {
		return err
	}
	if !o.Whole() {
		return command.Exit(command.ExitFailed, fmt.Errorf("rows are missing: %s", o.Because()))
	}
	return nil
}
