package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Each command that people type rejects a misspelt variable. Nodes reject it with the other faults of their settings,
// and what only this program starts has the variables of what started it.
func TestCommandsRejectUnreadVariables(t *testing.T) {
	const wrong = "HYPERSCALE" + "_CLUSTR"
	t.Setenv(wrong, "staging")
	root := newRootCommand()
	rejects := map[string]bool{"gate": false, "manager": false, "worker": false, "executor": false, "compile": false, "runner": false, "terminal-guard": false, "help": false}
	checked := 0
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		want, listed := rejects[cmd.Name()]
		err := root.PersistentPreRunE(cmd, nil)
		if got := err != nil; got != (want || !listed) {
			t.Errorf("%s: %v", cmd.CommandPath(), err)
		}
		if err != nil {
			checked++
			if !strings.Contains(err.Error(), wrong+" is no setting (did you mean HYPERSCALE_CLUSTER?)") {
				t.Errorf("%s: %v", cmd.CommandPath(), err)
			}
		}
		if cmd != root && cmd.PersistentPreRunE != nil {
			t.Errorf("%s has a PersistentPreRunE, which hides that of the root", cmd.CommandPath())
		}
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(root)
	if checked < 30 {
		t.Errorf("only %d commands reject it", checked)
	}
}
