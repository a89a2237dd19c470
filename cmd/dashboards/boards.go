package main

import (
	"encoding/json"
	"fmt"
)

// board is a dashboard of Grafana.
type board struct {
	uid, title, about string
	variables         []variable
	panels            []panel
}

// variable is a choice at the top of a dashboard, of the values of a label.
type variable struct{ name, title, metric string }

// panel is a plot, or a number if it is small.
type panel struct {
	title, about, unit string
	small              bool
	queries            []query
}

// query is one expression of a panel; legend names its series.
type query struct{ expr, legend string }

func one(expr, legend string) []query { return []query{{expr, legend}} }

// rate is of the load of chosen runs.
func rate(metric, more string) string {
	return fmt.Sprintf(`rate(%s{test=~"$test",run=~"$run"%s}[$__rate_interval])`, metric, more)
}

// gauge is a figure of chosen runs.
func gauge(metric, more string) string {
	return fmt.Sprintf(`%s{test=~"$test",run=~"$run"%s}`, metric, more)
}

func latencyOf(quantile string) string {
	return fmt.Sprintf(`histogram_quantile(%s, sum by (step, le) (%s))`, quantile, rate("hyperscale_request_duration_seconds_bucket", `,request=""`))
}

func boards() []board { return []board{clusterBoard(), jobBoard()} }

// jobBoard is about load. Rates of several gates add up; of other figures the owner's alone is there.
func jobBoard() board {
	return board{
		uid: "hyperscale-job", title: "Hyperscale: load", about: "The load of running jobs, as the gates that own them show it.",
		variables: []variable{{"test", "Test", "hyperscale_job_state"}, {"run", "Run", "hyperscale_job_state"}},
		panels: []panel{
			{"State", "The state of each job.", "", true, one(gauge("hyperscale_job_state", "")+" == 1", "{{test}} {{state}}")},
			{"Virtual users at work", "", "short", true, one(`sum(`+gauge("hyperscale_active_vus", "")+`)`, "users")},
			{"Generator saturated", "1: the generator was the bottleneck, so latencies include its own delays.", "short", true, one(`max(`+gauge("hyperscale_generator_saturated", "")+`)`, "saturated")},
			{"Lost requests", "Requests of lost attempts that no result counts.", "short", true, one(`sum(`+gauge("hyperscale_lost_requests_total", `,request=""`)+`)`, "requests")},
			{"Requests by step", "Requests that ended.", "reqps", false, one(`sum by (step) (`+rate("hyperscale_requests_total", `,request=""`)+`)`, "{{step}}")},
			{"Requests by result", "", "reqps", false, one(`sum by (result) (`+rate("hyperscale_requests_total", `,request=""`)+`)`, "{{result}}")},
			{"Latency by step", "From the intended start to the last byte. Buckets are coarse: 20 from 100 µs to 100 s.", "s", false, []query{
				{latencyOf("0.5"), "p50 {{step}}"}, {latencyOf("0.99"), "p99 {{step}}"}, {latencyOf("0.999"), "p99.9 {{step}}"},
			}},
			{"Failures by kind", "", "reqps", false, one(`sum by (step, kind) (`+rate("hyperscale_errors_total", `,request=""`)+`)`, "{{step}} {{kind}}")},
			{"Answers by status", "", "reqps", false, one(`sum by (status) (`+rate("hyperscale_responses_total", `,request=""`)+`)`, "{{status}}")},
			{"Requests by datacenter", "", "reqps", false, one(`sum by (datacenter) (`+rate("hyperscale_requests_total", `,request=""`)+`)`, "{{datacenter}}")},
			{"Bytes", "Heads included.", "Bps", false, []query{
				{`sum(` + rate("hyperscale_received_bytes_total", `,request=""`) + `)`, "received"}, {`sum(` + rate("hyperscale_sent_bytes_total", `,request=""`) + `)`, "sent"},
			}},
			{"Requests that never began", "Dropped: no virtual user was free. Skipped: a step before them failed.", "reqps", false, []query{
				{`sum(` + rate("hyperscale_requests_dropped_total", `,request=""`) + `)`, "dropped"}, {`sum(` + rate("hyperscale_requests_skipped_total", `,request=""`) + `)`, "skipped"},
			}},
			{"Virtual users", "", "short", false, one(`sum by (workflow, datacenter) (`+gauge("hyperscale_active_vus", "")+`)`, "{{workflow}} {{datacenter}}")},
			{"Busiest core of the generator", "Near 1 the figures are not to be trusted.", "percentunit", false, one(`max by (workflow, datacenter) (`+gauge("hyperscale_generator_busy_ratio", "")+`)`, "{{workflow}} {{datacenter}}")},
			{"Late starts", "How late starts were since the run began.", "s", false, one(`max by (workflow, quantile) (`+gauge("hyperscale_generator_lag_seconds", `,quantile=~"0.5|0.99|1"`)+`)`, "{{workflow}} {{quantile}}")},
		},
	}
}

// clusterBoard is about nodes.
func clusterBoard() board {
	const of = ` * on (instance) group_left (node) hyperscale_node_info`
	// Each manager of a datacenter, and each member of a group, reports the same.
	seen := func(metric string) string {
		return `max by (datacenter, state) (` + metric + ` * on (instance) group_left (datacenter) hyperscale_node_info)`
	}
	return board{
		uid: "hyperscale-cluster", title: "Hyperscale: cluster", about: "Gates, managers and workers of a cluster.",
		panels: []panel{
			{"Nodes", "Nodes that Prometheus reaches.", "short", true, one(`count by (role) (hyperscale_node_info)`, "{{role}}")},
			{"Alerts", "Alerts that nodes report: docs/operations.md says what each one wants.", "short", true, one(`sum by (alert) (hyperscale_alert)`, "{{alert}}")},
			{"Jobs that wait", "In the queues of all gates.", "short", true, one(`sum(hyperscale_node_bound_used{setting="gate.queue_max"})`, "jobs")},
			{"Lost attempts", "Of shards, in the range of the plots: their workers were lost or denied them.", "short", true, one(`sum(increase(hyperscale_shard_losses_total[$__range]))`, "attempts")},
			{"Load", "Requests of all jobs.", "reqps", false, one(`sum by (test) (rate(hyperscale_requests_total{request=""}[$__rate_interval]))`, "{{test}}")},
			{"Workers", "As the manager sees them that counts most, added over all datacenters.", "short", false, one(`sum by (state) (`+seen("hyperscale_manager_workers")+`)`, "{{state}}")},
			{"Cores", "Of healthy workers, by datacenter.", "short", false, one(seen("hyperscale_manager_cores"), "{{datacenter}} {{state}}")},
			{"Wanted cores", "By the jobs that run and those that wait: above the cores that there are, jobs wait for workers. Autoscalers take it.", "short", false, one(`sum by (datacenter) (hyperscale_gate_wanted_cores)`, "{{datacenter}}")},
			{"Jobs", "Jobs that gates moved into a state.", "ops", false, one(`sum by (state) (rate(hyperscale_job_transitions_total[$__rate_interval]))`, "{{state}}")},
			{"Waiting and starting", "The 99th percentiles: of the time in the queue, and from the dispatch until managers have taken all of a job.", "s", false, []query{
				{`histogram_quantile(0.99, sum by (le) (rate(hyperscale_gate_queue_wait_seconds_bucket[$__rate_interval])))`, "waiting"},
				{`histogram_quantile(0.99, sum by (le) (rate(hyperscale_gate_start_seconds_bucket[$__rate_interval])))`, "starting"},
			}},
			{"Leases held", "Jobs at gates, subjobs at managers.", "short", false, one(`hyperscale_lease_held`+of, "{{node}}")},
			{"Ends of leases", "Expired ones end against the will of their holder.", "ops", false, one(`sum by (reason) (rate(hyperscale_lease_ends_total[$__rate_interval]))`, "{{reason}}")},
			{"Members", "Other members of a group, as the node sees them that counts most. The gates' group has no datacenter.", "short", false, one(seen("hyperscale_swim_members"), "{{datacenter}} {{state}}")},
			{"Changes of leaders", "", "ops", false, one(`rate(hyperscale_election_leader_changes_total[$__rate_interval])`+of, "{{node}}")},
			{"Steps of the loop", "The 99th percentile: a node whose steps last a second looks dead.", "s", false, one(`histogram_quantile(0.99, sum by (instance, le) (rate(hyperscale_loop_step_duration_seconds_bucket[$__rate_interval])))`+of, "{{node}}")},
			{"Refused and dropped", "Requests and messages that nodes shed, by reason, and inputs that found a full lane.", "ops", false, []query{
				{`sum by (reason) (rate(hyperscale_node_shed_requests_total[$__rate_interval]))`, "{{reason}}"}, {`sum by (lane) (rate(hyperscale_loop_dropped_inputs_total[$__rate_interval]))`, "lane {{lane}}"},
			}},
			{"Bytes between nodes", "", "Bps", false, one(`sum by (direction) (rate(hyperscale_transport_stream_bytes_total[$__rate_interval]))`, "{{direction}}")},
			{"HTTP API: requests", "By status, of all gates.", "reqps", false, one(`sum by (code) (rate(hyperscale_api_requests_total[$__rate_interval]))`, "{{code}}")},
			{"HTTP API: time of requests", "The 99th percentile by route, without streams.", "s", false, one(`histogram_quantile(0.99, sum by (route, le) (rate(hyperscale_api_request_duration_seconds_bucket[$__rate_interval])))`, "{{route}}")},
			{"HTTP API: rejected", "By the code of the error: docs/api.md has them.", "ops", false, one(`sum by (reason) (rate(hyperscale_api_rejected_total[$__rate_interval]))`, "{{reason}}")},
			{"HTTP API: in progress", "Calls and streams, of 64 and 200 that a gate has room for.", "short", false, []query{
				{`hyperscale_api_calls` + of, "{{node}} calls"}, {`hyperscale_api_streams` + of, "{{node}} streams"},
			}},
			{"Writes that wait for the disk", "", "short", false, one(`hyperscale_store_waiting_puts`+of, "{{node}}")},
			{"Rows of sinks", "Rows of jobs, by what became of them at the gates that own the jobs.", "ops", false, one(`sum by (sink, outcome) (rate(hyperscale_output_rows_total[$__rate_interval]))`, "{{sink}} {{outcome}}")},
			{"Sinks behind", "For how long the oldest batch has waited that a sink does not have, at the gate where it waits longest.", "s", false, one(`max by (sink) (hyperscale_output_behind_seconds)`, "{{sink}}")},
			{"Processors", "", "short", false, one(`rate(process_cpu_seconds_total[$__rate_interval])`+of, "{{node}}")},
			{"Memory", "", "bytes", false, one(`process_resident_memory_bytes`+of, "{{node}}")},
		},
	}
}

// object is a value of JSON whose keys are sorted.
type object = map[string]any

// Grafana counts positions in columns and rows: small panels stand four in a row, others two.
const (
	columns     = 24
	smallWidth  = 6
	smallHeight = 5
	width       = 12
	height      = 8
)

// boardFile returns a dashboard as Grafana imports it. The data source is chosen on import.
func boardFile(b *board) ([]byte, error) {
	source := object{"type": "prometheus", "uid": "${datasource}"}
	list := []object{{"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"}}
	for _, v := range b.variables {
		list = append(list, object{
			"name": v.name, "label": v.title, "type": "query", "datasource": source, "query": fmt.Sprintf("label_values(%s, %s)", v.metric, v.name),
			"refresh": 2, "includeAll": true, "allValue": ".*", "multi": true, "sort": 2,
		})
	}
	var panels []object
	x, y, tall := 0, 0, 0
	for i := range b.panels {
		p := &b.panels[i]
		kind, w, h := "timeseries", width, height
		if p.small {
			kind, w, h = "stat", smallWidth, smallHeight
		}
		if x+w > columns || h != tall {
			x, y, tall = 0, y+tall, h
		}
		var targets []object
		for k, q := range p.queries {
			targets = append(targets, object{"refId": string(rune('A' + k)), "datasource": source, "expr": q.expr, "legendFormat": q.legend, "range": !p.small, "instant": p.small})
		}
		one := object{
			"id": i + 1, "type": kind, "title": p.title, "description": p.about, "datasource": source, "targets": targets,
			"gridPos": object{"x": x, "y": y, "w": w, "h": h}, "fieldConfig": object{"defaults": object{"unit": p.unit}, "overrides": []any{}},
		}
		if p.title == "State" {
			one["options"] = object{"textMode": "name"}
		}
		panels = append(panels, one)
		x += w
	}
	text, err := json.MarshalIndent(object{
		"uid": b.uid, "title": b.title, "description": b.about, "tags": []string{"hyperscale"}, "schemaVersion": 39, "editable": true, "refresh": "10s",
		"time": object{"from": "now-30m", "to": "now"}, "templating": object{"list": list}, "panels": panels,
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write dashboard %s: %w", b.uid, err)
	}
	return append(text, '\n'), nil
}
