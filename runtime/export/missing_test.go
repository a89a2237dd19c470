package export

import (
	"strings"
	"testing"

	"hyperscale/core/message"
)

// TestMissingDatacentersHaveNoFigures: no export shows a figure of a datacenter that best effort left
// out, and each that lists datacenters says that it is missing.
func TestMissingDatacentersHaveNoFigures(t *testing.T) {
	r := result(t, func(m *message.Result) {
		m.Missing = []string{"west"}
		m.Datacenters = append(m.Datacenters, message.DatacenterResult{Name: "west", State: message.JobCancelled, Error: "left out by best effort", Workflows: m.Workflows})
	})
	table, err := CSV(r)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(table), "west") || !strings.Contains(string(table), "east") {
		t.Errorf("the CSV has rows of what is missing:\n%s", table)
	}
	told := false
	for _, f := range Families(&Snapshot{Result: r}) {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetValue() == "west" {
					told = true
					if f.GetName() != "hyperscale_datacenter_missing" || m.GetGauge().GetValue() != 1 {
						t.Errorf("%s has a series of what is missing: %v", f.GetName(), m)
					}
				}
			}
		}
	}
	if !told {
		t.Error("no metric says that west is missing")
	}
	suites, err := JUnit(r)
	if err != nil {
		t.Fatal(err)
	}
	if p := parseJUnit(t, suites); p.Errors != 0 || !strings.Contains(string(suites), `<skipped message="CANCELLED: left out by best effort">`) {
		t.Errorf("%d errors of a job that completed, in\n%s", p.Errors, suites)
	}
}
