// Package result makes one result of what a job's datacenters report, judges its
// thresholds, and fits results and statuses into a frame.
//
// It keeps no result and sends none: core/gate does. Its functions depend on their arguments
// only and never write to them.
//
// Source: DESIGN.md, "Gate"; core/stats adds figures up, core/verdict judges them.
//
// Invariants:
//
//	RESULT-1 Each figure of a merged workflow is the sum over the datacenters that report
//	         it. Where figures cannot be read, the workflow has none and says so.
//	         Windows lie where they happened since the workflow began first. A rate is over
//	         the time in which it ran anywhere.
//	RESULT-2 Each threshold of the plan has one verdict, on that sum.
//	RESULT-3 A result larger than a frame loses details, the least important first. The rest
//	         is right, and the result says that it lost some.
//
//	RESULT-4 A page of details fits a frame. The pages of a job list each step once, whatever
//	         its figures do between two pages.
//
// Read merge.go, then ended.go, fit.go and detail.go.
package result
