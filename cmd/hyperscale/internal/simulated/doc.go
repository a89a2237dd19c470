// Package simulated is the command `sim` of the binary that is built. It is not the simulator: that is package simulate,
// which is a twelfth of the whole binary with its worlds.
//
//	SIMULATED-1 The whole binary has the simulator's command.
//	SIMULATED-2 With the build tag node, as in the image, the command fails and names the binary that has it.
//
// Reading order: whole.go, slim.go.
package simulated
