package kinds_test

import (
	"testing"

	"hyperscale/runtime/outputs/kinds"
)

// A kind that is listed twice stands twice in help and in errors.
func TestEachKindIsListedOnce(t *testing.T) {
	known := map[string]bool{}
	for _, k := range kinds.All() {
		if known[k.Name] {
			t.Errorf("%s is listed twice", k.Name)
		}
		known[k.Name] = true
	}
}
