// Package markup finds what a test needs in an HTML page or an XML document.
//
// It is not a browser (no script runs, nothing is rendered) and not XPath: a
// path of a few kinds of steps is all that XML has here.
//
// Source: HTML as golang.org/x/net/html parses it, selectors as
// github.com/andybalholm/cascadia reads them; XML as encoding/xml reads it.
//
// Invariants:
//
//	MARKUP-1 Never a panic, whatever the bytes; a text, its elements, their depth, a
//	         selector and the work that it may make are bounded.
//	MARKUP-2 What is found stands in the document's order, each element once.
//
// Read element.go, html.go, work.go, xml.go, path.go.
package markup
