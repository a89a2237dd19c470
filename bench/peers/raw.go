package main

import (
	"syscall"
	"unsafe"
)

// raw reads or writes a descriptor that does not block, without telling Go's
// scheduler, which costs as much as the rest of our part.
func raw(call uintptr, fd int, b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	return int(n), errno
}
