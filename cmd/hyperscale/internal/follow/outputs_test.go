package follow

import (
	"slices"
	"testing"

	"hyperscale/core/workflow"
)

// What a file may ask for is what --out takes.
func TestReportsAreOutputs(t *testing.T) {
	var names []string
	for _, k := range outputKinds() {
		names = append(names, k.name)
	}
	if want := workflow.ReportKinds(); !slices.Equal(names, want) {
		t.Errorf("--out takes %q, report = takes %q", names, want)
	}
}
