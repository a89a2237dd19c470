package metrics

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"hyperscale/core/alert"
)

// ruleName spells an alert as Prometheus does: HyperscaleQueueHigh.
func ruleName(r alert.Rule) string {
	var b strings.Builder
	b.WriteString("Hyperscale")
	for _, word := range strings.Split(r.Name, "-") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// rulesFile returns the rules for Prometheus.
func rulesFile() string {
	var b strings.Builder
	b.WriteString("# Alerting rules for Prometheus: `rule_files: [alerts.yml]`. A node itself decides when an alert begins\n" +
		"# and ends, so no rule has a `for`. REWRITE=1 go test ./runtime/metrics -run Rules writes this file.\n" +
		"groups:\n  - name: hyperscale\n    rules:\n")
	for id := range alert.IDs {
		r := alert.RuleOf(id)
		expr := fmt.Sprintf("hyperscale_alert{alert=%q} == 1", r.Name)
		if r.Group { // another member reports it after a take-over
			expr = fmt.Sprintf("max by (alert, severity, group) (max_over_time(hyperscale_alert{alert=%q}[1m])) == 1", r.Name)
		}
		fmt.Fprintf(&b, "      - alert: %s\n        expr: '%s'\n        labels:\n          severity: %s\n        annotations:\n          summary: %q\n          remedy: %q\n",
			ruleName(r), expr, r.Severity(), r.When, r.Remedy)
	}
	return b.String()
}

// alertRows returns the table of the manual.
func alertRows() string {
	var b strings.Builder
	b.WriteString("| alert | raised when | remedy |\n|---|---|---|\n")
	for id := range alert.IDs {
		r := alert.RuleOf(id)
		name := "`" + r.Name + "`"
		if r.Critical {
			name += ", critical"
		}
		long := "at once"
		switch {
		case r.For%time.Minute == 0 && r.For > 0:
			long = fmt.Sprintf("for %d min", r.For/time.Minute)
		case r.For > 0:
			long = fmt.Sprintf("for %d s", r.For/time.Second)
		}
		fmt.Fprintf(&b, "| %s | %s: %s | %s |\n", name, long, r.When, r.Remedy)
	}
	return b.String()
}

// The rules for Prometheus, and the table of the manual, are those of the list. promtool accepts them.
func TestRulesAreThoseOfTheList(t *testing.T) {
	rewrite := os.Getenv("REWRITE") != ""
	file := filepath.Join("..", "..", "docs", "alerts.yml")
	if rewrite {
		if err := os.WriteFile(file, []byte(rulesFile()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil || string(got) != rulesFile() {
		t.Fatalf("%s is not what the list says (%v): REWRITE=1 go test writes it", file, err)
	}
	var parsed struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				Labels      map[string]string
				Annotations map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(got, &parsed); err != nil || len(parsed.Groups) != 1 || len(parsed.Groups[0].Rules) != int(alert.IDs) {
		t.Fatalf("the rules are %+v, %v", parsed, err)
	}
	for i, r := range parsed.Groups[0].Rules {
		want := alert.RuleOf(alert.ID(i))
		if r.Alert != ruleName(want) || r.Labels["severity"] != want.Severity() || r.Annotations["summary"] != want.When || r.Annotations["remedy"] != want.Remedy || !strings.Contains(r.Expr, want.Name) {
			t.Errorf("rule %d is %+v, want that of %+v", i, r, want)
		}
	}
	checkPage(t, rewrite)
	tool, err := exec.LookPath("promtool")
	if err != nil {
		if os.Getenv("HYPERSCALE_CI") != "" {
			t.Fatal("promtool is missing: install prometheus")
		}
		t.Skip("promtool is not installed")
	}
	if out, err := exec.Command(tool, "check", "rules", file).CombinedOutput(); err != nil {
		t.Errorf("promtool check rules: %v: %s", err, out)
	}
}

func checkPage(t *testing.T, rewrite bool) {
	const begin, end = "<!-- alerts: REWRITE=1 go test ./runtime/metrics -run Rules -->\n", "<!-- end of alerts -->\n"
	file := filepath.Join("..", "..", "docs", "operations.md")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(b), begin)
	table, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no place for the alerts: %q and %q", file, begin, end)
	}
	if rewrite {
		if err := os.WriteFile(file, []byte(head+begin+alertRows()+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if table != alertRows() {
		t.Errorf("%s does not list the alerts as they are: REWRITE=1 go test writes them", file)
	}
}
