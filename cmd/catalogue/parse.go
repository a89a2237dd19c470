package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// catalogue is the model of the message package.
type catalogue struct {
	structs []*structType
	named   map[string]string // other named types to what they are made of
}

type structType struct {
	name   string
	fields []field
	// of a message:
	kind                  int
	class, priority, full string
	from                  []string // roles that may send it
	since                 int      // minor version
	subject               []string // fields that tell which older one it replaces
	stub                  []string // fields that its refusal needs
	needs                 string   // the right of a client that sends it
	datagram              bool     // it may travel as one
}

type field struct {
	name, key string
	required  bool
	packed    bool // its type has a codec of its own
	omitted   bool // when it is zero
	since     int  // minor version that added it to its struct
	typ       ast.Expr
}

func parse(files []string) (*catalogue, error) {
	c := &catalogue{named: map[string]string{}}
	fset := token.NewFileSet()
	for _, name := range files {
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			if err := c.add(g); err != nil {
				return nil, fmt.Errorf("%s: %w", fset.Position(g.Pos()), err)
			}
		}
	}
	slices.SortFunc(c.structs, func(a, b *structType) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name))
	})
	for i, s := range c.structs[1:] {
		if s.kind != 0 && s.kind == c.structs[i].kind {
			return nil, fmt.Errorf("%s and %s have the same kind %d: give one of them a number that was never used", s.name, c.structs[i].name, s.kind)
		}
	}
	return c, nil
}

func (c *catalogue) add(g *ast.GenDecl) error {
	for _, spec := range g.Specs {
		t := spec.(*ast.TypeSpec)
		switch u := t.Type.(type) {
		case *ast.StructType:
			if !t.Name.IsExported() {
				continue
			}
			s := &structType{name: t.Name.Name}
			if err := s.read(u, g.Doc); err != nil {
				return err
			}
			c.structs = append(c.structs, s)
		case *ast.Ident:
			c.named[t.Name.Name] = u.Name
		case *ast.ArrayType:
			c.named[t.Name.Name] = "[16]byte"
		}
	}
	return nil
}

func (s *structType) read(u *ast.StructType, doc *ast.CommentGroup) error {
	for _, f := range u.Fields.List {
		tag, err := strconv.Unquote(f.Tag.Value)
		if err != nil {
			return err
		}
		// Behind a comma stand options of msgp, such as a bound of its own.
		key, option, _ := strings.Cut(reflect.StructTag(tag).Get("msg"), ",")
		if key == "" || len(key) > 31 {
			return fmt.Errorf("%s.%s: wire name %q: give it a msg tag of 1 to 31 bytes", s.name, f.Names[0].Name, key)
		}
		since, err := sinceOf(s.name+"."+f.Names[0].Name, cmp.Or(reflect.StructTag(tag).Get("since"), "0"))
		if err != nil {
			return err
		}
		s.fields = append(s.fields, field{
			f.Names[0].Name, key, reflect.StructTag(tag).Get("require") == "true", reflect.StructTag(tag).Get("packed") == "true", option == "omitempty" || option == "omitzero", since, f.Type,
		})
		if last := s.fields[len(s.fields)-1]; last.since > 0 && last.required {
			return fmt.Errorf("%s.%s: an older version does not send it: it cannot be required", s.name, last.name)
		}
	}
	if err := s.omits(); err != nil {
		return err
	}
	if doc == nil {
		return nil
	}
	for _, line := range doc.List {
		if rest, ok := strings.CutPrefix(line.Text, "//catalogue:message "); ok {
			return s.directive(rest)
		}
	}
	return nil
}

// sinceOf reads a minor version.
func sinceOf(name, v string) (int, error) {
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 || n > 65535 {
		return 0, fmt.Errorf("%s: since=%s: want a minor version, 0 to 65535", name, v)
	}
	return n, nil
}

// omits rejects what the sizes of this catalogue do not know: fields that are omitted change the head
// of their struct.
func (s *structType) omits() error {
	omitted := 0
	for _, f := range s.fields {
		if f.omitted {
			omitted++
		}
	}
	if all := len(s.fields); omitted > 0 && all > 15 && all-omitted <= 15 {
		return fmt.Errorf("%s has %d fields, of which %d are omitted when they are zero: omit fewer, so that 16 or more are left", s.name, all, omitted)
	}
	return nil
}

func (s *structType) directive(text string) error {
	s.since = -1
	for _, word := range strings.Fields(text) {
		k, v, _ := strings.Cut(word, "=")
		switch k {
		case "kind":
			n, err := strconv.Atoi(v)
			if err != nil || n < 1 || n > 65535 {
				return fmt.Errorf("%s: kind=%s: want 1 to 65535", s.name, v)
			}
			s.kind = n
		case "class":
			s.class = map[string]string{"control": "ClassControl", "dispatch": "ClassDispatch", "data": "ClassData", "telemetry": "ClassTelemetry"}[v]
		case "priority":
			s.priority = map[string]string{"critical": "Critical", "high": "High", "normal": "Normal", "low": "Low"}[v]
		case "full":
			s.full = map[string]string{"keep": "Keep", "latest": "Latest", "refuse": "Refuse", "drop": "Drop"}[v]
		case "from":
			s.from = strings.Split(v, ",")
		case "since":
			n, err := sinceOf(s.name, v)
			if err != nil {
				return err
			}
			s.since = n
		case "subject":
			s.subject = strings.Split(v, ",")
		case "stub":
			s.stub = strings.Split(v, ",")
		case "datagram":
			s.datagram = v == "yes"
		case "needs":
			if s.needs = rights[v]; s.needs == "" {
				return fmt.Errorf("%s: needs=%s is no right: want view, submit or operate", s.name, v)
			}
		default:
			return fmt.Errorf("%s: %s= is not known: want kind=, class=, priority=, full=, from=, since=, subject=, stub=, needs= or datagram=", s.name, k)
		}
	}
	return s.complete(text)
}

// complete rejects a directive that does not say what a mailbox does with the message, who may
// send it, and since which version.
func (s *structType) complete(text string) error {
	if s.kind == 0 || s.class == "" || s.priority == "" {
		return fmt.Errorf("%s: directive %q: want kind=, class= and priority=", s.name, text)
	}
	if s.full == "" || s.since < 0 {
		return fmt.Errorf("%s: directive %q: want full=keep, latest, refuse or drop, and since= a minor version", s.name, text)
	}
	for _, role := range s.from {
		if _, ok := roles[role]; !ok {
			return fmt.Errorf("%s: from=%s is no role: want some of client, gate, manager, worker, executor", s.name, role)
		}
	}
	switch {
	case len(s.from) == 0:
		return fmt.Errorf("%s: directive %q: want from= the roles that may send it", s.name, text)
	case (s.full == "Refuse") != (len(s.stub) > 0):
		return fmt.Errorf("%s: directive %q: full=refuse, and no other, wants stub= the fields that a refusal needs", s.name, text)
	case (len(s.from) == 1 && s.from[0] == "client") != (s.needs != ""):
		return fmt.Errorf("%s: directive %q: what clients alone send, and nothing else, wants needs= the right to ask for it: view, submit or operate", s.name, text)
	case s.full != "Latest" && len(s.subject) > 0:
		return fmt.Errorf("%s: directive %q: only full=latest has a subject=", s.name, text)
	}
	for _, name := range append(s.subject, s.stub...) {
		if !slices.ContainsFunc(s.fields, func(f field) bool { return f.name == name }) {
			return fmt.Errorf("%s: directive %q: %s has no field %s", s.name, text, s.name, name)
		}
	}
	return nil
}

// rights are those of clients.
var rights = map[string]string{"view": "RightView", "submit": "RightSubmit", "operate": "RightOperate"}

// roles are those of core/node that send messages.
var roles = map[string]string{
	"client": "RoleClient", "gate": "RoleGate", "manager": "RoleManager", "worker": "RoleWorker", "executor": "RoleExecutor",
}
