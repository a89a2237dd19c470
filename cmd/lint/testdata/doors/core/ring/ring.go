// Package ring has its comment in the wrong file.
package ring
