package workflow

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.starlark.net/starlark"
)

type expectKind uint8

const (
	expectStatus expectKind = iota
	expectHeader
	expectBody
	expectJSON
	expectLatency
	expectSize
	expectGraphQL
)

// Expect is a condition of a good response. It is plain data, compiled at load.
type Expect struct {
	kind     expectKind
	statuses []int
	name     string // of the header
	text     []byte // of the header, in the body; of json_is as it was written
	path     jsonPath
	detail   jsonPath // of an answer of GraphQL: the first error's text
	want     scalar
	latency  time.Duration
	bytes    int64
}

// Fails tells what was found instead; empty: the condition holds, and nothing was allocated.
func (e *Expect) Fails(r *View) string {
	switch e.kind {
	case expectStatus:
		if !slices.Contains(e.statuses, r.Status) {
			return fmt.Sprintf("status %d, not %s", r.Status, orList(e.statuses))
		}
	case expectHeader:
		switch v, ok := r.field(e.name); {
		case !ok:
			return fmt.Sprintf("header %s is missing, not %q", e.name, clip(string(e.text), 60))
		case !bytes.Equal(v, e.text):
			return fmt.Sprintf("header %s is %q, not %q", e.name, excerpt(v), clip(string(e.text), 60))
		}
	case expectBody:
		if !bytes.Contains(r.Body, e.text) {
			return fmt.Sprintf("the body does not contain %q: %s", clip(string(e.text), 60), excerpt(r.Body))
		}
	case expectJSON:
		raw, why := e.path.find(r.Body)
		if why != "" {
			return "json_is: " + e.path.source + " " + why
		}
		if !e.want.is(raw, r) {
			return fmt.Sprintf("json_is: %s is %s, not %s", e.path.source, excerpt(raw), clip(e.want.source, 60))
		}
	case expectLatency:
		if r.Latency >= e.latency {
			return fmt.Sprintf("latency %v, not below %v", r.Latency, e.latency)
		}
	case expectSize:
		if r.Size >= e.bytes {
			return fmt.Sprintf("a body of %d bytes, not below %d", r.Size, e.bytes)
		}
	case expectGraphQL:
		return e.graphqlFails(r)
	}
	return ""
}

func orList(all []int) string {
	var b strings.Builder
	for i, n := range all {
		switch {
		case i > 0 && i == len(all)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(strconv.Itoa(n))
	}
	return b.String()
}

type expectValue struct {
	opaque
	expect Expect
}

type expecting func(fn string, args starlark.Tuple, kwargs []starlark.Tuple) (Expect, error)

func expectation(fn string, read expecting) *guard {
	return &guard{fn, func(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		e, err := read(fn, args, kwargs)
		if err != nil {
			return nil, err
		}
		return &expectValue{opaque{fn}, e}, nil
	}}
}

// expectations are the functions that expect is made of.
func expectations() map[string]expecting {
	return map[string]expecting{
		"status": func(fn string, args starlark.Tuple, kwargs []starlark.Tuple) (Expect, error) {
			e := Expect{kind: expectStatus}
			if len(args) == 0 || len(args) > 100 || len(kwargs) > 0 {
				return e, faultf("%s takes one status or more", fn).do("write status(200, 204)")
			}
			for i, v := range args {
				n, err := integer(fn, "#"+strconv.Itoa(i+1), v, 100, 599)
				if err != nil {
					return e, faultf("%s: %s is not a status from 100 to 599", fn, describe(v)).in("#" + strconv.Itoa(i+1))
				}
				e.statuses = append(e.statuses, n)
			}
			return e, nil
		},
		"header_is": func(fn string, args starlark.Tuple, kwargs []starlark.Tuple) (Expect, error) {
			var in [2]string
			err := texts(fn, []string{"name", "value"}, 2, args, kwargs, in[:])
			if err == nil && !isToken(in[0]) {
				err = faultf("%s: %q is not a header's name", fn, clip(in[0], 40)).in("#1")
			}
			return Expect{kind: expectHeader, name: in[0], text: []byte(in[1])}, err
		},
		"body_contains": func(fn string, args starlark.Tuple, kwargs []starlark.Tuple) (Expect, error) {
			var in [1]string
			err := texts(fn, []string{"text"}, 1, args, kwargs, in[:])
			if err == nil && (in[0] == "" || len(in[0]) > compareMax) {
				err = faultf("%s: the text must have 1 to %d bytes", fn, compareMax).in("#1")
			}
			return Expect{kind: expectBody, text: []byte(in[0])}, err
		},
		"json_is": jsonIs,
		"latency_below": func(fn string, args starlark.Tuple, kwargs []starlark.Tuple) (Expect, error) {
			var in [1]starlark.Value
			if err := bind(fn, []string{"duration"}, 1, args, kwargs, in[:]); err != nil {
				return Expect{}, err
			}
			if in[0] == nil {
				return Expect{}, faultf("%s: say how long: latency_below(\"1s\")", fn)
			}
			d, err := duration(fn, "duration", in[0])
			if f, ok := err.(*fault); ok {
				f.in("#1")
			}
			return Expect{kind: expectLatency, latency: d}, err
		},
		"size_below": func(fn string, args starlark.Tuple, kwargs []starlark.Tuple) (Expect, error) {
			var in [1]string
			if err := texts(fn, []string{"size"}, 1, args, kwargs, in[:]); err != nil {
				return Expect{}, err
			}
			n, ok := byteSize(in[0])
			if !ok {
				return Expect{}, faultf("%s: %q is not a size", fn, clip(in[0], 40)).in("#1").do("write a number and a unit: \"512B\", \"64KiB\", \"1MiB\"")
			}
			return Expect{kind: expectSize, bytes: n}, nil
		},
	}
}

func jsonIs(fn string, args starlark.Tuple, kwargs []starlark.Tuple) (Expect, error) {
	e := Expect{kind: expectJSON}
	if len(args) != 2 || len(kwargs) > 0 { // bind takes None for what is not given
		return e, faultf("%s takes a path and a value", fn).do("write json_is(\"$.ok\", True)")
	}
	path, ok := args[0].(starlark.String)
	if !ok {
		return e, faultf("%s: the path must be a text, not %s", fn, describe(args[0])).in("#1")
	}
	var err error
	if e.path, err = parsePath(fn, string(path)); err != nil {
		return e, err
	}
	e.want, ok = newScalar(args[1])
	if !ok {
		return e, faultf("%s: the value must be a text, a number, True, False or None, not %s", fn, describe(args[1])).in("#2")
	}
	return e, nil
}

// byteSize reads "64KiB".
func byteSize(s string) (int64, bool) {
	units := []struct {
		name string
		size int64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}}
	for _, u := range units {
		digits, ok := strings.CutSuffix(s, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 32)
		return n * u.size, err == nil && n > 0
	}
	return 0, false
}

// readExpect reads a step's expect.
func (s *stepValue) readExpect(v starlark.Value) error {
	if v == nil {
		return nil
	}
	values, err := list("step", "expect", "conditions", v)
	if err != nil {
		return err
	}
	for i, v := range values {
		e, ok := v.(*expectValue)
		if !ok {
			f := faultf("step %q: expect has %s in it", s.name, describe(v)).in("expect").at(i)
			return f.do("use status, header_is, body_contains, json_is, latency_below or size_below")
		}
		s.expect = append(s.expect, e.expect)
	}
	return nil
}
