package budget

import (
	"fmt"

	"hyperscale/core/message"
)

// wellAt is the percentage of a machine's memory below which it is short of memory. Its kernel would
// soon end a process of its choice, which may be the worker.
const wellAt = 5

// Short says that a machine is short of memory.
func Short(u *message.ExecUsage) bool {
	return u.Machine > 0 && u.Left < Percent(u.Machine, wellAt)
}

// Relieves says that the end of an executor would help a machine that is short of memory: it has at
// least as much as a machine needs to be well. Otherwise others have it, and their victim would be an
// innocent test.
func Relieves(u *message.ExecUsage) bool {
	return Short(u) && u.Memory >= Percent(u.Machine, wellAt)
}

// ShortError is why an executor is ended whose machine is short of memory.
type ShortError struct{ Used, Left, Machine uint64 }

func (e *ShortError) Error() string {
	return fmt.Sprintf("had most of the memory, %s, of a machine that has %s of %s left: run fewer executors there (worker: --cores), or bound them (worker: --set exec.memory_max=..., workflow: memory = \"...\")",
		size(e.Used), size(e.Left), size(e.Machine))
}

// Shortage is the error of an executor that is ended for its machine.
func Shortage(u *message.ExecUsage) error {
	return &ShortError{Used: u.Memory, Left: u.Left, Machine: u.Machine}
}
