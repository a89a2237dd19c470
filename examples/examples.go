package examples

import "embed"

// Files are all examples, and the files that they read, by name.
//
//go:embed *.star *.txt *.csv *.proto
var Files embed.FS

// Quickstart is the name of the first one to read, which `demo` runs.
const Quickstart = "quickstart.star"
