// Package setting describes the values of a configuration that an operator may set: each has
// a key, a range, and what raising and lowering it does.
//
// One list serves three readers. A Config checks its values against it, a command sets them by
// key (`--set gate.results_max=2000`), and docs/settings.md shows it. So a bound that an error
// names can be set under that name, and its page cannot fall behind.
//
// What it is not: values that several nodes must agree on (leases, drift) have flags of their
// own, and relations between values are checked by their Config.
//
// Invariants: SET-1 a key names one value; SET-2 a text that Set accepts is within the range.
//
// Read setting.go, then the Settings method of core/gate's Config.
package setting
