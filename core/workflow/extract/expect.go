package extract

import (
	"bytes"
	"fmt"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.starlark.net/starlark"
)

type expectKind uint8

const (
	ExpectStatus expectKind = iota
	ExpectHeader
	ExpectBody
	ExpectJSON
	expectLatency
	expectSize
	ExpectGraphQL
	ExpectCode
)

// Expect is a condition of a good response. It is plain data, compiled at load.
type Expect struct {
	Kind     expectKind
	statuses []int
	codes    []string
	name     string // of the header
	text     []byte // of the header, in the body; of json_is as written
	path     jsonPath
	detail   jsonPath // of an answer of GraphQL: the first error's text
	want     scalar
	latency  time.Duration
	bytes    int64
}

// Fails returns what it found instead; empty: the condition holds, and nothing was allocated.
func (e *Expect) Fails(r *View) string {
	switch e.Kind {
	case ExpectStatus:
		if !slices.Contains(e.statuses, r.Status) {
			return fmt.Sprintf("status %d, not %s", r.Status, orList(e.statuses))
		}
	case ExpectHeader:
		switch v, ok := r.field(e.name); {
		case !ok:
			return fmt.Sprintf("header %s is missing, not %q", e.name, language.Clip(string(e.text), 60))
		case !bytes.Equal(v, e.text):
			return fmt.Sprintf("header %s is %q, not %q", e.name, excerpt(v), language.Clip(string(e.text), 60))
		}
	case ExpectBody:
		if !bytes.Contains(r.Body, e.text) {
			return fmt.Sprintf("the body does not contain %q: %s", language.Clip(string(e.text), 60), excerpt(r.Body))
		}
	case ExpectJSON:
		raw, why := e.path.find(r.Body)
		if why != "" {
			return "json_is: " + e.path.source + " " + why
		}
		if !e.want.is(raw, r) {
			return fmt.Sprintf("json_is: %s is %s, not %s", e.path.source, excerpt(raw), language.Clip(e.want.source, 60))
		}
	case expectLatency:
		if r.Latency >= e.latency {
			return fmt.Sprintf("latency %v, not below %v", r.Latency, e.latency)
		}
	case expectSize:
		if r.Size >= e.bytes {
			return fmt.Sprintf("a body of %d bytes, not below %d", r.Size, e.bytes)
		}
	case ExpectGraphQL:
		return e.graphqlFails(r)
	case ExpectCode:
		if !slices.Contains(e.codes, r.Code) {
			return fmt.Sprintf("code %s, not %s", r.Code, strings.Join(e.codes, " or "))
		}
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

// ExpectValue is the result of status(), body_contains() and their like.
type ExpectValue struct {
	language.Opaque
	Expect Expect
}

type expecting func(fn string, args starlark.Tuple, kwargs []starlark.Tuple) (Expect, error)

// Expectation returns a function for one kind of Expect.
func Expectation(fn string, read expecting) *guard.Func {
	return &guard.Func{Word: fn, Call: func(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		e, err := read(fn, args, kwargs)
		if err != nil {
			return nil, err
		}
		return &ExpectValue{language.Opaque{Kind: fn}, e}, nil
	}}
}

// Expectations returns the functions for expect.
func Expectations() map[string]expecting {
	return map[string]expecting{
		"status": func(fn string, args starlark.Tuple, kwargs []starlark.Tuple) (Expect, error) {
			e := Expect{Kind: ExpectStatus}
			if len(args) == 0 || len(args) > 100 || len(kwargs) > 0 {
				return e, language.Faultf("%s takes one status or more", fn).Do("write status(200, 204)")
			}
			for i, v := range args {
				n, err := language.Integer(fn, "#"+strconv.Itoa(i+1), v, 100, 599)
				if err != nil {
					return e, language.Faultf("%s: %s is not a status from 100 to 599", fn, language.Describe(v)).In("#" + strconv.Itoa(i+1))
				}
				e.statuses = append(e.statuses, n)
			}
			return e, nil
		},
		"header_is": func(fn string, args starlark.Tuple, kwargs []starlark.Tuple) (Expect, error) {
			var in [2]string
			err := language.Texts(fn, []string{"name", "value"}, 2, args, kwargs, in[:])
			if err == nil && !language.IsToken(in[0]) {
				err = language.Faultf("%s: %q is not a header's name", fn, language.Clip(in[0], 40)).In("#1")
			}
			return Expect{Kind: ExpectHeader, name: in[0], text: []byte(in[1])}, err
		},
		"body_contains": func(fn string, args starlark.Tuple, kwargs []starlark.Tuple) (Expect, error) {
			var in [1]string
			err := language.Texts(fn, []string{"text"}, 1, args, kwargs, in[:])
			if err == nil && (in[0] == "" || len(in[0]) > compareMax) {
				err = language.Faultf("%s: the text must have 1 to %d bytes", fn, compareMax).In("#1")
			}
			return Expect{Kind: ExpectBody, text: []byte(in[0])}, err
		},
		"code":    codes,
		"json_is": jsonIs,
		"latency_below": func(fn string, args starlark.Tuple, kwargs []starlark.Tuple) (Expect, error) {
			var in [1]starlark.Value
			if err := language.Bind(fn, []string{"duration"}, 1, args, kwargs, in[:]); err != nil {
				return Expect{}, err
			}
			if in[0] == nil {
				return Expect{}, language.Faultf("%s: say how long: latency_below(\"1s\")", fn)
			}
			d, err := language.Duration(fn, "duration", in[0])
			if f, ok := err.(*language.Fault); ok {
				f.In("#1")
			}
			return Expect{Kind: expectLatency, latency: d}, err
		},
		"size_below": func(fn string, args starlark.Tuple, kwargs []starlark.Tuple) (Expect, error) {
			var in [1]string
			if err := language.Texts(fn, []string{"size"}, 1, args, kwargs, in[:]); err != nil {
				return Expect{}, err
			}
			n, ok := byteSize(in[0])
			if !ok {
				return Expect{}, language.Faultf("%s: %q is not a size", fn, language.Clip(in[0], 40)).In("#1").Do("write a number and a unit: \"512B\", \"64KiB\", \"1MiB\"")
			}
			return Expect{Kind: expectSize, bytes: n}, nil
		},
	}
}

// Coded is whose codes an answer has.
type Coded uint8

// The protocols with codes.
const (
	CodedNone Coded = iota
	CodedGRPC
	CodedPostgres // SQLSTATE
	CodedMySQL    // numbers of errors
	CodedProgram  // whatever a custom program says
	CodedKafka    // names of errors
	CodedReply    // three digits, of a mail server
	CodedMongoDB  // numbers of errors
)

// Misplaced returns a code that a condition names and that no answer of a protocol has; empty: there is
// none.
func (e *Expect) Misplaced(of Coded) string {
	for _, code := range e.codes {
		grpc := slices.Contains(Codes(), code)
		switch {
		case of == CodedGRPC && grpc, code == "OK" && of != CodedNone:
		case of == CodedProgram:
		case of == CodedPostgres && !grpc && isDatabaseCode(code) && len(code) == sqlStateLength:
		case of == CodedReply && len(code) == replyLength && strings.Trim(code, "0123456789") == "":
		case of == CodedKafka && isKafkaCode(code):
		case (of == CodedMySQL || of == CodedMongoDB) && !grpc && isDatabaseCode(code) && strings.Trim(code, "0123456789") == "":
		default:
			return code
		}
	}
	return ""
}

const (
	sqlStateLength = 5
	replyLength    = 3
)

const numberLength = 9 // digits of an error's number: MongoDB has some of seven

// isDatabaseCode reports a SQLSTATE, or the number of an error of MySQL or MongoDB.
func isDatabaseCode(text string) bool {
	if len(text) == 0 || len(text) > numberLength {
		return false
	}
	digits := strings.Trim(text, "0123456789") == ""
	return digits || len(text) == sqlStateLength && !strings.ContainsFunc(text, func(r rune) bool { return (r < '0' || r > '9') && (r < 'A' || r > 'Z') })
}

// programCodeMost bounds a code of a custom program, in bytes.
const programCodeMost = 64

// isProgramCode reports whether a text may be a code of a custom program: one with a digit in it, as no code
// of gRPC has one, and a misspelt one is found.
func isProgramCode(text string) bool {
	return len(text) <= programCodeMost && strings.ContainsAny(text, "0123456789")
}

// Codes are those of gRPC that code() knows.
func Codes() []string {
	return []string{
		"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED",
		"RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
	}
}

func codes(fn string, args starlark.Tuple, kwargs []starlark.Tuple) (Expect, error) {
	e := Expect{Kind: ExpectCode}
	if len(args) == 0 || len(args) > 100 || len(kwargs) > 0 {
		return e, language.Faultf("%s takes one code or more", fn).Do("write code(\"OK\", \"NOT_FOUND\")")
	}
	for i, v := range args {
		at := "#" + strconv.Itoa(i+1)
		text, ok := v.(starlark.String)
		if !ok {
			return e, language.Faultf("%s: %s is no code", fn, language.Describe(v)).In(at).Do("write code(\"OK\", \"NOT_FOUND\")")
		}
		if !slices.Contains(Codes(), string(text)) && !isDatabaseCode(string(text)) && !isProgramCode(string(text)) && !isKafkaCode(string(text)) {
			f := language.Faultf("%s: neither gRPC nor Kafka has a code %q", fn, language.Clip(string(text), 40)).In(at).Meant(string(text), append(Codes(), KafkaCodes()...))
			if !strings.HasPrefix(f.Remedy, "did you mean") {
				f.Do("write one such as \"OK\" or \"NOT_FOUND\"")
			}
			return e, f
		}
		e.codes = append(e.codes, string(text))
	}
	return e, nil
}

func jsonIs(fn string, args starlark.Tuple, kwargs []starlark.Tuple) (Expect, error) {
	e := Expect{Kind: ExpectJSON}
	if len(args) != 2 || len(kwargs) > 0 { // bind reads None as not given
		return e, language.Faultf("%s takes a path and a value", fn).Do("write json_is(\"$.ok\", True)")
	}
	path, ok := args[0].(starlark.String)
	if !ok {
		return e, language.Faultf("%s: the path must be a text, not %s", fn, language.Describe(args[0])).In("#1")
	}
	var err error
	if e.path, err = parsePath(fn, string(path)); err != nil {
		return e, err
	}
	e.want, ok = newScalar(args[1])
	if !ok {
		return e, language.Faultf("%s: the value must be a text, a number, True, False or None, not %s", fn, language.Describe(args[1])).In("#2")
	}
	return e, nil
}

// byteSize parses "64KiB".
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
