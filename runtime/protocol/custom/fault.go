package custom

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"hyperscale/runtime/protocol/http1"
)

// shownMost bounds what an error shows of a line.
const shownMost = 80

// breach says which rule of the protocol a line breaks.
func breach(line []byte, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if line != nil {
		cut, dots := line, ""
		if len(cut) > shownMost {
			cut, dots = cut[:shownMost], "..."
			for len(cut) > shownMost-utf8.UTFMax && !utf8.Valid(cut) {
				cut = cut[:len(cut)-1]
			}
		}
		text += ": " + strconv.Quote(string(cut)) + dots
	}
	return &http1.Error{Kind: http1.KindProcess, Detail: text}
}

// told is the error that a program told: its kind has the code.
func told(code, text string) *http1.Error {
	if text == "" {
		text = "the program told no error"
	}
	return &http1.Error{Kind: http1.Kind("server " + code), Detail: text}
}
