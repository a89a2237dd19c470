package follow

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Writable finds out before the run that a result will find its place after it.
func Writable(name string) error {
	if name == "-" {
		return errors.New("a name is needed: give a file, or /dev/stdout")
	}
	folder := filepath.Dir(name)
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("folder %s does not exist: create it first", folder)
	}
	_, err := os.Stat(name)
	if file, opened := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o600); opened != nil {
		return fmt.Errorf("cannot be written: choose another file: %w", opened)
	} else if err := file.Close(); err != nil {
		return err
	}
	if err != nil {
		return os.Remove(name) // it was not there before: it appears whole or not at all
	}
	return nil
}
