package ui

import (
	"fmt"
	"html"
	"strings"
	"testing"
	"time"

	"hyperscale/runtime/report/reporttest"
	"hyperscale/runtime/ui/cells"
)

// TestPictureOfTheManual: docs/run.svg, which the README shows, is what the screen draws today.
func TestPictureOfTheManual(t *testing.T) {
	const wide, high = 100, 28
	text := Screen(model(7*time.Second), Style{Width: wide, Color: true}, View{}, high)
	reporttest.Golden(t, "../../docs/run.svg", picture(text, wide, high))
}

// The picture's font, in pixels.
const (
	cellWide = 8.4
	cellHigh = 18
)

// picture draws a screen as a window of a terminal.
func picture(text string, wide, high int) string {
	var b strings.Builder
	width, height := int(float64(wide)*cellWide)+32, high*cellHigh+56
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="A run in a terminal">`, width, height, width, height)
	b.WriteString("\n" + `<rect width="100%" height="100%" rx="8" fill="#16181d"/>` + "\n")
	for i, colour := range []string{"#ff5f56", "#ffbd2e", "#27c93f"} {
		fmt.Fprintf(&b, `<circle cx="%d" cy="18" r="5.5" fill="%s"/>`+"\n", 20+18*i, colour)
	}
	b.WriteString(`<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14" fill="#d7dae0" xml:space="preserve">` + "\n")
	looks := map[string]string{bold: ` font-weight="bold"`, faint: ` opacity="0.6"`, good: ` fill="#98c379"`, bad: ` fill="#e06c75"`, warn: ` fill="#e5c07b"`, accent: ` fill="#56b6c2"`, chosen: ` font-weight="bold"`}
	for row, line := range strings.Split(text, "\n") {
		at, look := 0, ""
		for i, part := range strings.Split(line, "\x1b[") {
			if i > 0 {
				code, rest, _ := strings.Cut(part, "m")
				look, part = looks[code], rest
			}
			for _, word := range strings.Split(part, " ") { // a picture joins neighbouring blanks
				if word != "" {
					fmt.Fprintf(&b, `<text x="%.1f" y="%d" textLength="%.1f"%s>%s</text>`+"\n", 16+float64(at)*cellWide, 44+row*cellHigh, float64(cells.Columns(word))*cellWide, look, html.EscapeString(word))
				}
				at += cells.Columns(word) + 1
			}
			at--
		}
	}
	return b.String() + "</g>\n</svg>\n"
}
