package engine

import (
	"strings"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
)

// What the engine does not obey is refused by its name, and nothing is sent.
func TestUnsupportedIsRefused(t *testing.T) {
	p, err := workflow.Load(message.Program{Main: "test.star", Files: []message.File{{Name: "test.star", Data: []byte(`
workflow(name = "w", http = http.client(proxy = "http://h:1/"), steps = [step("a", http.get("http://h/"))], vus = 5, rate = "5/s", duration = "1s")
`)}}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = Run(t.Context(), Config{Workflow: p.Workflow("w"), VUs: 1, Timeout: time.Second})
	for _, want := range []string{`this engine does not know http.client(proxy = ...): take it out of workflow "w"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
