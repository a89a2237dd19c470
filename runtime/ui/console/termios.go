//go:build linux

package console

import "golang.org/x/sys/unix"

// The requests that read and write a terminal's settings.
const (
	readTermios  = unix.TCGETS
	writeTermios = unix.TCSETS
)
