package main

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"hyperscale/core/alert"
)

// manualName is the manual that says what each alert wants.
const manualName = "docs/operations.md"

// The manual has the alerts between these lines.
const (
	alertsBegin = "<!-- alerts: go run ./cmd/dashboards -->\n"
	alertsEnd   = "<!-- end of alerts -->\n"
)

// head begins a file of rules.
const head = "# Written by `go run ./cmd/dashboards`: do not edit.\n"

// ruleName spells an alert as Prometheus does: HyperscaleQueueHigh.
func ruleName(name string) string {
	var b strings.Builder
	b.WriteString("Hyperscale")
	for _, word := range strings.Split(name, "-") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// seen is an alert that no node raises: Prometheus sees it in the metrics of the others.
type seen struct{ name, expr, severity, when, remedy string }

func seenAlerts() []seen {
	return []seen{{
		"member-dead", `max(hyperscale_swim_members{state="dead"}) > 0`, "warning",
		"a gate, a manager or a worker is dead: another one took its work over, and the load goes on",
		"start the node again, or give the seat of a gate or a manager to another one with `hyperscale members replace`",
	}}
}

// writeRule writes an alert for Prometheus.
func writeRule(b *bytes.Buffer, s seen) {
	fmt.Fprintf(b, "      - alert: %s\n        expr: '%s'\n        labels:\n          severity: %s\n        annotations:\n          summary: %q\n          remedy: %q\n          manual: %s#%s\n",
		ruleName(s.name), s.expr, s.severity, s.when, s.remedy, manualName, s.name)
}

// alertsFile returns the alerts for Prometheus. Of a group one alert remains while another leader takes it over.
func alertsFile() []byte {
	var b bytes.Buffer
	b.WriteString(head + "# A node itself decides when an alert begins and ends, so no rule has a `for`: the last ones alone are of what no node tells of itself.\ngroups:\n  - name: hyperscale-alerts\n    rules:\n")
	for id := range alert.IDs {
		r := alert.RuleOf(id)
		expr := fmt.Sprintf("hyperscale_alert{alert=%q} == 1", r.Name)
		if r.Group {
			expr = fmt.Sprintf("max by (alert, severity, group) (max_over_time(hyperscale_alert{alert=%q}[1m])) == 1", r.Name)
		}
		writeRule(&b, seen{r.Name, expr, r.Severity(), r.When, r.Remedy})
	}
	for _, s := range seenAlerts() {
		writeRule(&b, s)
	}
	return b.Bytes()
}

// alertsText returns the part of the manual.
func alertsText() string {
	var b strings.Builder
	for id := range alert.IDs {
		r := alert.RuleOf(id)
		long := "At once"
		switch {
		case r.For%time.Minute == 0 && r.For > 0:
			long = fmt.Sprintf("After %d min", r.For/time.Minute)
		case r.For > 0:
			long = fmt.Sprintf("After %d s", r.For/time.Second)
		}
		fmt.Fprintf(&b, "\n#### %s\n\n%s, %s: %s.\n**Remedy:** %s.\n", r.Name, long, r.Severity(), r.When, r.Remedy)
	}
	for _, s := range seenAlerts() {
		fmt.Fprintf(&b, "\n#### %s\n\nAt once, %s, by Prometheus alone: %s.\n**Remedy:** %s.\n", s.name, s.severity, s.when, s.remedy)
	}
	return b.String() + "\n"
}

// withAlerts returns the manual with its part about alerts as the list says.
func withAlerts(manual []byte) ([]byte, error) {
	before, rest, ok := bytes.Cut(manual, []byte(alertsBegin))
	_, after, closed := bytes.Cut(rest, []byte(alertsEnd))
	if !ok || !closed {
		return nil, fmt.Errorf("%s has no place for the alerts: add the lines %q and %q", manualName, alertsBegin, alertsEnd)
	}
	return bytes.Join([][]byte{before, []byte(alertsBegin), []byte(alertsText()), []byte(alertsEnd), after}, nil), nil
}
