package operate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hyperscale/core/gate"
	"hyperscale/core/node"
	"hyperscale/core/output"
	"hyperscale/runtime/config"
	"hyperscale/runtime/host"
)

// TestAGateHasTheSinksOfItsFile: its machine knows their names and windows, its host delivers to them, and what no gate may
// have is rejected.
func TestAGateHasTheSinksOfItsFile(t *testing.T) {
	c := config.Default(node.RoleGate)
	c.ID, c.Outputs = "gate-1", map[string]map[string]any{
		"rows": {"kind": "jsonl", "address": "rows/", "window": "30s"}, "lake": {"kind": "sqlite", "address": "rows.db", "default": true},
	}
	var g gate.Config
	require.NoError(t, sinksOf(&c, &g))
	require.Equal(t, []output.Sink{{Name: "lake", Kind: "sqlite", Window: 10 * time.Second, Default: true}, {Name: "rows", Kind: "jsonl", Window: 30 * time.Second}}, g.Sinks)
	require.NotEmpty(t, g.SinkDigest)
	require.NoError(t, output.CheckSinks(g.Sinks))
	var o host.Options
	require.NoError(t, deliver(&c, &o))
	require.NotNil(t, o.NewSinks)
	c.Outputs["sum"] = map[string]any{"kind": "otlp", "address": "http://h:4318"}
	require.ErrorContains(t, sinksOf(&c, &g), "outputs.sum: temporality = cumulative")
	require.ErrorContains(t, deliver(&c, &o), "outputs.sum: temporality = cumulative")
	c.Outputs, g, o = nil, gate.Config{}, host.Options{}
	require.NoError(t, sinksOf(&c, &g))
	require.NoError(t, deliver(&c, &o))
	require.True(t, g.Sinks == nil && g.SinkDigest == "" && o.NewSinks == nil)
}
