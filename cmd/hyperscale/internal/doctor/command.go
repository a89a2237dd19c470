package doctor

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/operate"
	"hyperscale/core/node"
	"hyperscale/runtime/config"
)

// NewCommand is `doctor`.
func NewCommand() *cobra.Command {
	var file string
	var peers []string
	var asJSON bool
	roles := []node.Role{node.RoleGate, node.RoleManager, node.RoleWorker}
	cmd := &cobra.Command{
		Use:   "doctor ROLE",
		Short: "say why a gate, manager or worker does not join, and what of its machine is in its way",
		Long: `Reads --config, the environment and the flags as the node does. Then it looks at the secret and the
certificate, the disk, the limits of the machine and its control groups, and at each node that this node calls:
name, TCP, handshake, UDP, size of datagrams, set and clock. It may run beside the node, and needs no node to run here.
Each line is ok, warn or fail, with a remedy. Exit code 0: all is ok. 1: there is a warning. 2: something fails.`,
		Example: "  hyperscale doctor gate --config gate-1.yaml\n  hyperscale doctor worker --config worker.yaml --peer 10.0.0.9:7500 --json",
		Args:    command.Exactly("ROLE"),
		RunE: command.Runs(func(cmd *cobra.Command, args []string) error {
			at := slices.IndexFunc(roles, func(r node.Role) bool { return r.String() == args[0] })
			if at < 0 {
				return command.Usage("ROLE = %q is none: write gate, manager or worker", args[0])
			}
			for _, p := range peers {
				if !strings.Contains(p, ":") {
					return command.Usage("--peer = %q must be host:port: write the address that the node advertises", p)
				}
			}
			given, _ := operate.SettingsFor(roles[at], cmd)
			c, err := config.Load(roles[at], config.Sources{File: file, Environ: os.Environ(), Flags: given})
			d := doctor{c: c, machine: thisMachine(), peers: peers}
			all := d.examine(cmd.Context(), err)
			if err := print(cmd.OutOrStdout(), all, asJSON); err != nil {
				return err
			}
			if code := worst(all); code > 0 {
				return command.Exit(code, nil)
			}
			return nil
		}),
	}
	operate.AddNodeFlags(cmd, &file, roles...)
	cmd.Flags().StringArrayVar(&peers, "peer", nil, "`host:port` of one more node to look at (repeatable)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a list of objects: state, check, what, found, remedy")
	return cmd
}

// doctor examines one node.
type doctor struct {
	c       config.Node
	machine *machine
	peers   []string // beside those of the configuration
}

// examine runs all checks. Without a valid configuration it looks at the machine alone.
func (d *doctor) examine(ctx context.Context, unfit error) []Finding {
	all, trust := d.settings(unfit)
	all = append(all, d.machine.findings(&d.c)...)
	if d.c.Data != "" {
		all = append(all, d.machine.disk(&d.c)...)
	}
	if unfit != nil || trust == nil {
		return append(all, warn("peers", d.c.ID, "repair what fails above, and run this again", "no node was looked at"))
	}
	return append(all, d.network(ctx, trust)...)
}

// lines are the faults of an error, one each.
func lines(err error) []string {
	return slices.DeleteFunc(strings.Split(fmt.Sprint(err), "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
}
