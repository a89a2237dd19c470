package command

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

const product = "hyperscale"

// built matches the files that `go run` builds: in a folder that goes with the
// process, or, from the second time on, in the build cache.
var built = regexp.MustCompile(`/go-build[0-9]+/|/[0-9a-f]{2}/[0-9a-f]{64}-d/[^/]+$`)

// Called names the command the way the user called it, so that a hint can be pasted.
func Called() string { return calledAs(os.Args[0]) }

func calledAs(arg0 string) string {
	switch {
	case filepath.Base(arg0) != product: // a test's binary, or renamed: the manuals' name
		return product
	case built.MatchString(arg0):
		return "go run ./cmd/hyperscale"
	}
	return arg0 // without a slash it is in PATH
}

// Hints lists commands to type, each with its purpose.
func Hints(rows ...[2]string) string {
	width, called := 0, Called()
	for _, row := range rows {
		width = max(width, len(row[0]))
	}
	var text strings.Builder
	for _, row := range rows {
		fmt.Fprintf(&text, "  %s %-*s  %s\n", called, width, row[0], row[1])
	}
	return text.String()
}
