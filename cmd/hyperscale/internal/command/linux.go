package command

import "github.com/spf13/cobra"

// needLinux is why a command does not run on another system, and what to do instead.
func needLinux() map[string]string {
	const (
		load = "the engine that sends load"
		node = "a node"
		send = "submit the file to a cluster with `hyperscale submit FILE --gate ADDR`, or run the command in a Linux container"
		host = "start it on a Linux machine, or in a Linux container"
	)
	text := func(what, remedy string) string { return what + " needs Linux, and this system is %s: " + remedy }
	return map[string]string{
		"run": text(load, send), "demo": text(load, "run the command in a Linux container"), "executor": text(load, host),
		"target": text("the test server", "run the command in a Linux container"),
		"gate":   text(node, host), "manager": text(node, host), "worker": text(node, host), "recover": text(node, host), "doctor": text(node, host),
	}
}

// LinuxOnly makes the commands that need Linux say so on another system, before they look at anything else.
func LinuxOnly(root *cobra.Command, system string) {
	if system == "linux" {
		return
	}
	reasons := needLinux()
	for _, c := range root.Commands() {
		if reason, ok := reasons[c.Name()]; ok {
			c.Args = cobra.ArbitraryArgs
			c.RunE = func(*cobra.Command, []string) error { return Usage(reason, system) }
		}
	}
}
