package main

import (
	"bytes"
	"fmt"
)

// rule is a recording rule.
type rule struct {
	record, expr string
}

// rules make series that last: those of the load have no label of a run, of which there is a new one each
// time. Rates of all gates add up, since each is of the time in which that gate owned the job.
func rules() []rule {
	const by = "sum by (test, workflow, step) (rate(%s[1m]))"
	all := fmt.Sprintf(by, `hyperscale_requests_total{request=""}`)
	failed := fmt.Sprintf(by, `hyperscale_requests_total{request="",result=~"failed|timed_out"}`)
	quantile := func(q string) string {
		return fmt.Sprintf(`histogram_quantile(%s, sum by (test, workflow, step, le) (rate(hyperscale_request_duration_seconds_bucket{request=""}[1m])))`, q)
	}
	return []rule{
		{"hyperscale:requests:rate1m", all},
		{"hyperscale:failures:ratio1m", failed + " / " + all},
		{"hyperscale:latency_seconds:p50_1m", quantile("0.5")},
		{"hyperscale:latency_seconds:p99_1m", quantile("0.99")},
		{"hyperscale:received_bytes:rate1m", fmt.Sprintf(by, `hyperscale_received_bytes_total{request=""}`)},
		{"hyperscale:active_vus:sum", "sum by (test, workflow) (hyperscale_active_vus)"},
		{"hyperscale:generator_saturated:max", "max by (test, workflow) (hyperscale_generator_saturated)"},
		{"hyperscale:lost_requests:increase1h", "sum by (test, workflow) (increase(hyperscale_lost_requests_total[1h]))"},
		{"hyperscale:queued_jobs:sum", `sum(hyperscale_node_bound_used{setting="gate.queue_max"})`},
		{"hyperscale:shed_requests:rate1m", "sum by (reason) (rate(hyperscale_node_shed_requests_total[1m]))"},
		{"hyperscale:shard_losses:increase1h", "sum(increase(hyperscale_shard_losses_total[1h]))"},
	}
}

func rulesFile() []byte {
	var b bytes.Buffer
	b.WriteString(head + "groups:\n  - name: hyperscale-rules\n    rules:\n")
	for _, r := range rules() {
		fmt.Fprintf(&b, "      - record: %s\n        expr: '%s'\n", r.record, r.expr)
	}
	return b.Bytes()
}
