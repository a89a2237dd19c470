package language

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"
)

// Opaque makes a Starlark value of a struct that embeds it: a value that a file passes between
// functions and cannot inspect.
type Opaque struct{ Kind string }

// String implements starlark.Value, as the methods below do.
func (o Opaque) String() string        { return "<" + o.Kind + ">" }
func (o Opaque) Type() string          { return o.Kind }
func (o Opaque) Freeze()               {}
func (o Opaque) Truth() starlark.Bool  { return true }
func (o Opaque) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable: %s", o.Kind) }

// Namespace holds functions under a name: http, json, vu.http.
type Namespace struct {
	Opaque
	Members starlark.StringDict
}

var _ starlark.HasAttrs = (*Namespace)(nil)

// NewNamespace returns members under a name.
func NewNamespace(name string, members starlark.StringDict) *Namespace {
	return &Namespace{Opaque{name}, members}
}

// AttrNames implements starlark.HasAttrs; names that begin with Mark stay hidden.
func (n *Namespace) AttrNames() []string {
	return slices.DeleteFunc(n.Members.Keys(), func(name string) bool { return strings.HasPrefix(name, Mark) })
}

// Attr implements starlark.HasAttrs.
func (n *Namespace) Attr(name string) (starlark.Value, error) {
	if v, ok := n.Members[name]; ok {
		return v, nil
	}
	return nil, Missing(n.Kind, name, n.AttrNames())
}

// Missing returns the error for an unknown name below what.
func Missing(what, name string, known []string) error {
	if absent := Absent(what, name); absent != "" {
		return Faultf("%s has no %q", what, name).Do("%s", absent)
	}
	if Nearest(name, known) != "" {
		return starlark.NoSuchAttrError(fmt.Sprintf("%s has no %q", what, name)) // Starlark adds the name
	}
	return Faultf("%s has no %q", what, name).Meant(name, known)
}
