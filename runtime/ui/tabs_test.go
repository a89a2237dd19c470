package ui

import (
	"testing"

	"hyperscale/runtime/ui/cells"
)

// TestStepsOfOneWorkflowDiffer: on a narrow screen the workflow's name is cut, and not the step's.
func TestStepsOfOneWorkflowDiffer(t *testing.T) {
	for _, tt := range []struct {
		flow, step string
		most       int
		want       string
	}{
		{"shop", "home", 32, "shop.home"},
		{"browse-the-catalogue-with-a-long-name", "home", 32, "browse-the-catalogue-with-….home"},
		{"browse-the-catalogue-with-a-long-name", "a_step_with_a_very_long_name_too", 32, "brows….a_step_with_a_very_long_name_too"},
		{"abc", "a_step_with_a_very_long_name_too", 32, "abc.a_step_with_a_very_long_name_too"},
	} {
		if got := ofFlow(tt.flow, tt.step, tt.most); got != tt.want {
			t.Errorf("%s of %s in %d columns is %q, want %q", tt.step, tt.flow, tt.most, got, tt.want)
		}
	}
	if got := cells.Columns(ofFlow("browse-the-catalogue-with-a-long-name", "home", 32)); got != 32 {
		t.Errorf("it takes %d columns, want 32", got)
	}
}
