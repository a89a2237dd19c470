package workflow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"hyperscale/core/message"
)

// Hole is a word that stands in a request's texts where a value goes. It is made of
// letters and digits, so that every escaping leaves it as it is; all have one length.
type Hole struct {
	Word string
	Name string
	Var  int // index into Workflow.Vars
}

// Escape says how values go into a body; elsewhere their place says it.
type Escape uint8

// The ways. EscapeNone takes a value as it is.
const (
	EscapeNone Escape = iota
	EscapeJSON        // inside of a string
	EscapeForm
)

// Bounds of values.
const (
	holesMax   = 1000 // of a request
	varNameMax = 64
	varsMax    = 1000 // of a workflow
)

// blanks are the holes of a request whose workflow is not known yet. Without blanks, nil,
// ${name} stays as it is: so it does in functions.
type blanks struct {
	loader *loader
	thread *starlark.Thread // that pays for what is made
	list   []blank
}

type blank struct{ word, name, argument string }

// put replaces each ${name} of a text by a word, and $${ by ${.
func (b *blanks) put(fn, argument, text string) (string, error) {
	if b == nil || !strings.Contains(text, "${") {
		return text, nil
	}
	if err := meterOf(b.thread).text(b.thread, argument, len(text)); err != nil {
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
			f := faultf("%s: %s has ${ without a name and } behind it", fn, argument).in(argument)
			return "", f.do("write ${name} for a value, or $${ for ${ itself")
		}
		if len(b.list) == holesMax {
			return "", faultf("%s has more than %d values to fill in", fn, holesMax).in(argument)
		}
		out.WriteString(b.word(name, argument))
		text = rest
	}
}

// word makes a word that stands nowhere in the program: it has a digest of it.
func (b *blanks) word(name, argument string) string {
	l := b.loader
	if l.word == 0 {
		digest := xxhash.New()
		for _, f := range l.program.Files {
			_, _ = digest.Write(f.Data) // a hash takes everything
		}
		l.word = digest.Sum64() | 1
	}
	l.words++
	w := fmt.Sprintf("v%016x%08xv", l.word, l.words)
	b.list = append(b.list, blank{w, name, argument})
	return w
}

// putAll replaces those of values, and of names if they may have some.
func (b *blanks) putAll(fn, argument string, all []Pair, names bool) (err error) {
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

func (b *blanks) count() int {
	if b == nil {
		return 0
	}
	return len(b.list)
}

// explain puts names in the place of words into what is wrong with a request.
func (b *blanks) explain(err error) error {
	if f, ok := err.(*fault); ok && b != nil {
		for _, hole := range b.list {
			f.message = strings.ReplaceAll(f.message, hole.word, "${"+hole.name+"}")
			f.remedy = strings.ReplaceAll(f.remedy, hole.word, "${"+hole.name+"}")
		}
	}
	return err
}

func (b *blanks) auth(fn string, own Auth) (*Auth, error) {
	for _, to := range []*string{&own.User, &own.Password, &own.Token} {
		var err error
		if *to, err = b.put(fn, "auth", *to); err != nil {
			return nil, err
		}
	}
	return &own, nil
}

// none refuses texts that are never filled.
func (b *blanks) none(fn, argument, what, text string) error {
	if b == nil || !strings.Contains(text, "${") {
		return nil
	}
	return faultf("%s: %s cannot be filled", fn, what).in(argument).do("write it out: ${name} goes into path, query, values of headers, and the body")
}

// checkAuthority refuses a host that is not known before the clock starts.
func (b *blanks) checkAuthority(fn, target string) error {
	_, rest, _ := strings.Cut(target, "://")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	for _, hole := range b.list {
		if strings.Contains(rest, hole.word) {
			f := faultf("%s: ${%s} stands in the host of the URL, which is looked up before the run", fn, hole.name).in("url")
			return f.find("${" + hole.name + "}").do("write the host out, or take it from a param")
		}
	}
	return nil
}

// fill resolves the holes of a step's request, among the values of its feed and of those
// that the steps before it extract.
func (d *declaration) fill(w *Workflow, at int, s *stepValue) error {
	if s.request == nil || len(s.blanks) == 0 {
		return nil
	}
	step := &w.Steps[at]
	own := *step.Request // with the client's headers
	step.Request = &own
	before := ancestors(d.plan.Steps, at)
	var known []string
	for i, name := range w.Vars {
		if i < w.Columns || slices.ContainsFunc(before, func(k int) bool { return w.Steps[k].extracts(i) }) {
			known = append(known, name)
		}
	}
	for _, hole := range s.blanks {
		if !slices.Contains(known, hole.name) {
			return d.unfilled(hole, at, known).find("${" + hole.name + "}").in(hole.argument).of(s.requestSite)
		}
		i := slices.Index(w.Vars, hole.name)
		own.Holes = append(own.Holes, Hole{hole.word, hole.name, i})
		if !slices.Contains(step.Needs, i) {
			step.Needs = append(step.Needs, i)
		}
	}
	slices.Sort(step.Needs)
	return nil
}

// unfilled says why a hole has no value.
func (d *declaration) unfilled(hole blank, at int, known []string) *fault {
	name := d.plan.Steps[at].Name
	for _, s := range d.steps {
		if !slices.ContainsFunc(s.extract, func(e named) bool { return e.name == hole.name }) {
			continue
		}
		if s.name == name {
			f := faultf("workflow %q: step %q fills in ${%s}, which it extracts itself, from the answer", d.plan.Name, name, hole.name)
			return f.do("extract it in a step before")
		}
		f := faultf("workflow %q: step %q fills in ${%s}, and does not come after step %q, which extracts it", d.plan.Name, name, hole.name, s.name)
		return f.do("write after = [%q]", s.name)
	}
	f := faultf("workflow %q: step %q fills in ${%s}, which is extracted by no step before it", d.plan.Name, name, hole.name)
	if len(d.columns) > 0 {
		f.message += " and no column of its feed"
	}
	if len(known) == 0 {
		return f.do("a step before it needs extract = {%q: json_path(\"$.%s\")}; for ${ itself write $${", hole.name, hole.name)
	}
	return f.meant(hole.name, known)
}

// declareVars lists the values of a workflow: the columns of its feed, then what its steps
// extract, in the plan's order.
func (d *declaration) declareVars(w *Workflow, order []int) error {
	w.Vars, w.Columns = slices.Clone(d.columns), len(d.columns)
	for at, from := range order {
		s := d.steps[from]
		for _, e := range s.extract {
			i := slices.Index(w.Vars, e.name)
			if i >= 0 && i < w.Columns {
				f := faultf("workflow %q: step %q extracts %q, which is a column of its feed", d.plan.Name, s.name, e.name)
				return f.in("extract").of(s.site).do("give it another name")
			}
			if i < 0 {
				i, w.Vars = len(w.Vars), append(w.Vars, e.name)
			}
			e.extract.Var = i
			w.Steps[at].Extract = append(w.Steps[at].Extract, e.extract)
		}
		w.Steps[at].Expect = s.expect
	}
	if len(w.Vars) > varsMax {
		return faultf("workflow %q has %d values, the limit is %d", d.plan.Name, len(w.Vars), varsMax).of(d.site)
	}
	return nil
}

func (s *Step) extracts(i int) bool {
	return slices.ContainsFunc(s.Extract, func(e Extract) bool { return e.Var == i })
}

// asked is where a request was described, and what it lacks.
type asked struct {
	requestSite syntax.Position
	blanks      []blank
}

// requestOnly refuses what only request steps can have.
func (s *stepValue) requestOnly() error {
	for _, one := range []struct {
		argument string
		given    bool
	}{{"extract", len(s.extract) > 0}, {"expect", len(s.expect) > 0}} {
		if one.given && s.kind != message.StepRequest {
			f := faultf("step %q is a function, and %s is for requests", s.name, one.argument).in(one.argument)
			if one.argument == "extract" {
				return f.do("keep it in the function: vu.vars[\"name\"] = response.json()[\"name\"]")
			}
			return f.do("look at the response in the function: fail(\"why\") fails the step")
		}
	}
	return nil
}
