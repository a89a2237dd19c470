// Package site turns the manuals of this repository into pages that need no server, no script
// and no network. Each page is one HTML file with its style inside.
//
// It is not a general generator: the navigation is a table in pages.go. Its Markdown is that of our
// manuals: CommonMark and tables, no HTML but comments. It finds the commands in the
// manuals (Blocks, Spans) and does not run them: cmd/hyperscale's tests do.
//
// Source: CommonMark. Headings have the anchors that GitHub gives them, so that a link works
// in both places.
//
// A link to a manual or another page of the navigation leads there. A link to any other file
// of the repository leads to a page below files/ that shows it. A link to a folder leads to a
// list of its files. A link to another site leads there, when a reader clicks.
//
//  1. The same tree gives the same bytes.
//  2. Faults are: a dead link or anchor, a missing image, a page that the navigation does not
//     name, HTML in a manual. A site with a fault is not written.
//  3. No page makes a request when it is opened, but for images beside it.
//
// Read pages.go, build.go, link.go, markdown.go, layout.go (with layout.html and style.css),
// commands.go.
package site
