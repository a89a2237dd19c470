package export

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/runtime/report"
	"hyperscale/runtime/report/reporttest"
)

func TestCSV(t *testing.T) {
	r := result(t)
	b, err := CSV(r)
	if err != nil {
		t.Fatal(err)
	}
	reporttest.Golden(t, "testdata/result.csv", string(b))
	rows := readCSV(t, b)
	if len(rows) != 1+2+2 {
		t.Fatalf("%d rows, want a head, two steps and the same of a datacenter", len(rows))
	}
	column := func(row []string, name string) string { return row[slices.Index(rows[0], name)] }
	s := r.Workflows[0].Steps[0]
	for name, want := range map[string]uint64{"started": s.Started, "bytes_out": s.BytesOut, "latency_ns_p999": s.LatencyNS.P999, "service_ns_max": s.ServiceNS.Max, "wait_ns_p95": s.PhasesNS["wait"].P95} {
		if got := column(rows[1], name); got != strconv.FormatUint(want, 10) {
			t.Errorf("%s is %s, want %d", name, got, want)
		}
	}
	if whole, part := column(rows[1], "datacenter"), column(rows[3], "datacenter"); whole != "" || part != "east" {
		t.Errorf("datacenters %q and %q, want none and east", whole, part)
	}
}

func readCSV(t interface{ Fatal(...any) }, b []byte) [][]string {
	rows, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestCellsAreNoFormulas: whatever a step is called, its row reads back whole, and no
// cell begins as a formula does.
func TestCellsAreNoFormulas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.StringMatching("[=+@\t\r\n|%-][a-z\"',\r\n]*")).Draw(t, "name")
		r := &report.Result{Workflows: []report.Workflow{{Name: name, Steps: []report.Step{{Name: name}}}}}
		b, err := CSV(r)
		if err != nil {
			t.Fatal(err)
		}
		row := readCSV(t, b)[1]
		if row[5] != cell(name) {
			t.Fatalf("%q came back as %q", cell(name), row[5])
		}
		for _, c := range row {
			if c != "" && strings.ContainsAny(c[:1], "=+-@\t\r\n") {
				t.Fatalf("cell %q begins like a formula", c)
			}
		}
	})
}

func TestCSVOfNothing(t *testing.T) {
	b, err := CSV(result(t, func(m *message.Result) { m.Workflows, m.Datacenters = nil, nil }))
	if rows := readCSV(t, b); err != nil || len(rows) != 1 {
		t.Errorf("%v, %v: want the head alone", rows, err)
	}
}
