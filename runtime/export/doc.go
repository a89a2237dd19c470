// Package export writes a result in the forms that other programs read: CSV for
// spreadsheets, JUnit XML for build servers.
//
// It measures and judges nothing, and writes no file: runtime/report made the figures,
// the command puts the bytes where they belong. JSON is report's own form.
//
// Sources: RFC 4180; the schemas of JUnit that Jenkins and Surefire publish.
//
// Invariants:
//
//	X1 Counts are those of the result file, to the last request; columns have its names.
//	X2 Text from outside is bounded and cannot leave its cell or attribute: no formula,
//	   no markup, no control character.
//	X3 One result gives the same bytes every time.
//
// Read csv.go, junit.go, text.go, address.go.
package export
