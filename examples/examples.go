package examples

import "embed"

// Files are all examples, by name.
//
//go:embed *.star
var Files embed.FS

// Quickstart is the name of the first one to read, which `demo` runs.
const Quickstart = "quickstart.star"
