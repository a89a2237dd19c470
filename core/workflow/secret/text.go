package secret

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"hyperscale/core/workflow/language"
)

// Hidden is all that a secret shows.
const Hidden = "***"

// Bounds of a Text.
const (
	piecesMax  = 64
	literalMax = 1 << 20 // bytes that are no secret
	leafSize   = 64      // what a value is charged with
)

// Text is a text with secrets in it: a Starlark value.
type Text struct {
	vault  *Vault
	pieces []piece
}

// piece is a literal, or a leaf.
type piece struct {
	text string
	leaf *leaf
}

// leaf is a secret by its name, or what a derivation makes of one.
type leaf struct {
	word string // empty: the vault was open, and made is its value
	name string
	of   Derivation
	made string
}

// Derivation computes a value from secrets.
type Derivation interface{ Derive() (string, error) }

func (l *leaf) value(v *Vault) (string, error) {
	switch {
	case l.word == "":
		return l.made, nil
	case v.values == nil:
		return "", fault()
	case l.of != nil:
		return l.of.Derive()
	}
	return v.values[l.name], nil
}

func (l *leaf) title() string {
	if l.name == "" {
		return "what was made of a secret"
	}
	return fmt.Sprintf("secret %q", l.name)
}

// fault is the error of a use that needs the value while there is none.
func fault() *language.Fault {
	return language.Faultf("a secret has no value while a file is loaded").Do("use it in a request, or call this in a step's function")
}

// Refusal is the error of a use that would show the value, or what it depends on.
func Refusal(what string) *language.Fault {
	return language.Faultf("%s: a secret has no text that a file can read", what).Do("put it into a request as it is, \"text\" + secret, \"...%%s\" %% secret, or what base64.encode, hex.encode, hmac and jwt.sign make of it")
}

var (
	_ starlark.HasBinary  = (*Text)(nil)
	_ starlark.HasAttrs   = (*Text)(nil)
	_ starlark.Comparable = (*Text)(nil)
)

// String implements starlark.Value, as the methods below do.
func (t *Text) String() string        { return Hidden }
func (t *Text) Type() string          { return "secret" }
func (t *Text) Freeze()               {}
func (t *Text) Truth() starlark.Bool  { return true }
func (t *Text) Hash() (uint32, error) { return 0, Refusal("a key of a dict") }

// Format implements fmt.Formatter: no verb shows the value.
func (t *Text) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(Hidden)) } // it writes to a buffer

// AttrNames implements starlark.HasAttrs.
func (t *Text) AttrNames() []string { return nil }

// Attr implements starlark.HasAttrs.
func (t *Text) Attr(name string) (starlark.Value, error) { return nil, Refusal("." + name) }

// CompareSameType implements starlark.Comparable.
func (t *Text) CompareSameType(op syntax.Token, _ starlark.Value, _ int) (bool, error) {
	return false, Refusal(op.String())
}

// Binary implements starlark.HasBinary.
func (t *Text) Binary(op syntax.Token, other starlark.Value, side starlark.Side) (starlark.Value, error) {
	if op != syntax.PLUS {
		return nil, Refusal(op.String())
	}
	if side == starlark.Right {
		return Join(other, t)
	}
	return Join(t, other)
}

// Size is about how many bytes it takes.
func (t *Text) Size() int {
	n := 0
	for _, p := range t.pieces {
		if n += len(p.text); p.leaf != nil {
			n += leafSize
		}
	}
	return n
}

// Join puts texts together.
func Join(values ...starlark.Value) (*Text, error) {
	out := &Text{}
	for _, v := range values {
		switch v := v.(type) {
		case starlark.String:
			out.add(piece{text: string(v)})
		case *Text:
			out.vault = v.vault
			for _, p := range v.pieces {
				out.add(p)
			}
		default:
			return nil, language.Faultf("a secret is put together with texts, not with %s", language.Describe(v)).Do("write str(...) around it")
		}
	}
	if len(out.pieces) > piecesMax || out.Size() > literalMax {
		return nil, language.Faultf("a text with secrets in it has more than %d parts, or more than 1 MiB", piecesMax).Do("put less together")
	}
	return out, nil
}

func (t *Text) add(p piece) {
	if p.leaf == nil && p.text == "" {
		return
	}
	if last := len(t.pieces) - 1; p.leaf == nil && last >= 0 && t.pieces[last].leaf == nil {
		t.pieces[last].text += p.text
		return
	}
	t.pieces = append(t.pieces, p)
}

// Sent is the text as a request has it: with words in it while the vault is closed.
func (t *Text) Sent() (string, error) {
	return t.each(func(l *leaf, _ string) (string, error) {
		if t.vault.values == nil {
			return l.word, nil
		}
		return l.value(t.vault)
	})
}

// Value is the text. It is an error while the vault is closed.
func (t *Text) Value() (string, error) {
	return t.each(func(l *leaf, _ string) (string, error) { return l.value(t.vault) })
}

// URL is the text as a URL: a value is escaped by its place.
func (t *Text) URL() (string, error) {
	if t.vault.values == nil {
		return t.Sent()
	}
	return t.each(func(l *leaf, before string) (string, error) {
		value, err := l.value(t.vault)
		if strings.Contains(before, "?") {
			return escaped(value, Query), err
		}
		return escaped(value, Path), err
	})
}

// InHost reports whether a secret stands in the host of the URL that the text is.
func (t *Text) InHost() bool {
	const mark = "\x00"
	shape, _ := t.each(func(*leaf, string) (string, error) { return mark, nil })
	_, host, _ := strings.Cut(shape, "://")
	if end := strings.IndexAny(host, "/?#"); end >= 0 {
		host = host[:end]
	}
	return strings.Contains(host[strings.LastIndexByte(host, '@')+1:], mark) || strings.Contains(strings.SplitN(shape, "/", 2)[0], mark)
}

func (t *Text) each(of func(l *leaf, before string) (string, error)) (string, error) {
	out := ""
	for _, p := range t.pieces {
		if p.leaf == nil {
			out += p.text
			continue
		}
		s, err := of(p.leaf, out)
		if err != nil {
			return "", err
		}
		out += s
	}
	return out, nil
}
