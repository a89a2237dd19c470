package main

import (
	"os"
	"testing"

	"hyperscale/checker"
	"hyperscale/core/message"
	file "hyperscale/runtime/report"
)

// A result whose workers do not tell what its datacenter did is a violation.
func TestToldIsJudged(t *testing.T) {
	for _, row := range []struct {
		name    string
		started uint64 // of the second worker
		want    int
	}{{"they agree", 3, 0}, {"one is missing", 2, 1}} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			r := &file.Result{Schema: file.Schema, Job: message.JobOf(row.name).String(), Datacenters: map[string]file.Datacenter{"dc-a": {Figures: &file.Figures{
				Workflows: []file.Workflow{{Name: "main", Totals: file.Totals{Started: 10, OK: 9, Failed: 1}, Steps: []file.Step{{Name: "home"}}}},
				Workers: []file.Worker{
					{Name: "w-1", Totals: file.Totals{Started: 7, OK: 7}},
					{Name: "w-2", Totals: file.Totals{Started: row.started, OK: 2, Failed: 1}},
				},
			}}}}
			b, err := r.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(resultFile(dir, "client-1", "key"), b, 0o600); err != nil {
				t.Fatal(err)
			}
			c := checker.New()
			n, err := told(dir, c, checker.Record{})
			if err != nil || n != 1 || len(c.Violations()) != row.want {
				t.Errorf("%d results, %v, violations %v; want 1 result with %d", n, err, c.Violations(), row.want)
			}
		})
	}
}
