package scenarios_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hyperscale/scenarios"
)

func TestDocumentIsUpToDate(t *testing.T) {
	got, err := os.ReadFile("../docs/scenarios.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(scenarios.Markdown(), string(got)); diff != "" {
		t.Errorf("`go generate ./scenarios` writes it: -said +written:\n%s", diff)
	}
	for _, s := range scenarios.All() {
		if s.Doc == "" {
			t.Errorf("%s says nothing of itself", s.Name)
		}
	}
}
