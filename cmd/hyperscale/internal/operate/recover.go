package operate

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/session"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/config"
	"hyperscale/runtime/host"
)

// recoverMax bounds what recovering takes beyond its waiting for leases.
const recoverMax = time.Minute

// NewRecoverCommand recovers a group from one disk.
func NewRecoverCommand() *cobra.Command {
	var (
		file, name string
		unsafe     bool
	)
	cmd := &cobra.Command{
		Use:   "recover --unsafe",
		Short: "continue from one disk after a group lost a majority of its disks for good",
		Long: `Continue from one disk after a group lost a majority of its disks for good.

Stop the node with the best remaining disk, and run this with its settings. Then
start it as usual, and the others with empty disks. The command founds a new
epoch of the gates, or with --role manager of a datacenter's managers.

Acknowledged jobs that are not on this disk are lost, without a trace. A live
majority rejects the command.`,
		Example: "  hyperscale recover --unsafe --config gate.yaml\n  hyperscale recover --unsafe --role manager --config manager.yaml",
		Args:    command.Exactly(),
		RunE: command.Runs(func(cmd *cobra.Command, _ []string) error {
			role := node.RoleGate
			if name == "manager" {
				role = node.RoleManager
			}
			given, _ := SettingsFor(role, cmd)
			c, err := config.Load(role, config.Sources{File: file, Environ: os.Environ(), Flags: given})
			if err != nil {
				return command.AsUsage(err)
			}
			if !cmd.Flags().Changed("log-level") {
				c.LogLevel = "error"
			}
			if !unsafe {
				return wouldRecover(&c)
			}
			return recoverNode(cmd.Context(), &c, cmd.ErrOrStderr(), cmd.OutOrStdout())
		}),
	}
	command.AddChoice(cmd.Flags(), &name, "role", "gate", "whose group it is", "gate", "manager")
	AddNodeFlags(cmd, &file, node.RoleGate, node.RoleManager)
	cmd.Flags().BoolVar(&unsafe, "unsafe", false, "do it: what is not on this disk is lost")
	return cmd
}

// wouldRecover explains what --unsafe would do.
func wouldRecover(c *config.Node) error {
	set := c.Set()
	if len(set) <= 1 {
		return command.Usage("%s is alone: its disk is the only one, and there is nothing to recover: start it as usual", c.ID)
	}
	return command.Usage("this would make the disk of %s, %s, the truth for all %d %ss (%v): what others acknowledged and it does not have would be lost; "+
		"it waits one lease (%v), is refused while %d of them are alive, and founds a new epoch; add --unsafe to do it", c.ID, c.Data, len(set), c.Role, joined(set), recoverLease(c), len(set)/2+1)
}

func recoverLease(c *config.Node) time.Duration {
	if c.Role == node.RoleManager {
		return c.SubjobLease
	}
	return c.Lease
}

func joined(set []node.Addr) string {
	texts := make([]string, len(set))
	for i, a := range set {
		texts[i] = string(a)
	}
	return strings.Join(texts, ", ")
}

// recoverNode runs the node until its group has a new epoch, prints what the node knows, and
// ends it.
func recoverNode(ctx context.Context, c *config.Node, progress, out io.Writer) error {
	if len(c.Set()) <= 1 {
		return wouldRecover(c)
	}
	log := command.LogFlags{Level: c.LogLevel, Format: c.LogFormat}
	news := make(chan node.Event, 64)
	n, err := startNode(*c, nodeExtras{logger: log.Logger(progress), recover: true, observe: func(e node.Event) {
		switch e.(type) {
		case event.GroupJoined, event.GroupAlarm:
			select {
			case news <- e:
			default: // the first one decides
			}
		}
	}})
	if err != nil {
		return command.AsUsage(err)
	}
	defer n.Kill()
	_, _ = fmt.Fprintf(progress, "%s waits %v: for a majority that may be alive, and for leases to run out\n", c.ID, recoverLease(c)) // progress
	signals := command.CatchInterrupts()
	defer signals.Release()
	select {
	case e := <-news:
		if err := recovered(c, e); err != nil {
			return err
		}
		if err := tellRecovered(ctx, c, n, e.(event.GroupJoined), out); err != nil {
			return err
		}
	case <-signals.Asked:
		return command.Exit(command.ExitInterrupted, fmt.Errorf("nothing was changed"))
	case <-n.Done():
		return n.Err()
	case <-time.After(recoverLease(c) + recoverMax):
		return command.Exit(command.ExitFailed, fmt.Errorf("nothing was recovered within %v: run it again with --log-level debug and look at what it says", recoverLease(c)+recoverMax))
	}
	ctx, cancel := context.WithTimeout(ctx, c.StopTimeout)
	defer cancel()
	return n.Stop(ctx)
}

// recovered says whether the first news is the good one.
func recovered(c *config.Node, e node.Event) error {
	switch e := e.(type) {
	case event.GroupAlarm:
		return command.Exit(command.ExitFailed, fmt.Errorf("nothing was recovered: %s", e.Reason))
	case event.GroupJoined:
		if e.How == "recovered" {
			return nil
		}
		return command.Exit(command.ExitFailed, fmt.Errorf("nothing was recovered: %s became a member as it is (%s): start it as usual", c.ID, e.How))
	}
	return nil
}

// tellRecovered prints what the node knows, and what it knows to be lost.
func tellRecovered(ctx context.Context, c *config.Node, n *host.Node, e event.GroupJoined, out io.Writer) error {
	_, err := fmt.Fprintf(out, "%s founded epoch %d of %s upon %s\n", c.ID, e.Generation>>32, e.Group, c.Data)
	if err == nil && c.Role == node.RoleGate {
		err = tellJobs(ctx, c, n, out)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "lost: whatever others acknowledged and this disk does not have, without a trace\n"+
		"next: start %s as usual, then the other %ss with empty --data directories; what is in their old ones is refused\n", c.ID, c.Role)
	return err
}

// tellJobs asks the gate itself for the jobs on its disk.
func tellJobs(ctx context.Context, c *config.Node, n *host.Node, out io.Writer) error {
	log := command.LogFlags{Level: "error", Format: "text"}
	s, err := session.Dial(&session.Flags{Addresses: []string{string(n.Addr())}, Cluster: c.Cluster, Environment: c.Environment}, log.Logger(io.Discard))
	if err != nil {
		return err
	}
	defer s.Close()
	answer, err := s.Ask(ctx, &message.ClusterQuery{})
	if err != nil {
		return err
	}
	status, ok := answer.(*message.ClusterStatus)
	if !ok {
		return session.Unexpected(answer)
	}
	open := 0
	for _, l := range status.Leases {
		if !l.State.Terminal() {
			open++
		}
	}
	if _, err := fmt.Fprintf(out, "kept: %d jobs, of which %d have not ended and go on once a majority of gates is up\n", status.LeaseSum, open); err != nil {
		return err
	}
	for _, l := range status.Leases {
		if l.Missing > 0 {
			if _, err := fmt.Fprintf(out, "lost: %d files of job %v (%s, %v), unless another gate still has them\n", l.Missing, l.Job, l.Name, l.State); err != nil {
				return err
			}
		}
	}
	return nil
}
