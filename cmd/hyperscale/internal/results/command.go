package results

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/operate"
	"hyperscale/cmd/hyperscale/internal/session"
)

// NewCommand holds the commands about results that gates keep.
func NewCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "results", Short: "copy results of jobs from gates into a folder", Args: command.RefuseCommand}
	cmd.AddCommand(newExport())
	return cmd
}

func newExport() *cobra.Command {
	e := new(export)
	cmd := operate.AskingBoth(&cobra.Command{
		Use:   "export FOLDER",
		Short: "write the results of ended jobs into a folder, a file for each",
		Long: `Write the results of ended jobs into a folder, a file for each.

FOLDER/JOB.json is the result file that ` + "`--out json`" + ` writes, without the time of its begin:
gates have no common clock. The command asks each gate for its jobs, and fetches the results of
those that were accepted within --since, or all without it, and have ended. A file that is there already is not
fetched again, and no file is replaced, so a run that was cut off is continued by the next.

Gates forget results beyond gate.results_max and gate.result_age. The command fails if results are missing.
With --api a token of the role viewer is enough.`,
		Example: "  hyperscale results export --since 48h --gate gate-1:9000 results",
		Args:    command.Exactly("FOLDER"),
	}, func(ctx context.Context, s *session.Session, w io.Writer, args []string) error {
		return e.run(ctx, s, w, args[0])
	})
	command.AddSpan(cmd.Flags(), &e.since, "since", 0, time.Second, "only jobs that were accepted within this time, like 48h: longer than two exports are apart, and the longest job; without it all that the gates know")
	return cmd
}
