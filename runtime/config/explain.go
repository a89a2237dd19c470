package config

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"hyperscale/core/node"
)

// FromDefault is the origin of a value that no source sets.
const FromDefault = "default"

// Effective is a value that a node runs with.
type Effective struct {
	Name  string `json:"name"`  // of a key, or of a setting below `set`
	Value string `json:"value"` // as a flag has it; empty: not set
	From  string `json:"from"`  // the last source that sets it: FromDefault, FromProfile, the file's path, a variable or a flag
}

// Explain loads a configuration, and says for each key of the role where its value is from. Settings that a
// source sets follow, by name.
func Explain(role node.Role, s Sources) (Node, []Effective, error) {
	n, err := Load(role, s)
	layers, profiled := s.layers(), placed(role, n.Profile)
	var all []Effective
	for _, k := range Keys() {
		if !k.For(role) || k.Name == "set" {
			continue
		}
		e := Effective{k.Name, k.text(&n), FromDefault}
		if k.Name != "profile" && k.text(&profiled) != k.Default(role) {
			e.From = FromProfile
		}
		for _, l := range layers {
			if l.has(k) {
				e.From = l.called(k)
			}
		}
		all = append(all, e)
	}
	set, _ := KeyOf("set")
	for _, name := range slices.Sorted(maps.Keys(n.Settings)) {
		e := Effective{Name: name, Value: n.Settings[name]}
		for _, l := range layers {
			if _, has := l.alone.Settings[name]; has {
				e.From = l.called(set)
			}
		}
		all = append(all, e)
	}
	return n, all, err
}

// layer is one source.
type layer struct {
	has    func(Key) bool
	called func(Key) string
	alone  Node // with its values, and no others
}

// layers are the sources in rising precedence. What cannot be read sets nothing: Load says why.
func (s *Sources) layers() []layer {
	file := layer{called: func(Key) string { return s.File }}
	var named []string
	if s.File != "" {
		if b, err := readFile(s.File); err == nil {
			if file.alone.YAML(b) == nil { // else Load reports it
				named = topKeys(b)
			}
		}
	}
	file.has = func(k Key) bool { return slices.Contains(named, k.Name) }

	environ := layer{called: Key.Variable}
	environ.has = func(k Key) bool {
		return slices.ContainsFunc(s.Environ, func(set string) bool {
			value, is := strings.CutPrefix(set, k.Variable()+"=")
			return is && value != "" // an empty one sets nothing
		})
	}
	_ = environ.alone.Environ(s.Environ) // Load reports it

	flags := layer{called: func(k Key) string { return "--" + k.Flag() }}
	flags.has = func(k Key) bool { return s.Flags[k.Flag()] != "" }
	_ = flags.alone.Flags(s.Flags) // Load reports it
	return []layer{file, environ, flags}
}

// topKeys are the keys of a file.
func topKeys(b []byte) (all []string) {
	for _, pair := range pairsOf(b) {
		all = append(all, pair.Key.String())
	}
	return all
}

// pairsOf are the keys of a file's first document, with their values; nil: the decoder says why.
func pairsOf(b []byte) []*ast.MappingValueNode {
	file, err := parser.ParseBytes(b, 0)
	if err != nil || len(file.Docs) == 0 {
		return nil
	}
	switch body := file.Docs[0].Body.(type) {
	case *ast.MappingNode:
		return body.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{body}
	}
	return nil
}

// WriteTable writes values in columns: name, value, origin.
func WriteTable(w io.Writer, all []Effective) error {
	name, value := 0, 0
	for _, e := range all {
		name, value = max(name, len(e.Name)), max(value, min(len(e.Value), valueMost))
	}
	var b bytes.Buffer
	for _, e := range all {
		shown := e.Value
		if shown == "" {
			shown = "-"
		}
		fmt.Fprintf(&b, "%-*s  %-*s  %s\n", name, e.Name, value, shown, e.From)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// valueMost is how wide the column of values grows; a longer value moves its line alone.
const valueMost = 40
