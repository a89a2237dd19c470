package exec

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// SecretPrefix begins the names of variables that hold secrets.
const SecretPrefix = "HYPERSCALE_SECRET_"

// withoutSecrets is an environment for a process that needs none of them.
func withoutSecrets(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(v string) bool { return strings.HasPrefix(v, SecretPrefix) })
}

// conceal keeps this process's memory out of core dumps, and from debuggers of its user.
func conceal() error {
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("forbid core dumps: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("forbid core dumps: %w", err)
	}
	return nil
}
