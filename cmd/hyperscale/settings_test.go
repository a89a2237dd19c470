package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/gate"
	"hyperscale/core/manager"
	"hyperscale/core/setting"
	"hyperscale/core/worker"
	"hyperscale/runtime/exec"
)

const settingsPage = "../../docs/settings.md"

// settable are the settings of each role, with the role's defaults.
func settable() map[string][]setting.Setting {
	g, m, w, e := gate.Default(), manager.Default(), worker.Default(), exec.Default()
	return map[string][]setting.Setting{"gate": g.Settings(), "manager": m.Settings(), "worker": slices.Concat(w.Settings(), e.Settings())}
}

// The page lists each setting as in the code. REWRITE=1 writes the page.
func TestSettingsPageIsTrue(t *testing.T) {
	b, err := os.ReadFile(settingsPage)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- settings: REWRITE=1 go test ./cmd/hyperscale -run SettingsPage -->\n", "<!-- end of settings -->\n"
	head, rest, found := strings.Cut(string(b), begin)
	_, foot, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s lacks %q or %q", settingsPage, begin, end)
	}
	all := settable()
	var page strings.Builder
	for _, role := range []string{"gate", "manager", "worker"} {
		fmt.Fprintf(&page, "\n## %s\n\n| key | default | range | what it bounds | higher | lower |\n|---|---|---|---|---|---|\n", role)
		for _, s := range all[role] {
			if s.Is == "" || s.Raise == "" || s.Lower == "" {
				t.Errorf("%s lacks what it bounds, or what raising or lowering does", s.Key)
			}
			fmt.Fprintf(&page, "| `%s` | %s | %s | %s | %s | %s |\n", s.Key, s, s.Range(), s.Is, s.Raise, s.Lower)
		}
	}
	want := head + begin + page.String() + "\n" + end + foot
	if os.Getenv("REWRITE") != "" {
		if err := os.WriteFile(settingsPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(b) != want {
		t.Errorf("%s is not what the code has: REWRITE=1 go test ./cmd/hyperscale -run SettingsPage", settingsPage)
	}
}

// notSettable are values that messages name and that --set does not take.
var notSettable = map[string]string{
	"gate.lease":               "--lease",
	"gate.quorum_timeout":      "--quorum-timeout",
	"gate.stop_timeout":        "a part of --stop-timeout",
	"gate.renewal_timeout":     "equal on all nodes: what gates and managers count on",
	"gate.drift_ppm":           "equal on all nodes: what gates and managers count on",
	"gate.gates":               "--gates",
	"manager.datacenter":       "--datacenter",
	"manager.gates":            "--gates",
	"manager.seeds":            "--seed",
	"manager.managers":         "--managers",
	"manager.subjob_lease":     "--subjob-lease",
	"manager.datacenter_lease": "two --lease",
	"manager.quorum_timeout":   "--quorum-timeout",
	"manager.renewal_timeout":  "equal on all nodes: what gates and managers count on",
	"manager.drift_ppm":        "equal on all nodes: what gates and managers count on",
	"worker.datacenter":        "--datacenter",
	"worker.managers":          "--managers",
	"worker.cores":             "--cores",
	"worker.renewal_timeout":   "equal on all nodes: what gates and managers count on",
	"exec.cores":               "--cores",
	"exec.logger":              "of Go code",
}

// Each setting that a message of the product names can be set under that name.
func TestMessagesNameSettings(t *testing.T) {
	known := map[string]bool{}
	for _, list := range settable() {
		for _, s := range list {
			known[s.Key] = true
		}
	}
	texts := regexp.MustCompile("\"(?:[^\"\\\\\n]|\\\\.)*\"|`[^`]*`")
	names := regexp.MustCompile(`\b(?:gate|manager|worker|exec)\.[a-z_]+\b`)
	found := 0
	for _, root := range []string{"../../core", "../../runtime", "."} {
		err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "settings.go") {
				return err
			}
			b, err := os.ReadFile(path)
			for _, text := range texts.FindAllString(string(b), -1) {
				for _, name := range names.FindAllString(text, -1) {
					found++
					if !known[name] && !strings.HasSuffix(name, ".yaml") && notSettable[name] == "" {
						t.Errorf("%s: %s names %s, which nobody can set: add it to Settings, or say in notSettable what sets it", path, text, name)
					}
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 20 {
		t.Errorf("got %d names of settings in all messages, want 20 at least: the pattern finds nothing", found)
	}
}

func TestSetOfANode(t *testing.T) {
	t.Parallel()
	refused := run(t, command.ExitUsage, "gate", "--id", "g", "--data", t.TempDir(), "--listen", ownAddress(t), "--set", "gate.result_max=5", "--set", "gate.queue_max=0")
	refused.says(`gate\.queue_max = 0 must be at least 1`, `gate\.result_max = "5" is no setting here: settings are .*gate\.results_max`)
	run(t, command.ExitUsage, "manager", "--id", "m", "--data", t.TempDir(), "--gates", "127.0.0.1:1", "--datacenter", "d", "--set", "gate.queue_max=5").says(`settings are manager\.`)
	file := write(t, "node.yaml", "id: g\nset:\n  gate.queue_max: 20000\n  gate.jobs_max: 30000\n")
	run(t, command.ExitUsage, "gate", "--config", file, "--data", t.TempDir(), "--listen", ownAddress(t), "--set", "gate.jobs_max=10000").
		says(`gate\.queue_max = 20000 must not be above gate\.jobs_max = 10000`)
	p := start(t, "gate", "--config", file, "--data", t.TempDir(), "--listen", ownAddress(t))
	p.await(upLine)
}
