package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/seal"
)

// newSecretCommand makes and names the secrets of clusters.
func newSecretCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "secret",
		Short: "make the secret that a cluster's nodes and clients share",
		Long: `Make the secret that a cluster's nodes and clients share.

Nodes with --cluster-secret encrypt what they say, and listen to holders of the secret
alone. To replace a secret without a stop, add the new one as a second line on all
nodes and clients; then move it to the first line on all; then take the old line out.
A node reads its file again within a second.`,
		Example: "  hyperscale secret new cluster.secret\n  hyperscale gate --cluster-secret cluster.secret --listen 0.0.0.0:7400 ...",
		Args:    command.RefuseCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSecretNewCommand(), newSecretShowCommand())
	return cmd
}

func newSecretNewCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "new [FILE]",
		Short: "write a new secret to FILE, which only you can read, or print it",
		Args:  command.AtMost("FILE"),
		RunE: command.Runs(func(cmd *cobra.Command, args []string) error {
			text := seal.New() + "\n"
			if len(args) == 0 {
				_, err := fmt.Fprint(cmd.OutOrStdout(), text)
				return err
			}
			if err := createSecret(args[0], text); err != nil {
				return err
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s holds a new secret: copy it to each node and client, and give it to --cluster-secret\n", args[0])
			return err
		}),
	}
}

// createSecret writes a file that only its owner reads, and that did not exist.
func createSecret(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return command.Usage("%s exists, and its nodes may use it: name another file, or add the output of `%s secret new` to it as a second line", path, command.Called())
	}
	if err != nil {
		return command.AsUsage(err)
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		_ = os.Remove(path) // it holds no whole secret
		return fmt.Errorf("write the secret %s: %w", filepath.Base(path), err)
	}
	return nil
}

func newSecretShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show FILE",
		Short: "name the secrets in FILE, as metrics and logs do, without telling them",
		Args:  command.Exactly("FILE"),
		RunE: command.Runs(func(cmd *cobra.Command, args []string) error {
			secrets, err := seal.OpenFile(args[0]).Read()
			if err != nil {
				return command.AsUsage(err)
			}
			for i, s := range secrets {
				use := "opens"
				if i == 0 {
					use = "seals and opens"
				}
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%v  %s\n", s.ID(), use); err != nil {
					return err
				}
			}
			return nil
		}),
	}
}
