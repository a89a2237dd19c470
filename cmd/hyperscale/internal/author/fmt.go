package author

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/source"
	"hyperscale/runtime/edit/format"
)

// NewFmtCommand formats workflow files.
func NewFmtCommand() *cobra.Command {
	var check bool
	cmd := &cobra.Command{
		Use:   "fmt FILE...",
		Short: "write workflow files in the one style",
		Long: `Writes workflow files in the one style, and names those that it has changed. Comments
and line breaks stay. The file - is standard input, which is written to standard output.
A file that does not parse stays as it is, and the exit code is 2.`,
		Example: "  hyperscale fmt test.star\n  hyperscale fmt --check *.star",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return command.Exactly("FILE")(cmd, args)
			}
			return nil
		},
		RunE: command.Runs(func(cmd *cobra.Command, args []string) error {
			differ := 0
			var refused []error
			for _, name := range args {
				changed, err := formatFile(cmd, name, check)
				if err != nil {
					refused = append(refused, err)
				}
				if changed {
					differ++
				}
			}
			if err := errors.Join(refused...); err != nil {
				return command.AsUsage(err)
			}
			if check && differ > 0 {
				return command.Exit(command.ExitFailed, nil)
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&check, "check", false, "change nothing: name the files that differ, and exit with 1 if there are any")
	return cmd
}

// formatFile says whether a file differs from the style, names it, and writes it unless
// it is only to be checked.
func formatFile(cmd *cobra.Command, name string, check bool) (bool, error) {
	if name == "-" {
		return formatInput(cmd, check)
	}
	data, err := source.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, fmt.Errorf("%s does not exist: check the name", name)
	case err != nil:
		return false, err
	}
	out, err := format.File(name, data)
	if err != nil || bytes.Equal(data, out) {
		return false, err
	}
	if !check {
		if err := overwrite(name, out); err != nil {
			return false, err
		}
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), name)
	return true, err
}

func formatInput(cmd *cobra.Command, check bool) (bool, error) {
	data, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), format.BytesMax+1))
	if err != nil {
		return false, fmt.Errorf("read standard input: %w", err)
	}
	out, err := format.File("stdin", data)
	if err != nil {
		return false, err
	}
	if check {
		if bytes.Equal(data, out) {
			return false, nil
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), "-")
		return true, err
	}
	_, err = cmd.OutOrStdout().Write(out)
	return false, err
}

// overwrite replaces a file's contents: whole, or not at all. It keeps the mode, and
// follows a link to the file that is meant.
func overwrite(name string, data []byte) error {
	target, err := filepath.EvalSymlinks(name)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	info, err := os.Stat(target)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	part, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	_, err = part.Write(data)
	err = errors.Join(err, part.Chmod(info.Mode().Perm()), part.Sync(), part.Close())
	if err == nil {
		err = os.Rename(part.Name(), target)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, errors.Join(err, os.Remove(part.Name())))
	}
	return nil
}
