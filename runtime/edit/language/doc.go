// Package language is a language server for workflow files, by the Language Server Protocol
// 3.17 over standard input and output. It shows errors while an author types, completes and
// explains words, and formats.
//
// It is not a server for Starlark at large: it knows this language's words and no other
// dialect, and neither renames nor follows definitions. It runs nothing and sends nothing. It
// loads a file as `hyperscale validate` does, within the same bounds, with the editor's open
// texts in place of those on disk.
//
// It uses no library. Those that exist parse with tree-sitter, which is C, or are structures
// for all of the protocol, of which this needs nine messages.
//
// Invariants:
//
//	LSP-1 A frame has at most FrameMax bytes, its head at most headMax, both checked before
//	      any allocation. A broken frame ends the session with an error. An unknown request
//	      gets an error, and an unknown notification is ignored.
//	LSP-2 An error says what `validate` says, at the same place. Columns count UTF-16 units
//	      here, characters there.
//	LSP-3 It checks a file when the author has paused, not at each key, and only the last
//	      text.
//	LSP-4 `exit` behind `shutdown` ends well; `exit` alone, or the end of the input, does not.
//
// Read frame.go, serve.go, documents.go, complete.go, place.go.
package language
