package upgrade

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/session"
	"hyperscale/core/message"
)

// Bounds of waiting for the groups.
const (
	upgradeLook = 250 * time.Millisecond // between two looks
	upgradeTold = 3 * time.Second        // for the managers to report their groups
	upgradeMax  = 15 * time.Second       // for the groups to raise their levels
)

// NewCommand shows the versions of the groups, and raises their levels.
func NewCommand() *cobra.Command {
	var (
		finalize, asJSON bool
		gate             session.Flags
		log              command.LogFlags
	)
	cmd := &cobra.Command{
		Use:   "upgrade [status]",
		Short: "the groups' versions after a rolling upgrade; --finalize lets them use the newest",
		Long: `Show the version of each group's members, and the level of what the group writes.

While the level is below the version, the group works as the former version does, and
nodes can go back to it. ` + "`upgrade --finalize`" + ` raises the level of the gates and of each
datacenter's managers, once every configured member is of the new version. After that
no node of an older version takes part, and there is no way back.`,
		Example: "  hyperscale upgrade status --gate gate-1:9000\n  hyperscale upgrade --finalize --gate gate-1:9000",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] == "status" && !finalize {
				return nil
			}
			if len(args) == 0 && finalize {
				return nil
			}
			return command.Usage("write `%s status`, or `%s --finalize`", cmd.CommandPath(), cmd.CommandPath())
		},
	}
	cmd.Flags().BoolVar(&finalize, "finalize", false, "raise the level of all groups: no node can go back to an older version")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.RunE = command.Runs(func(cmd *cobra.Command, _ []string) error {
		ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
		defer stop()
		s, err := session.Dial(&gate, log.Logger(cmd.ErrOrStderr()))
		if err != nil {
			return err
		}
		defer s.Close()
		status, err := upgradeStatus(ctx, s)
		if err == nil && finalize {
			status, err = finalizeAll(ctx, s, status)
		}
		switch {
		case err != nil && ctx.Err() != nil:
			return command.Exit(command.ExitInterrupted, nil)
		case status == nil:
		case asJSON:
			err = errors.Join(err, command.PrintJSON(cmd.OutOrStdout(), upgradeView(status)))
		default:
			err = errors.Join(printUpgrade(cmd.OutOrStdout(), status), err)
		}
		return err
	})
	gate.Add(cmd)
	log.Add(cmd.Flags(), "error")
	return cmd
}

// upgradeStatus asks until the managers of each datacenter have reported.
func upgradeStatus(ctx context.Context, s *session.Session) (*message.UpgradeStatus, error) {
	for began := time.Now(); ; {
		status, err := askUpgrade(ctx, s, &message.UpgradeQuery{})
		if err != nil || !waits(status) || time.Since(began) >= upgradeTold {
			return status, err
		}
		if err := sleep(ctx, upgradeLook); err != nil {
			return status, err
		}
	}
}

// waits reports whether a manager has not answered the gate yet.
func waits(status *message.UpgradeStatus) bool {
	for _, g := range status.Groups {
		for _, why := range g.Held {
			if strings.HasSuffix(why, "has not answered yet: ask again") {
				return true
			}
		}
	}
	return false
}

func askUpgrade(ctx context.Context, s *session.Session, m message.Body) (*message.UpgradeStatus, error) {
	answer, err := s.Ask(ctx, m)
	if err != nil {
		return nil, err
	}
	status, ok := answer.(*message.UpgradeStatus)
	if !ok {
		return nil, session.Unexpected(answer)
	}
	return status, nil
}

// finalizeAll raises the levels, and waits until a majority of each group has them on disk. No group
// rises if one of them is held back.
func finalizeAll(ctx context.Context, s *session.Session, status *message.UpgradeStatus) (*message.UpgradeStatus, error) {
	if held := heldBack(status); len(held) > 0 {
		return status, command.Exit(command.ExitFailed, fmt.Errorf("nothing is finalized: %s", strings.Join(held, "; ")))
	}
	for began := time.Now(); ; {
		next, err := askUpgrade(ctx, s, &message.UpgradeFinalize{})
		if err != nil {
			return status, err
		}
		if status = next; finalized(status) {
			return status, nil
		}
		if time.Since(began) >= upgradeMax {
			return status, command.Exit(command.ExitFailed, fmt.Errorf("not every group has its level within %v: %s: give the order again, it is safe", upgradeMax, strings.Join(heldBack(status), "; ")))
		}
		if err := sleep(ctx, upgradeLook); err != nil {
			return status, err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func heldBack(status *message.UpgradeStatus) (all []string) {
	for _, g := range status.Groups {
		for _, why := range g.Held {
			all = append(all, g.Group+": "+why)
		}
	}
	return all
}

func finalized(status *message.UpgradeStatus) bool {
	for _, g := range status.Groups {
		if g.Level < g.Target || !g.Agreed {
			return false
		}
	}
	return true
}

func printUpgrade(w io.Writer, status *message.UpgradeStatus) error {
	rows := [][]string{{"GROUP", "LEVEL", "MEMBER", "VERSION", "ITS LEVEL"}}
	for _, g := range status.Groups {
		for i, m := range g.Members {
			group, level, version := g.Group, message.VersionText(g.Level), message.VersionText(m.Minor)
			if i > 0 {
				group, level = "", ""
			}
			if !m.Heard {
				version = "not heard"
			}
			rows = append(rows, []string{group, level, m.Addr, version, message.VersionText(m.Level)})
		}
		if len(g.Members) == 0 {
			rows = append(rows, []string{g.Group, "-", "-", "-", "-"})
		}
	}
	if err := command.PrintRows(w, rows); err != nil {
		return err
	}
	text := "\nfinalized: no node of an older version takes part\n"
	switch held := heldBack(status); {
	case len(held) > 0:
		text = "\nheld back, " + strings.Join(held, "\nheld back, ") + "\n"
	case !finalized(status):
		text = fmt.Sprintf("\nnodes can go back to an older version until `%s upgrade --finalize`\n", command.Called())
	}
	_, err := io.WriteString(w, text)
	return err
}

// What `upgrade --json` prints. Fields may be added, never renamed.
type UpgradeJSON struct {
	Gate      string             `json:"gate"` // who answered
	Finalized bool               `json:"finalized"`
	Groups    []upgradeGroupJSON `json:"groups"` // the gates' first, then by datacenter
}

type upgradeGroupJSON struct {
	Group   string              `json:"group"`
	Level   string              `json:"level"`  // of what the group writes
	Agreed  bool                `json:"agreed"` // a majority has the level on disk
	Target  string              `json:"target"` // what --finalize raises it to
	Held    []string            `json:"held"`   // why it cannot
	Members []upgradeMemberJSON `json:"members"`
}

type upgradeMemberJSON struct {
	Address string `json:"address"`
	Version string `json:"version"` // empty: it is not heard
	Level   string `json:"level"`
}

func upgradeView(status *message.UpgradeStatus) UpgradeJSON {
	out := UpgradeJSON{Gate: status.Gate, Finalized: finalized(status), Groups: []upgradeGroupJSON{}}
	for _, g := range status.Groups {
		v := upgradeGroupJSON{Group: g.Group, Level: message.VersionText(g.Level), Agreed: g.Agreed, Target: message.VersionText(g.Target), Held: append([]string{}, g.Held...), Members: []upgradeMemberJSON{}}
		for _, m := range g.Members {
			version := ""
			if m.Heard {
				version = message.VersionText(m.Minor)
			}
			v.Members = append(v.Members, upgradeMemberJSON{m.Addr, version, message.VersionText(m.Level)})
		}
		out.Groups = append(out.Groups, v)
	}
	return out
}
