// Package core is the floor of all pure logic. No package imports it.
//
// Everything below it is a function of its inputs: no goroutine, clock, socket, file or
// global state. core/node is the kernel. core/message lists what crosses a wire, and
// core/event what a machine emits to observers. Parts (stats, workflow, ...) build on
// those three, roles (client, gate, manager, worker) on parts. A part imports no role and
// knows no neighbour. cmd/lint proves it.
package core
