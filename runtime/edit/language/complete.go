package language

import (
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"hyperscale/runtime/edit/manual"
)

// completion is one proposal.
type completion struct {
	Label         string  `json:"label"`
	Kind          int     `json:"kind"`
	Detail        string  `json:"detail,omitempty"`
	Documentation *markup `json:"documentation,omitempty"`
	InsertText    string  `json:"insertText,omitempty"`
	SortText      string  `json:"sortText,omitempty"`
}

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

// Kinds of proposals, as the protocol numbers them.
const (
	kindFunction = 3
	kindField    = 5
	kindVariable = 6
	kindModule   = 9
	kindKeyword  = 14
)

func (s *Server) complete(p *documentParams) (any, error) {
	d := s.documents[p.Document.URI]
	if d == nil {
		return nil, nil
	}
	at := offset(d.text, p.Position)
	here := around(d.text, at)
	switch {
	case here.inRemark:
		return []completion{}, nil
	case here.inText:
		return values(here.text, d.values), nil
	}
	word := wordBefore(d.text, at)
	if dot := strings.LastIndexByte(word, '.'); dot >= 0 {
		return s.below(word[:dot]), nil
	}
	return append(s.keywords(here.call), append(s.below(""), builtin()...)...), nil
}

// values are what ${ may be closed with.
func values(text string, known []string) []completion {
	out := []completion{}
	open := strings.LastIndex(text, "${")
	if open < 0 || strings.Contains(text[open:], "}") {
		return out
	}
	for _, name := range known {
		out = append(out, completion{Label: name, Kind: kindVariable, Detail: "a value of requests"})
	}
	return out
}

// below lists the words after a dot, or all first ones.
func (s *Server) below(under string) []completion {
	out := []completion{}
	for _, name := range s.Manual.Below(under) {
		whole := name
		if under != "" {
			whole = under + "." + name
		} else if name == "response" {
			continue // a file calls it as it likes
		}
		w, _ := s.Manual.Word(whole)
		c := completion{Label: name, Kind: kindField, Documentation: &markup{"markdown", s.Manual.Brief(w)}}
		switch {
		case w.Function:
			c.Kind, c.Detail = kindFunction, manual.Signature(w)
		case len(s.Manual.Below(whole)) > 0:
			c.Kind = kindModule
		}
		out = append(out, c)
	}
	return out
}

// keywords are the arguments of the call around: they come first.
func (s *Server) keywords(call string) []completion {
	out := []completion{}
	w, ok := s.Manual.Word(call)
	if !ok {
		return out
	}
	for _, name := range w.Arguments {
		c := completion{Label: name, Kind: kindField, Detail: "argument of " + call, InsertText: name + " = ", SortText: " " + name}
		if text := s.Manual.Argument(w, name); text != "" {
			c.Documentation = &markup{"markdown", text}
		}
		out = append(out, c)
	}
	return out
}

// builtin lists Starlark's own words.
func builtin() []completion {
	out := []completion{}
	for _, name := range starlark.Universe.Keys() {
		if name != "print" {
			out = append(out, completion{Label: name, Kind: kindFunction, Detail: "of Starlark", SortText: "~" + name})
		}
	}
	for _, name := range strings.Fields("and break continue def elif else for if in lambda load not or pass return while") {
		out = append(out, completion{Label: name, Kind: kindKeyword, SortText: "~" + name})
	}
	return out
}

func (s *Server) hover(p *documentParams) (any, error) {
	d := s.documents[p.Document.URI]
	if d == nil {
		return nil, nil
	}
	at := offset(d.text, p.Position)
	here := around(d.text, at)
	word := wordAt(d.text, at)
	if here.inText || here.inRemark || word == "" {
		return nil, nil
	}
	text := ""
	if w, ok := s.Manual.Word(here.call); ok && slices.Contains(w.Arguments, word) && assigns(d.text, at) {
		text = s.Manual.Argument(w, word)
	} else if w, ok := s.Manual.Word(word); ok {
		text, _ = s.Manual.Find(w.Name)
	}
	if text == "" {
		return nil, nil
	}
	return map[string]any{"contents": markup{"markdown", text}}, nil
}

// assigns says that a single = follows the word around i.
func assigns(text string, i int) bool {
	for i < len(text) && isName(text[i]) {
		i++
	}
	rest := strings.TrimLeft(text[i:], " \t")
	return strings.HasPrefix(rest, "=") && !strings.HasPrefix(rest, "==")
}
