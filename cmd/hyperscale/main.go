package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/ui/units"
)

func main() {
	command.BringRoots()
	os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr))
}

// execute runs one command line and returns its exit code.
func execute(args []string, stdout, stderr io.Writer) int {
	root := newRootCommand()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(context.Background())
	if err == nil {
		return command.ExitGood
	}
	code := command.ExitUsage // what cobra itself refuses: unknown commands, flags, arguments
	var exit *command.ExitError
	if errors.As(err, &exit) {
		code, err = exit.Code, exit.Err
	}
	if err != nil {
		fmt.Fprintf(stderr, "hyperscale: %s\n", units.CleanLines(strings.TrimRight(err.Error(), "\n"))) // names and answers of servers stand in it
	}
	return code
}
