package main

import (
	"fmt"
	"slices"
	"strings"

	"hyperscale/runtime/report"
)

// outputKind is a form that --out writes a result in.
type outputKind struct {
	name   string
	encode func(*report.Result) ([]byte, error)
}

func outputKinds() []outputKind {
	return []outputKind{
		{"json", (*report.Result).Encode},
	}
}

// written is one `--out KIND=FILE`.
type written struct {
	outputKind
	file string
}

// outputs reads what --out asks for.
func (f *outputFlags) outputs() ([]written, error) {
	kinds := outputKinds()
	var all []written
	for _, s := range f.outs {
		kind, file, ok := strings.Cut(s, "=")
		if !ok || file == "" {
			return nil, usage("--out %q: write KIND=FILE, as in --out json=result.json", s)
		}
		at := slices.IndexFunc(kinds, func(k outputKind) bool { return k.name == kind })
		if at < 0 {
			return nil, usage("--out %q: no output of kind %q: use %s", s, kind, outputNames())
		}
		all = append(all, written{kinds[at], file})
	}
	return all, nil
}

// outputNames lists them for people: "json=FILE or csv=FILE".
func outputNames() string {
	var names []string
	for _, k := range outputKinds() {
		names = append(names, k.name+"=FILE")
	}
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " or " + names[last]
	}
	return names[0]
}

// check finds out before the run that the output will find its place after it.
func (o *written) check() error {
	if err := writable(o.file); err != nil {
		return asUsage(fmt.Errorf("--out %s=%s: %w", o.name, o.file, err))
	}
	return nil
}

func (o *written) write(r *report.Result) error {
	b, err := o.encode(r)
	if err == nil {
		err = report.WriteFile(o.file, b)
	}
	if err != nil {
		return fmt.Errorf("--out %s=%s: %w", o.name, o.file, err)
	}
	return nil
}
