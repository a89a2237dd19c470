package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// The groups of help.
const (
	groupTest    = "test"
	groupCluster = "cluster"
	groupMore    = "more"
)

// newRootCommand wires every command. One that is not built is absent.
func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "hyperscale",
		Short: "load tests on one machine or on many datacenters",
		Long: `Hyperscale runs load tests on this machine or on many datacenters.

  hyperscale demo                     watch one, end to end, in a few seconds
  hyperscale new test.star            write a test of your own
  hyperscale run test.star            run it here
  hyperscale submit test.star --gate gate-1:9000    run it on a cluster`,
		Args:          refuseCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(newHelpCommand(root))
	root.SetFlagErrorFunc(refuseFlag)
	root.SetUsageTemplate(usageTemplate)
	root.AddGroup(
		&cobra.Group{ID: groupTest, Title: "Load tests on this machine:"},
		&cobra.Group{ID: groupCluster, Title: "Clusters:"},
		&cobra.Group{ID: groupMore, Title: "More:"},
	)
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add(groupTest,
		newDemoCommand(), newRunCommand(), newNewCommand(), newValidateCommand(), newFmtCommand(), newDocsCommand(), newLspCommand(),
		newCompareCommand(), newReportCommand(), newPingCommand(), newTargetCommand(),
	)
	add(groupCluster,
		newSubmitCommand(), newWatchCommand(), newStatusCommand(), newCancelCommand(), newDatacentersCommand(), newDrainCommand(), newRecoverCommand(),
		newNodeCommand(node.RoleGate, "run a gate: takes jobs and spreads them over datacenters"),
		newNodeCommand(node.RoleManager, "run a manager: places a datacenter's share of jobs on its workers"),
		newNodeCommand(node.RoleWorker, "run a worker: sends load from this machine's cores"),
	)
	// The simulator's commands join this line.
	add(groupMore, newSimCommand(), newVersionCommand(), newCompletionCommand())
	root.AddCommand(newExecutorCommand(), newGuardCommand())
	return root
}

// newHelpCommand is for those who type `help run` for `run --help`.
func newHelpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:    "help [COMMAND]",
		Hidden: true,
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || cmd == root && len(rest) > 0 {
				return refuseCommand(root, args)
			}
			return cmd.Help()
		},
	}
}

// usageTemplate is cobra's, less what says nothing here.
const usageTemplate = `Usage:
  {{if .Runnable}}{{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND --help{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{$all := .Commands}}{{range $group := .Groups}}

{{.Title}}{{range $all}}{{if (and (eq .GroupID $group.ID) .IsAvailableCommand)}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{if not .Groups}}{{range $all}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}
`

// refuseCommand names the nearest command.
func refuseCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return usage("%q is not a command%s: `%s --help` lists them", args[0], didYouMean(args[0], names), cmd.CommandPath())
}

// jobArgument refuses what is no job's id.
func jobArgument(cmd *cobra.Command, args []string) error {
	if err := exactly("JOB")(cmd, args); err != nil {
		return err
	}
	id, err := message.ParseJobID(args[0])
	if err == nil && (id == message.JobID{} || id.String() != args[0]) { // no gate writes it so
		err = fmt.Errorf("job %q: %w", args[0], message.ErrJobID)
	}
	return asUsage(err)
}

// refuseFlag names the nearest flag where there is no such flag, and says where
// the rules are told.
func refuseFlag(cmd *cobra.Command, err error) error {
	text := err.Error()
	if name, unknown := strings.CutPrefix(text, "unknown flag: --"); unknown {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		text = fmt.Sprintf("--%s is not a flag of `%s`%s", name, cmd.CommandPath(), didYouMean(name, names))
		if name == "debug" && cmd.Name() == "submit" {
			return usage("%s: one virtual user needs no cluster: use `hyperscale run FILE --debug`, from a machine that reaches the target", text)
		}
	}
	if head, _, cryptic := strings.Cut(text, ": strconv.Parse"); cryptic {
		text = head + ": write a whole number"
	}
	return usage("%s: see `%s --help`", text, cmd.CommandPath())
}

// didYouMean proposes the nearest of names, or nothing.
func didYouMean(got string, names []string) string {
	if len(names) == 0 || len(got) > 64 {
		return ""
	}
	far := func(name string) int {
		if len(got) > 1 && strings.HasPrefix(name, got) {
			return 0 // cut short
		}
		return distance(got, name)
	}
	best := slices.MinFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(far(a), far(b)), cmp.Compare(a, b)) })
	if far(best) > max(1, len(got)/3) {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", best)
}

// distance is how many letters to change, add, drop, or swap with their neighbour.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			rows[i][j] = min(change, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

// exactly refuses any other number of arguments than the named ones.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return usage("`%s` needs %s: see `%s --help`", cmd.CommandPath(), strings.Join(names[len(args):], " and "), cmd.CommandPath())
		case len(args) > len(names):
			return usage("`%s` does not take %q: see `%s --help`", cmd.CommandPath(), args[len(names)], cmd.CommandPath())
		}
		return nil
	}
}
