// Package runtime is a floor, not a room: it runs the machines that the simulator runs, on
// real clocks, sockets, disks and processes.
//
// It holds no code, and no package imports it. Its packages import core and libraries, never
// sim, netsim, checker or scenarios.
//
// Source: DESIGN.md, "Packages".
//
// Invariant: R1 a machine cannot tell which floor below it carries it.
//
// Read host (a whole node), loop (the goroutine that drives a machine),
// transport (streams and datagrams), store (what survives a restart), exec
// (workflows on cores), then metrics and config.
package runtime
