// Package listing merges the lists of jobs that gates send into one list of a cluster's jobs.
//
// It asks no gate: core/client does, one gate after another, page by page. It knows no clock.
//
// Source: DESIGN.md, "Jobs and fences". An acknowledged job is on a majority of the gates'
// acceptors, so that the merged list of any majority contains it. Each gate tells what its own
// acceptor and memory have, without asking the others.
//
// Invariants:
//
//	LISTING-1 The merged list is a function of the set of pages: neither the order of gates nor
//	          a page that arrives twice changes it.
//	LISTING-2 A job's end is final: no line of another gate hides it. Else the line under the
//	          higher token counts, then the owner's, then the one that is further.
//	LISTING-3 A gate whose pages are out of order, or which breaks off, does not count as one
//	          that listed all its jobs. What it listed counts.
//	LISTING-4 A list has at most as many jobs as its bound, and says if there are more.
//
// Read listing.go, then merge.go.
package listing
