package follow

import (
	"errors"
	"log/slog"
	"net"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/live"
)

// liveAt starts to answer with a live page at address; nil: there is none.
func liveAt(address string, logger *slog.Logger) (*live.Server, error) {
	if address == "" {
		return nil, nil
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		var failed *net.OpError // it names the address once more
		if errors.As(err, &failed) {
			err = failed.Err
		}
		return nil, command.Usage("--live %q: cannot listen there: give a free address of this machine, as in --live 127.0.0.1:8089: %w", address, err)
	}
	return live.Serve(l, logger), nil
}
