package convert

import (
	"fmt"
	"strings"
	"time"
)

// Bounds of what is read and written.
const (
	SourceMax   = 64 << 20 // of a source
	yamlMax     = 8 << 20  // of one in YAML, whose reader takes many times that
	yamlMembers = 10_000
	stepsMax    = 300      // of the file: more are no test that a person reads
	bodyMax     = 32 << 10 // of a request's body
	textMax     = 256 << 10
	nestingMax  = 100
	valuesMax   = 200_000 // candidates for extraction
	notesMax    = 200
	paramsMax   = 500
	placeholder = "change-me"
	anywhere    = "http://127.0.0.1:8080"
)

// Options are what a person chose.
type Options struct {
	File string                 // name of the file to be written: names the workflow
	From string                 // what is converted, for the first line
	All  bool                   // keep what is left out otherwise
	Has  func(name string) bool // whether a file lies beside the one to be written; nil: none does
}

// File is a workflow file, and what to tell of it.
type File struct {
	Text    string
	Steps   int
	Secrets []string // params whose values are to be set
	Notes   []string // what could not be kept, and what was left out
}

// plan is what a reader makes.
type plan struct {
	options Options
	head    []string // comment at the top
	params  []param
	steps   []*step
	notes   []string
	secrets []string

	mix      bool     // each iteration takes one of the steps
	browser  bool     // noise of browsers is dropped
	added    []string // names of what of it is worth a word
	compress bool
	insecure bool

	certificate, key, authorities string // files beside
	version                       string
	proxy                         string
	hosts                         []pair
	common                        []pair // headers of all steps
	timeout                       string
	slowest                       time.Duration // that was seen
}

type param struct {
	name, value, help string
	real              string // what a secret was; never written
}

type pair struct{ name, value string }

// step is one request; its texts may have marks.
type step struct {
	name      string // wished
	method    string
	url       string
	headers   []pair
	params    []pair // beside those of url
	cookies   []pair
	auth      *auth
	body      body
	comments  []string
	extract   []pair // name, extractor as it is written
	status    int
	redirects int
	timeout   string
	pause     time.Duration // before it
}

type auth struct {
	bearer   bool
	user     string
	password string // or the token
}

type bodyKind int

const (
	bodyNone bodyKind = iota
	bodyText
	bodyJSON
	bodyForm
	bodyMultipart
	bodyFile
)

type body struct {
	kind  bodyKind
	text  string // or the name of a file
	bytes bool   // text is not UTF-8
	json  any
	form  []pair
	parts []part
}

type part struct {
	name, value string
	file        string // named by the source; its contents are unknown
	kind        string // content type
	filename    string
}

// note tells what could not be kept.
func (p *plan) note(format string, args ...any) {
	text := oneLine(fmt.Sprintf(format, args...), 300)
	for _, n := range p.notes {
		if n == text {
			return
		}
	}
	if len(p.notes) == notesMax {
		text = "more notes were left out"
	}
	if len(p.notes) <= notesMax {
		p.notes = append(p.notes, text)
	}
}

// warn tells it beside the step too.
func (p *plan) warn(s *step, format string, args ...any) {
	text := oneLine(fmt.Sprintf(format, args...), 300)
	if len(s.comments) < 10 {
		s.comments = append(s.comments, text)
	}
	p.note("%s: %s", s.method+" "+shown(s.url), text)
}

// param declares one, or finds one that is the same, and returns its mark.
func (p *plan) param(wish, value, help string) string {
	return p.declare(param{name: wish, value: strings.ReplaceAll(value, "${", "$"), help: help})
}

// secret declares a param for a value that is not to be written down.
func (p *plan) secret(wish, real, help string) string {
	return p.declare(param{name: wish, value: placeholder, help: help, real: real + "\x00"})
}

func (p *plan) declare(q param) string {
	base := identifier(q.name)
	name := base
	for n := 2; ; n++ {
		i := p.find(name)
		if i < 0 {
			break
		}
		if have := p.params[i]; have.value == q.value && have.real == q.real {
			return paramMark(name)
		}
		name = fmt.Sprintf("%s_%d", base, n)
	}
	if len(p.params) >= paramsMax {
		p.note("more than %d params: the others were left at what they are", paramsMax)
		return clean(q.value)
	}
	q.name = name
	p.params = append(p.params, q)
	if q.real != "" {
		p.secrets = append(p.secrets, name)
	}
	return paramMark(name)
}

func (p *plan) find(name string) int {
	for i := range p.params {
		if p.params[i].name == name {
			return i
		}
	}
	return -1
}
