package language

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.starlark.net/syntax"
)

// Error says what is wrong in a program, where, and what to do about it.
type Error struct {
	File      string
	Line, Col int // from 1, in characters; zero: the program as a whole
	Message   string
	Source    string // the line
	Width     int    // number of its wrong characters, at least 1
	Remedy    string // empty if the message says it
}

// Error renders as
//
//	login.star:12:30: workflow "session": step "profile" comes after "logn", which is not a step
//	    step(profile, after = ["logn"]),
//	                           ^^^^^^
//	  did you mean "login"?
func (e *Error) Error() string {
	var b strings.Builder
	if e.Line > 0 {
		fmt.Fprintf(&b, "%s:%d:%d: ", e.File, e.Line, e.Col)
	} else if e.File != "" {
		fmt.Fprintf(&b, "%s: ", e.File)
	}
	b.WriteString(e.Message)
	if e.Line > 0 && strings.TrimSpace(e.Source) != "" {
		text := strings.TrimLeft(e.Source, " \t")
		cut := utf8.RuneCountInString(e.Source) - utf8.RuneCountInString(text)
		before := []rune(text)
		before = before[:min(max(e.Col-1-cut, 0), len(before))]
		for i, r := range before {
			if r != '\t' {
				before[i] = ' '
			}
		}
		fmt.Fprintf(&b, "\n    %s\n    %s%s", text, string(before), strings.Repeat("^", max(e.Width, 1)))
	}
	if e.Remedy != "" {
		b.WriteString("\n  " + e.Remedy)
	}
	return b.String()
}

// Fault becomes an Error: the builtin that finds it knows which argument is wrong, the loader
// knows where that argument is.
type Fault struct {
	Message, Remedy string
	argument        string          // by name; empty: the call as a whole
	keyword         bool            // the argument's name is wrong, not its value
	element         int             // of the argument's list, from 1; zero: all of it
	site            syntax.Position // of the call, if it is not the current one
	text            string          // within the argument; empty: all of it
	Takes           []string        // for a wrong argument name: the valid ones
	Positional      int             // so many first of which need no name
	Rest            string          // what any number of arguments behind those are; empty: there are none
	Misplaced       bool            // the call fails wherever it stands in a function, whatever its arguments are
}

// Error implements error.
func (f *Fault) Error() string {
	if f.Remedy == "" {
		return f.Message
	}
	return f.Message + ": " + f.Remedy
}

// Faultf returns a Fault with its message; the methods below add its place and remedy.
func Faultf(format string, args ...any) *Fault { return &Fault{Message: fmt.Sprintf(format, args...)} }

// In sets the argument at fault.
func (f *Fault) In(argument string) *Fault { f.argument = argument; return f }

// Argument returns the argument at fault; empty: the call as a whole.
func (f *Fault) Argument() string { return f.argument }

// Elsewhere says that the call fails whatever its arguments are: it stands in the wrong place.
func (f *Fault) Elsewhere() *Fault { f.Misplaced = true; return f }

// At sets the index of the element at fault, in an argument that is a list.
func (f *Fault) At(element int) *Fault { f.element = element + 1; return f }

// Of sets another place than the current call.
func (f *Fault) Of(site syntax.Position) *Fault { f.site = site; return f }

// Find sets the text at fault, which is searched near the place.
func (f *Fault) Find(text string) *Fault { f.text = text; return f }

// Do adds the remedy.
func (f *Fault) Do(format string, a ...any) *Fault { f.Remedy = fmt.Sprintf(format, a...); return f }

// Meant adds the nearest of the known names, or all of them if none is near.
func (f *Fault) Meant(name string, known []string) *Fault {
	if near := Nearest(name, known); near != "" {
		return f.Do("did you mean %q?", near)
	}
	if len(known) == 0 {
		return f
	}
	sorted := slices.Sorted(slices.Values(known))
	if more := len(sorted) - 20; more > 0 {
		return f.Do("known: %s and %d more", strings.Join(sorted[:20], ", "), more)
	}
	return f.Do("known: %s", strings.Join(sorted, ", "))
}

// Nearest returns the known name that a user most likely meant: one within a third of its length,
// or one of its words; empty if there is none. Of equals the first wins.
func Nearest(name string, known []string) string {
	best, bound := "", 1+max(len(name), 3)/3
	if len(name) > 64 {
		return ""
	}
	for _, k := range known {
		if k == name || len(k) > 64 {
			continue
		}
		if d := distance(strings.ToLower(name), strings.ToLower(k)); d < bound {
			best, bound = k, d
		}
	}
	if best == "" { // think_time for think
		words := strings.Split(strings.ToLower(name), "_")
		if i := slices.IndexFunc(known, func(k string) bool { return len(words) > 1 && slices.Contains(words, k) }); i >= 0 {
			best = known[i]
		}
	}
	return best
}

// distance counts insertions, deletions, replacements and swaps of neighbours
// that turn a into b.
func distance(a, b string) int {
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(b)]
}
