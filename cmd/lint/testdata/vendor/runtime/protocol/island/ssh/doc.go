// Package ssh is planted for the linter's golden tests.
//
// It is not part of the product.
// Source: the house rules.
// Invariants: 1. it breaks only the rules that its group is about.
// Read the file beside this one.
package ssh
