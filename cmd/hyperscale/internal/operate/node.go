package operate

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/session"
	"hyperscale/core/node"
	"hyperscale/runtime/config"
	"hyperscale/runtime/host"
	"hyperscale/runtime/loop"
)

// NewNodeCommand runs a node of a role.
func NewNodeCommand(role node.Role, short string) *cobra.Command {
	var file, history string
	cmd := &cobra.Command{
		Use:   role.String(),
		Short: short,
		Long: short + `.

Settings come from the file, then the environment (HYPERSCALE_ID, ...), then flags.
SIGTERM and ctrl-c stop the node gracefully, a second one at once.`,
		Args: command.Exactly(),
		RunE: command.Runs(func(cmd *cobra.Command, _ []string) error {
			given, dropped := SettingsFor(role, cmd)
			n, err := config.Load(role, config.Sources{File: file, Environ: os.Environ(), Flags: given})
			if err != nil {
				return command.AsUsage(err)
			}
			return runNode(cmd.Context(), n, history, dropped)
		}),
	}
	AddNodeFlags(cmd, &file, role)
	flags := cmd.Flags()
	flags.StringVar(&history, "history", "", "append each event to `FILE` as a line of JSON, for the checker")
	return cmd
}

// runNode runs one node until an operator stops it, or until it ends by itself.
func runNode(ctx context.Context, c config.Node, history string, dropped []string) error {
	log := command.LogFlags{Level: c.LogLevel, Format: c.LogFormat}
	logger := log.Logger(os.Stderr)
	if len(dropped) > 0 {
		slices.Sort(dropped)
		logger.Warn("flags that this role has no use for are ignored", "role", c.Role, "flags", strings.Join(dropped, " "))
	}
	var events io.Writer
	if history != "" {
		f, err := session.OpenHistory("history", history)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // each line was written at once, and its error reported
		events = f
	}
	for _, warning := range c.Warnings() {
		logger.Warn(warning, "role", c.Role.String(), "id", c.ID)
	}
	known, err := openTokens(&c, logger)
	if err != nil {
		return command.AsUsage(err)
	}
	signals := command.CatchInterrupts()
	defer signals.Release()
	var n *host.Node
	var moved *loop.RestartError
	supervisor := host.FindSupervisor(os.Getenv, os.Getpid())
	for again := true; again; {
		var err error
		if n, err = startNode(c, nodeExtras{logger: logger, history: events}); err != nil {
			return command.AsUsage(err) // a port, a directory: something that was asked for cannot be had
		}
		front, err := openFront(&c, n, known, logger)
		if err != nil {
			n.Kill()
			return command.AsUsage(err)
		}
		logger.Info("up", "role", c.Role.String(), "id", c.ID, "addr", string(n.Addr()), "admin", n.AdminAddr(), "api", front.addr(), "data", c.Data, "version", command.Version())
		go n.Supervise(supervisor)
		c.Listen, c.Admin = fixed(c.Listen, n.Listens()), fixed(c.Admin, n.AdminAddr()) // for the next incarnation
		c.API = fixed(c.API, front.addr())
		select {
		case <-n.Done():
			again = errors.As(n.Err(), &moved)
			front.close()
			if !again {
				return n.Err()
			}
		case <-signals.Asked:
			again = false
			front.close()
		}
	}
	logger.Info("stopping", "id", c.ID, "at_most", c.StopTimeout)
	ctx, cancel := context.WithTimeout(ctx, c.StopTimeout)
	defer cancel()
	go func() {
		select {
		case <-signals.Asked:
			cancel() // Stop kills the node then
		case <-ctx.Done():
		}
	}()
	if err := n.Stop(ctx); !errors.As(err, &moved) {
		return err
	}
	return nil // it was about to start again, and is to stop
}

// fixed returns the port that the system chose, if it was asked to choose one.
func fixed(asked, got string) string {
	if strings.HasSuffix(asked, ":0") {
		return got
	}
	return asked
}
