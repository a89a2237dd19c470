package workflow

import (
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"hyperscale/core/message"
	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
)

// Hook is a moment at which a workflow may run a function beside its steps.
type Hook uint8

// The moments. Setup and Teardown run once in an executor, before its first iteration and after
// its last. The others run once for each virtual user.
const (
	HookSetup Hook = iota
	HookTeardown
	HookVUSetup
	HookVUTeardown
	hooks
)

// HookProvide computes what the workflow provides to others: once in each datacenter, with the
// first virtual user, after its last iteration.
const HookProvide = hooks

// String returns the argument that names the function.
func (h Hook) String() string {
	switch h {
	case HookSetup:
		return "setup"
	case HookTeardown:
		return "teardown"
	case HookVUSetup:
		return "vu_setup"
	case HookProvide:
		return "provide"
	}
	return "vu_teardown"
}

// readHooks reads the functions of a workflow.
func (d *declaration) readHooks(in arguments) error {
	for h := range hooks {
		v := in.of(h.String())
		if v == nil {
			continue
		}
		fn, ok := v.(*starlark.Function)
		if !ok {
			return language.WrongType("workflow", h.String(), "a function", v).Do("write def %s(vu), and %s = %s", h, h, h)
		}
		if !takesOnlyVU(fn) {
			return language.Faultf("workflow %q: %s must take the virtual user and nothing else", d.plan.Name, h).In(h.String()).Do("write def %s(vu)", nonLambda(fn))
		}
		d.hooks[h] = fn
	}
	return nil
}

// hookNamed reports whether the workflow has a function beside its steps with that name.
func (d *declaration) hookNamed(name string) bool {
	for h := range hooks {
		if d.hooks[h] != nil && h.String() == name {
			return true
		}
	}
	return len(d.provides) > 0 && name == HookProvide.String()
}

// takesOnlyVU reports that a function takes only the virtual user.
func takesOnlyVU(fn *starlark.Function) bool {
	needed := 0
	for i := range fn.NumParams() {
		if fn.ParamDefault(i) == nil {
			needed++
		}
	}
	return needed == 1 && fn.ParamDefault(0) == nil && !fn.HasVarargs() && !fn.HasKwargs()
}

// Shared is the result of setup: frozen, for all virtual users of an executor. The zero Shared
// is None.
type Shared struct{ value starlark.Value }

// Share sets vu.shared of the virtual user to the result of setup. Call it before the first
// Call.
func (v *VU) Share(s Shared) { v.shared = s }

// Shared returns the result of Run(HookSetup), or the value that Share set.
func (v *VU) Shared() Shared { return v.shared }

// Run runs the workflow's function for a moment; there must be one. The result of setup becomes
// Shared.
func (v *VU) Run(h Hook) Outcome {
	if h == HookProvide {
		return v.provide()
	}
	c := &call{kind: message.StepAction, name: h.String(), fn: v.w.hooks[h]}
	r := v.runner()
	value, err := starlark.Call(&r.thread, c.fn, starlark.Tuple{v.value()}, nil)
	if err != nil {
		return r.failed(err)
	}
	if h == HookSetup {
		if why := r.share(value); why != "" {
			return c.wrong("%s", why)
		}
		v.shared = Shared{value}
	}
	v.idle = append(v.idle, r)
	return Outcome{OK: true}
}

// share freezes a value that all virtual users will see, unless it is too large or contains
// something of one of them.
func (r *runner) share(v starlark.Value) string {
	limits := r.meter.Limits
	left := limits.KeptBytes
	if err := r.meter.Render(v, limits.Nesting, &left); err != nil {
		return "must return what can be shared: " + err.Error()
	}
	if left < 0 {
		return fmt.Sprintf("must return less than %s", guard.Size(uint64(limits.KeptBytes)))
	}
	if other := unshareable(v); other != nil {
		return fmt.Sprintf("must return texts, numbers, lists and dicts, not %s", language.Describe(other))
	}
	v.Freeze()
	return ""
}

// unshareable returns the first value that is not plain data; nil if all are.
func unshareable(v starlark.Value) starlark.Value {
	switch v := v.(type) {
	case starlark.NoneType, builtin.Time, builtin.Duration, starlark.Bool, starlark.Int, starlark.Float, starlark.String, starlark.Bytes:
		return nil
	case *starlark.Dict:
		for _, kv := range v.Items() {
			for _, x := range kv {
				if bad := unshareable(x); bad != nil {
					return bad
				}
			}
		}
		return nil
	case *starlarkstruct.Struct:
		for _, kv := range guard.Fields(v) {
			if bad := unshareable(kv); bad != nil {
				return bad
			}
		}
		return nil
	case *starlark.List, starlark.Tuple, *starlark.Set:
		iter := starlark.Iterate(v)
		defer iter.Done()
		var x starlark.Value
		for iter.Next(&x) {
			if bad := unshareable(x); bad != nil {
				return bad
			}
		}
		return nil
	}
	return v
}

// When evaluates the condition of a Conditional step: whether this iteration takes it. An
// Outcome that is not OK is an error in the condition: the step has failed.
func (v *VU) When(step int) (bool, Outcome) {
	c := v.w.Steps[step].when
	value, out := v.invoke(c)
	if !out.OK {
		return false, out
	}
	take, ok := value.(starlark.Bool)
	if !ok {
		return false, c.wrong("when must return True or False, not %s", language.Describe(value))
	}
	return bool(take), out
}
