package source

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Create writes a new file and refuses to touch one that is there.
func Create(name, text string) error {
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
