// Package confine takes from a process what an executor never needs: new privileges, core dumps,
// debuggers, and system calls that start programs or change the machine.
//
// It does not confine files or the network: an executor sends load to any address, and reads
// certificates. It does not change the user (runtime/exec does, before the process begins).
//
// Source: seccomp(2), prctl(2), "PR_SET_NO_NEW_PRIVS", "PR_SET_DUMPABLE". The names are those of
// Documentation/userspace-api/seccomp_filter.rst.
//
// Invariants:
//
//	CONFINE-1 After Enter, no thread of the process starts a program or another process, traces one,
//	          mounts, changes its namespaces, or loads code into the kernel. Nothing undoes it.
//	CONFINE-2 A denied call fails with EPERM. A call of another architecture's table ends the process.
//	CONFINE-3 The calls of the load (reads, writes, epoll, clocks) depend on their number alone, so
//	          that the kernel (5.11 and later) allows them without running the filter.
//
//	CONFINE-4 After EnterThread, what the thread starts makes no namespace and enters no process group but
//	          the given one, so that a kill of the group ends all of it. CONFINE-2 holds for it.
//
// Read confine.go, filter.go, program.go, calls.go.
package confine
