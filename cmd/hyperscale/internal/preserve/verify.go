package preserve

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/backup"
	"hyperscale/runtime/store"
	"hyperscale/runtime/ui/units"
)

// NewVerifyCommand compares a node's data directory with its checksums.
func NewVerifyCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify DIR|BACKUP",
		Short: "read a stopped node's data directory, or a backup, and say what of it is damaged",
		Long: `Read a stopped node's data directory, or a backup, and say what of it is damaged.

It compares each record with its checksum, and all of them together with what was
written last, so that a record that is missing or old shows, too. Then it reads what
the records say: registers, files by their digests, fences and results. It repairs
nothing. A node compares the checksums when it starts, and refuses a damaged directory.`,
		Example: "  hyperscale verify /var/lib/hyperscale/gate-1\n  hyperscale verify gates.backup",
		Args:    command.Exactly("DIR|BACKUP"),
		RunE: command.Runs(func(cmd *cobra.Command, args []string) error {
			if info, err := os.Stat(args[0]); err == nil && info.Mode().IsRegular() {
				return verifyBackup(cmd.OutOrStdout(), args[0], asJSON)
			}
			found, err := backup.Examine(args[0])
			switch {
			case errors.Is(err, store.ErrInUse):
				return command.Usage("%s: a node uses it: stop the node first", args[0])
			case errors.Is(err, fs.ErrNotExist):
				return command.Usage("%s holds no data of a node: name what the node has for --data", args[0])
			case err != nil:
				return command.AsUsage(err)
			}
			if asJSON {
				err = command.PrintJSON(cmd.OutOrStdout(), verifyView(args[0], &found))
			} else {
				err = printInspection(cmd.OutOrStdout(), args[0], &found)
			}
			switch {
			case err != nil:
			case found.Foreign():
				err = command.Exit(command.ExitFailed, fmt.Errorf("%s is of format %d, which this program does not read: use the version of hyperscale that wrote it; if that is this one, the entry is damaged", args[0], found.Format))
			case found.Damaged():
				err = command.Exit(command.ExitFailed, fmt.Errorf("%s is damaged: %s", args[0], store.DamageRemedy))
			}
			return err
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// verifyBackup reads all of a backup.
func verifyBackup(w io.Writer, name string, asJSON bool) error {
	file, err := os.Open(name)
	if err != nil {
		return command.AsUsage(err)
	}
	defer func() { _ = file.Close() }() // nothing was written to it
	m, err := backup.Scan(file, backup.Visitor{})
	switch {
	case err != nil:
		return command.Exit(command.ExitFailed, fmt.Errorf("%s: %w", name, err))
	case asJSON:
		return command.PrintJSON(w, m)
	}
	return printManifest(w, name, m)
}

type verifyJSON struct {
	Directory string     `json:"directory"`
	Node      string     `json:"node"`
	Starts    uint64     `json:"starts"`
	Bytes     int64      `json:"bytes"`
	Records   []kindJSON `json:"records"`
	Damages   []string   `json:"damages"`
	Notes     []string   `json:"notes"`
}

type kindJSON struct {
	Kind    string `json:"kind"`
	Records uint64 `json:"records"`
	Bytes   uint64 `json:"bytes"`
}

func verifyView(dir string, i *backup.Audit) verifyJSON {
	out := verifyJSON{Directory: dir, Node: string(i.ID), Starts: i.Incarnation, Bytes: i.Bytes, Records: []kindJSON{}, Damages: []string{}, Notes: slices.Concat([]string{}, i.Notes)}
	for _, kind := range slices.Sorted(maps.Keys(i.Records)) {
		out.Records = append(out.Records, kindJSON{kind, i.Records[kind].Records, i.Records[kind].Bytes})
	}
	for k := range i.Damages {
		out.Damages = append(out.Damages, i.Damages[k].Error())
	}
	out.Damages = append(out.Damages, i.Faults...)
	return out
}

func printInspection(w io.Writer, dir string, i *backup.Audit) error {
	v := verifyView(dir, i)
	verdict := "good"
	switch {
	case i.Foreign():
		verdict = "UNREADABLE"
	case i.Damaged():
		verdict = "DAMAGED"
	}
	if _, err := fmt.Fprintf(w, "%s  %s\n", dir, verdict); err != nil {
		return err
	}
	if v.Node != "" {
		if _, err := fmt.Fprintf(w, "  node %s, started %s, %s on disk\n", v.Node, units.Counted(v.Starts, "time"), units.Bytes(uint64(v.Bytes))); err != nil {
			return err
		}
	}
	for _, d := range v.Damages {
		if _, err := fmt.Fprintf(w, "  %s\n", d); err != nil {
			return err
		}
	}
	for _, n := range v.Notes {
		if _, err := fmt.Fprintf(w, "  note: %s\n", n); err != nil {
			return err
		}
	}
	if len(v.Records) == 0 {
		return nil
	}
	rows := [][]string{{"KIND", "RECORDS", "BYTES"}}
	for _, k := range v.Records {
		rows = append(rows, []string{k.Kind, command.Number(k.Records), command.Number(k.Bytes)})
	}
	return command.PrintRows(w, rows)
}
