package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"hyperscale/core/message"
)

// The exit codes of commands that run jobs. Those of sim share 0, 1, 2 and 130.
const (
	exitGood        = 0
	exitFailed      = 1   // the job did not end well, or the cluster was lost
	exitUsage       = 2   // bad usage, file or configuration
	exitThreshold   = 99  // the job ended, a threshold was not met
	exitInterrupted = 130 // interrupted or cancelled
)

// exitError carries an exit code to main. Without err nothing is printed: the
// command has said all there is to say.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// exitWith ends a command with code; err may be nil.
func exitWith(code int, err error) error { return &exitError{code: code, err: err} }

// usage refuses what a person asked for.
func usage(format string, args ...any) error {
	return exitWith(exitUsage, fmt.Errorf(format, args...))
}

// asUsage marks err as bad usage, a bad file or bad configuration; nil stays nil.
func asUsage(err error) error {
	if err == nil {
		return nil
	}
	return exitWith(exitUsage, err)
}

// runs makes a RunE whose plain errors end with exit code 1.
func runs(f func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := f(cmd, args)
		var exit *exitError
		if err == nil || errors.As(err, &exit) {
			return err
		}
		return exitWith(exitFailed, err)
	}
}

// exitOf is the verdict on a job that ended.
func exitOf(r *message.Result) int {
	switch r.State {
	case message.JobCancelled:
		return exitInterrupted
	case message.JobCompleted:
		for _, t := range r.Thresholds {
			if !t.OK {
				return exitThreshold
			}
		}
		return exitGood
	}
	return exitFailed
}
