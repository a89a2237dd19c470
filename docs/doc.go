// Package docs holds the manuals that the binary carries: `hyperscale docs` and the
// language server read the words of the language out of the same text that people read.
//
// It is not the generator of their pages (site), and knows nothing of what the text says: a test of
// runtime/edit/manual demands that every word of the language is in it.
//
// Read docs.go.
package docs
