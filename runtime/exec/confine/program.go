//go:build linux

package confine

import (
	"fmt"
	"slices"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// namespaces are the flags of clone that make one.
const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// atSecond is the place of the lower half of a call's second argument in struct seccomp_data.
const atSecond = 24

// EnterThread denies the calling thread, and what it starts, new privileges and what a custom program
// never needs: all that an executor is denied, but for programs and processes. The only process group
// that they may enter is the given one, so that its kill ends them all. The thread must be locked, and
// never be used again. Its error says why the thread is as free as before, but for privileges.
func EnterThread(group int) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("forbid new privileges: %w", err)
	}
	t := calls()
	if t == nil {
		_, err := program()
		return err
	}
	program, err := assemble(t.programs(uint32(group)))
	if err != nil {
		return err
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: unsafe.SliceData(program)}
	if _, _, wrong := unix.Syscall(unix.SYS_SECCOMP, setFilter, keepSpeed, uintptr(unsafe.Pointer(&filter))); wrong != 0 {
		return fmt.Errorf("filter system calls: %w", wrong)
	}
	return nil
}

// programs is the filter of a custom program.
func (t *table) programs(group uint32) []bpf.Instruction {
	list := slices.DeleteFunc(slices.Clone(t.denied), func(call uint32) bool {
		return slices.Contains(forks(), call) || call == unix.SYS_EXECVE || call == unix.SYS_EXECVEAT || call == unix.SYS_SETPGID
	})
	return t.behind([]bpf.Instruction{
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SYS_CLONE3, SkipFalse: 1},
		bpf.RetConstant{Val: unknown},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SYS_CLONE, SkipFalse: 4},
		bpf.LoadAbsolute{Off: atArgument, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: namespaces, SkipFalse: 1},
		bpf.RetConstant{Val: denied},
		bpf.RetConstant{Val: allowed},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SYS_SETPGID, SkipFalse: 4},
		bpf.LoadAbsolute{Off: atSecond, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: group, SkipTrue: 1},
		bpf.RetConstant{Val: denied},
		bpf.RetConstant{Val: allowed},
	}, list)
}
