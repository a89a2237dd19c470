// Package markup finds what a test needs in an HTML page or an XML document.
//
// It is not a browser: no script runs, and nothing is rendered.
//
// Source: HTML as golang.org/x/net/html parses it, selectors as
// github.com/andybalholm/cascadia reads them; XML as encoding/xml reads it;
// XPath 1.0 as github.com/antchfx/xpath evaluates it, without namespaces.
//
// Invariants:
//
//	MARKUP-1 No bytes make it panic. A text, its elements, their depth, a selector, a path
//	         and the work that they cause are bounded.
//	MARKUP-2 Results stand in the document's order, each element once.
//
// Read element.go, html.go, work.go, xml.go, xpath.go, walk.go.
package markup
