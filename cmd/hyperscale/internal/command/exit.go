package command

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// The exit codes of commands that run jobs. Those of sim share 0, 1, 2 and 130.
const (
	ExitGood        = 0
	ExitFailed      = 1   // the job did not end well, or the cluster was lost
	ExitUsage       = 2   // bad usage, file or configuration
	ExitThreshold   = 99  // the job ended, a threshold was not met
	ExitInterrupted = 130 // interrupted or cancelled
)

// ExitError carries an exit code to main. Without err nothing is printed: the
// command has said all there is to say.
type ExitError struct {
	Code int
	Err  error
}

// Error implements error.
func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap is for errors.Is and errors.As.
func (e *ExitError) Unwrap() error { return e.Err }

// Exit ends a command with code; err may be nil.
func Exit(code int, err error) error { return &ExitError{Code: code, Err: err} }

// Usage rejects a person's request.
func Usage(format string, args ...any) error {
	return Exit(ExitUsage, fmt.Errorf(format, args...))
}

// AsUsage marks err as bad usage, a bad file or bad configuration; nil stays nil.
func AsUsage(err error) error {
	if err == nil {
		return nil
	}
	return Exit(ExitUsage, err)
}

// Runs makes a RunE whose plain errors end with exit code 1.
func Runs(f func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := f(cmd, args)
		var exit *ExitError
		if err == nil || errors.As(err, &exit) {
			return err
		}
		return Exit(ExitFailed, err)
	}
}
