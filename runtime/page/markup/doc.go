// Package markup writes HTML in which text stays text.
//
// It is not a template engine: a page is Go code that puts one piece behind the other. It knows neither elements nor
// their nesting.
//
// Source: the HTML standard, 13.1.2.3 and 13.1.3: text and quoted attributes. It departs from html/template: that
// calls methods by names of run time, so the linker keeps each exported method of each type: a twelfth of our binary.
//
// Invariants:
//
//	HTML-1 A format is a constant of the program: no other package can turn a variable into one.
//	HTML-2 Each argument is escaped but for numbers, and for HTML that a Writer has made. Embed escapes nothing: it
//	         is for files of the program.
//	HTML-3 A format puts arguments into text, or into attributes in double quotes, and nowhere else. Its author
//	         keeps this one; the page's tests of hostile text judge it.
//
// Example:
//
//	var w markup.Writer
//	w.Put(`<p class="%s">%s</p>`, class, text)
//	page := w.HTML()
//
// Read markup.go.
package markup
