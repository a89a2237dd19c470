package main

import (
	"errors"
	"io"
	"strings"
	"testing"

	"hyperscale/cmd/hyperscale/internal/command"
)

// On another system a command either works or says that it needs Linux, and what to do instead: whatever its
// arguments are, and before it looks at them.
func TestOtherSystems(t *testing.T) {
	remedies := map[string]string{
		"run": "hyperscale submit FILE", "demo": "Linux container", "executor": "Linux", "target": "Linux container",
		"gate": "a Linux machine", "manager": "a Linux machine", "worker": "a Linux machine", "recover": "a Linux machine", "doctor": "a Linux machine",
	}
	for _, system := range []string{"darwin", "linux"} {
		root := newRootCommand()
		command.LinuxOnly(root, system)
		seen := 0
		for _, c := range root.Commands() {
			remedy, needs := remedies[c.Name()]
			if !needs || system == "linux" {
				continue
			}
			seen++
			root.SetArgs([]string{c.Name(), "no-such-file.star", "no-such-argument"})
			root.SetOut(io.Discard)
			root.SetErr(io.Discard)
			err := root.Execute()
			var exit *command.ExitError
			if !errors.As(err, &exit) || exit.Code != command.ExitUsage {
				t.Errorf("%s on %s: got %v, want a refusal with exit code %d", c.Name(), system, err, command.ExitUsage)
				continue
			}
			for _, want := range []string{"needs Linux", "this system is darwin", remedy} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s on %s: %q lacks %q", c.Name(), system, err, want)
				}
			}
		}
		if want := len(remedies); system != "linux" && seen != want {
			t.Errorf("%d commands need Linux, want %d", seen, want)
		}
		root.SetArgs([]string{"validate", "../../examples/quickstart.star"})
		if err := root.Execute(); err != nil {
			t.Errorf("validate on %s: %v", system, err)
		}
	}
}
