//go:build linux

package confine

import "golang.org/x/sys/unix"

func calls() *table {
	return &table{arch: unix.AUDIT_ARCH_AARCH64, denied: append(everywhere(), unix.SYS_KEXEC_FILE_LOAD)}
}

// forks are the calls that make processes, beside clone.
func forks() []uint32 { return nil }
