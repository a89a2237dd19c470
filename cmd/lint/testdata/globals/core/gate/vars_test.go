package gate

import _ "embed"

//go:embed vars.go
var source string

var calls int
