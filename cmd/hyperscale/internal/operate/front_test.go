package operate

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hyperscale/core/node"
	"hyperscale/runtime/api/tokens"
	"hyperscale/runtime/config"
	"hyperscale/runtime/host"
)

// silent is a gate that answers nothing.
type silent struct{}

func (silent) Step(env node.Env, in *node.Input) {
	if in.Kind == node.InputStop {
		env.Halt("")
	}
}

// TestRestartsKeepTokens: a gate that starts again has its API, whatever its file of tokens has become meanwhile.
func TestRestartsKeepTokens(t *testing.T) {
	path := filepath.Join(t.TempDir(), "api.tokens")
	text, token, err := tokens.New("ci", node.RightView, time.Time{})
	require.NoError(t, err)
	require.NoError(t, tokens.Add(path, token))
	c := config.Node{Role: node.RoleGate, ID: "gate-1", Cluster: "c", Environment: "e"}
	c.API, c.APITokens = "127.0.0.1:0", path
	logger := slog.New(slog.DiscardHandler)
	known, err := openTokens(&c, logger)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte("half a li"), 0o600))
	for range 2 {
		n, err := host.Start(host.Options{Role: node.RoleGate, ID: "gate-1", Cluster: "c", Environment: "e", Machine: silent{}, Listen: "127.0.0.1:0"})
		require.NoError(t, err)
		front, err := openFront(&c, n, known, logger)
		require.NoError(t, err)
		require.NotEmpty(t, front.addr())
		front.close()
		n.Kill()
	}
	_, ok := known.Find(text)
	require.True(t, ok)
	_, err = openTokens(&c, logger)
	require.ErrorContains(t, err, "line 1")
}
