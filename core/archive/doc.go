// Package archive keeps files on a majority of a group of members: programs,
// counted results, final results. A file is named by the SHA-256 of its bytes, so
// it never changes, whoever has it has the right one, and two members that keep
// the same file keep one.
//
// It is not a register: nothing here says which file is current. Registers
// (core/lease) name files by digest, and what no register names is swept.
//
// Source: DESIGN.md, "Jobs and fences"; names by content after Git and Venti.
package archive
