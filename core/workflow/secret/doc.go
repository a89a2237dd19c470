// Package secret is the word secret: texts whose value no file, plan or output has.
//
// It does not read values: the command does, and message.Program carries them to executors.
//
// Source: docs/workflows.md, "Secrets".
//
// Invariants:
//
//	SECRET-1 While a vault is closed nothing depends on a value: client, gates, managers
//	         and workers load a program without one.
//	SECRET-2 No operation of the language on a Text yields a text, a number or a truth that
//	         depends on its value. What encodings, digests and tokens make of one is a
//	         Text as well. Only requests read it.
//	SECRET-3 A value is escaped by its place in a request, so that it cannot leave it.
//
// An example:
//
//	token := vault.Declare("token")         // secret("token")
//	head, err := secret.Join("Bearer ", token)
//
// Read vault.go, text.go, derive.go.
package secret
