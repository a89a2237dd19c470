package glob

import (
	"errors"
	"path"
	"strings"
)

// anywhere is a part of a pattern that stands for any number of folders.
const anywhere = "**"

// Pattern is the pattern of a file's name, parsed.
type Pattern struct{ parts []string }

// Parse reads a pattern of slash-separated parts.
func Parse(text string) (Pattern, error) {
	parts := strings.Split(text, "/")
	for _, part := range parts {
		if _, err := path.Match(part, ""); err != nil {
			return Pattern{}, errors.New("has a [ without its ]")
		}
	}
	if parts[len(parts)-1] == anywhere {
		parts = append(parts, "*") // all files below the folder
	}
	return Pattern{parts}, nil
}

// Match reports whether a name has the pattern.
func (p Pattern) Match(name string) bool {
	at := p.begin()
	for part := range strings.SplitSeq(name, "/") {
		at = p.step(at, part)
	}
	return at.ends()
}

// places says which parts of a pattern may match the next part of a name: the last one is its end.
type places []bool

func (at places) ends() bool { return at[len(at)-1] }

// more reports whether anything below may match.
func (at places) more() bool {
	for _, here := range at[:len(at)-1] {
		if here {
			return true
		}
	}
	return false
}

func (p Pattern) begin() places {
	at := make(places, len(p.parts)+1)
	p.add(at, 0)
	return at
}

// add adds a place, and those behind it that need no part of a name.
func (p Pattern) add(at places, i int) {
	for ; !at[i]; i++ {
		at[i] = true
		if i == len(p.parts) || p.parts[i] != anywhere {
			return
		}
	}
}

// step takes one part of a name.
func (p Pattern) step(at places, name string) places {
	next := make(places, len(at))
	for i, part := range p.parts {
		hidden := strings.HasPrefix(name, ".") && !strings.HasPrefix(part, ".")
		switch {
		case !at[i] || hidden:
		case part == anywhere:
			p.add(next, i)
		default:
			if ok, _ := path.Match(part, name); ok { // Parse has checked it
				p.add(next, i+1)
			}
		}
	}
	return next
}
