// Package lease fits one line, and nothing
//
// else.
package lease
