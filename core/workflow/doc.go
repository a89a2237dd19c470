// Package workflow turns workflow files into plans, and runs their functions.
//
// It is not an engine: it sends nothing, waits for nothing and measures
// nothing. The executor compiles the requests, keeps the order of the steps and
// implements Client, which scripts block in.
//
// Source: DESIGN.md, "Workflows"; the language's manual is docs/workflows.md.
// Files are Starlark (go.starlark.net), rewritten before they are compiled so
// that operators and methods which can make much out of little are metered.
//
// Invariants:
//
//	FLOW-1 Load is a function of message.Program: same bytes, same Plan, no clock,
//	       no randomness, no file but those in the Program.
//	FLOW-2 Load never panics and takes at most Limits.LoadSteps interpreted steps,
//	       whatever the bytes are. Operators and methods make at most LoadBytes; a
//	       step that is not one of them allocates about a hundred bytes at most. A
//	       call of a function has CallSteps and CallBytes.
//	FLOW-3 What a file declares is frozen and shared by all virtual users. Only
//	       vu.vars belongs to one of them.
//	FLOW-4 Every error of a file is an *Error: a place, the source line, a remedy.
//	FLOW-5 Steps of a Plan stand in an order in which each comes after all that it
//	       depends on; After, Depends and StartAfter point
//	       backwards.
//	FLOW-6 A request that values fill is cut at load: ${name} becomes a word of letters
//	       and digits that stands nowhere else, and whose name is the workflow's or is
//	       extracted by a step before. Nothing that the words become part of, URL,
//	       JSON or form, is parsed again: runtime/protocol/http1 escapes a value by
//	       the place where its word stands.
//	FLOW-7 Extract and Expect are pure functions of a View: no interpreter, no
//	       allocation where the value lies in the response, time linear in its length
//	       (times the steps of a JSON path), whatever its bytes are.
//
// What is not metered: hashing and comparing tuples that contain themselves
// many times over, and what vu.vars keeps from iteration to iteration. For these the
// executor's memory limit and the step's timeout are the last word.
//
// The packages below form a pipeline, and each imports earlier ones only: language
// (values, faults, source), guard (metering), builtin (modules), request (http and its
// placeholders), extract (extract and expect), demand (rates, stages, thresholds). This
// package declares with them.
//
// Read api.go, load.go, modules.go, declare.go, step.go, plan.go, workload.go,
// placement.go, hook.go, context.go, feed.go, datafile.go, placeholder.go, build.go;
// then vu.go, response.go, send.go, inline.go, usage.go; last vocabulary.go.
package workflow
