// Package stats is planted for the linter's golden tests.
//
// It is not part of the product.
// Source: the house rules.
// Invariants:
//
//	G1 Another package has this one, too.
//	HTTP2-1 This is the same.
//	STATS-1 Nothing else is called so.
//	STATS-1 Nothing but this.
//
// Read the file beside this one.
package stats
