// Command site writes the manuals as pages into a folder: `go run ./cmd/site -o out/site`,
// or `make site`. Open index.html there, in any browser, with or without a network.
//
// It is not a server, and does not know what a page is: docs/site does. Where a page has a
// fault (a dead link, a missing image, ...) it names all faults, writes nothing and exits with
// 1. Files of an earlier run stay in the folder, unless it is out/site itself, which `make
// site` removes before.
//
// Read main.go.
package main
