package operate

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/session"
	"hyperscale/core/message"
)

// NewMembersCommand lists the set of gates, and replaces one of its members.
func NewMembersCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "members",
		Short: "list the set of gates, and replace a gate or a manager",
		Args:  command.Exactly(),
	}
	cmd.AddCommand(newMembersListCommand(), newMembersReplaceCommand())
	return cmd
}

func newMembersListCommand() *cobra.Command {
	var asJSON bool
	cmd := asking(&cobra.Command{
		Use:   "list",
		Short: "list the gates that have a seat in the set, of which a majority decides",
		Args:  command.Exactly(),
	}, func(ctx context.Context, s *session.Session, w io.Writer, _ []string) error {
		all, err := askStanding(ctx, s)
		if err != nil {
			return err
		}
		if asJSON {
			return command.PrintJSON(w, all.members())
		}
		return all.printMembers(w)
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// MembersJSON is what `members list --json` prints. Fields may be added, never renamed.
type MembersJSON struct {
	Version uint64     `json:"version"` // how many seats were given to other addresses
	Seats   []seatJSON `json:"seats"`
}

type seatJSON struct {
	Seat    int    `json:"seat"`
	Node    string `json:"node"` // empty if it was never heard
	Address string `json:"address"`
	State   string `json:"state"`
	Leader  bool   `json:"leader"`
}

func (s standing) members() MembersJSON {
	out := MembersJSON{Version: s.cluster.SetVersion}
	for i, a := range s.cluster.Gates {
		seat := seatJSON{Seat: i + 1, Address: a, State: "unknown", Leader: a == s.cluster.Leader}
		for _, m := range s.cluster.Members {
			if m.Addr == a {
				seat.Node, seat.State = m.Node, shownState(m.State, m.Draining)
			}
		}
		out.Seats = append(out.Seats, seat)
	}
	return out
}

func (s standing) printMembers(w io.Writer) error {
	rows := [][]string{{"SEAT", "GATE", "ADDRESS", "STATE"}}
	for _, m := range s.members().Seats {
		state := m.State
		if m.Leader {
			state += ", leads"
		}
		rows = append(rows, []string{fmt.Sprint(m.Seat), cmp.Or(m.Node, "-"), m.Address, state})
	}
	if err := command.PrintRows(w, rows); err != nil {
		return err
	}
	if v := s.cluster.SetVersion; v > 0 {
		_, err := fmt.Fprintf(w, "\nThe set has changed %s since it was founded.\n", times(v))
		return err
	}
	return nil
}

func times(n uint64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func newMembersReplaceCommand() *cobra.Command {
	return asking(&cobra.Command{
		Use:   "replace OLD NEW",
		Short: "give the seat of a gate or a manager to another address",
		Long: `Give the seat of a gate or a manager to another address.

OLD is the address of the member that leaves, or a gate's name: it is dead, or you have
stopped it. NEW is the address of the node that takes its seat: start it afterwards with
an empty --data and the new set. It fetches all registers and files from the others, and
counts from then on. The others start again in the new set by themselves; workers,
managers and clients follow. What runs goes on.

One member at a time: all others must be ready, hear nothing of the old one, and lack no
file. Give the order before you stop OLD, too: once it says "stop that node", the others
can bear the loss. A gate that is stopped hands its jobs over at once.

The command succeeds once a majority of the set is known to have it on disk: from then on
OLD may start again. It fails after 15 s without that knowledge, and says so.`,
		Example: "  hyperscale members replace gate-3 10.0.0.4:9000 --gate 10.0.0.1:9000\n  hyperscale gate --id gate-4 --listen 10.0.0.4:9000 --gates 10.0.0.1:9000,10.0.0.2:9000,10.0.0.4:9000 --data data/gate-4",
		Args:    command.Exactly("OLD", "NEW"),
	}, replaceMember)
}

func replaceMember(ctx context.Context, s *session.Session, w io.Writer, args []string) error {
	all, err := askStanding(ctx, s)
	if err != nil {
		return err
	}
	old := args[0]
	for _, m := range all.cluster.Members {
		if m.Node == old && slices.Contains(all.cluster.Gates, m.Addr) {
			old = m.Addr
		}
	}
	answer, err := s.Ask(ctx, &message.SeatReplace{Old: old, New: args[1]})
	if err != nil {
		return err
	}
	done, ok := answer.(*message.SeatReplaced)
	if !ok {
		return session.Unexpected(answer)
	}
	flag, whose := "--gates", "gates"
	if done.Group != "gates" {
		flag, whose = "--managers", "managers of "+done.Group
	}
	set := strings.Join(done.Set, ",")
	if _, err = fmt.Fprintf(w, "%s has the seat of %s. The set of %s is now\n  %s\nStart the new node with an empty --data and %s of that set. Give all others the same %s before you start them the next time.\n",
		args[1], args[0], whose, set, flag, flag); err != nil || done.Majority() {
		return err
	}
	return fmt.Errorf("it is not known whether a majority has that set: %d of %d are known to have it on disk. Keep %s stopped, or the others may stay in the old set with it. Give the order again, which is safe",
		done.Known, len(done.Set), args[0])
}
