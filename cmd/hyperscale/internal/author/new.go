package author

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/source"
	"hyperscale/runtime/convert"
)

//go:embed scaffold.star
var scaffold string

// NewNewCommand writes a workflow file to start from.
func NewNewCommand() *cobra.Command {
	var from sourceFlags
	var kit string
	cmd := &cobra.Command{
		Use:   "new FILE",
		Short: "write a workflow file to start from, or from curl, HAR, OpenAPI, Postman",
		Example: `  hyperscale new test.star && hyperscale run test.star --set target=http://127.0.0.1:8080
  hyperscale new login.star --from-curl "curl -d user=ann https://shop.example/login"
  hyperscale new shop.star --from-har shop.har
  hyperscale new api.star --from-openapi openapi.yaml --all
  hyperscale new steps.py --custom python`,
		Args: command.Exactly("FILE"),
		RunE: command.Runs(func(cmd *cobra.Command, args []string) error {
			if kit != "" {
				return writeKit(cmd, args[0], kit)
			}
			made, err := from.convert(cmd, args[0])
			if err != nil {
				return err
			}
			if made != nil {
				return writeConverted(cmd, args[0], made)
			}
			if err := source.Create(args[0], scaffold); err != nil {
				return command.AsUsage(err)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "wrote %s; next:\n%s", args[0], command.Hints(
				[2]string{"target --listen 127.0.0.1:8080", "something to test, in another terminal"},
				[2]string{"validate " + args[0], "check it"},
				[2]string{"run " + args[0], "run it here"},
			))
			return err
		}),
	}
	from.add(cmd.Flags())
	cmd.Flags().StringVar(&kit, "custom", "", "write a program of custom steps instead, in this `LANGUAGE`: python, go or javascript")
	return cmd
}

// writeConverted keeps what was converted, and tells how to go on.
func writeConverted(cmd *cobra.Command, name string, made *convert.File) error {
	if err := source.Create(name, made.Text); err != nil {
		return command.AsUsage(err)
	}
	tellNotes(cmd.ErrOrStderr(), made)
	debug := command.Called() + " run " + name + " --debug"
	for i, secret := range made.Secrets {
		if i == 6 {
			debug += " ..."
			break
		}
		debug += " --set " + secret + "=..."
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "wrote %s, %s; next:\n  %s\n  %s\n", name, command.Counted(made.Steps, "request"), debug, strings.Replace(debug, " --debug", "", 1))
	return err
}
