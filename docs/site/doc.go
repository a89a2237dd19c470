// Package site turns the manuals of this repository into pages that need no server, no
// script and no network: one HTML file each, its style inside.
//
// It is not a general generator: the navigation is a table in pages.go, the Markdown that of
// our manuals (CommonMark and tables, no HTML but comments). Nor does it run the
// commands of the manuals; it finds them (Blocks, Spans), and cmd/hyperscale's tests run them.
//
// Source: CommonMark; anchors of headings are those that GitHub makes, so that a link works
// in both places.
//
// Where a link leads: to a manual or another page of the navigation, there. To any other file
// of the repository, to a page of its own below files/ that shows it (Markdown as Markdown);
// to a folder, to a list of its files. To another site, there, when somebody clicks.
//
//  1. The same tree gives the same bytes.
//  2. A dead link or anchor, a missing image, a page that the navigation does not name, and
//     HTML in a manual are faults; a site with a fault is not written.
//  3. No page asks for anything when it is opened, but for images beside it.
//
// Read pages.go, build.go, link.go, markdown.go, layout.go (with layout.html and style.css),
// commands.go.
package site
