package operate

import (
	"cmp"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/gate"
	"hyperscale/core/node"
	"hyperscale/core/output"
	"hyperscale/runtime/config"
	"hyperscale/runtime/host"
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/carrier"
	"hyperscale/runtime/outputs/named"
)

// sinksOf gives a gate's machine the sinks of its configuration.
func sinksOf(c *config.Node, g *gate.Config) error {
	all, err := named.ReadForGate(c.Outputs)
	g.SinkDigest = named.Digest(all)
	for i := range all {
		s := &all[i]
		g.Sinks = append(g.Sinks, output.Sink{Name: s.Name, Kind: s.Settings.Kind.Name, Window: s.Window(), Default: s.Default})
	}
	return err
}

// SinksOf names the sinks of a gate's configuration, so that gates can be compared; empty: it is no gate, or has a fault.
func SinksOf(c *config.Node) string {
	all, err := named.ReadForGate(c.Outputs)
	if err != nil || c.Role != node.RoleGate {
		return ""
	}
	return cmp.Or(named.Digest(all), named.None)
}

// deliver gives a gate's host what delivers to those sinks.
func deliver(c *config.Node, o *host.Options) error {
	all, err := named.ReadForGate(c.Outputs)
	if err != nil || len(all) == 0 {
		return command.AsUsage(err)
	}
	to := carrier.Config{Self: node.ID(c.ID), Pace: outputs.DefaultPace(), Logger: o.Logger, Read: rowsOf}
	for i := range all {
		s := &all[i]
		place, err := s.Open()
		if err != nil {
			return command.Usage("outputs.%s: %w", s.Name, err)
		}
		to.Sinks = append(to.Sinks, carrier.Sink{Name: s.Name, Settings: s.Settings, Place: place, Default: s.Default, Required: s.Required()})
	}
	o.NewSinks = func(tell func(node.Delivered)) *carrier.Carrier {
		to.Tell = tell
		return carrier.New(to)
	}
	return nil
}

// rowsOf are the rows of a batch's file.
func rowsOf(file []byte, sums bool) ([]outputs.Row, error) {
	b, ledger, err := output.Read(file)
	if err != nil {
		return nil, err
	}
	if sums {
		ledger.Sum(b.Rows)
	}
	return b.Rows, nil
}
