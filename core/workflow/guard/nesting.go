package guard

import (
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
	"hyperscale/core/workflow/language"
)

// Woven rejects tuples and structs that nest so deep, or contain the same ones so often, that
// hashing or freezing them would take for ever. Neither counts as a step, and nothing
// interrupts it. Woven checks each container when it is created, so that none ever grows.
func (m *Meter) Woven(thread *starlark.Thread, v starlark.Value) error {
	left := m.Limits.Elements
	if err := m.weave(v, m.Limits.Nesting, &left); err != nil {
		return err
	}
	if left < 0 {
		return language.Faultf("a tuple holds other ones more than %d times over", m.Limits.Elements).Do("make it flat, or a list")
	}
	if visited := m.Limits.Elements - left; visited > 0 {
		return m.Charge(thread, 16*visited)
	}
	return nil
}

// weave counts the tuples and structs in a value.
func (m *Meter) weave(v starlark.Value, depth int, left *int) error {
	switch v := v.(type) {
	case starlark.Tuple:
		for _, x := range v {
			if err := m.weaveIn(x, depth, left); err != nil || *left < 0 {
				return err
			}
		}
	case *starlarkstruct.Struct:
		for _, kv := range Fields(v) {
			if err := m.weaveIn(kv[1], depth, left); err != nil || *left < 0 {
				return err
			}
		}
	case *starlark.List: // of zip
		for i := range v.Len() {
			if err := m.weaveIn(v.Index(i), depth, left); err != nil || *left < 0 {
				return err
			}
		}
	}
	return nil
}

func (m *Meter) weaveIn(v starlark.Value, depth int, left *int) error {
	cost := 1
	switch v.(type) {
	case starlark.Tuple:
	case *starlarkstruct.Struct:
		cost = 32 // it is a table
	default:
		return nil // others cannot be hashed, or know that they are frozen
	}
	if depth == 0 {
		return language.Faultf("a tuple is nested more than %d deep", m.Limits.Nesting).Do("make it flat, or a list")
	}
	*left -= cost
	return m.weave(v, depth-1, left)
}
