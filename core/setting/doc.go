// Package setting describes the values that an operator may set: each has a key, a range,
// and what raising and lowering it does.
//
// One list serves three readers. A Config checks its values against it, a command sets them
// by key (`--set gate.results_max=2000`), and docs/settings.md shows it. So an operator can
// set every bound that an error names, and the page cannot fall behind.
//
// It does not hold values on which several nodes must agree (leases, drift): they have flags
// of their own. It checks no relation between two values: their Config does.
//
// Invariants:
//
//	SET-1 A key names one value.
//	SET-2 A text that Set accepts is within the range.
//
// Read setting.go, suggest.go, then the Settings method of core/gate's Config.
package setting
