package web

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/api/tokens"
)

// NewTokenCommand makes tokens of the HTTP API.
func NewTokenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "make a token for the HTTP API of gates",
		Long: `Make a token for the HTTP API of gates.

A gate with --api answers HTTP to those whose tokens its file of --api-tokens names. Give all
gates the same file. A gate reads it again within a second of a change: to withdraw a token,
take its line out.`,
		Example: "  hyperscale token new --role submitter --name ci api.tokens\n  hyperscale gate --api 127.0.0.1:7480 --api-tokens api.tokens ...",
		Args:    command.RefuseCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newTokenNewCommand())
	return cmd
}

func newTokenNewCommand() *cobra.Command {
	var (
		role, name string
		expires    time.Duration
	)
	cmd := &cobra.Command{
		Use:   "new FILE",
		Short: "print a new token, and add its digest to FILE",
		Long: `Print a new token, once, and add its name, role, digest and end to FILE. The file does
not hold the token: who loses it makes a new one under another name.

A viewer lists and watches jobs, and sees the cluster. A submitter also submits jobs and
cancels its own. An operator also cancels jobs of others. The name owns the jobs.`,
		Example: "  hyperscale token new --role submitter --name ci api.tokens\n  hyperscale token new --role viewer --name wall --expires 2160h api.tokens",
		Args:    command.Exactly("FILE"),
		RunE: command.Runs(func(cmd *cobra.Command, args []string) error {
			right, err := tokens.ParseRole(role)
			if err != nil {
				return command.Usage("--role: %w", err)
			}
			var until time.Time
			if expires > 0 {
				until = time.Now().Add(expires)
			}
			text, t, err := tokens.New(name, right, until)
			if err != nil {
				return command.AsUsage(err)
			}
			if err := tokens.Add(args[0], t); err != nil {
				return command.AsUsage(err)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
			return err
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&role, "role", "viewer", "viewer, submitter or operator")
	flags.StringVar(&name, "name", "", "`name` of the token's holder, of 1 to 128 letters, digits or .-_@ (required)")
	command.AddSpan(flags, &expires, "expires", 0, time.Second, "how long the token counts, like 2160h; for ever if not given")
	return cmd
}
