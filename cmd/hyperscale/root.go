package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/author"
	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/configure"
	"hyperscale/cmd/hyperscale/internal/doctor"
	"hyperscale/cmd/hyperscale/internal/follow"
	"hyperscale/cmd/hyperscale/internal/objects"
	"hyperscale/cmd/hyperscale/internal/operate"
	"hyperscale/cmd/hyperscale/internal/outlets"
	"hyperscale/cmd/hyperscale/internal/preserve"
	"hyperscale/cmd/hyperscale/internal/recall"
	"hyperscale/cmd/hyperscale/internal/results"
	"hyperscale/cmd/hyperscale/internal/simulated"
	"hyperscale/cmd/hyperscale/internal/upgrade"
	"hyperscale/cmd/hyperscale/internal/web"
	"hyperscale/core/node"
	"hyperscale/runtime/config"
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
		Long: "Hyperscale runs load tests on this machine or on many datacenters.\n\n" + strings.TrimSuffix(command.Hints(
			[2]string{"demo", "watch one, end to end, in a few seconds"},
			[2]string{"new test.star", "write a test of your own"},
			[2]string{"run test.star", "run it here"},
			[2]string{"submit test.star --gate gate-1:9000", "run it on a cluster"},
		), "\n"),
		Args:          command.RefuseCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceUsage:  true,
		SilenceErrors: true,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: command.Called()},

		PersistentPreRunE: checkVariables,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(newHelpCommand(root))
	root.SetFlagErrorFunc(command.RefuseFlag)
	root.SetUsageFunc(writeUsage)
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
		newDemoCommand(), newRunCommand(), author.NewNewCommand(), author.NewValidateCommand(), author.NewFmtCommand(), author.NewDocsCommand(), author.NewLspCommand(),
		newCompareCommand(), newReportCommand(), recall.NewCommand(), outlets.NewCommand(), operate.NewPingCommand(), newTargetCommand(),
	)
	add(groupCluster,
		newSubmitCommand(), newWatchCommand(), operate.NewStatusCommand(), operate.NewJobsCommand(), operate.NewReplayCommand(), results.NewCommand(), operate.NewCancelCommand(), operate.NewDatacentersCommand(), operate.NewDrainCommand(), upgrade.NewCommand(), operate.NewMembersCommand(), operate.NewRecoverCommand(), preserve.NewBackupCommand(), preserve.NewRestoreCommand(), preserve.NewVerifyCommand(), configure.NewCommand(), doctor.NewCommand(), newSecretCommand(), newCertsCommand(), web.NewTokenCommand(), objects.NewCommand(),
		operate.NewNodeCommand(node.RoleGate, "run a gate: takes jobs and spreads them over datacenters"),
		operate.NewNodeCommand(node.RoleManager, "run a manager: places a datacenter's share of jobs on its workers"),
		operate.NewNodeCommand(node.RoleWorker, "run a worker: sends load from this machine's cores"),
	)
	// The simulator's commands join this line.
	add(groupMore, simulated.NewCommand(), newVersionCommand(), newCompletionCommand())
	root.AddCommand(newExecutorCommand(), follow.NewGuardCommand(), web.NewCompileCommand())
	nameExamples(root)
	command.LinuxOnly(root, runtime.GOOS)
	return root
}

// checkVariables rejects misspelt variables before a command begins. Nodes reject them with the other faults of their
// settings, and commands that only this program starts have the variables of what started them.
func checkVariables(cmd *cobra.Command, _ []string) error {
	isNode := slices.Contains([]string{node.RoleGate.String(), node.RoleManager.String(), node.RoleWorker.String()}, cmd.Name())
	if isNode || cmd.Hidden {
		return nil
	}
	return command.AsUsage(config.Unread(os.Environ()))
}

// nameExamples makes the examples of help call the command the way the user called it.
func nameExamples(cmd *cobra.Command) {
	cmd.Example = strings.ReplaceAll(cmd.Example, "hyperscale ", command.Called()+" ")
	for _, c := range cmd.Commands() {
		nameExamples(c)
	}
}

// newHelpCommand lets people type `help run` for `run --help`.
func newHelpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:    "help [COMMAND]",
		Hidden: true,
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || cmd == root && len(rest) > 0 {
				return command.RefuseCommand(root, args)
			}
			return cmd.Help()
		},
	}
}

// writeUsage is cobra's usage, less what says nothing here. It is no template of text/template: that calls methods by
// names of run time, and the linker would keep every exported method of the binary, a twelfth of it.
func writeUsage(cmd *cobra.Command) error {
	w, flags := cmd.OutOrStderr(), cmd.LocalFlags() // the usage line knows flags once they are merged
	_, _ = fmt.Fprint(w, "Usage:\n  ")              // a terminal that has gone
	if cmd.Runnable() {
		_, _ = fmt.Fprint(w, cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		_, _ = fmt.Fprintf(w, "\n  %s COMMAND --help", cmd.CommandPath())
	}
	if cmd.HasExample() {
		_, _ = fmt.Fprintf(w, "\n\nExamples:\n%s", cmd.Example)
	}
	list := func(title, group string) {
		_, _ = fmt.Fprintf(w, "\n\n%s", title)
		for _, c := range cmd.Commands() {
			if c.GroupID == group && c.IsAvailableCommand() {
				_, _ = fmt.Fprintf(w, "\n  %-*s %s", c.NamePadding(), c.Name(), c.Short)
			}
		}
	}
	for _, g := range cmd.Groups() {
		list(g.Title, g.ID)
	}
	if len(cmd.Groups()) == 0 && cmd.HasAvailableSubCommands() {
		list("Commands:", "")
	}
	if cmd.HasAvailableLocalFlags() {
		_, _ = fmt.Fprintf(w, "\n\nFlags:\n%s", strings.TrimRightFunc(flags.FlagUsages(), unicode.IsSpace))
	}
	_, _ = fmt.Fprintln(w)
	return nil
}
