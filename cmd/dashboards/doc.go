// Command dashboards writes what Prometheus and Grafana need to watch a cluster: alerts and recording
// rules below deploy/prometheus, dashboards below deploy/grafana, and the alerts' part of docs/operations.md.
//
//	go run ./cmd/dashboards [-check]
//
// With -check it writes nothing, and exits with 1 if a file differs from what it would write. The tests
// do the same.
//
// Source: core/alert has the list of alerts; docs/outputs.md and docs/operations.md name the metrics.
//
// Read main.go, alerts.go, rules.go, boards.go.
package main
