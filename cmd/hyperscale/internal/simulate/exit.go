package simulate

import (
	"fmt"
	"hyperscale/cmd/hyperscale/internal/command"
)

// simExit ends a command of the simulator without an error text, as it has printed a verdict.
func simExit(code int) error {
	if code == command.ExitGood {
		return nil
	}
	return command.Exit(code, nil)
}

// interruptible ends with 130 at the first Ctrl-C: a world cannot be asked to
// stop, but it holds nothing that its process does not.
func interruptible(f func() error) error {
	interrupts := command.CatchInterrupts()
	defer interrupts.Release()
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-interrupts.Asked:
		return command.Exit(command.ExitInterrupted, fmt.Errorf("interrupted"))
	}
}
