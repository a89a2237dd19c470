package preserve

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/operate"
	"hyperscale/core/lease/copies"
	"hyperscale/core/node"
	"hyperscale/runtime/backup"
	"hyperscale/runtime/config"
)

// NewRestoreCommand founds a group of gates on a backup.
func NewRestoreCommand() *cobra.Command {
	var (
		file    string
		partial bool
	)
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "make a new group of gates from a backup, after all disks were lost",
		Long: `Make a new group of gates from a backup, after all disks were lost.

Stop the gates that still run. Run this once, with the settings of one gate, whose data
directory it makes. Then start that gate, and the others with empty directories: they
join it. The set of gates may be another one than before.

The new group has an epoch of its own, which members of the old one cannot join, and
begins with fences above all that the old one can have given: managers and workers that
still run obey the new one alone. Jobs that had ended keep their ends. What other jobs
did after the backup is not known: they end as FAILED with that reason, as dead letters,
which ` + "`hyperscale replay`" + ` submits again. Jobs that came after the backup are lost.`,
		Example: "  hyperscale restore gates.backup --config gate-1.yaml",
		Args:    command.Exactly("FILE"),
		RunE: command.Runs(func(cmd *cobra.Command, args []string) error {
			c, err := operate.GateSettings(cmd, file)
			if err != nil {
				return command.AsUsage(err)
			}
			if c.Data == "" {
				return command.Usage("--data is missing: name the directory that the gate is to have")
			}
			return restoreGate(&c, args[0], partial, cmd.OutOrStdout())
		}),
	}
	operate.AddGateFlags(cmd, &file)
	cmd.Flags().BoolVar(&partial, "partial", false, "also from a backup of less than a majority: jobs that were acknowledged may be missing")
	return cmd
}

func restoreGate(c *config.Node, name string, partial bool, w io.Writer) error {
	file, err := os.Open(name)
	if err != nil {
		return command.AsUsage(err)
	}
	defer func() { _ = file.Close() }() // nothing was written to it
	draw, err := rand.Int(rand.Reader, big.NewInt(copies.EpochDraw))
	if err != nil {
		return err
	}
	members := c.Set()
	if len(members) == 0 {
		members = []node.Addr{node.Addr(cmp.Or(c.Advertise, c.Listen))} // alone
	}
	r, err := backup.Restore(file, &backup.Order{
		Cluster: c.Cluster, Environment: c.Environment, ID: node.ID(c.ID), Members: members, Directory: c.Data, Partial: partial, Draw: draw.Uint64(),
	})
	switch {
	case errors.Is(err, backup.ErrBackup):
		return command.Exit(command.ExitFailed, fmt.Errorf("%s: nothing was restored: %w; take another one", name, err))
	case err != nil:
		return command.AsUsage(fmt.Errorf("nothing was restored: %w", err))
	}
	unknown := 0
	for _, j := range r.Jobs {
		if j.Unknown {
			unknown++
		}
	}
	if _, err := fmt.Fprintf(w, "%s has epoch %d of the gates, from a backup that began %s\nkept: %s, of which %d had ended\n", c.Data, r.Epoch, r.Manifest.Began,
		command.Counted(len(r.Jobs), "job"), len(r.Jobs)-unknown); err != nil {
		return err
	}
	for _, j := range r.Jobs {
		if j.Unknown {
			if _, err := fmt.Fprintf(w, "unknown: job %v (%s) was %v: what it did after the backup is not known, and it ends as a dead letter\n", j.ID, j.Name, j.State); err != nil {
				return err
			}
		}
	}
	if r.Absent > 0 {
		if _, err := fmt.Fprintf(w, "missing: %s of these, which the backup does not have\n", command.Counted(r.Absent, "file")); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(w, "lost: jobs that were acknowledged after the backup, without a trace\n"+
		"next: start %s as usual, then the other gates with empty --data directories; wipe the old ones\n", c.ID)
	return err
}
