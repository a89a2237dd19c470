package secret

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"hyperscale/core/message"
	"hyperscale/core/workflow/language"
)

// Vault has the secrets of a program. Until it is open, words stand for their values.
type Vault struct {
	files  []message.File
	prefix string           // of all words; empty: none is made
	leaves map[string]*leaf // by word
	names  []string         // declared, in order
	keys   []Opener
	values map[string]string // by name; nil: closed
}

// Opener is what can only be made once the values are known.
type Opener interface{ Open() error }

// NewVault returns the closed vault of a program.
func NewVault(files []message.File) *Vault {
	return &Vault{files: files, leaves: map[string]*leaf{}}
}

// wordLen is the length of a word: s, a digest of the program, a number, s.
const wordLen = 26

// word returns one that stands nowhere in the program: it has a digest of it. Letters and
// digits alone survive every escaping.
func (v *Vault) word(l *leaf) {
	if v.prefix == "" {
		digest := xxhash.New()
		for _, f := range v.files {
			_, _ = digest.Write(f.Data) // a hash accepts everything
		}
		v.prefix = fmt.Sprintf("s%016x", digest.Sum64())
	}
	l.word = fmt.Sprintf("%s%08xs", v.prefix, len(v.leaves))
	v.leaves[l.word] = l
}

// Declare returns the secret of a name.
func (v *Vault) Declare(name string) *Text {
	if !slices.Contains(v.names, name) {
		v.names = append(v.names, name)
	}
	l := &leaf{name: name}
	v.word(l)
	return &Text{vault: v, pieces: []piece{{leaf: l}}}
}

// Names lists the declared secrets.
func (v *Vault) Names() []string { return slices.Sorted(slices.Values(v.names)) }

// Await calls Open of an Opener once the vault is open.
func (v *Vault) Await(o Opener) { v.keys = append(v.keys, o) }

// Open gives the secrets their values, once.
func (v *Vault) Open(given []message.Secret) error {
	values := map[string]string{}
	for _, s := range given {
		values[s.Name] = string(s.Value)
	}
	for _, name := range v.names {
		if _, ok := values[name]; !ok {
			return fmt.Errorf("secret %q has no value: submit the job again", name)
		}
	}
	v.values = values
	for _, o := range v.keys {
		if err := o.Open(); err != nil {
			return err
		}
	}
	return nil
}

// Escape says how a value stands at its place.
type Escape uint8

// The places.
const (
	Plain  Escape = iota
	Path          // of a URL, also its user
	Query         // of a URL; a form
	JSON          // inside a text of JSON
	Field         // a header's value: it refuses line breaks
	Cookie        // it also refuses semicolons
	User          // of basic authentication: it refuses colons
)

// refuses lists what a value must not have at a place.
func (e Escape) refuses() string {
	switch e {
	case Field:
		return "\r\n\x00"
	case Cookie:
		return "\r\n\x00;"
	case User:
		return ":"
	}
	return ""
}

// Has reports whether a text has words in it.
func (v *Vault) Has(text string) bool {
	at, l := v.next(text)
	return at < len(text) && l != nil
}

// next finds the first word of a text.
func (v *Vault) next(text string) (int, *leaf) {
	for from := 0; v.prefix != ""; {
		k := strings.Index(text[from:], v.prefix)
		if k < 0 || from+k+wordLen > len(text) {
			break
		}
		if from += k; v.leaves[text[from:from+wordLen]] != nil {
			return from, v.leaves[text[from:from+wordLen]]
		}
		from++
	}
	return len(text), nil
}

// Fill replaces the words of a text with their values.
func (v *Vault) Fill(place, text string, e Escape) (string, error) {
	at, l := v.next(text)
	if l == nil {
		return text, nil
	}
	var out strings.Builder
	for ; l != nil; at, l = v.next(text) {
		value, err := l.value(v)
		if err != nil {
			return "", err
		}
		if i := strings.IndexAny(value, e.refuses()); i >= 0 {
			return "", fmt.Errorf("%s has %q in it, which %s cannot have", l.title(), value[i], place)
		}
		out.WriteString(text[:at])
		out.WriteString(escaped(value, e))
		text = text[at+wordLen:]
	}
	out.WriteString(text)
	return out.String(), nil
}

func escaped(value string, e Escape) string {
	switch e {
	case Path:
		return strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
	case Query:
		return url.QueryEscape(value)
	case JSON:
		quoted := language.AppendQuoted(nil, value)
		return string(quoted[1 : len(quoted)-1])
	}
	return value
}

// Show is a text for people, with the names of secrets in place of words.
func (v *Vault) Show(text string) string {
	for at, l := v.next(text); l != nil; at, l = v.next(text) {
		text = text[:at] + Hidden + text[at+wordLen:]
	}
	return text
}
