package workflow_test

import (
	"fmt"
	"strings"
	"testing"

	"hyperscale/core/workflow"
)

// The words are as recorded: a new word of the language shows here, and in the commands that
// explain it.
func TestWords(t *testing.T) {
	var b strings.Builder
	for _, w := range workflow.Words() {
		b.WriteString(w.Name)
		if w.Function {
			fmt.Fprintf(&b, "(%s) %d", strings.Join(w.Arguments, ", "), w.Positional)
			if w.Rest != "" {
				b.WriteString(" " + w.Rest)
			}
		}
		b.WriteByte('\n')
	}
	golden(t, "testdata/words.txt", b.String())
}
