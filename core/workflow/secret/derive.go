package secret

import (
	"strconv"
	"strings"

	"go.starlark.net/starlark"
)

// Input is a text or bytes, or a Text.
type Input struct {
	plain string
	text  *Text
}

// InputOf reads an argument; false: it is none of these.
func InputOf(v starlark.Value) (Input, bool) {
	switch v := v.(type) {
	case starlark.String:
		return Input{plain: string(v)}, true
	case starlark.Bytes:
		return Input{plain: string(v)}, true
	case *Text:
		return Input{text: v}, true
	}
	return Input{}, false
}

// Value is the input's value. It is an error while it is a secret's and the vault is closed.
func (i Input) Value() (string, error) {
	if i.text != nil {
		return i.text.Value()
	}
	return i.plain, nil
}

// Size is about how many bytes it has.
func (i Input) Size() int {
	if i.text != nil {
		return i.text.Size()
	}
	return len(i.plain)
}

// Secret is the secret that the inputs have in them, if any has.
func Secret(all ...Input) *Text {
	for _, i := range all {
		if i.text != nil {
			return i.text
		}
	}
	return nil
}

// Derive returns what d makes of t, and perhaps of other secrets of its program: at once, if
// the vault is open.
func (t *Text) Derive(d Derivation) (*Text, error) {
	l := &leaf{of: d}
	if t.vault.values == nil {
		t.vault.word(l)
	} else {
		made, err := d.Derive()
		if err != nil {
			return nil, err
		}
		l.of, l.made = nil, made
	}
	return &Text{vault: t.vault, pieces: []piece{{leaf: l}}}, nil
}

// Await calls Open of an Opener once the values are known.
func (t *Text) Await(o Opener) error {
	if t.vault.values != nil {
		return o.Open()
	}
	t.vault.Await(o)
	return nil
}

// Formatting runs Starlark's own formatting with marks in place of secrets.
type Formatting struct{ texts []*Text }

// mark stands in place of a secret.
func mark(i int) string { return "\x00" + strconv.Itoa(i) + "\x00" }

// Hide returns a mark for a secret, and any other value as it is.
func (f *Formatting) Hide(v starlark.Value) starlark.Value {
	t, ok := v.(*Text)
	if !ok {
		return v
	}
	f.texts = append(f.texts, t)
	return starlark.String(mark(len(f.texts) - 1))
}

// Fill puts the secrets where their marks stand. what names the operation.
func (f *Formatting) Fill(what, formatted string) (*Text, error) {
	var parts []starlark.Value
	for {
		before, rest, ok := strings.Cut(formatted, "\x00")
		if strings.Contains(before, `\x00`) { // %r has quoted a mark
			return nil, Refusal(what)
		}
		parts = append(parts, starlark.String(before))
		if !ok {
			break
		}
		number, after, ok := strings.Cut(rest, "\x00")
		i, err := strconv.Atoi(number)
		if !ok || err != nil || i < 0 || i >= len(f.texts) {
			return nil, Refusal(what + " with a NUL")
		}
		parts, formatted = append(parts, f.texts[i]), after
	}
	if len(parts) == 1 { // the format has no place for the secret
		parts = append(parts, &Text{vault: f.texts[0].vault})
	}
	return Join(parts...)
}
