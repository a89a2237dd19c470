// Package gate is planted for the linter's golden tests.
//
// It is not part of the product.
// Source: the house rules.
// Invariants:
//
//	G1 It breaks only the rules that its group is about.
//	HTTP2-1 A digit may end a name.
//	HTTP2-2 So this is another one.
//	G2 This one stands here alone.
//	   G2 stands in the middle of one.
//
// Read the file beside this one.
package gate
