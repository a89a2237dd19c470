// Package markup finds what a test needs in an HTML page or an XML document.
//
// It is not a browser (no script runs, nothing is rendered) and not XPath: XML has a path
// of a few kinds of steps.
//
// Source: HTML as golang.org/x/net/html parses it, selectors as
// github.com/andybalholm/cascadia reads them; XML as encoding/xml reads it.
//
// Invariants:
//
//	MARKUP-1 No bytes make it panic. A text, its elements, their depth, a selector and the
//	         work that a selector causes are bounded.
//	MARKUP-2 Results stand in the document's order, each element once.
//
// Read element.go, html.go, work.go, xml.go, path.go.
package markup
