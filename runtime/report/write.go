package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Encode writes the result as indented JSON with a newline at its end.
func (r *Result) Encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // expressions hold < and >
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return nil, fmt.Errorf("encode the result: %w", err)
	}
	return b.Bytes(), nil
}

// WriteFile replaces the file atomically: a reader sees the old content or the new. Only its
// owner may read a new file; one that was there keeps its permissions. It writes directly to
// files that are not regular (a pipe, /dev/stdout).
func WriteFile(file string, b []byte) error {
	mode := os.FileMode(0o600)
	if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
		mode = info.Mode().Perm()
	} else if err == nil {
		if err := os.WriteFile(file, b, mode); err != nil {
			return fmt.Errorf("write the result: %w", err)
		}
		return nil
	}
	part, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*")
	if err != nil {
		return fmt.Errorf("write the result to %s: %w", file, err)
	}
	defer func() { _ = os.Remove(part.Name()) }() // gone already when all went well
	if _, err = part.Write(b); err == nil {
		err = part.Chmod(mode)
	}
	if closed := part.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(part.Name(), file)
	}
	if err != nil {
		return fmt.Errorf("write the result to %s: %w", file, err)
	}
	return nil
}
