package operate

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hyperscale/core/node"
	"hyperscale/runtime/config"
)

// AddNodeFlags gives a command the flags of the roles, with the defaults of the
// first, and those of others, hidden.
func AddNodeFlags(cmd *cobra.Command, file *string, roles ...node.Role) {
	flags := cmd.Flags()
	flags.StringVar(file, "config", "", "YAML `FILE` of the node's settings")
	for _, k := range config.Keys() {
		switch k.Name {
		case "seeds", "set":
			flags.StringArray(k.Flag(), nil, k.Help)
		case "insecure":
			flags.Bool(k.Flag(), false, k.Help)
		default:
			flags.String(k.Flag(), k.Default(roles[0]), k.Help)
		}
		if !slices.ContainsFunc(roles, k.For) {
			_ = flags.MarkHidden(k.Flag()) // it was declared a line above
		}
	}
}

// needless reports whether a role has no use for a flag. One script may start all roles with the same
// flags, so the command accepts the flag, omits it from help, and logs it.
func needless(flag string, role node.Role) bool {
	return slices.ContainsFunc(config.Keys(), func(k config.Key) bool { return k.Flag() == flag && !k.For(role) })
}

// notSettings are flags of commands that run nodes, and no settings of a node.
var notSettings = []string{"config", "history", "help", "unsafe", "role", "partial", "json", "apart", "peer"}

// SettingsFor are the flags that were set, without those that the role has no use
// for.
func SettingsFor(role node.Role, cmd *cobra.Command) (given map[string]string, dropped []string) {
	given = changedFlags(cmd)
	for name := range given {
		if needless(name, role) {
			dropped = append(dropped, "--"+name)
			delete(given, name)
		}
	}
	return given, dropped
}

// changedFlags are those that were set, by name, for config.
func changedFlags(cmd *cobra.Command) map[string]string {
	set := map[string]string{}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains(notSettings, f.Name) {
			return
		}
		set[f.Name] = f.Value.String()
		if list, ok := f.Value.(pflag.SliceValue); ok {
			set[f.Name] = strings.Join(list.GetSlice(), ",")
		}
	})
	return set
}

// AddGateFlags gives a command the flags of a gate.
func AddGateFlags(cmd *cobra.Command, file *string) { AddNodeFlags(cmd, file, node.RoleGate) }

// GateSettings returns the settings of a gate, from the file, the environment and the flags.
func GateSettings(cmd *cobra.Command, file string) (config.Node, error) {
	given, _ := SettingsFor(node.RoleGate, cmd)
	return config.Load(node.RoleGate, config.Sources{File: file, Environ: os.Environ(), Flags: given})
}
