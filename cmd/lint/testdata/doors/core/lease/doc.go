// Package lease is told in one line, and nothing
//
// else.
package lease
