//go:build linux

package confine

import (
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// What a filter answers: see SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ERRNO and SECCOMP_RET_ALLOW.
const (
	ended   uint32 = 0x80000000
	errno   uint32 = 0x00050000
	denied         = errno | uint32(unix.EPERM)
	unknown        = errno | uint32(unix.ENOSYS)
	allowed uint32 = 0x7fff0000
)

// Places in struct seccomp_data: the number of the call, its architecture, and the lower half of
// its first argument on a little-endian machine.
const (
	atCall     = 0
	atArch     = 4
	atArgument = 16
)

// table is the system calls of an architecture.
type table struct {
	arch   uint32   // AUDIT_ARCH_*
	most   uint32   // calls from here on are those of another table; 0: there is none
	denied []uint32 // in any order
}

// program is the filter of this machine, as the kernel takes it.
func program() ([]unix.SockFilter, error) {
	t := calls()
	if t == nil {
		return nil, fmt.Errorf("filter system calls: not written for %s", runtime.GOARCH)
	}
	return assemble(t.filter())
}

// assemble returns a filter as the kernel takes it.
func assemble(filter []bpf.Instruction) ([]unix.SockFilter, error) {
	raw, err := bpf.Assemble(filter)
	if err != nil {
		return nil, fmt.Errorf("filter system calls: %w", err)
	}
	all := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		all[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	return all, nil
}

// filter is the program of a table. A search halves the list, since kernels before 5.11 run it for
// each call.
func (t *table) filter() []bpf.Instruction {
	return t.behind([]bpf.Instruction{
		// A thread is no process. What clone3 makes stands in memory, where no filter looks: who
		// hears that there is no clone3 calls clone.
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SYS_CLONE3, SkipFalse: 1},
		bpf.RetConstant{Val: unknown},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SYS_CLONE, SkipFalse: 4},
		bpf.LoadAbsolute{Off: atArgument, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: unix.CLONE_THREAD, SkipTrue: 1},
		bpf.RetConstant{Val: denied},
		bpf.RetConstant{Val: allowed},
	}, t.denied)
}

// behind is a filter that denies a list of calls behind instructions of its own, which leave the number
// of the call loaded.
func (t *table) behind(own []bpf.Instruction, list []uint32) []bpf.Instruction {
	all := []bpf.Instruction{
		bpf.LoadAbsolute{Off: atArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: t.arch, SkipTrue: 1},
		bpf.RetConstant{Val: ended},
		bpf.LoadAbsolute{Off: atCall, Size: 4},
	}
	if t.most > 0 {
		all = append(all, bpf.JumpIf{Cond: bpf.JumpLessThan, Val: t.most, SkipTrue: 1}, bpf.RetConstant{Val: ended})
	}
	all = append(all, own...)
	sorted := slices.Clone(list)
	slices.Sort(sorted)
	return append(all, search(slices.Compact(sorted))...)
}

// search answers whether the loaded number is in a sorted list.
func search(list []uint32) []bpf.Instruction {
	if len(list) == 0 {
		return []bpf.Instruction{bpf.RetConstant{Val: allowed}}
	}
	middle := len(list) / 2
	low, high := search(list[:middle]), search(list[middle+1:])
	head := []bpf.Instruction{
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: list[middle], SkipFalse: 1},
		bpf.RetConstant{Val: denied},
		bpf.JumpIf{Cond: bpf.JumpGreaterThan, Val: list[middle], SkipTrue: uint8(len(low))}, // TestListIsShort bounds it
	}
	return slices.Concat(head, low, high)
}
