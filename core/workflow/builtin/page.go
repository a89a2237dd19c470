package builtin

import (
	"go.starlark.net/starlark"

	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/markup"
)

// HTML is the module html.
func HTML() *language.Namespace {
	names := []string{"text", "css"}
	return language.NewNamespace("html", starlark.StringDict{
		"select": function("html.select", "select", names, 2, 2, func(thread *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
			all, err := selected(thread, "html.select", in, guard.MeterOf(thread).Limits.Elements)
			return listOf(all), err
		}),
		"first": function("html.first", "first", names, 2, 2, func(thread *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
			all, err := selected(thread, "html.first", in, 1)
			return firstOf(all), err
		}),
		"xpath": function("html.xpath", "xpath", []string{"text", "path"}, 2, 2, func(thread *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
			all, err := followed(thread, "html.xpath", in, guard.MeterOf(thread).Limits.Elements, findIn(markup.ParsePage))
			return listOf(all), err
		}),
	})
}

// XML is the module xml.
func XML() *language.Namespace {
	names := []string{"text", "path"}
	return language.NewNamespace("xml", starlark.StringDict{
		"select": function("xml.select", "select", names, 2, 2, func(thread *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
			all, err := followed(thread, "xml.select", in, guard.MeterOf(thread).Limits.Elements, findIn(markup.ParseDocument))
			return listOf(all), err
		}),
		"first": function("xml.first", "first", names, 2, 2, func(thread *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
			all, err := followed(thread, "xml.first", in, 1, findIn(markup.ParseDocument))
			return firstOf(all), err
		}),
	})
}

func listOf(all []starlark.Value) starlark.Value { return starlark.NewList(all) }

func firstOf(all []starlark.Value) starlark.Value {
	if len(all) == 0 {
		return starlark.None
	}
	return all[0]
}

// elementBytes is about the size of a parsed element: the parser's nodes for each "<" in the
// text.
const elementBytes = 256

// document reads a text to parse, and charges for the parser's memory.
func document(thread *starlark.Thread, fn string, v starlark.Value) (string, error) {
	if v != nil && v.Type() == "response" {
		return "", language.Faultf("%s: text must be a text, not a response", fn).In("text").Do("write %s(name.text(), ...)", fn)
	}
	m := guard.MeterOf(thread)
	text, err := Content(fn, "text", v, min(markup.TextMax, m.Limits.JSONBytes))
	if err != nil {
		return "", err
	}
	tags := 0
	for i := range len(text) {
		if text[i] == '<' {
			tags++
		}
	}
	thread.Steps += uint64(len(text))
	return text, m.Charge(thread, 4*len(text)+elementBytes*tags)
}

func selected(thread *starlark.Thread, fn string, in []starlark.Value, most int) ([]starlark.Value, error) {
	css, err := Content(fn, "css", in[1], markup.SelectorMax)
	if err != nil {
		return nil, err
	}
	s, err := markup.ParseSelector(css)
	if err != nil {
		return nil, language.Faultf("%s: %v", fn, err).In("css")
	}
	text, err := document(thread, fn, in[0])
	if err != nil {
		return nil, err
	}
	page, err := markup.ParsePage(text)
	if err != nil {
		return nil, language.Faultf("%s: %v", fn, err).In("text")
	}
	thread.Steps += uint64(page.Work(s)) / 16
	all, err := page.Select(s, most)
	if err != nil {
		return nil, language.Faultf("%s: %v", fn, err).In("css")
	}
	return elements(thread, fn, all)
}

// finder follows a path in a text; parsed reports that the text could be read.
type finder = func(text string, p *markup.Path, most int) (got markup.Found, parsed bool, err error)

func findIn[D interface {
	Find(p *markup.Path, most int) (markup.Found, error)
}](parse func(string) (D, error),
) finder {
	return func(text string, p *markup.Path, most int) (markup.Found, bool, error) {
		d, err := parse(text)
		if err != nil {
			return markup.Found{}, false, err
		}
		got, err := d.Find(p, most)
		return got, true, err
	}
}

func followed(thread *starlark.Thread, fn string, in []starlark.Value, most int, find finder) ([]starlark.Value, error) {
	path, err := Content(fn, "path", in[1], markup.SelectorMax)
	if err != nil {
		return nil, err
	}
	p, err := markup.ParsePath(path)
	if err != nil {
		return nil, language.Faultf("%s: %v", fn, err).In("path")
	}
	text, err := document(thread, fn, in[0])
	if err != nil {
		return nil, err
	}
	got, parsed, err := find(text, p, most)
	thread.Steps += uint64(got.Work) / 16
	if err != nil {
		at := "text"
		if parsed {
			at = "path"
		}
		return nil, language.Faultf("%s: %v", fn, err).In(at)
	}
	if !got.IsText {
		return elements(thread, fn, got.Elements)
	}
	out := make([]starlark.Value, len(got.Texts))
	total := 0
	for i, t := range got.Texts {
		out[i] = starlark.String(t)
		total += len(t) + 16
	}
	return out, guard.MeterOf(thread).Charge(thread, total)
}

func elements(thread *starlark.Thread, fn string, all []markup.Element) ([]starlark.Value, error) {
	if err := guard.MeterOf(thread).Elements(thread, fn, len(all)); err != nil {
		return nil, err
	}
	out := make([]starlark.Value, len(all))
	total := 0
	for i := range all {
		out[i] = &elementValue{Opaque: language.Opaque{Kind: "element"}, e: &all[i]}
		total += 64 + len(all[i].Text)
	}
	return out, guard.MeterOf(thread).Charge(thread, total)
}

// elementValue is a found element. It is immutable.
type elementValue struct {
	language.Opaque
	e *markup.Element
}

var _ starlark.HasAttrs = (*elementValue)(nil)

func (e *elementValue) String() string      { return "<" + e.e.Name + ">" }
func (e *elementValue) AttrNames() []string { return []string{"attr", "attrs", "name", "text"} }

func (e *elementValue) Attr(name string) (starlark.Value, error) {
	switch name {
	case "name":
		return starlark.String(e.e.Name), nil
	case "text":
		return starlark.String(e.e.Text), nil
	case "attr":
		return function("attr", "attr", []string{"name", "default"}, 2, 1, e.attr), nil
	case "attrs":
		attrs := starlark.NewDict(len(e.e.Attrs))
		for _, a := range e.e.Attrs {
			if _, twice, _ := attrs.Get(starlark.String(a.Name)); !twice { // of two with one name the first counts
				_ = attrs.SetKey(starlark.String(a.Name), starlark.String(a.Value)) // texts are valid keys
			}
		}
		return attrs, nil
	}
	return nil, language.Missing("element", name, e.AttrNames())
}

func (e *elementValue) attr(_ *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
	name, ok := in[0].(starlark.String)
	if !ok {
		return nil, language.WrongType("attr", "name", "a text", in[0])
	}
	if v, found := e.e.Attr(string(name)); found {
		return starlark.String(v), nil
	}
	if in[1] != nil {
		return in[1], nil
	}
	return starlark.None, nil
}
