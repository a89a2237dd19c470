// Package metrics shows what a node does: Prometheus metrics and the two health
// checks, on one admin listener.
//
// It measures nothing itself. Loop, transport and store keep their own counts, which each
// scrape reads. It counts core/event's events by name. It has its own registry, so that several
// nodes fit one process.
//
// Source: DESIGN.md, "The kernel"; house style 9. Names are
// hyperscale_<part>_<what>_<unit> in base units.
//
// Invariants:
//
//	METRICS-1 Every metric stands in a table with its help text.
//	METRICS-2 Labels come from closed sets: never a job, an address or an error. Load alone, which
//	          runtime/export bounds, has jobs, steps and what failed.
//	METRICS-3 Nothing here makes a node wait.
//
// Read metrics.go, table.go, events.go, admin.go.
package metrics
