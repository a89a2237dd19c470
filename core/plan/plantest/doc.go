// Package plantest draws plans within all bounds of core/plan, and breaks one bound at a
// time.
//
// Production does not link it. The tests of the language, the gate, the manager and
// core/plan share it, so that all of them face the same plans.
//
// Source: core/plan's bounds.go.
//
// Invariants:
//
//	PLANTEST-1 Legal draws each bound itself often, and nothing beyond it.
//	PLANTEST-2 Each breach spoils a legal plan and names the key of the fault.
//
// Read legal.go, breach.go, loads.go.
package plantest
