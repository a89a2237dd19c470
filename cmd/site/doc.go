// Command site writes the manuals as pages into a folder: `go run ./cmd/site -o out/site`,
// or `make site`. Open index.html there, in any browser, with or without a network.
//
// It is not a server, and knows nothing of pages: docs/site does. Where a page has a fault
// (a dead link, a missing image, ...) it names all of them, writes nothing and exits with 1.
// What an earlier run left in the folder and this one does not write stays there, unless
// the folder is out/site itself, which `make site` removes before.
//
// Read main.go.
package main
