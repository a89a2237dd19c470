// Package console holds a terminal that a live screen has taken: it writes only the lines that
// changed, gives the terminal back while the process is stopped, keeps what others write until
// the screen is gone, and restores the terminal when the process dies.
//
// It draws nothing: runtime/ui does.
//
// Example:
//
//	guard, err := console.StartGuard(tty, command)
//	canvas := &console.Painter{File: tty}
//	go console.Suspends(program, closing)
//	canvas.Show(lines, width)
//	guard.Release()
//
// Read painter.go, held.go, suspend.go, guard.go.
package console
