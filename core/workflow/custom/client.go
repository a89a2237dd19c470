package custom

import (
	"path"
	"strings"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/request"
	"hyperscale/core/workflow/secret"
)

// Bounds of a client.
const (
	ProcessesMost = 16
	InFlightMost  = 1024
	inFlight      = 64 // if the file says none
	wordsMost     = 64
	wordMost      = 4096
)

// ClientsMost bounds the clients of a file.
const ClientsMost = 16

// ClientArguments are those of custom.client.
func ClientArguments() []string { return []string{"program", "processes", "in_flight"} }

// clientValue is the result of custom.client.
type clientValue struct {
	language.Opaque
	of request.Custom
}

// NewClient is custom.client: the value, and what it starts.
func NewClient(args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, *request.Custom, error) {
	const fn = "custom.client"
	var in [3]starlark.Value
	if err := language.Bind(fn, ClientArguments(), 1, args, kwargs, in[:]); err != nil {
		return nil, nil, err
	}
	c := &clientValue{Opaque: language.Opaque{Kind: fn}, of: request.Custom{Processes: 1, InFlight: inFlight}}
	var err error
	if c.of.Program, err = program(fn, in[0]); err != nil {
		return nil, nil, err
	}
	for i, to := range []*int{&c.of.Processes, &c.of.InFlight} {
		most := []int{ProcessesMost, InFlightMost}[i]
		if in[i+1] == nil {
			continue
		}
		if *to, err = language.Integer(fn, ClientArguments()[i+1], in[i+1], 1, most); err != nil {
			return nil, nil, err
		}
	}
	return c, &c.of, nil
}

// program reads the name and the arguments of a program.
func program(fn string, v starlark.Value) (words []string, err error) {
	list, ok := v.(*starlark.List)
	switch {
	case v == nil:
		return nil, language.Faultf("%s: the program is missing", fn).Do("write %s([\"bin/legacy\", \"--fast\"])", fn)
	case !ok:
		return nil, language.WrongType(fn, "program", "a list of texts", v).Do("write %s([\"bin/legacy\", \"--fast\"]): no shell cuts it", fn)
	case list.Len() == 0:
		return nil, language.Faultf("%s: the program is an empty list", fn).In("program").Do("write %s([\"bin/legacy\"])", fn)
	case list.Len() > wordsMost:
		return nil, language.Faultf("%s: the program has more than %d words", fn, wordsMost).In("program").Do("write its options into a file beside it")
	}
	for i := range list.Len() {
		if _, hides := list.Index(i).(*secret.Text); hides {
			return nil, language.Faultf("%s: the program has a secret in it, and other processes of its machine see arguments", fn).In("program").Do("give it to the program in the arguments of a call")
		}
		word, ok := starlark.AsString(list.Index(i))
		switch {
		case !ok:
			return nil, language.WrongType(fn, "program", "texts", list.Index(i)).Do("write each number as a text: \"8\"")
		case len(word) > wordMost || strings.ContainsRune(word, 0):
			return nil, language.Faultf("%s: a word of the program has more than %d bytes or a NUL byte", fn, wordMost).In("program").Do("write it into a file beside the program")
		case strings.Contains(word, "${"):
			return nil, language.Faultf("%s: the program cannot be filled", fn).In("program").Do("it starts before the run: give ${name} to the arguments of a call, or make the word of a param")
		}
		words = append(words, word)
	}
	if name := words[0]; name == "" || path.IsAbs(name) || path.Clean(name) == "." || path.Clean(name) == ".." || strings.HasPrefix(path.Clean(name), "../") {
		return nil, language.Faultf("%s: the program %q is not a path below the folder of programs", fn, language.Clip(name, 60)).In("program").Do("write it as it lies beside this file, or below the worker's --custom DIR: \"bin/legacy\"")
	}
	return words, nil
}
