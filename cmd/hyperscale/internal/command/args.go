package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hyperscale/core/message"
)

// RefuseCommand names the nearest command.
func RefuseCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return Usage("%q is not a command%s: `%s --help` lists them", args[0], DidYouMean(args[0], names), cmd.CommandPath())
}

// JobArgument rejects an argument that is not a job's ID.
func JobArgument(cmd *cobra.Command, args []string) error {
	if err := Exactly("JOB")(cmd, args); err != nil {
		return err
	}
	return checkJob(args[0])
}

// JobAndNames rejects arguments that are not a job's ID and names of its workflows.
func JobAndNames(cmd *cobra.Command, args []string) error {
	if len(args) < 2 {
		return JobArgument(cmd, args)
	}
	if slices.Contains(args, "") {
		return Usage("the name of a workflow is empty: name one of the job's file")
	}
	return checkJob(args[0])
}

func checkJob(text string) error {
	id, err := message.ParseJobID(text)
	if err == nil && (id == message.JobID{} || id.String() != text) { // no gate writes it so
		err = fmt.Errorf("job %q: %w", text, message.ErrJobID)
	}
	return AsUsage(err)
}

// RefuseFlag names the nearest flag where there is no such flag, and names the
// help that has the rules.
func RefuseFlag(cmd *cobra.Command, err error) error {
	text := err.Error()
	if !cmd.HasParent() && (text == "unknown flag: --version" || strings.HasPrefix(text, "unknown shorthand flag: 'v'")) {
		return Usage("%s: write `%s version`", text, Called())
	}
	if letter, short := strings.CutPrefix(text, "unknown shorthand flag: '"); short {
		letter, _, _ = strings.Cut(letter, "'")
		text = fmt.Sprintf("-%s is not a flag of `%s`%s", letter, cmd.CommandPath(), beginningWith(cmd, letter))
	}
	if name, unknown := strings.CutPrefix(text, "unknown flag: --"); unknown {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		text = fmt.Sprintf("--%s is not a flag of `%s`%s", name, cmd.CommandPath(), DidYouMean(name, names))
		if name == "debug" && cmd.Name() == "submit" {
			return Usage("%s: one virtual user needs no cluster: use `%s run FILE --debug`, from a machine that reaches the target", text, Called())
		}
		if name == "trace" && cmd.Name() == "submit" {
			return Usage("%s: workers bring no samples of requests back: use `%s run FILE --trace 1/1000`, from a machine that reaches the target", text, Called())
		}
	}
	if head, _, cryptic := strings.Cut(text, ": strconv.Parse"); cryptic {
		text = head + ": write a whole number"
	}
	return Usage("%s: see `%s --help`", text, cmd.CommandPath())
}

// beginningWith proposes the flags that a letter may stand for: most have no short form.
func beginningWith(cmd *cobra.Command, letter string) string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if strings.HasPrefix(f.Name, letter) && !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	if len(names) == 0 {
		return ""
	}
	return " (did you mean " + strings.Join(names, " or ") + "?)"
}

// Exactly refuses any other number of arguments than the named ones.
func Exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return Usage("`%s` needs %s: see `%s --help`", cmd.CommandPath(), strings.Join(names[len(args):], " and "), cmd.CommandPath())
		case len(args) > len(names):
			return Usage("`%s` does not take %q: see `%s --help`", cmd.CommandPath(), args[len(names)], cmd.CommandPath())
		}
		return nil
	}
}

// AtMost refuses more arguments than the named ones.
func AtMost(names ...string) cobra.PositionalArgs {
	exactly := Exactly(names...)
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return nil
		}
		return exactly(cmd, args)
	}
}
