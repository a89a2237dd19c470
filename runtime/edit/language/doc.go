// Package language is a language server for workflow files: what an editor asks over
// standard input and output, by the Language Server Protocol 3.17, to show errors as one
// types, to complete and explain words, and to format.
//
// It is not a server for Starlark at large: it knows this language's words and no
// other dialect, and neither renames nor follows definitions. It runs nothing and sends
// nothing: a file is loaded as `hyperscale validate` loads it, within the same bounds, and
// read from where the editor says, with what is open there in place of what is on disk.
//
// No library: those that exist either parse with tree-sitter, which is C, or are
// structures for all of the protocol, of which this needs nine messages.
//
// Invariants:
//
//	LSP-1 A frame is at most FrameMax bytes, its head at most headMax, before anything is
//	      allocated for it. What is no frame ends the session with an error; what is a frame
//	      and no request of ours is answered with an error, or ignored if it is a notification.
//	LSP-2 What an error says is what `validate` says, at the same place. Columns are counted in
//	      UTF-16 units here, in characters there.
//	LSP-3 A file is checked when nothing has been typed for a moment, not at each key, and only
//	      its last text is.
//	LSP-4 `exit` behind `shutdown` ends well; `exit` alone, or the end of the input, does not.
//
// Read frame.go, serve.go, documents.go, complete.go, place.go.
package language
