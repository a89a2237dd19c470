// Package custom is a catalogue of hostile custom programs: each is a script of sh that breaks the protocol,
// or the rules of processes, in one way.
//
// It judges nothing: runtime/engine plays each on three paths, and compares what a run says with Want.
//
// Source: docs/workflows.md, "A program of your own".
//
// Invariants:
//
//	HOSTILECUSTOM-1 Each entry does one thing that no program should, and all else right.
//	HOSTILECUSTOM-2 No script outlives its process group.
//
// Example:
//
//	for _, e := range custom.Catalogue() {
//		os.WriteFile(path, []byte(e.Script()), 0o755)
//	}
//
// Read entry.go, catalogue.go.
package custom
