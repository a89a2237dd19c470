package preserve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/session"
	"hyperscale/core/message"
	"hyperscale/runtime/backup"
	"hyperscale/runtime/progress"
	"hyperscale/runtime/ui/units"
)

// NewBackupCommand copies what the gates of a running cluster know into a file.
func NewBackupCommand() *cobra.Command {
	var (
		gate session.Flags
		log  command.LogFlags
		out  string
	)
	cmd := &cobra.Command{
		Use:   "backup --out FILE",
		Short: "copy what the gates know of all jobs into a file, while they run",
		Long: `Copy what the gates know of all jobs into a file, while they run.

The command asks each configured gate for its registers, then for the files that these
name: programs, results, dead letters. With a majority of the gates, the backup has every
job that was acknowledged before the command began. With fewer, it is not whole, and the
command says so and fails.

The file holds the secrets of jobs, and has mode 0600. ` + "`hyperscale restore`" + ` makes a new
group of it, after all gates were lost; ` + "`hyperscale verify FILE`" + ` reads it. Managers and
workers need no backup.`,
		Example: "  hyperscale backup --gate gate-1:9000 --out gates.backup",
		Args:    command.Exactly(),
		RunE: command.Runs(func(cmd *cobra.Command, _ []string) error {
			if out == "" {
				return command.Usage("--out is missing: name the file that the backup is to be written to")
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			err := backUp(ctx, &gate, out, log.Logger(cmd.ErrOrStderr()), cmd.ErrOrStderr(), cmd.OutOrStdout())
			if err != nil && ctx.Err() != nil {
				return command.Exit(command.ExitInterrupted, fmt.Errorf("nothing was written"))
			}
			return err
		}),
	}
	gate.Add(cmd)
	log.Add(cmd.Flags(), "error")
	cmd.Flags().StringVar(&out, "out", "", "`FILE` of the backup, which must not exist (required)")
	return cmd
}

func backUp(ctx context.Context, f *session.Flags, out string, log *slog.Logger, notes, w io.Writer) error {
	if _, err := os.Lstat(out); err == nil {
		return command.Usage("--out %s exists: a backup overwrites nothing: choose another file", out)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return command.AsUsage(err)
	}
	members, err := membersOf(ctx, f, log)
	if err != nil {
		return err
	}
	line := progress.New(notes, progress.Terminal(notes), time.Now())
	defer line.Clear()
	task := &backup.Task{
		Cluster: f.Cluster, Environment: f.Environment, Version: command.Version(), Members: members, Now: time.Now,
		Tell: func(text func() string) { line.Tell(time.Now(), text) },
	}
	for _, addr := range members {
		one := *f
		one.Addresses = []string{addr}
		s, err := session.Dial(&one, log)
		if err != nil {
			return err
		}
		defer s.Close()
		task.Gates = append(task.Gates, backup.Gate{Addr: addr, Ask: func(ctx context.Context, q *message.BackupQuery) (*message.BackupPage, error) {
			answer, err := s.Ask(ctx, q)
			if err != nil {
				return nil, err
			}
			page, ok := answer.(*message.BackupPage)
			if !ok {
				return nil, session.Unexpected(answer)
			}
			return page, nil
		}})
	}
	m, err := written(out, func(file io.Writer) (*backup.Manifest, error) { return backup.Collect(ctx, task, file) })
	if err != nil {
		return err
	}
	line.Clear()
	if err := printManifest(w, out, m); err != nil {
		return err
	}
	if !m.Whole {
		return command.Exit(command.ExitFailed, fmt.Errorf("%s is not whole: it has %d of %d gates, which are no majority, and jobs that were acknowledged may be missing: make it again once a majority answers", out, len(m.Copies), len(m.Members)))
	}
	return nil
}

// membersOf asks a gate for the configured set.
func membersOf(ctx context.Context, f *session.Flags, log *slog.Logger) ([]string, error) {
	s, err := session.Dial(f, log)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	answer, err := s.Ask(ctx, &message.ClusterQuery{})
	if err != nil {
		return nil, err
	}
	status, ok := answer.(*message.ClusterStatus)
	if !ok {
		return nil, session.Unexpected(answer)
	}
	return slices.Sorted(slices.Values(status.Gates)), nil
}

// written writes a backup, and replaces no file.
func written(out string, fill func(io.Writer) (*backup.Manifest, error)) (m *backup.Manifest, err error) {
	command.RemoveParts(filepath.Dir(out), func(name string) bool { return name == filepath.Base(out) })
	err = command.NewFile(out, 0o600, func(w io.Writer) (err error) { m, err = fill(w); return err })
	var usage *command.ExitError
	if err != nil && !errors.As(err, &usage) {
		err = command.Exit(command.ExitFailed, fmt.Errorf("write the backup %s: %w", out, err))
	}
	return m, err
}

// printManifest says what a backup holds.
func printManifest(w io.Writer, name string, m *backup.Manifest) error {
	verdict := "whole"
	if !m.Whole {
		verdict = "NOT WHOLE"
	}
	if _, err := fmt.Fprintf(w, "%s  %s\n  cluster %s, environment %s, epoch %d, begun %s, by %s\n  %s, %s\n", name, verdict, m.Cluster, m.Environment, m.Epoch, m.Began, m.Version,
		command.Counted(int(m.Files), "file"), units.Bytes(m.FileBytes)); err != nil {
		return err
	}
	if len(m.Absent) > 0 {
		if _, err := fmt.Fprintf(w, "  missing: %s of jobs that have not ended, which no gate had\n", command.Counted(len(m.Absent), "file")); err != nil {
			return err
		}
	}
	rows := [][]string{{"GATE", "ADDRESS", "REGISTERS", "EPOCH"}}
	for _, c := range m.Copies {
		rows = append(rows, []string{c.Gate, c.Addr, command.Number(c.Registers), command.Number(c.Epoch)})
	}
	for _, c := range m.Missing {
		rows = append(rows, []string{"-", c.Addr, "missing: " + c.Why, ""})
	}
	return command.PrintRows(w, rows)
}
