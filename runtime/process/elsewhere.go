//go:build !linux

package process

import (
	"errors"
	"fmt"
)

// launch starts nothing where the kernel is another one: it would not end programs with the process that asked.
func (f *Folder) launch(o *order) (Pipes, error) {
	return Pipes{}, fmt.Errorf("start custom program %s: only Linux runs them: %w", o.args[0], errors.ErrUnsupported)
}
