// Package sim is the seeded world. It runs any number of node.Machines on virtual clocks,
// disks, cores and a virtual network, and breaks them on request. The same seed gives the same history, every time.
//
// It knows no role and judges nothing: scenarios build a world, checker judges
// its history. It is not a model of a machine either: what runs is the code
// that serves in production.
//
// Source: DESIGN.md, "The simulator". Departs from a textbook event loop in its
// queue: an intrusive timing wheel, as cancelled timers outnumber fired ones.
//
// Invariants:
//
//	SIM-1 Events happen in the order of (time, sequence); equal seeds give equal
//	      trace hashes, whatever observes and whether messages are encoded or not.
//	SIM-2 The hash covers every input delivered and every effect, never Emit.
//	SIM-3 A timer that was cancelled or replaced is never delivered (NODE-2).
//	SIM-4 A Put is on disk whole or not at all; what completed survives a crash.
//	SIM-5 An incarnation is never used twice, not even when the disk is lost.
//	SIM-6 A node's clock never jumps back; its timers are measured on it.
//	SIM-7 A core runs one executor; every run that started ends with ExecGone, unless
//	      its node ended first.
//	SIM-8 An aimed fault strikes one node once, at the first firing or write of its kind
//	      after its time. One that finds none ends with the healing.
//
// Example:
//
//	w := sim.New(sim.Config{Seed: 7, Network: netsim.Default()})
//	w.Add(sim.Spec{ID: "a", Role: node.RoleToy, Place: "dc", New: newToy})
//	w.Start("a")
//	w.At(time.Second, func() { w.Crash("a") })
//	w.RunUntil(time.Minute)
//	fmt.Printf("%x\n", w.Hash())
//
// Read world.go, queue.go, spec.go, roster.go, process.go, deliver.go, cost.go, env.go, script.go,
// timers.go, stream.go, disk.go, exec.go, model.go, then fault.go, inject.go,
// ways.go, aim.go, trace.go, tracer.go.
package sim
