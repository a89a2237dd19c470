package exec

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"hyperscale/runtime/exec/confine"
)

// SecretPrefix begins the names of variables that hold secrets.
const SecretPrefix = "HYPERSCALE_SECRET_"

// Sandbox says whether executors give up the system calls that they never need.
type Sandbox string

const (
	SandboxAuto    Sandbox = "auto"    // if the kernel takes their filter, else the worker logs why not; the default
	SandboxRequire Sandbox = "require" // a worker whose kernel takes none runs nothing
	SandboxOff     Sandbox = "off"
)

// sandboxVariable tells a child its Sandbox.
const sandboxVariable = "HYPERSCALE_EXECUTOR_SANDBOX"

// inherited are the variables that an executor gets from its worker: its zone of time, the
// certificates of authorities, and what Go's runtime reads. No file of a program reads one.
func inherited() []string {
	return []string{"TZ", "ZONEINFO", "SSL_CERT_FILE", "SSL_CERT_DIR", "GODEBUG", "GOGC", "GOTRACEBACK", "GOCOVERDIR"}
}

// Surroundings are what executors get of their worker and its machine.
type Surroundings struct {
	// User is whom executors run as; nil: this process's user. Another one needs root.
	User *User
	// Pass names the variables of the environment that executors get in addition to the few that
	// they need.
	Pass []string
	// Sandbox says whether executors give up the system calls that they never need.
	Sandbox Sandbox
	// Custom is the folder of custom programs: executors run those that lie below it. Empty: none.
	Custom string
	// CustomRemedy says in errors what lets programs run; empty: a worker's flag.
	CustomRemedy string
}

// User is whom executors run as.
type User struct{ UID, GID uint32 }

// FindUser finds a user by its name, or by the numbers uid:gid.
func FindUser(text string) (*User, error) {
	remedy := "give --executor-user the name of a user of this machine, or uid:gid"
	uid, gid, numbers := strings.Cut(text, ":")
	if !numbers {
		found, err := user.Lookup(text)
		if err != nil {
			return nil, fmt.Errorf("executor_user = %s is unknown: %s", text, remedy)
		}
		uid, gid = found.Uid, found.Gid
	}
	var u User
	for _, part := range []struct {
		text string
		to   *uint32
	}{{uid, &u.UID}, {gid, &u.GID}} {
		n, err := strconv.ParseUint(part.text, 10, 31)
		if err != nil {
			return nil, fmt.Errorf("executor_user = %s is no uid:gid: %s", text, remedy)
		}
		*part.to = uint32(n)
	}
	return &u, nil
}

// check reports every fault.
func (c *Surroundings) check() (faults []error) {
	switch c.Sandbox {
	case "", SandboxAuto, SandboxOff:
	case SandboxRequire:
		if err := confine.Available(); err != nil {
			faults = append(faults, fmt.Errorf("executor_sandbox = require, and this machine gives none: %w: use a kernel with CONFIG_SECCOMP_FILTER, let the container call seccomp, or set --executor-sandbox auto", err))
		}
	default:
		faults = append(faults, fmt.Errorf("executor_sandbox = %q must be auto, require or off: correct --executor-sandbox", c.Sandbox))
	}
	if u := c.User; u != nil {
		switch own := os.Geteuid(); {
		case u.UID == 0 || u.GID == 0:
			faults = append(faults, fmt.Errorf("executor_user = %d:%d is root: name a user without rights to --executor-user", u.UID, u.GID))
		case own != 0:
			faults = append(faults, fmt.Errorf("executor_user = %d:%d needs a worker that runs as root, and this one has the uid %d: start it as root, or as that user without --executor-user", u.UID, u.GID, own))
		}
	}
	if c.Custom != "" {
		if info, err := os.Stat(c.Custom); err != nil || !info.IsDir() {
			faults = append(faults, fmt.Errorf("custom = %s is no folder: give --custom the folder of the programs that executors may run", c.Custom))
		}
	}
	for _, name := range c.Pass {
		switch {
		case name == "" || strings.ContainsAny(name, "= \t\n\x00"):
			faults = append(faults, fmt.Errorf("executor_env = %q is no name of a variable: give --executor-env names with commas between them", name))
		case strings.HasPrefix(name, SecretPrefix):
			faults = append(faults, fmt.Errorf("executor_env = %s would give a secret to all programs: take it out, and let the program name secret()", name))
		case slices.Contains([]string{"GOMAXPROCS", "GOMEMLIMIT", sandboxVariable}, name):
			faults = append(faults, fmt.Errorf("executor_env = %s is the worker's to set: take it out", name))
		}
	}
	return faults
}

// environment is what a child gets of this process's.
func (c *Config) environment(environ []string) []string {
	names := slices.Concat(inherited(), c.Pass)
	kept := slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return !slices.Contains(names, name)
	})
	soft := c.MemoryMax / 100 * aimPercent
	return append(kept, "GOMAXPROCS=1", "GOMEMLIMIT="+strconv.FormatUint(soft, 10), sandboxVariable+"="+string(c.Sandbox))
}

// enter confines this child, as its worker says. bare says why it has no filter though it may run.
func enter(sandbox Sandbox) (bare string, err error) {
	// The kernel names a process after the link that it was started by. ps should not.
	_ = os.WriteFile("/proc/self/comm", []byte(filepath.Base(os.Args[0])), 0)
	if err := confine.Conceal(); err != nil {
		return "", err
	}
	if sandbox == SandboxOff {
		return "", nil
	}
	if err := confine.Enter(); err != nil {
		if sandbox == SandboxRequire {
			return "", errors.Join(err, errors.New("executor_sandbox = require: set --executor-sandbox auto to run without"))
		}
		return err.Error(), nil
	}
	return "", nil
}
