// Package live shows a job as a page in a browser while it runs: a fold of the job's statuses to views, a
// stream of views, and the page's scripts and styles.
//
// It asks no gate: who follows a job passes its statuses (`--live ADDR` of run, submit, watch and demo, and
// runtime/api on gates, which also answers what the lists of jobs and of the cluster ask). It judges nothing:
// figures are runtime/report's, thresholds and doubts runtime/ui's. runtime/page draws the end of a job for ever;
// both share their style, their axes and their formats of numbers.
//
// Source: docs/outputs.md; Server-Sent Events as in the HTML standard, 9.2.
//
// Invariants:
//
//	LIVE-1 A column over time is complete: all executors have told of it. At the end no request is left out.
//	LIVE-2 The page loads nothing from another server, and text from outside is text: its policy forbids other
//	       scripts and styles, and view.js sets textContent alone.
//	LIVE-3 Streams, columns, marks, lists and texts are bounded. A page that reads slowly gets fewer views.
//	LIVE-4 A page that connects again, or late, has the whole course: a view without From 0 follows one that the
//	       same stream has sent.
//	LIVE-5 Requests for another host than an address or localhost read nothing.
//
// An example:
//
//	s := live.Serve(listener, logger)
//	defer s.Close()
//	s.Apply(status)
//
// Read view.go, fold.go, place.go, course.go, feed.go, assets.go, serve.go; then web/model.js (views to state), plot.js
// (arrays to paths), units.js, view.js (state to elements), lists.js, main.js.
package live
