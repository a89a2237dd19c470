package request

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"hyperscale/core/message"
	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/secret"
)

// Placeholder is a word in a request's texts that a value replaces. It consists of letters and
// digits, so that every escaping leaves it unchanged; all have one length.
type Placeholder struct {
	Word string
	Name string
	Var  int // index into Workflow.Vars
}

// Escape says how to escape values in a body; elsewhere their place decides.
type Escape uint8

// The kinds of escaping. EscapeNone inserts a value unchanged.
const (
	EscapeNone Escape = iota
	EscapeJSON        // inside a string
	EscapeForm
)

// Bounds of values.
const (
	holesMax   = 1000 // of a request
	varNameMax = 64
	VarsMax    = 1000 // of a workflow
)

// Placeholders are those of a request whose workflow is not known yet. If it is nil, ${name}
// stays as it is: so it does in functions.
type Placeholders struct {
	words  *Words
	thread *starlark.Thread // that pays for the work
	List   []Blank
}

// Blank is a placeholder of a request: its word, the name of its value, and its argument.
type Blank struct{ Word, Name, Argument string }

// put replaces each ${name} of a text with a word, and $${ with ${.
func (b *Placeholders) put(fn, argument, text string) (string, error) {
	if b == nil || !strings.Contains(text, "${") {
		return text, nil
	}
	if err := guard.MeterOf(b.thread).Text(b.thread, argument, len(text)); err != nil {
		return "", err
	}
	var out strings.Builder
	for {
		at := strings.Index(text, "${")
		if at < 0 {
			out.WriteString(text)
			return out.String(), nil
		}
		if at > 0 && text[at-1] == '$' {
			out.WriteString(text[:at-1] + "${")
			text = text[at+2:]
			continue
		}
		out.WriteString(text[:at])
		name, rest, ok := strings.Cut(text[at+2:], "}")
		if !ok || name == "" || len(name) > varNameMax || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || strings.ContainsRune("\"\\$'{", r) }) {
			f := language.Faultf("%s: %s has ${ without a name and } behind it", fn, argument).In(argument)
			return "", f.Do("write ${name} for a value, or $${ for ${ itself")
		}
		if len(b.List) == holesMax {
			return "", language.Faultf("%s has more than %d values to fill in", fn, holesMax).In(argument)
		}
		out.WriteString(b.word(name, argument))
		text = rest
	}
}

// word creates a word for a value.
func (b *Placeholders) word(name, argument string) string {
	w := b.words.next()
	b.List = append(b.List, Blank{w, name, argument})
	return w
}

// Words creates words that occur nowhere in a program: they contain a digest of it.
type Words struct {
	Files  []message.File
	Vault  *secret.Vault
	digest uint64 // computed on first use
	made   int
}

// wordsOf returns nil while a function runs: its requests have no placeholders.
func wordsOf(thread *starlark.Thread) *Words {
	if l, ok := guard.MeterOf(thread).Owner.(interface{ PlaceholderWords() *Words }); ok {
		return l.PlaceholderWords()
	}
	return nil
}

func (w *Words) next() string {
	if w.digest == 0 {
		digest := xxhash.New()
		for _, f := range w.Files {
			_, _ = digest.Write(f.Data) // a hash accepts everything
		}
		w.digest = digest.Sum64() | 1
	}
	w.made++
	return fmt.Sprintf("v%016x%08xv", w.digest, w.made)
}

// putAll replaces those of values, and of names if they may have some.
func (b *Placeholders) putAll(fn, argument string, all []builtin.Pair, names bool) (err error) {
	for i := range all {
		if names {
			if all[i].Name, err = b.put(fn, argument, all[i].Name); err != nil {
				return err
			}
		}
		if all[i].Value, err = b.put(fn, argument, all[i].Value); err != nil {
			return err
		}
	}
	return nil
}

func (b *Placeholders) count() int {
	if b == nil {
		return 0
	}
	return len(b.List)
}

// Explain replaces words with names in an error about a request.
func (b *Placeholders) Explain(err error) error {
	if f, ok := err.(*language.Fault); ok && b != nil {
		f.Message, f.Remedy = b.words.Vault.Show(f.Message), b.words.Vault.Show(f.Remedy)
		for _, placeholder := range b.List {
			f.Message = strings.ReplaceAll(f.Message, placeholder.Word, "${"+placeholder.Name+"}")
			f.Remedy = strings.ReplaceAll(f.Remedy, placeholder.Word, "${"+placeholder.Name+"}")
		}
	}
	return err
}

func (b *Placeholders) auth(fn string, own Auth) (*Auth, error) {
	for _, to := range []*string{&own.User, &own.Password, &own.Token} {
		var err error
		if *to, err = b.put(fn, "auth", *to); err != nil {
			return nil, err
		}
	}
	return &own, nil
}

// none rejects placeholders in texts without values.
func (b *Placeholders) none(fn, argument, what, text string) error {
	if b == nil || !strings.Contains(text, "${") {
		return nil
	}
	return language.Faultf("%s: %s cannot be filled", fn, what).In(argument).Do("write it out: ${name} goes into path, query, values of headers, and the body")
}

// CheckAuthority rejects a host that is not known before the clock starts.
func (b *Placeholders) CheckAuthority(fn, target string) error {
	_, rest, _ := strings.Cut(target, "://")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	for _, placeholder := range b.List {
		if strings.Contains(rest, placeholder.Word) {
			f := language.Faultf("%s: ${%s} stands in the host of the URL, which is looked up before the run", fn, placeholder.Name).In("url")
			return f.Find("${" + placeholder.Name + "}").Do("write the host out, or take it from a param")
		}
	}
	return nil
}

// Asked is where a request was described, and the values that it lacks.
type Asked struct {
	RequestSite syntax.Position
	Blanks      []Blank
}

// Draft makes a request of arguments that another package reads.
type Draft struct {
	thread *starlark.Thread
	fn     string
	b      *Placeholders
	size   int // bytes of its texts
}

// NewDraft begins the request of a function.
func NewDraft(thread *starlark.Thread, fn string) *Draft {
	d := &Draft{thread: thread, fn: fn}
	if w := wordsOf(thread); w != nil {
		d.b = &Placeholders{words: w, thread: thread}
	}
	return d
}

// Text reads a text or a secret, in which values may stand.
func (d *Draft) Text(argument string, v starlark.Value) (string, error) {
	text, ok, err := sentText(v)
	switch {
	case err != nil:
		return "", err
	case !ok:
		return "", language.WrongType(d.fn, argument, "a text", v)
	}
	d.size += len(text)
	return d.b.put(d.fn, argument, text)
}

// Grow counts bytes of a request beside those of its texts, in which no values stand.
func (d *Draft) Grow(n int) { d.size += n }

// Fields reads headers, in whose values values may stand.
func (d *Draft) Fields(argument string, v starlark.Value) (all []builtin.Pair, err error) {
	if all, err = builtin.SentPairs(d.fn, argument, v); err != nil {
		return nil, err
	}
	for _, h := range all {
		if err := d.b.none(d.fn, argument, "a header's name", h.Name); err != nil {
			return nil, err
		}
		if err := checkHeader(d.fn, h); err != nil {
			return nil, err
		}
		d.size += len(h.Name) + len(h.Value) + 64
	}
	return all, d.b.putAll(d.fn, argument, all, false)
}

// JSON encodes a dict as the body, in whose texts values may stand.
func (d *Draft) JSON(r *Request, argument string, v starlark.Value) error {
	return r.json(d.thread, d.fn, argument, d.b, v)
}

// Fixed rejects placeholders in a text that is made before the run.
func (d *Draft) Fixed(argument, what, text, remedy string) error {
	if d.b == nil || !strings.Contains(text, "${") {
		return nil
	}
	return language.Faultf("%s: %s cannot be filled", d.fn, what).In(argument).Do("%s", remedy)
}

// Cut returns a text with x in place of each word that stands for a value.
func (d *Draft) Cut(text string) string {
	if d.b != nil {
		for _, one := range d.b.List {
			text = strings.ReplaceAll(text, one.Word, "x")
		}
	}
	return text
}

// Words returns the words that stand for values in the request's texts.
func (d *Draft) Words() (all []string) {
	if d.b != nil {
		for _, one := range d.b.List {
			all = append(all, one.Word)
		}
	}
	return all
}

// Explain names values in an error about the request.
func (d *Draft) Explain(err error) error { return d.b.Explain(err) }

// End makes the request. Given are timeout, retry and those of the request's user.
func (d *Draft) End(r *Request, given []starlark.Value, use Use) (starlark.Value, error) {
	var fields [argCount]starlark.Value
	fields[argTimeout], fields[argRetry] = given[0], given[1]
	if err := r.fields(d.fn, d.b, &fields); err != nil {
		return nil, err
	}
	if err := guard.MeterOf(d.thread).Charge(d.thread, d.size+128*d.b.count()); err != nil {
		return nil, err
	}
	own := given[2:]
	if !slices.ContainsFunc(own, func(v starlark.Value) bool { return v != nil }) {
		own = nil
	}
	return use(d.thread, r, d.b, own)
}

// SentText returns a text or a secret as a request has it; false: it is neither.
func SentText(v starlark.Value) (string, bool, error) { return sentText(v) }
