package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

//go:embed scaffold.star
var scaffold string

func newNewCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "new FILE",
		Short:   "write a first workflow file to start from",
		Example: "  hyperscale new test.star && hyperscale run test.star --set target=http://127.0.0.1:8080",
		Args:    exactly("FILE"),
		RunE: runs(func(cmd *cobra.Command, args []string) error {
			if err := create(args[0], scaffold); err != nil {
				return asUsage(err)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), `wrote %s; next:
  %-44s  something to test, in another terminal
  %-44s  check it
  %-44s  run it here
`, args[0], "hyperscale target --listen 127.0.0.1:8080", "hyperscale validate "+args[0], "hyperscale run "+args[0])
			return err
		}),
	}
}

// create writes a new file and refuses to touch one that is there.
func create(name, text string) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s is there already: choose another name, or delete it first", name)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("folder %s does not exist: create it first", filepath.Dir(name))
	case err != nil:
		return fmt.Errorf("create workflow file: %w", err)
	}
	if _, err := file.WriteString(text); err != nil {
		_ = file.Close() // the write's error says more
		return fmt.Errorf("write workflow file: %w", err)
	}
	return file.Close()
}
