package workflow

import (
	"fmt"

	"hyperscale/core/message"
)

// Load reads a program. Its error is an *Error.
func Load(p message.Program) (*Program, error) {
	return nil, &Error{File: p.Main, Message: "the language is being built"}
}

// Digest identifies a plan: equal plans have equal digests, everywhere.
func Digest(p *message.Plan) uint64 { return 0 }

// Files collects main and every file that it loads, directly or not.
func Files(main string, read func(name string) ([]byte, error)) ([]message.File, error) {
	data, err := read(main)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", main, err)
	}
	return []message.File{{Name: main, Data: data}}, nil
}

// Error tells what is wrong in a file, where, and what to do.
type Error struct {
	File      string
	Line, Col int // from 1; zero: the file as a whole
	Message   string
	Source    string // the line
	Width     int    // how much of it is wrong, in characters
	Remedy    string
}

func (e *Error) Error() string { return e.Message }

// Limits bound what a program may use up.
type Limits struct {
	LoadSteps, LoadBytes uint64
	CallSteps, CallBytes uint64
}
