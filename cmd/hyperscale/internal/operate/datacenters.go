package operate

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/session"
	"hyperscale/core/message"
	"hyperscale/runtime/ui/units"
	"hyperscale/runtime/view"
)

// NewDatacentersCommand lists datacenters.
func NewDatacentersCommand() *cobra.Command {
	var asJSON bool
	cmd := AskingBoth(&cobra.Command{
		Use:   "datacenters",
		Short: "list datacenters with their health and free cores",
		Args:  command.Exactly(),
	}, func(ctx context.Context, s *session.Session, w io.Writer, _ []string) error {
		answer, err := s.Ask(ctx, &message.DatacenterQuery{})
		if err != nil {
			return err
		}
		list, ok := answer.(*message.DatacenterList)
		if !ok {
			return session.Unexpected(answer)
		}
		if asJSON {
			return command.PrintJSON(w, view.DatacentersOf(list))
		}
		return printDatacenters(w, list)
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printDatacenters(w io.Writer, l *message.DatacenterList) error {
	rows := [][]string{{"DATACENTER", "HEALTH", "MANAGERS", "WORKERS", "CORES", "FREE", "ROUND TRIP", "FAVOURED"}}
	for _, d := range l.Datacenters {
		trip, favoured := "-", ""
		if d.RoundTrip > 0 {
			trip = units.Latency(uint64(d.RoundTrip))
		}
		if d.Favoured {
			favoured = "yes"
		}
		rows = append(rows, []string{d.Name, d.Health.String(), command.Number(d.Managers), command.Number(d.Workers), command.Number(d.CoresTotal), command.Number(d.CoresFree), trip, favoured})
	}
	return command.PrintRows(w, rows)
}
