// Lint says where this repository breaks its own house rules, and what to do
// instead: `go run ./cmd/lint [packages]`, without arguments the whole module.
//
// It is not a style checker (gofmt) and not a bug finder (go vet, staticcheck). It has no
// configuration file: the rules are tables in these sources. So a reviewer sees a rule and
// its exception like any other change.
//
// A complaint reads `file:line:col: what is wrong: remedy`. Invariants:
//
//  1. The exit code is 0 for a clean tree, 1 if there is a complaint, 2 if the
//     packages do not load; a tree that does not compile is never called clean.
//  2. Every complaint names a remedy, every forbidden import its reason.
//  3. Complaints come once each, ordered by file, line, column and text.
//  4. A rule that needs an escape has a directive that demands a reason, and a
//     directive that excuses nothing is a complaint as well.
//  5. No figure grows. Lint measures methods, fields, bools and stored functions of
//     types, files and circles of files of packages, labels of invariants, and banned
//     words. exceptions.txt lists each place above its bound with figure and reason;
//     a figure above its entry is a complaint, and so is an entry above its figure.
//
// Flags for the list: -lower writes what is measured now, and neither raises nor adds. -lower
// -because "reason" does that too, after a rename or a merge. -words PLACE prints each banned
// word with its replacement, -figures prints all figures.
//
// Example:
//
//	core/lease/claim.go:31:2: range over a map: sort the keys, or say why order
//	cannot matter in a line above it: //lint:orderfree <reason>
//
// Read main.go, load.go, then a file per group of rules: rooms.go (the table of
// imports) with imports.go, purity.go, vendor.go (who may import which library), order.go, shift.go, globals.go, doors.go, size.go
// and tree.go; ratchet.go (the table of bounds) with shape.go, knot.go, labels.go,
// words.go and exceptions.go. The planted violations of testdata show each rule at work.
package main
