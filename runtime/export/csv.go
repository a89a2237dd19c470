package export

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"hyperscale/runtime/report"
)

// CSV writes a row for each workflow and step, of the whole job first (its datacenter
// is empty), then of each datacenter. Columns may be added at the end, never renamed
// or moved.
func CSV(r *report.Result) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.UseCRLF = true // as RFC 4180 has it
	rows := [][]string{csvHead()}
	rows = append(rows, csvRows(r, "", r.Workflows)...)
	for _, name := range slices.Sorted(maps.Keys(r.Datacenters)) {
		rows = append(rows, csvRows(r, name, r.In(name))...)
	}
	if err := w.WriteAll(rows); err != nil {
		return nil, fmt.Errorf("encode the result as CSV: %w", err)
	}
	return b.Bytes(), nil
}

func csvHead() []string {
	head := []string{"job", "name", "started_at", "datacenter", "workflow", "step", "kind"}
	for _, c := range countsOf(&report.Totals{}) {
		head = append(head, c.name)
	}
	head = append(head, "rate_milli")
	for _, of := range []string{"latency_ns", "service_ns", "wait_ns"} {
		for _, c := range figuresOf(&report.Distribution{}) {
			head = append(head, of+"_"+c.name)
		}
	}
	for _, c := range laterOf(&report.Totals{}) {
		head = append(head, c.name)
	}
	return head
}

func csvRows(r *report.Result, datacenter string, workflows []report.Workflow) (rows [][]string) {
	for i := range workflows {
		all := slices.Concat(workflows[i].Steps, workflows[i].Requests, workflows[i].Beside)
		for k := range all {
			s := &all[k]
			row := []string{cell(r.Job), cell(r.Name), cell(r.StartedAt), cell(datacenter), cell(workflows[i].Name), cell(s.Name), cell(s.Kind)}
			figures := append(countsOf(&s.Totals), count{"rate_milli", s.RateMilli})
			figures = append(figures, figuresOf(&s.LatencyNS)...)
			figures = append(figures, figuresOf(&s.ServiceNS)...)
			first := s.PhasesNS["wait"] // until the first byte of the answer
			figures = append(append(figures, figuresOf(&first)...), laterOf(&s.Totals)...)
			for _, c := range figures {
				row = append(row, strconv.FormatUint(c.n, 10))
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// count is a number under its name in the result file.
type count struct {
	name string
	n    uint64
}

func countsOf(t *report.Totals) []count {
	return []count{
		{"started", t.Started}, {"sent", t.Sent}, {"ok", t.OK}, {"failed", t.Failed}, {"timed_out", t.TimedOut}, {"cancelled", t.Cancelled},
		{"dropped", t.Dropped}, {"skipped", t.Skipped}, {"bytes_in", t.BytesIn}, {"bytes_out", t.BytesOut},
	}
}

// laterOf are the counts that stand behind all others: columns never move.
func laterOf(t *report.Totals) []count {
	return []count{{"retried", t.Retried}, {"challenged", t.Challenged}}
}

func figuresOf(d *report.Distribution) []count {
	return []count{
		{"count", d.Count}, {"min", d.Min}, {"mean", d.Mean}, {"p50", d.P50}, {"p90", d.P90}, {"p95", d.P95}, {"p99", d.P99}, {"p999", d.P999}, {"max", d.Max},
	}
}

// cell makes text from outside safe for a spreadsheet, which takes a cell that begins
// like a formula for one: a quote in front makes it text.
func cell(s string) string {
	s = clean(s)
	if s != "" && strings.ContainsRune("=+-@|%＝＋－＠", []rune(s)[0]) {
		return "'" + s
	}
	return s
}
