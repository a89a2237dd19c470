package simulate

import (
	"github.com/spf13/cobra"
	"hyperscale/cmd/hyperscale/internal/command"
)

// NewCommand wires `sim` with its commands.
func NewCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "the simulator: whole clusters under faults, on virtual clocks",
		Long: `Play whole clusters in one process, on virtual clocks, under faults that a seed
draws. The same seed is the same run, every time.

Exit codes: 0 ok, 1 an invariant was broken, 2 bad usage, 3 stuck (no progress
after everything was healed), 4 two runs of one seed differ, 5 a panic.`,
		Example: "  hyperscale sim list\n" +
			"  hyperscale sim run storm --seed 7 --story first --picture storm.html\n" +
			"  hyperscale sim swarm --scenario storm --seeds 1..500 --out out/swarm\n" +
			"  hyperscale sim replay out/swarm/storm-17.sched",
		Args: command.RefuseCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSimListCommand(), newSimRunCommand(), newSimReplayCommand(), newSimSwarmCommand(), newSimShrinkCommand(), newSimExplainCommand(), newSimLifeguardCommand(), newSimTimesCommand(), newSimVulnerableCommand(), newSimRunnerCommand())
	return cmd
}
