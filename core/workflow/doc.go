// Package workflow turns workflow files into plans, and runs their functions.
//
// It is not an engine: it sends nothing, waits for nothing and measures nothing. The
// executor compiles the requests, keeps the order of the steps and implements Client, in
// which scripts block.
//
// Source: DESIGN.md, "Language"; the language's manual is docs/workflows.md. Files are
// Starlark (go.starlark.net). guard rewrites them before they are compiled, so that
// operators and methods which can make much out of little are metered.
//
// Invariants:
//
//	FLOW-1 Load is a function of message.Program: same bytes, same Plan, no clock,
//	       no randomness, no file but those in the Program.
//	FLOW-2 Load never panics and takes at most Limits.LoadSteps interpreted steps,
//	       whatever the bytes are. Operators and methods make at most LoadBytes; any other
//	       step allocates about a hundred bytes. A call of a function has CallSteps and
//	       CallBytes.
//	FLOW-3 What a file declares is frozen, and all virtual users share it. Only vu.vars
//	       belongs to one of them.
//	FLOW-4 Every error of a file is an *Error: a place, the source line, a remedy.
//	FLOW-5 Each step of a Plan comes after all that it depends on. After, Behind,
//	       Depends and StartAfter point backwards.
//	FLOW-6 Load cuts a request with values: ${name} becomes a word of letters and digits
//	       that occurs nowhere else. The name is the workflow's, or a step before extracts
//	       it. No code parses URL, JSON or form again once the word is in it:
//	       runtime/protocol/http1 escapes a value by the place of its word.
//	FLOW-7 Extract and Expect are pure functions of a View, without the interpreter. They
//	       allocate nothing for a value that lies in the response. Their time is linear in
//	       its length (times the steps of a JSON path), whatever its bytes are.
//
// Two things are not metered: hashing and comparing tuples that contain themselves many
// times over, and what vu.vars keeps from iteration to iteration. The executor's memory
// limit and the step's timeout bound them.
//
// The packages below form a pipeline, and each imports earlier ones only. language has
// values, faults and source. secret has texts without a value. glob and collect find the files of a program. guard meters. builtin has modules. request has http and
// its placeholders. extract has extract and expect. demand has rates, stages and thresholds.
// inspect walks functions that are loaded. This package declares with them.
//
// Read api.go, load.go, modules.go, declare.go, step.go, plan.go, workload.go,
// placement.go, hook.go, context.go, feed.go, datafile.go, placeholder.go, build.go;
// then vu.go, response.go, send.go, inline.go; last vocabulary.go, findings.go.
package workflow
