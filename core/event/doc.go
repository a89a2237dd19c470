// Package event is the catalogue of what machines tell their observers: typed
// facts about decisions, handed to Env.Emit.
//
// An event is not a message: nobody acts on it, no machine reads it back, and
// it never enters the trace hash. Metrics, logs, traces, stories and the
// checker are all fed from here and from nowhere else.
//
// Source: DESIGN.md, "Observation"; house style 4.6, 5.9 and 9.1.
//
// Invariants:
//
//	EVENT-1 An event is a plain struct of exported fields that encoding/json can
//	        write and read back.
//	EVENT-2 EventName is unique, lower-case, words joined by hyphens.
//	EVENT-3 Those in job.go carry enough for the checker to judge T3, T6, T8, T9 and
//	        T11 of a history without knowing any role.
//
// Read job.go (what the checker judges), then peer.go.
package event
