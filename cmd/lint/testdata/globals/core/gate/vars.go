package gate

import (
	"errors"
	"fmt"
)

var ErrFull = errors.New("gate is full")

var (
	_ fmt.Stringer = (*stale)(nil)

	limit, depth = 3, 4
	refusal      = &stale{}
)

type stale struct{}

func (*stale) String() string { return "stale" }
func (*stale) Error() string  { return "stale" }

var names = map[string]int{}
