//go:build linux

package confine

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The operations of seccomp(2), and flags of the first.
const (
	setFilter  = 1 // SECCOMP_SET_MODE_FILTER
	actionAsk  = 2 // SECCOMP_GET_ACTION_AVAIL
	allThreads = 1 // SECCOMP_FILTER_FLAG_TSYNC
	// keepSpeed is SECCOMP_FILTER_FLAG_SPEC_ALLOW. Without it, kernels before 5.16 turn off a part
	// of the processor's speculation, which costs an executor a tenth of its requests. The executor
	// runs no machine code of others.
	keepSpeed = 4
)

// Enter denies new privileges and calls that no executor needs, for all threads of this process,
// for ever. Its error says why the process is as free as before.
func Enter() error {
	program, err := program()
	if err != nil {
		return err
	}
	// Both belong to a thread, and the filter carries the first along to all others.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("forbid new privileges: %w", err)
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: unsafe.SliceData(program)}
	thread, _, wrong := unix.Syscall(unix.SYS_SECCOMP, setFilter, allThreads|keepSpeed, uintptr(unsafe.Pointer(&filter)))
	if wrong == unix.EINVAL { // a kernel before 4.17 knows no keepSpeed, and slows nothing down
		thread, _, wrong = unix.Syscall(unix.SYS_SECCOMP, setFilter, allThreads, uintptr(unsafe.Pointer(&filter)))
	}
	switch {
	case wrong != 0:
		return fmt.Errorf("filter system calls: %w", wrong)
	case thread != 0:
		return fmt.Errorf("filter system calls: thread %d has a filter of its own", thread)
	}
	return nil
}

// Available says why this kernel takes no filter; nil: it should. It changes nothing.
func Available() error {
	if _, err := program(); err != nil {
		return err
	}
	action := errno // without a number
	if _, _, err := unix.Syscall(unix.SYS_SECCOMP, actionAsk, 0, uintptr(unsafe.Pointer(&action))); err != 0 {
		return fmt.Errorf("filter system calls: %w", err)
	}
	return nil
}

// Conceal keeps this process's memory out of core dumps, and from debuggers of its user.
func Conceal() error {
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("forbid core dumps: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("forbid core dumps: %w", err)
	}
	return nil
}
