package follow

import (
	"errors"
	"net"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/export"
)

// ServeMetrics starts to answer at address, if there is one.
func (f *Follower) ServeMetrics(address string) error {
	if address == "" {
		return nil
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		var failed *net.OpError // it names the address once more
		if errors.As(err, &failed) {
			err = failed.Err
		}
		return command.Usage("--metrics %q: cannot listen there: give a free address of this machine, as in --metrics 127.0.0.1:9464: %w", address, err)
	}
	f.scraped = export.Serve(l, f.Logger)
	f.Note("metrics of this run: http://%v/metrics", l.Addr())
	return nil
}
