// Package configure has the commands that read a node's configuration without starting the node:
// `config check`, `config show` and `config schema`.
//
// It judges nothing itself: package operate makes a node of a configuration, and package config loads,
// explains and describes one.
//
// Source: docs/operations.md, "Its configuration".
//
// Invariants:
//
//	CONFIGURE-1 check accepts what a node starts with, as far as files and the machine tell, and
//	            rejects what a node rejects, with the same words. It opens no port and writes nothing.
//	CONFIGURE-2 show prints each key of the role once, with the last source that sets it.
//
// Read command.go.
package configure
