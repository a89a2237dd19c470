package workflow_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/request"
)

func TestClientOptions(t *testing.T) {
	//lint:orderfree each is judged by itself
	for text, want := range map[string]request.Options{
		``:                            {},
		`version = "1.1"`:             {Version: request.Version11},
		`version = "2"`:               {Version: request.Version2},
		`version = "2", streams = 16`: {Version: request.Version2, Streams: 16},
		`tls = tls(verify = False), streams = 10000, version = "auto"`: {Insecure: true, Version: request.VersionAuto, Streams: 10_000},
	} {
		p, err := workflow.Load(program("a.star", `workflow(name = "w", http = http.client(`+text+`), steps = [step("a", http.get("http://h/"))])`))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, p.Workflow("w").HTTP); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", text, diff)
		}
	}
}
