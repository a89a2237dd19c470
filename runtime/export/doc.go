// Package export writes a result in the forms that other programs read. CSV serves
// spreadsheets, XML what reads no JSON, JUnit XML build servers, Prometheus' text node_exporter. Prometheus' remote
// write serves a server, while the job runs and at its end.
//
// It measures and judges nothing, and writes no file. runtime/report makes the figures, and
// the command puts the bytes where they belong. JSON is report's own form.
//
// Sources: RFC 4180; the schemas of JUnit that Jenkins and Surefire publish; Prometheus'
// "Exposition formats", "Metric and label naming" and "Remote-Write 1.0". docs/outputs.md
// documents the names of columns and metrics, which never change.
//
// Invariants:
//
//	EXPORT-1 Counts are those of the result file, to the last request. Columns have its
//	         names, metrics base units (seconds, bytes, ratios).
//	EXPORT-2 Text from outside is bounded and cannot leave its cell, attribute or label: no
//	         formula, no markup, no control character.
//	EXPORT-3 One result gives the same bytes every time.
//	EXPORT-4 A job never waits for a receiver. A lost sample is reported, not hidden. A
//	         secret in an address is never printed.
//	EXPORT-5 The load of a cluster has bounded series. None falls while a gate shows it: what it counts
//	         is the result and what lost_requests_total says.
//
// Example: `hyperscale run test.star --out csv=steps.csv --out junit=result.xml`.
//
// Read csv.go, xml.go, junit.go, families.go and collector.go (all metrics), exposition.go,
// live.go (a job that runs), load.go, loaded.go and growing.go (the jobs of a gate), series.go,
// samples.go, remote.go, backlog.go, pusher.go, serve.go, text.go, address.go.
package export
