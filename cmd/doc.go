// Package cmd is the floor of the commands; nobody imports it.
//
// hyperscale is the product's one binary, lint proves the house rules,
// catalogue generates what core/message needs beside its codec, site draws the
// manuals as pages, chaos breaks a real cluster and lets the checker judge it.
// What a command does is in its own package comment; what it is made of is in
// core and runtime.
package cmd
