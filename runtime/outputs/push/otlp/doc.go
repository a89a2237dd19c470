// Package otlp encodes rows as OpenTelemetry's ExportMetricsServiceRequest, and reads its answer.
//
// It sends nothing: runtime/outputs/push does.
//
// Source: opentelemetry-proto 1.x, collector/metrics/v1 and metrics/v1, whose field numbers stand in encode.go.
//
// Invariants:
//
//	OTLP-1 A delta is a window's own counts. A cumulative value is the sum of all windows that Commit has heard of and of
//	       those that are being encoded: a batch that is encoded again has the same bytes.
//	OTLP-2 Distributions keep every request: their counts are the windows'.
//
// Example:
//
//	e := otlp.NewEncoder(otlp.Cumulative, true)
//	body, points := e.Encode(rows)
//	e.Commit()
//
// Read sum.go, encode.go, answer.go.
package otlp
