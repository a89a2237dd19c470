// Package program is the output that gives rows to a program of the user: lines of JSON on its stdin, acknowledged
// on its stdout.
//
// It starts no program for a job of another user: `--out exec=` of the user's own command line alone does. No shell
// reads its arguments.
//
// The program reads lines {"n":1,"row":{...}} whose n rises, and writes {"ack":n} once it keeps all rows up to n, or
// {"reject":n,"why":"..."} for a row that it never takes, before it acknowledges that one or a later one.
//
// Invariants:
//
//	OUTEXEC-1 A row is delivered once the program has acknowledged it. A program that ends, hangs or answers
//	          anything else is killed with its group, and what it had not acknowledged is unclear.
//	OUTEXEC-2 Of its answers a line has at most 64 KiB, and of its stderr the last line is kept.
//
// Read sink.go, child.go.
package program
