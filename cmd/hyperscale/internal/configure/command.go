package configure

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/operate"
	"hyperscale/core/node"
	"hyperscale/runtime/config"
	"hyperscale/runtime/outputs/named"
)

// NewCommand is `config`.
func NewCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "check and explain the configuration of a node, without starting it",
		Args:  command.RefuseCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newCheckCommand(), newShowCommand(), newSchemaCommand())
	return cmd
}

// roles are those that have a configuration.
var roles = []node.Role{node.RoleGate, node.RoleManager, node.RoleWorker}

func roleOf(name string) (node.Role, error) {
	var names []string
	for _, r := range roles {
		if r.String() == name {
			return r, nil
		}
		names = append(names, r.String())
	}
	return node.RoleNone, command.Usage("ROLE = %q is none: write %s", name, strings.Join(names, ", "))
}

// configured gives a command a role, the flags of all roles, and what they say.
func configured(cmd *cobra.Command, do func(out io.Writer, role node.Role, s config.Sources) error) *cobra.Command {
	var file string
	cmd.Args = command.Exactly("ROLE")
	operate.AddNodeFlags(cmd, &file, roles...)
	cmd.RunE = command.Runs(func(cmd *cobra.Command, args []string) error {
		role, err := roleOf(args[0])
		if err != nil {
			return err
		}
		given, _ := operate.SettingsFor(role, cmd)
		return do(cmd.OutOrStdout(), role, config.Sources{File: file, Environ: os.Environ(), Flags: given})
	})
	return cmd
}

func newCheckCommand() *cobra.Command {
	var apart bool
	cmd := configured(&cobra.Command{
		Use:   "check ROLE",
		Short: "say whether a gate, manager or worker would start with a configuration",
		Long: `Reads --config, the environment and the flags as the node does, and reports all faults at once.
It also reads the secrets and certificates that the configuration names. It opens no port and
writes nothing. Exit code 0: the node would start. 2: it would not.`,
		Example: "  hyperscale config check gate --config gate-1.yaml\n  hyperscale config check worker --config worker.yaml --apart",
	}, func(out io.Writer, role node.Role, s config.Sources) error {
		n, err := config.Load(role, s)
		if err != nil {
			return command.AsUsage(err)
		}
		if err := operate.Check(n, apart); err != nil {
			return command.AsUsage(err)
		}
		for _, w := range n.Warnings() {
			if _, err := fmt.Fprintf(out, "warning: %s\n", w); err != nil {
				return err
			}
		}
		_, err = fmt.Fprintf(out, "ok: %s %s of cluster %s, %s\n", role, n.ID, n.Cluster, n.Environment)
		return err
	})
	cmd.Flags().BoolVar(&apart, "apart", false, "the node's files and processors are on another machine: do not look for them")
	return cmd
}

func newShowCommand() *cobra.Command {
	var asJSON bool
	cmd := configured(&cobra.Command{
		Use:   "show ROLE",
		Short: "print each value that a gate, manager or worker would run with, and where it is from",
		Long: `Prints each key of the role, its value, and the last source that sets it: default, profile, the file,
a variable or a flag. Values of secrets stand in files: only their paths are printed.`,
		Example: "  hyperscale config show manager --config manager-1.yaml\n  HYPERSCALE_LEASE=10s hyperscale config show gate --id gate-1 --data /tmp/g --json",
	}, func(out io.Writer, role node.Role, s config.Sources) error {
		n, all, err := config.Explain(role, s)
		if err != nil {
			return command.AsUsage(err)
		}
		sinks, err := named.ReadForGate(n.Outputs) // a gate alone has sinks
		if err != nil {
			return command.AsUsage(err)
		}
		for i := range sinks {
			all = append(all, config.Effective{Name: "outputs." + sinks[i].Name, Value: sinks[i].String(), From: s.File})
		}
		if asJSON {
			return writeJSON(out, all)
		}
		return config.WriteTable(out, all)
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a list of objects: name, value, from")
	return cmd
}

func newSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema ROLE",
		Short: "print the JSON Schema of a role's file, for editors",
		Long: `Editors complete keys and mark mistakes by it. For the YAML extension of an editor, write the
schema beside the file, and begin the file with: # yaml-language-server: $schema=schema.json`,
		Example: "  hyperscale config schema gate > schema.json",
		Args:    command.Exactly("ROLE"),
		RunE: command.Runs(func(cmd *cobra.Command, args []string) error {
			role, err := roleOf(args[0])
			if err != nil {
				return err
			}
			return writeJSON(cmd.OutOrStdout(), config.Schema(role, operate.SettingsOf(role), named.Schema()))
		}),
	}
}

func writeJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
