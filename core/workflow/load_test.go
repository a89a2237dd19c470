package workflow_test

import (
	"os"
	"path/filepath"
	"testing"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
)

func TestTry(t *testing.T) {
	for _, f := range []string{"quickstart.star", "session.star"} {
		data, _ := os.ReadFile(filepath.Join("../../examples", f))
		p, err := workflow.Load(message.Program{Main: f, Files: []message.File{{Name: f, Data: data}}})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%+v", p.Plan())
	}
}
