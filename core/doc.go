// Package core is the floor on which all pure logic stands; nobody imports it.
//
// Everything below it is a function of its inputs: no goroutine, no clock, no
// socket, no file, no global state. core/node is the kernel, core/message the
// catalogue of what crosses a wire, core/event the catalogue of what a machine
// tells its observers. Parts (stats, workflow, ...) are built of those three,
// roles (client, gate, manager, worker) of parts. A part never imports a role
// and knows nothing of its neighbours. cmd/lint proves it.
package core
