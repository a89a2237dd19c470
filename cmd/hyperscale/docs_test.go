package main

import (
	"bytes"
	"strings"
	"testing"

	"hyperscale/cmd/hyperscale/internal/operate"
)

// What ping takes as a protocol, docs explains.
func TestDocsExplainEveryProtocol(t *testing.T) {
	for _, name := range append(operate.PingProtocols(), "http1", "mariadb", "rabbitmq", "custom", "graphql") {
		root := newRootCommand()
		var out bytes.Buffer
		root.SetOut(&out)
		root.SetErr(&out)
		root.SetArgs([]string{"docs", name})
		if err := root.Execute(); err != nil || strings.Count(out.String(), "\n") < 20 {
			t.Errorf("docs %s: %v: %q", name, err, out.String())
		}
	}
}
