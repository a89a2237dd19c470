package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"hyperscale/core/alert"
)

// root is that of the repository.
var root = filepath.Join("..", "..")

// The files are those of the tables, and another one is found.
func TestFilesAreThoseOfTheTables(t *testing.T) {
	if err := run(root, true); err != nil {
		t.Error(err)
	}
	all, err := files(root)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range all {
		name := filepath.Join(dir, f.name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range all {
		name := filepath.Join(dir, f.name)
		changed := strings.Replace(string(f.text), "queue-high", "queue-low", 1)
		if changed == string(f.text) {
			changed += "# more"
		}
		if err := os.WriteFile(name, []byte(changed), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := run(dir, true); err == nil || !strings.Contains(err.Error(), f.name) {
			t.Errorf("%s is changed, and the check says %v", f.name, err)
		}
		if err := run(dir, false); err != nil {
			t.Fatal(err)
		}
		if err := run(dir, true); err != nil {
			t.Errorf("%s is written anew, and the check says %v", f.name, err)
		}
	}
}

// Each alert of the list has a rule with its severity, sentence, remedy and place in the manual.
func TestAlertsAreThoseOfTheList(t *testing.T) {
	var parsed struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				Labels      map[string]string
				Annotations map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(alertsFile(), &parsed); err != nil || len(parsed.Groups) != 1 || len(parsed.Groups[0].Rules) != int(alert.IDs)+len(seenAlerts()) {
		t.Fatalf("the rules are %+v, %v", parsed, err)
	}
	manual, err := os.ReadFile(filepath.Join(root, manualName))
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range parsed.Groups[0].Rules {
		var want alert.Rule
		if i < int(alert.IDs) {
			want = alert.RuleOf(alert.ID(i))
		} else {
			one := seenAlerts()[i-int(alert.IDs)]
			want = alert.Rule{Name: one.name, When: one.when, Remedy: one.remedy}
			if r.Expr != one.expr {
				t.Errorf("rule %d is %q, want %q", i, r.Expr, one.expr)
			}
			r.Expr = one.name
		}
		if r.Alert != ruleName(want.Name) || r.Labels["severity"] != want.Severity() || r.Annotations["summary"] != want.When || r.Annotations["remedy"] != want.Remedy || !strings.Contains(r.Expr, want.Name) {
			t.Errorf("rule %d is %+v, want that of %+v", i, r, want)
		}
		if name, anchor, _ := strings.Cut(r.Annotations["manual"], "#"); name != manualName || !strings.Contains(string(manual), "\n#### "+anchor+"\n") {
			t.Errorf("rule %d leads to %s, which is not there", i, r.Annotations["manual"])
		}
	}
}

// promtool runs Debian's; in CI it may not be missing.
func promtool(t *testing.T, args ...string) (out string, err error) {
	t.Helper()
	tool, err := exec.LookPath("promtool")
	if err != nil {
		if os.Getenv("HYPERSCALE_CI") != "" {
			t.Fatal("promtool is missing: install prometheus")
		}
		t.Skip("promtool is not installed")
	}
	b, err := exec.Command(tool, args...).CombinedOutput()
	return string(b), err
}

func TestPromtoolTakesTheRules(t *testing.T) {
	for _, name := range []string{"alerts.yaml", "rules.yaml"} {
		if out, err := promtool(t, "check", "rules", filepath.Join(root, "deploy", "prometheus", name)); err != nil {
			t.Errorf("promtool check rules: %v: %s", err, out)
		}
	}
}

// ruleTest is a case of promtool test rules: what series say, and which alerts fire when.
type ruleTest struct {
	Name       string      `yaml:"name"`
	Interval   string      `yaml:"interval"`
	Input      []input     `yaml:"input_series"`
	AlertTests []alertTest `yaml:"alert_rule_test,omitempty"`
	ExprTests  []exprTest  `yaml:"promql_expr_test,omitempty"`
}

type input struct {
	Series string `yaml:"series"`
	Values string `yaml:"values"`
}

type alertTest struct {
	At    string      `yaml:"eval_time"`
	Name  string      `yaml:"alertname"`
	Alert []expectedA `yaml:"exp_alerts"`
}

type expectedA struct {
	Labels      map[string]string `yaml:"exp_labels"`
	Annotations map[string]string `yaml:"exp_annotations"`
}

type exprTest struct {
	Expr    string   `yaml:"expr"`
	At      string   `yaml:"eval_time"`
	Samples []sample `yaml:"exp_samples"`
}

type sample struct {
	Labels string  `yaml:"labels"`
	Value  float64 `yaml:"value"`
}

// testRules lets promtool test rules as they are written.
func testRules(t *testing.T, rules []byte, tests []ruleTest) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, rules, 0o644); err != nil {
		t.Fatal(err)
	}
	b, err := yaml.Marshal(map[string]any{"rule_files": []string{file}, "evaluation_interval": "15s", "tests": tests})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "test.yaml")
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := promtool(t, "test", "rules", name); err != nil {
		t.Errorf("promtool test rules: %v: %s", err, out)
	}
}

// Each alert fires once while a node reports it, with its remedy, and is silent while nodes report all
// others. That of a group goes on firing, once, while another leader takes it over, and ends with it.
func TestEachAlertFiresAndIsSilent(t *testing.T) {
	var tests []ruleTest
	for id := range alert.IDs {
		r := alert.RuleOf(id)
		series := func(name, severity, instance, values string) input {
			return input{fmt.Sprintf("hyperscale_alert{alert=%q,severity=%q,group=\"gates\",instance=%q}", name, severity, instance), values}
		}
		labels := map[string]string{"alert": r.Name, "severity": r.Severity(), "group": "gates"}
		if !r.Group {
			labels["instance"] = "g1"
		}
		fires := []expectedA{{labels, map[string]string{"summary": r.When, "remedy": r.Remedy, "manual": manualName + "#" + r.Name}}}
		at := func(when string, want []expectedA) alertTest { return alertTest{when, ruleName(r.Name), want} }
		one := ruleTest{Name: r.Name + " is raised", Interval: "15s", Input: []input{series(r.Name, r.Severity(), "g1", "0 0 1x19 0x20"), series(r.Name, r.Severity(), "g2", "0x40")}}
		one.AlertTests = []alertTest{at("15s", nil), at("1m", fires), at("5m", fires), at("7m", nil)}
		silent := ruleTest{Name: r.Name + " is not raised", Interval: "15s", Input: []input{series(r.Name, r.Severity(), "g1", "0x40")}, AlertTests: []alertTest{at("5m", nil)}}
		for other := range alert.IDs {
			if o := alert.RuleOf(other); other != id {
				silent.Input = append(silent.Input, series(o.Name, o.Severity(), "g1", "1x40"))
			}
		}
		tests = append(tests, one, silent)
		if !r.Group {
			continue
		}
		taken := ruleTest{Name: r.Name + " is taken over", Interval: "15s", Input: []input{series(r.Name, r.Severity(), "g1", "1x8 stale"), series(r.Name, r.Severity(), "g2", "_x10 1x8 0x20")}}
		for _, when := range []string{"1m", "2m", "2m15s", "2m30s", "3m", "4m"} {
			taken.AlertTests = append(taken.AlertTests, at(when, fires))
		}
		taken.AlertTests = append(taken.AlertTests, at("7m", nil))
		tests = append(tests, taken)
	}
	dead := ruleTest{Name: "a member is dead", Interval: "15s", Input: []input{
		{`hyperscale_swim_members{state="dead",instance="g1"}`, "0 0 1x19 0x20"}, {`hyperscale_swim_members{state="dead",instance="g2"}`, "0x40"}, {`hyperscale_swim_members{state="left",instance="g1"}`, "1x40"},
	}}
	for _, one := range seenAlerts() {
		fires := []expectedA{{map[string]string{"severity": one.severity}, map[string]string{"summary": one.when, "remedy": one.remedy, "manual": manualName + "#" + one.name}}}
		dead.AlertTests = append(dead.AlertTests, alertTest{"15s", ruleName(one.name), nil}, alertTest{"1m", ruleName(one.name), fires}, alertTest{"5m", ruleName(one.name), fires}, alertTest{"7m", ruleName(one.name), nil})
	}
	testRules(t, alertsFile(), append(tests, dead))
}

// The recording rules add up gates and datacenters, have no label of a run, and take requests of functions
// once.
func TestRulesRecord(t *testing.T) {
	of := func(metric, more, values string) input {
		return input{fmt.Sprintf(`hyperscale_%s{test="a.star",workflow="w",step="s"%s}`, metric, more), values}
	}
	const step, flow = `test="a.star", workflow="w", step="s"`, `test="a.star", workflow="w"`
	test := ruleTest{Name: "a load", Interval: "15s", Input: []input{
		of("requests_total", `,run="1",datacenter="east",result="ok",instance="g1"`, "0+135x20"),
		of("requests_total", `,run="2",datacenter="west",result="timed_out",instance="g2"`, "0+15x20"),
		of("requests_total", `,run="1",datacenter="east",result="ok",request="r",instance="g1"`, "0+999x20"),
		of("request_duration_seconds_bucket", `,le="0.01",run="1"`, "0+50x20"),
		of("request_duration_seconds_bucket", `,le="0.1",run="1"`, "0+100x20"),
		of("request_duration_seconds_bucket", `,le="+Inf",run="1"`, "0+100x20"),
		of("received_bytes_total", `,run="1"`, "0+1500x20"),
		of("lost_requests_total", `,run="1"`, "7x20"),
		{`hyperscale_active_vus{test="a.star",workflow="w",datacenter="east",run="1"}`, "3x20"},
		{`hyperscale_active_vus{test="a.star",workflow="w",datacenter="west",run="1"}`, "4x20"},
		{`hyperscale_generator_saturated{test="a.star",workflow="w",datacenter="east"}`, "0x20"},
		{`hyperscale_generator_saturated{test="a.star",workflow="w",datacenter="west"}`, "1x20"},
		{`hyperscale_node_bound_used{setting="gate.queue_max",instance="g1"}`, "3x20"},
		{`hyperscale_node_bound_used{setting="gate.queue_max",instance="g2"}`, "2x20"},
		{`hyperscale_node_bound_used{setting="gate.jobs_max",instance="g2"}`, "9x20"},
		{`hyperscale_node_shed_requests_total{reason="bound",priority="none"}`, "0+30x20"},
		{`hyperscale_shard_losses_total{instance="m1"}`, "2x20"},
	}}
	want := map[string]sample{
		"hyperscale:requests:rate1m":          {step, 10},
		"hyperscale:failures:ratio1m":         {step, .1},
		"hyperscale:latency_seconds:p50_1m":   {step, .01},
		"hyperscale:latency_seconds:p99_1m":   {step, .09820000000000001},
		"hyperscale:received_bytes:rate1m":    {step, 100},
		"hyperscale:active_vus:sum":           {flow, 7},
		"hyperscale:generator_saturated:max":  {flow, 1},
		"hyperscale:lost_requests:increase1h": {flow, 0},
		"hyperscale:queued_jobs:sum":          {"", 5},
		"hyperscale:shed_requests:rate1m":     {`reason="bound"`, 2},
		"hyperscale:shard_losses:increase1h":  {"", 0},
	}
	for _, r := range rules() {
		s, ok := want[r.record]
		if !ok {
			t.Errorf("no test of rule %s", r.record)
			continue
		}
		s.Labels = r.record + "{" + s.Labels + "}"
		test.ExprTests = append(test.ExprTests, exprTest{r.record, "4m", []sample{s}})
	}
	testRules(t, rulesFile(), []ruleTest{test})
}

// Panels of what several nodes report alike count each datacenter once, and all datacenters.
func TestPanelsCountDatacentersOnce(t *testing.T) {
	test := ruleTest{Name: "two datacenters", Interval: "15s"}
	for i, of := range []string{"east", "east", "west", ""} {
		test.Input = append(test.Input, input{fmt.Sprintf(`hyperscale_node_info{instance="n%d",datacenter=%q,node="node-%d"}`, i, of, i), "1x20"})
	}
	values := func(metric string, each ...int) {
		for i, n := range each {
			test.Input = append(test.Input, input{fmt.Sprintf(`hyperscale_%s{instance="n%d",state="up"}`, metric, i), fmt.Sprintf("%dx20", n)})
		}
	}
	values("manager_workers", 3, 4, 5)
	values("manager_cores", 30, 40, 50)
	values("swim_members", 6, 7, 8, 2)
	const east, west, gates = `{datacenter="east", state="up"}`, `{datacenter="west", state="up"}`, `{state="up"}`
	want := map[string][]sample{
		"Workers": {{gates, 9}}, "Cores": {{east, 40}, {west, 50}}, "Members": {{east, 7}, {west, 8}, {gates, 2}},
	}
	board := clusterBoard()
	for i := range board.panels {
		if samples, ok := want[board.panels[i].title]; ok {
			test.ExprTests = append(test.ExprTests, exprTest{board.panels[i].queries[0].expr, "4m", samples})
		}
	}
	if len(test.ExprTests) != len(want) {
		t.Fatalf("%d of %d panels found", len(test.ExprTests), len(want))
	}
	testRules(t, rulesFile(), []ruleTest{test})
}

// Each expression of each panel becomes a recording rule that promtool takes. Panels have distinct places
// and titles.
func TestPromtoolTakesThePanels(t *testing.T) {
	var rules strings.Builder
	rules.WriteString("groups:\n  - name: panels\n    rules:\n")
	for _, b := range boards() {
		titles := map[string]bool{}
		for i, p := range b.panels {
			if titles[p.title] || p.title == "" || len(p.queries) == 0 {
				t.Errorf("panel %d of %s is called %q and has %d queries", i, b.uid, p.title, len(p.queries))
			}
			titles[p.title] = true
			for k, q := range p.queries {
				expr := strings.NewReplacer("$__rate_interval", "1m", "$__range", "30m", "$test", ".*", "$run", ".*").Replace(q.expr)
				if strings.Contains(expr, "$") {
					t.Errorf("%s: %s: %s has a variable that the dashboard does not have", b.uid, p.title, expr)
				}
				fmt.Fprintf(&rules, "      - record: panel:%s:%d_%d\n        expr: '%s'\n", strings.ReplaceAll(b.uid, "-", "_"), i, k, expr)
			}
		}
		text, err := boardFile(&b)
		if err != nil {
			t.Fatal(err)
		}
		var parsed struct {
			Panels []struct{ GridPos struct{ X, Y, W, H int } }
		}
		if err := json.Unmarshal(text, &parsed); err != nil || len(parsed.Panels) != len(b.panels) {
			t.Fatalf("%s has %d panels: %v", b.uid, len(parsed.Panels), err)
		}
		taken := map[[2]int]int{}
		for i, p := range parsed.Panels {
			for x := range p.GridPos.W {
				for y := range p.GridPos.H {
					at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
					if o, ok := taken[at]; ok || at[0] >= columns {
						t.Fatalf("%s: panel %d is where panel %d is: %v", b.uid, i, o, at)
					}
					taken[at] = i
				}
			}
		}
	}
	file := filepath.Join(t.TempDir(), "panels.yaml")
	if err := os.WriteFile(file, []byte(rules.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := promtool(t, "check", "rules", file); err != nil {
		t.Errorf("promtool check rules: %v: %s", err, out)
	}
}
