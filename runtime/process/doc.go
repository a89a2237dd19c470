// Package process starts the custom programs of a run, and says how each ended.
//
// It does not speak with them: runtime/protocol/custom has their protocol, and an engine's loop carries
// it over the pipes. It decides nothing about workflows.
//
// Source: protocol 1 of custom steps, docs/workflows.md. An executor starts no program itself (its filter
// of system calls forbids that): its worker's pool does, and passes the pipes.
//
// Invariants:
//
//	PROCESS-1 A program is a file below the folder that the machine's owner named, also behind symbolic
//	          links. No shell reads its arguments.
//	PROCESS-2 It gets three pipes, an environment of its own, and no other descriptor.
//	PROCESS-3 It, and all that it starts, are in one process group. It ends with the thread that started
//	          it, at the latest when this process ends.
//	PROCESS-4 Of its stderr the last TailLines lines within TailBytes are kept, however much it writes.
//	          It never waits for a reader of stderr.
//	PROCESS-5 Fate has one note, and its end, once the program has ended.
//
// Example:
//
//	pipes, err := (&process.Folder{Path: dir}).Start([]string{"bin/legacy", "--fast"})
//
// Read folder.go, start.go, tail.go.
package process
