// Package inspect finds mistakes in the functions of workflow files without running them.
//
// It is no type checker: what it does not know, it does not report. Loading (package
// workflow) finds what is wrong outside of functions.
//
// The walk computes with the language's real objects: an attribute exists where Attr finds it, and
// a call is right where the real function accepts its arguments. No list of words repeats them.
// The source is the resolved syntax tree, before guard rewrites it.
//
// Invariants:
//
//	INSPECT-1 Inspect is a function of its arguments: same files, same findings, same order.
//	INSPECT-2 An error is a statement that fails, or makes its step fail, whenever a virtual user
//	          reaches it. Anything less certain is a warning.
//	INSPECT-3 The work is bounded: each round visits a node once, there are at most
//	          roundsMax rounds, and a walk ends silently after workMax units. It computes with
//	          values of partsMax parts at most, since what it tries has no meter.
//
// An example:
//
//	for _, f := range inspect.Program(lang, files, roles) { fmt.Println(f.Error()) }
//
// Read finding.go, value.go, program.go, function.go, statement.go, expression.go, operate.go,
// call.go, judge.go, foreign.go.
package inspect
