package guard

import (
	"fmt"
	"math/bits"
	"time"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"hyperscale/core/node"
	"hyperscale/core/workflow/language"
)

// Limits bound what a program may use. Steps are the interpreter's: 10 to 50 ns each. Bytes are
// what guarded operations allocate, freed or not: 64 of them also count as a step, so that one
// limit bounds the time of both.
type Limits struct {
	LoadSteps, LoadBytes uint64 // of all files together, while they load
	CallSteps, CallBytes uint64 // of one call of a step's function
	KeptBytes            int    // of all globals, about, as text
	Slice                uint64 // steps between two checks whether the run was stopped
	ValueBytes           int    // of one text or bytes value
	Elements             int    // of one list, tuple, dict, set or range
	Nesting              int    // of values in values, when written as text
	IntBits              int    // of one integer
	JSONBytes            int    // of the input of json.decode
}

// DefaultLimits are the limits of production. A load of 5 million steps ends within half a
// second; a file that declares a thousand steps needs about 50,000.
func DefaultLimits() Limits {
	return Limits{
		LoadSteps: 5_000_000, LoadBytes: 256 << 20,
		CallSteps: 10_000_000, CallBytes: 256 << 20,
		KeptBytes:  64 << 20,
		Slice:      5_000,
		ValueBytes: 16 << 20,
		Elements:   1 << 20,
		Nesting:    200,
		IntBits:    4096,
		JSONBytes:  4 << 20,
	}
}

// Meter is one thread's account. A thread that loads files holds it under meterKey. One that
// runs a function cannot load, so it holds its meter in the place of its load function. A map
// of local variables would be larger than the rest of a thread, and there may be fifty thousand
// threads.
type Meter struct {
	Limits *Limits
	Bytes  uint64 // what remains of total
	Total  uint64
	Owner  any // a load of files, or the virtual user whose function runs

	Sends bool // a request's body is encoded: secrets may stand in it
}

const MeterKey = "meter"

// caller is the virtual user whose function runs.
type caller interface {
	Now() time.Time
	Rand() *node.Rand
}

// CallerOf returns nil while files load.
func CallerOf(thread *starlark.Thread) caller {
	c, _ := MeterOf(thread).Owner.(caller)
	return c
}

// MeterOf returns the account of a thread: each thread that runs a program has one.
func MeterOf(thread *starlark.Thread) *Meter {
	if m, ok := thread.Local(MeterKey).(*Meter); ok {
		return m
	}
	_, answer := thread.Load(thread, "")
	return answer.(*Meter)
}

// Error is the error of a function that tries to load.
func (m *Meter) Error() string { return "a function cannot load files" }

// Charge takes n bytes of work from the account.
func (m *Meter) Charge(thread *starlark.Thread, n int) error {
	if uint64(n) > m.Bytes {
		m.Bytes = 0
		return language.Faultf("out of memory: more than %s made in one go", Size(m.Total)).Do("make less, or keep less of it")
	}
	m.Bytes -= uint64(n)
	thread.Steps += uint64(n) / 64
	return nil
}

// Text admits a new text of n bytes, created by what.
func (m *Meter) Text(thread *starlark.Thread, what string, n int) error {
	if n > m.Limits.ValueBytes && n < 2*m.Limits.ValueBytes {
		return language.Faultf("%s would make a text of more than %s", what, Size(uint64(m.Limits.ValueBytes))).Do("make it smaller")
	}
	if n > m.Limits.ValueBytes {
		return language.Faultf("%s would make a text of %s, the limit is %s", what, Size(uint64(n)), Size(uint64(m.Limits.ValueBytes))).Do("make it smaller")
	}
	return m.Charge(thread, n)
}

// Elements admits a new collection of n elements.
func (m *Meter) Elements(thread *starlark.Thread, what string, n int) error {
	if n > m.Limits.Elements {
		return language.Faultf("%s would make %d elements, the limit is %d", what, n, m.Limits.Elements).Do("make it smaller")
	}
	return m.Charge(thread, n*16)
}

// Size formats a number of bytes for users.
func Size(n uint64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 1<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d KiB", (n+1023)>>10)
}

// integer rejects results of more than n bits.
func (m *Meter) integer(what string, n int) error {
	if n > m.Limits.IntBits {
		return language.Faultf("%s would make an integer of %d bits, the limit is %d", what, n, m.Limits.IntBits)
	}
	return nil
}

// bitLen returns at least the number of bits of i.
func bitLen(i starlark.Int) int {
	if small, ok := i.Int64(); ok {
		return bits.Len64(uint64(max(small, -small)))
	}
	return i.BigInt().BitLen()
}

// length counts the elements of an iterable, up to bound.
func length(v starlark.Value, bound int) int {
	switch v := v.(type) {
	case starlark.String:
		return len(v)
	case starlark.Bytes:
		return len(v)
	}
	if n := starlark.Len(v); n >= 0 {
		return n
	}
	iter := starlark.Iterate(v)
	if iter == nil {
		return 0
	}
	defer iter.Done()
	n := 0
	var x starlark.Value
	for n <= bound && iter.Next(&x) {
		n++
	}
	return n
}

// Rendered returns about how many bytes a value takes as text, at most a little more than the
// limits' ValueBytes. It stops counting there, so that a list which contains itself many times
// costs no more than a large one.
func (m *Meter) Rendered(v starlark.Value) (int, error) {
	left := m.Limits.ValueBytes
	if err := m.Render(v, m.Limits.Nesting, &left); err != nil {
		return 0, err
	}
	return m.Limits.ValueBytes - left, nil
}

// Render subtracts about the length of v as text from left, and stops below zero.
func (m *Meter) Render(v starlark.Value, depth int, left *int) error {
	if depth == 0 {
		return language.Faultf("a value is nested more than %d deep", m.Limits.Nesting)
	}
	if *left < 0 {
		return nil
	}
	switch v := v.(type) {
	case starlark.String:
		*left -= len(v) + 2
	case starlark.Bytes:
		*left -= 2*len(v) + 3
	case starlark.Int:
		*left -= bitLen(v)/3 + 2
	case starlark.Tuple:
		for _, x := range v {
			if err := m.Render(x, depth-1, left); err != nil || *left < 0 {
				return err
			}
		}
	case *starlark.Dict:
		for _, kv := range v.Items() {
			if err := m.Render(kv, depth-1, left); err != nil || *left < 0 {
				return err
			}
		}
	case *starlark.List:
		for i := range v.Len() {
			if err := m.Render(v.Index(i), depth-1, left); err != nil || *left < 0 {
				return err
			}
		}
	case *starlarkstruct.Struct:
		for _, kv := range Fields(v) {
			if err := m.Render(kv, depth-1, left); err != nil || *left < 0 {
				return err
			}
		}
	case *starlark.Set:
		*left -= 32 * v.Len()
	default:
		*left -= 24
	}
	*left -= 2
	return nil
}

// Fields returns the members of a struct, sorted by name.
func Fields(s *starlarkstruct.Struct) []starlark.Tuple {
	names := s.AttrNames()
	out := make([]starlark.Tuple, len(names))
	for i, name := range names {
		v, _ := s.Attr(name) // it has what it lists
		out[i] = starlark.Tuple{starlark.String(name), v}
	}
	return out
}
