package ui

import (
	"fmt"
	"os"
	"testing"
	"time"

	"hyperscale/runtime/ui/console"
)

// BenchmarkPaint is a frame whose figures have changed, drawn and written.
func BenchmarkPaint(b *testing.B) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			one, two := model(7*time.Second), model(9*time.Second)
			s, p := Style{Width: size[0], Color: true}, &console.Painter{File: null}
			if _, err := p.Write([]byte("\x1b[?1049h")); err != nil { // the alternate screen
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				lines, _ := draw(one, s, View{}, size[1])
				p.Show(lines, size[0])
				one, two = two, one
			}
		})
	}
}
