//go:build linux

package confine

import "golang.org/x/sys/unix"

// x32 is where the calls of x32 begin, a second table of this architecture.
const x32 = 0x40000000

func calls() *table {
	return &table{arch: unix.AUDIT_ARCH_X86_64, most: x32, denied: append(everywhere(),
		unix.SYS_FORK, unix.SYS_VFORK, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_CREATE_MODULE, unix.SYS_GET_KERNEL_SYMS, unix.SYS_QUERY_MODULE,
		unix.SYS_MKNOD, unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB, unix.SYS_USTAT, unix.SYS_SYSFS, unix.SYS__SYSCTL)}
}

// forks are the calls that make processes, beside clone.
func forks() []uint32 { return []uint32{unix.SYS_FORK, unix.SYS_VFORK} }
