package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/operate"
	"hyperscale/core/gate"
	"hyperscale/core/manager"
	"hyperscale/core/node"
	"hyperscale/core/setting"
	"hyperscale/core/worker"
	"hyperscale/runtime/config"
	"hyperscale/runtime/exec"
	"hyperscale/runtime/protocol/hostile/hostiletest"
)

const settingsPage = "../../docs/settings.md"

// settable are the settings of each role, with the role's defaults.
func settable() map[string][]setting.Setting {
	return map[string][]setting.Setting{"gate": operate.SettingsOf(node.RoleGate), "manager": operate.SettingsOf(node.RoleManager), "worker": operate.SettingsOf(node.RoleWorker)}
}

// The page lists each key, each setting and each recommendation as in the code. REWRITE=1 writes the page.
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
	writeSizes(&page, all)
	writeKeys(&page)
	for _, role := range []string{"gate", "manager", "worker"} {
		fmt.Fprintf(&page, "\n## %s\n\n| key | unit | default | range | what it bounds | higher | lower |\n|---|---|---|---|---|---|---|\n", role)
		for _, s := range all[role] {
			if s.Is == "" || s.Raise == "" || s.Lower == "" {
				t.Errorf("%s lacks what it bounds, or what raising or lowering does", s.Key)
			}
			fmt.Fprintf(&page, "| `%s` | %s | %s | %s | %s | %s | %s |\n", s.Key, s.Unit(), s, s.Range(), s.Is, s.Raise, s.Lower)
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

var roles = []node.Role{node.RoleGate, node.RoleManager, node.RoleWorker}

// writeKeys writes the keys of a node: for one role each, or for all.
func writeKeys(page *strings.Builder) {
	page.WriteString("\n## Every node\n\n| key | role | unit | default | range | what it sets | higher, or set | lower, or left out |\n|---|---|---|---|---|---|---|---|\n")
	for _, k := range config.Keys() {
		var of, defaults []string
		for _, r := range roles {
			if k.For(r) {
				of = append(of, r.String())
				defaults = append(defaults, k.Default(r))
			}
		}
		if same := slices.Compact(slices.Clone(defaults)); len(same) == 1 {
			defaults = same
		} else {
			for i := range defaults {
				defaults[i] = of[i] + " " + defaults[i]
			}
		}
		role := strings.Join(of, ", ")
		if len(of) == len(roles) {
			role = "all"
		}
		cells := []string{"`" + k.Name + "`", role, k.Unit, strings.Join(defaults, ", "), k.Range, strings.ReplaceAll(k.Help, "`", ""), k.Raise, k.Lower}
		for i, c := range cells {
			cells[i] = cmp.Or(c, "-")
		}
		fmt.Fprintf(page, "| %s |\n", strings.Join(cells, " | "))
	}
}

// writeSizes writes what the code recommends, and what memory the bounds of a gate add up to.
func writeSizes(page *strings.Builder, all map[string][]setting.Setting) {
	page.WriteString("\n## By size\n\n| cluster | for | gate's bounds of memory add up to |\n|---|---|---|\n")
	for i, s := range config.Sizes() {
		g := gate.Default()
		for _, a := range config.Advised() {
			if a.Role == node.RoleGate && strings.Contains(a.Key, ".") && a.Values[i] != "" {
				_ = setting.Set(g.Settings(), a.Key, a.Values[i]) // TestSizesAreValid shows the error
			}
		}
		sum := int64(g.JobsMax)*3<<10 + int64(g.KeysMax)*86 + int64(g.SpecBytesMax) + int64(g.FileBytesMax) + int64(g.LetterBytesMax)
		fmt.Fprintf(page, "| %s | %s | %d MiB |\n", s.Name, s.For, sum>>20)
	}
	page.WriteString("\n| role | key | small | usual | large | one LAN | WAN | why |\n|---|---|---|---|---|---|---|---|\n")
	for _, a := range config.Advised() {
		fmt.Fprintf(page, "| %s | `%s` |", a.Role, a.Key)
		for _, v := range a.Values {
			fmt.Fprintf(page, " %s |", cmp.Or(v, defaultOf(a, all)))
		}
		fmt.Fprintf(page, " %s |\n", a.Why)
	}
}

func defaultOf(a config.Advice, all map[string][]setting.Setting) string {
	if k, found := config.KeyOf(a.Key); found {
		return k.Default(a.Role)
	}
	for _, s := range all[a.Role.String()] {
		if s.Key == a.Key {
			return s.String()
		}
	}
	return "?"
}

// Each recommended size is a configuration with which each role starts.
func TestSizesAreValid(t *testing.T) {
	for i, size := range config.Sizes() {
		for _, role := range roles {
			environ := []string{"HYPERSCALE_ID=a", "HYPERSCALE_DATA=d"}
			if role != node.RoleGate {
				environ = append(environ, "HYPERSCALE_DATACENTER=east", "HYPERSCALE_"+map[node.Role]string{node.RoleManager: "GATES", node.RoleWorker: "MANAGERS"}[role]+"=127.0.0.1:1")
			}
			g, m, w, e := gate.Default(), manager.Default(), worker.Default(), exec.Default()
			settings := slices.Concat(g.Settings(), m.Settings(), w.Settings(), e.Settings())
			for _, a := range config.Advised() {
				if a.Role != role || a.Values[i] == "" {
					continue
				}
				if k, found := config.KeyOf(a.Key); found {
					environ = append(environ, k.Variable()+"="+a.Values[i])
				} else if err := setting.Set(settings, a.Key, a.Values[i]); err != nil {
					t.Errorf("%s: %v", size.Name, err)
				}
			}
			c, err := config.Load(role, config.Sources{Environ: environ})
			if err != nil {
				t.Errorf("%s %s: %v", size.Name, role, err)
			}
			g.Gates, g.Lease, g.QuorumTimeout = []node.Addr{"127.0.0.1:1"}, c.Lease, c.QuorumTimeout
			m.Datacenter, m.Gates, m.DatacenterLease = "east", []node.Addr{"127.0.0.1:1"}, 2*max(c.Lease, time.Second)
			if role == node.RoleManager {
				m.SubjobLease, m.QuorumTimeout = c.SubjobLease, c.QuorumTimeout
			}
			w.Datacenter, w.Managers, w.Cores = "east", []node.Addr{"127.0.0.1:1"}, 1
			validate := map[node.Role]func() error{node.RoleGate: g.Validate, node.RoleManager: m.Validate, node.RoleWorker: func() error { return errors.Join(w.Validate(), e.Validate()) }}
			if err := validate[role](); err != nil {
				t.Errorf("%s %s: %v", size.Name, role, err)
			}
		}
	}
}

// The range that the page gives for a subjob's lease is the one that a manager accepts.
func TestRangeOfASubjobLease(t *testing.T) {
	m := manager.Default()
	m.Datacenter, m.Gates = "east", []node.Addr{"127.0.0.1:1"}
	for lease, fits := range map[time.Duration]bool{1100 * time.Millisecond: true, time.Second: false, 3900 * time.Millisecond: true, 4 * time.Second: false} {
		m.SubjobLease = lease
		if err := m.Validate(); (err == nil) != fits {
			t.Errorf("%v: got %v, want it accepted: %v", lease, err, fits)
		}
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
	refused := run(t, command.ExitUsage, "gate", "--id", "g", "--data", t.TempDir(), "--listen", hostiletest.FreeAddress(t), "--set", "gate.result_max=5", "--set", "gate.queue_max=0")
	refused.says(`gate\.queue_max = 0 must be at least 1`, `gate\.result_max = "5" is no setting here \(did you mean gate\.results_max\?\): settings are .*gate\.results_max`)
	run(t, command.ExitUsage, "manager", "--id", "m", "--data", t.TempDir(), "--gates", "127.0.0.1:1", "--datacenter", "d", "--set", "gate.queue_max=5").says(`settings are manager\.`)
	file := write(t, "node.yaml", "id: g\nset:\n  gate.queue_max: 20000\n  gate.jobs_max: 30000\n")
	run(t, command.ExitUsage, "gate", "--config", file, "--data", t.TempDir(), "--listen", hostiletest.FreeAddress(t), "--set", "gate.jobs_max=10000").
		says(`gate\.queue_max = 20000 must not be above gate\.jobs_max = 10000`)
	p := start(t, "gate", "--config", file, "--data", t.TempDir(), "--listen", hostiletest.FreeAddress(t))
	p.await(upLine)
}
