package builtin

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"

	"hyperscale/core/node"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
)

// What vu.random makes up is drawn from these lists. Domains are those that RFC 2606 reserves, so
// that no person has a made-up address.
const (
	givenNames = "Ada Alan Amir Amy Ana Anna Ben Bob Carl Chen Clara Dan Dora Eli Elena Emil Emma Erik Eva Fatima Finn Frank Gina Hana Hugo Ida " +
		"Igor Ines Ivan Jack Jana Jin John Jose Julia Kai Karen Kofi Lars Lea Leo Lin Lucy Luis Maja Maria Mark Mei Mia Nadia Nina Noah Olga " +
		"Omar Otto Paul Petra Rosa Sam Sara Tom Uma Vera Yuki"
	familyNames = "Adams Ahmed Baker Bauer Becker Bell Berg Black Brown Chen Clark Cohen Cook Costa Cruz Diaz Evans Fischer Ford Garcia Gray " +
		"Green Hall Hansen Hill Ito Jensen Jones Khan Kim King Klein Kovacs Kumar Lee Lopez Meyer Miller Moore Mori Nagy Nilsson Novak " +
		"Okafor Olsen Park Patel Perez Popov Reed Rossi Ruiz Sato Silva Singh Smith Stone Suzuki Tanaka Wagner Walker Wang Weber Young"
	plainWords = "able acre air amber apple arch arrow ash atlas autumn badge bamboo bank basil bay bell berry birch blue boat bold book bridge " +
		"bright brook cabin calm canal candle card cedar chalk cherry circle city clay clear cliff cloud clover coast copper coral cotton cove " +
		"creek crisp crystal daisy dawn deep delta desk dew dome door dune dust early earth east echo edge elm ember even fair falcon farm " +
		"fern field fig fine fire flag flint flower fog forest fort fox fresh frost garden gate gentle glade glass gold grain grand grape " +
		"grass green grove harbor hazel heron hill honey ice iris iron island ivory jade jar jewel june juniper keen kind lake lamp lane " +
		"larch lark late leaf lemon light lilac lily linen lion little loft lotus maple marble march"
	mailDomains = "example.com example.net example.org mail.test"
)

// lists are what vu.random draws from.
type lists struct{ given, family, words, domains []string }

func newLists() lists {
	return lists{strings.Fields(givenNames), strings.Fields(familyNames), strings.Fields(plainWords), strings.Fields(mailDomains)}
}

func pick(r *node.Rand, of []string) string { return of[r.Int(len(of))] }

func (l lists) name(r *node.Rand) string { return pick(r, l.given) + " " + pick(r, l.family) }

func (l lists) word(r *node.Rand) string { return pick(r, l.words) }

func (l lists) email(r *node.Rand) string {
	return strings.ToLower(pick(r, l.given)+"."+pick(r, l.family)) + fmt.Sprint(r.N(10_000)) + "@" + pick(r, l.domains)
}

// invented is vu.random.name and the like: it takes no arguments and draws a text.
func invented(name string, draw func(*node.Rand) string) *guard.Func {
	return &guard.Func{Word: name, Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := language.Bind("vu.random."+name, nil, 0, args, kwargs, nil); err != nil {
			return nil, err
		}
		return starlark.String(draw(guard.CallerOf(thread).Rand())), nil
	}}
}

// Bounds of a text that vu.random makes.
const (
	wordsMax  = 1000
	stringMax = 10_000
)

// manyWords draws words with a space between them.
func (l lists) manyWords(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [1]starlark.Value
	if err := language.Bind("vu.random.words", []string{"count"}, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	n, err := language.Integer("vu.random.words", "count", in[0], 1, wordsMax)
	if err != nil {
		return nil, err
	}
	all := make([]string, n)
	for i := range all {
		all[i] = l.word(guard.CallerOf(thread).Rand())
	}
	return made(thread, "vu.random.words", strings.Join(all, " "))
}

// made is a text that vu.random made.
func made(thread *starlark.Thread, what, text string) (starlark.Value, error) {
	if err := guard.MeterOf(thread).Text(thread, what, len(text)); err != nil {
		return nil, err
	}
	return starlark.String(text), nil
}

// randomString draws characters of an alphabet.
func randomString(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [2]starlark.Value
	if err := language.Bind("vu.random.string", []string{"length", "of"}, 2, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	n, err := language.Integer("vu.random.string", "length", in[0], 1, stringMax)
	if err != nil {
		return nil, err
	}
	of := "abcdefghijklmnopqrstuvwxyz0123456789"
	if in[1] != nil {
		text, ok := starlark.AsString(in[1])
		if !ok || text == "" || len(text) > stringMax {
			return nil, language.Faultf("vu.random.string: of must be a text of characters, not %s", language.Describe(in[1])).Do("write of = \"0123456789abcdef\"")
		}
		of = text
	}
	from, r := []rune(of), guard.CallerOf(thread).Rand()
	out := make([]rune, n)
	for i := range out {
		out[i] = from[r.Int(len(from))]
	}
	return made(thread, "vu.random.string", string(out))
}

// randomFloat draws from [low, high).
func randomFloat(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [2]starlark.Value
	if err := language.Bind("vu.random.float", []string{"low", "high"}, 2, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	low, ok := starlark.AsFloat(in[0])
	high, fine := starlark.AsFloat(in[1])
	if !ok || !fine || !(low <= high) || high-low > 1e300 {
		return nil, language.Faultf("vu.random.float takes two numbers, low and high, and low is not above high")
	}
	const steps = 1 << 53
	return starlark.Float(low + (high-low)*(float64(guard.CallerOf(thread).Rand().N(steps))/steps)), nil
}

// randomWeighted draws a key of a dict, as often as its value says.
func randomWeighted(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [1]starlark.Value
	if err := language.Bind("vu.random.weighted", []string{"weights"}, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	d, ok := in[0].(*starlark.Dict)
	if !ok || d.Len() == 0 {
		return nil, language.Faultf("vu.random.weighted takes a dict of weights, not %s", language.Describe(in[0])).Do("write {\"tea\": 3, \"cake\": 1}")
	}
	if err := guard.MeterOf(thread).Copied(thread, d); err != nil {
		return nil, err
	}
	items, sum := d.Items(), uint64(0)
	for _, kv := range items {
		w, err := language.Integer("vu.random.weighted", "a weight", kv[1], 0, 1_000_000)
		if err != nil {
			return nil, err
		}
		sum += uint64(w)
	}
	if sum == 0 {
		return nil, language.Faultf("vu.random.weighted: all weights are 0").Do("give one of them more")
	}
	left := guard.CallerOf(thread).Rand().N(sum)
	for _, kv := range items {
		w, _ := kv[1].(starlark.Int).Uint64() // Integer has read it
		if left < w {
			return kv[0], nil
		}
		left -= w
	}
	return starlark.None, nil
}
