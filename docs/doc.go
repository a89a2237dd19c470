// Package docs holds the manuals that the binary carries. `hyperscale docs` and the language
// server read the words of the language out of the text that people read.
//
// It does not generate their pages (site does), and does not know what the text says. A test
// of runtime/edit/manual demands that every word of the language is in it.
//
// Read docs.go.
package docs
