// Package custom has the words of custom programs: custom.client, custom.call and vu.custom.call.
//
// It starts nothing: runtime/process does, where a machine's owner allows it, and runtime/engine speaks
// with the programs. core/workflow/request has the calls as plain data.
//
// Source: docs/workflows.md, "A program of your own".
//
// Invariants:
//
//	LANGCUSTOM-1 A program is named before the run, and no value, secret or function changes its name or
//	             its arguments: they are in the list of the machine's processes.
//	LANGCUSTOM-2 A program that lies nowhere below a folder is found when the file loads.
//
// Example:
//
//	all["custom"] = custom.Namespace("custom", nil, describe, client)
//
// Read client.go, call.go.
package custom
