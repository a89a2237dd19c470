// Package event is the catalogue of what machines emit to observers: typed facts about
// decisions, passed to Env.Emit.
//
// An event is not a message: no machine acts on one or reads it back, and it never enters
// the trace hash. Metrics, logs, traces, stories and the checker read events and nothing
// else.
//
// Source: DESIGN.md, "The kernel"; house style 4.6, 5.9 and 9.1.
//
// Invariants:
//
//	EVENT-1 An event is a plain struct of exported fields that encoding/json can
//	        write and read back.
//	EVENT-2 EventName is unique, lower-case, words joined by hyphens.
//	EVENT-3 The events of job.go carry enough for the checker to judge T3, T6, T8, T9 and
//	        T11 of a history without knowing any role.
//
// Read job.go (what the checker judges), then peer.go.
package event
