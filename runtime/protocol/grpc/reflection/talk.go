package reflection

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Bounds of what a server tells.
const (
	ServicesMost = 1000
	FilesMost    = 1000
	BytesMost    = 4 << 20 // of all files
	NameMost     = 1 << 10 // of a service or a file, in bytes
)

// Errors that callers tell apart.
var (
	ErrNone  = errors.New("the server has no reflection: its descriptors come from protoc or buf alone")
	ErrLarge = errors.New("reflection tells too much")
)

// Of says what a Talk asks for.
type Of struct {
	Files    bool     // the descriptors as well
	Services []string // of these; empty: of all that the server lists
}

// Talk is the questions to one server and its answers.
type Talk struct {
	Version  string   // v1 or v1alpha; empty: no question was answered
	Services []string // sorted, as the server lists them or the caller has named them

	of      Of
	listed  bool // nothing is left to list
	older   bool // v1 is not there
	ended   bool
	symbols []string // that are still to ask
	wanted  []string // files that others import
	asked   map[string]bool
	known   map[string][]byte // files by their names
	bytes   int
}

// New begins a talk.
func New(of Of) *Talk {
	t := &Talk{of: of, Services: []string{}, asked: map[string]bool{}, known: map[string][]byte{}}
	if len(of.Services) > 0 {
		t.listed, t.symbols = true, slices.Compact(slices.Sorted(slices.Values(of.Services)))
		t.Services = slices.Clone(t.symbols)
	}
	return t
}

// Fields of a ServerReflectionRequest, and of its answer.
const (
	byName, bySymbol, list   = 3, 4, 7
	files, services, refusal = 4, 6, 7
)

// Next returns the next question; false: there is none.
func (t *Talk) Next() (method string, question []byte, more bool) {
	field, of := protowire.Number(list), ""
	switch {
	case t.ended:
		return "", nil, false
	case !t.listed:
	case len(t.symbols) > 0:
		field, of = bySymbol, t.symbols[0]
	case len(t.wanted) > 0:
		field, of = byName, t.wanted[0]
	default:
		return "", nil, false
	}
	version := "v1"
	if t.older {
		version = "v1alpha"
	}
	return "grpc.reflection." + version + ".ServerReflection/ServerReflectionInfo", protowire.AppendString(protowire.AppendTag(nil, field, protowire.BytesType), of), true
}

// Take takes the answer to the last question; unimplemented: the server does not know its method.
func (t *Talk) Take(answer []byte, unimplemented bool) error {
	switch {
	case unimplemented && !t.older && t.Version == "":
		t.older = true
		return nil
	case unimplemented:
		t.ended = true
		if t.of.Files || t.Version != "" {
			return ErrNone
		}
		return nil
	case t.Version == "":
		if t.Version = "v1"; t.older {
			t.Version = "v1alpha"
		}
	}
	err := t.take(answer)
	t.ended = t.ended || err != nil
	return err
}

func (t *Talk) take(answer []byte) error {
	about := "services"
	switch {
	case !t.listed:
	case len(t.symbols) > 0:
		about = t.symbols[0]
	default:
		about = t.wanted[0]
	}
	for _, said := range fieldsOf(answer, refusal) {
		return fmt.Errorf("reflection has no answer about %s: %s", clip(about), told(said))
	}
	switch {
	case !t.listed:
		return t.lists(answer)
	case len(t.symbols) > 0:
		t.symbols = t.symbols[1:]
	default:
		t.wanted = t.wanted[1:]
	}
	got := fieldsOf(answer, files, 1)
	if len(got) == 0 {
		return fmt.Errorf("reflection answers with no file about %s", clip(about))
	}
	for _, b := range got {
		if err := t.add(b); err != nil {
			return err
		}
	}
	t.wanted = slices.DeleteFunc(t.wanted, func(name string) bool { return t.known[name] != nil })
	return nil
}

// lists reads the names of services.
func (t *Talk) lists(answer []byte) error {
	for _, of := range fieldsOf(answer, services, 1, 1) {
		if len(of) > NameMost {
			return fmt.Errorf("%w: the name of a service has %d bytes, at most %d are read", ErrLarge, len(of), NameMost)
		}
		if t.Services = append(t.Services, strings.ToValidUTF8(string(of), "\uFFFD")); len(t.Services) > ServicesMost {
			return fmt.Errorf("%w: it lists more than %d services", ErrLarge, ServicesMost)
		}
	}
	slices.Sort(t.Services)
	t.Services = slices.Compact(t.Services)
	t.listed = true
	if t.of.Files {
		t.symbols = slices.Clone(t.Services)
	}
	return nil
}

// told is a refusal's text.
func told(said []byte) string {
	if texts := fieldsOf(said, 2); len(texts) > 0 && len(texts[0]) > 0 {
		return clip(string(texts[0]))
	}
	return "it gives no reason"
}

// clip bounds a text of a server, which may hold anything.
func clip(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	if of := []rune(text); len(of) > 200 {
		return string(of[:200]) + "..."
	}
	return text
}
