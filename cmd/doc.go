// Package cmd is the floor of the commands. No package imports it.
//
// hyperscale is the product's one binary, lint proves the house rules, and coverage lists code
// that no world runs. catalogue generates what core/message needs beside its codec. site draws
// the manuals as pages. chaos breaks a real cluster and lets the checker judge it. Each
// command's package comment says what it does; core and runtime hold its parts.
package cmd
