//go:build !linux

package program

// exited says that it is unknown: children of a program that has ended go on.
func exited(int) bool { return false }
