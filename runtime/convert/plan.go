package convert

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// Bounds on the source and on the text.
const (
	SourceMax   = 64 << 20 // of a source
	yamlMax     = 8 << 20  // of one in YAML, whose reader takes many times that
	yamlMembers = 10_000
	StepsMax    = 300      // of the file: more are no test that a person reads
	bodyMax     = 32 << 10 // of a request's body
	textMax     = 256 << 10
	nestingMax  = 100
	ValuesMax   = 200_000 // candidates for extraction
	notesMax    = 200
	paramsMax   = 500
	Placeholder = "change-me"
	Anywhere    = "http://127.0.0.1:8080"
)

// Options are a person's choices.
type Options struct {
	File string                 // name of the file to be written: names the workflow
	From string                 // the source's name, for the first line
	All  bool                   // keep what is usually omitted
	Has  func(name string) bool // whether a file exists next to the one to write; nil: none does
}

// File is a workflow file, and what to tell of it.
type File struct {
	Text    string
	Steps   int
	Secrets []string // params whose values the user must set
	Notes   []string // losses and omissions
}

// Plan is what a reader makes of a source.
type Plan struct {
	Options Options
	Head    []string // comment at the top
	params  []param
	Steps   []*Step
	notes   []string
	secrets []string

	Mix     bool     // each iteration takes one of the steps
	Browser bool     // noise of browsers is dropped
	added   []string // names of its parts that deserve a note
	connecting
	common  []Pair // headers of all steps
	timeout string
	Slowest time.Duration // that was seen
}

// connecting is how the client connects.
type connecting struct {
	Compress bool
	Insecure bool

	Certificate, Key, Authorities string // files next to it
	Version                       string
	Proxy                         string
	Hosts                         []Pair
}

type param struct {
	name, value, help string
	real              string // the secret itself; never written
}

type Pair struct{ Name, Value string }

// Step is one request; its texts may have marks.
type Step struct {
	Name      string // wished
	Method    string
	Url       string
	Headers   []Pair
	Params    []Pair // in addition to those of url
	Cookies   []Pair
	Auth      *Auth
	Body      Body
	Comments  []string
	Extract   []Pair // name, extractor as it is written
	Status    int
	Redirects int
	Timeout   string
	Pause     time.Duration // before it
}

type Auth struct {
	Bearer   bool
	Digest   bool // a proof, where the server asks for one; else basic
	User     string
	Password string // or the token
}

type bodyKind int

const (
	BodyNone bodyKind = iota
	BodyText
	BodyJSON
	BodyForm
	BodyMultipart
	BodyFile
)

type Body struct {
	Kind  bodyKind
	Text  string // or the name of a file
	Bytes bool   // text is not UTF-8
	Json  any
	Form  []Pair
	Parts []Part
}

type Part struct {
	Name, Value string
	File        string // named by the source; its contents are unknown
	Kind        string // content type
	Filename    string
}

// Note records a loss.
func (p *Plan) Note(format string, args ...any) {
	text := OneLine(fmt.Sprintf(format, args...), 300)
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

// Warn records a loss and also puts it next to the step.
func (p *Plan) Warn(s *Step, format string, args ...any) {
	text := OneLine(fmt.Sprintf(format, args...), 300)
	if len(s.Comments) < 10 {
		s.Comments = append(s.Comments, text)
	}
	p.Note("%s: %s", s.Method+" "+Shown(s.Url), text)
}

// Param declares one, or finds one that is the same, and returns its mark.
func (p *Plan) Param(wish, value, help string) string {
	return p.declare(param{name: wish, value: strings.ReplaceAll(value, "${", "$"), help: help})
}

// Secret declares a param for a value that is not to be written down.
func (p *Plan) Secret(wish, real, help string) string {
	return p.declare(param{name: wish, value: Placeholder, help: help, real: real + "\x00"})
}

func (p *Plan) declare(q param) string {
	base := Identifier(q.name)
	name := base
	for n := 2; ; n++ {
		i := p.Find(name)
		if i < 0 {
			break
		}
		if have := p.params[i]; have.value == q.value && have.real == q.real {
			return paramMark(name)
		}
		name = fmt.Sprintf("%s_%d", base, n)
	}
	if len(p.params) >= paramsMax {
		p.Note("more than %d params: the others were left at what they are", paramsMax)
		return Clean(q.value)
	}
	q.name = name
	p.params = append(p.params, q)
	if q.real != "" {
		p.secrets = append(p.secrets, name)
	}
	return paramMark(name)
}

func (p *Plan) Find(name string) int {
	for i := range p.params {
		if p.params[i].name == name {
			return i
		}
	}
	return -1
}

func Has(headers []Pair, name string) bool {
	return slices.ContainsFunc(headers, func(h Pair) bool { return strings.EqualFold(h.Name, name) })
}

// Beside returns a file name that the language can read.
func (p *Plan) Beside(name string) (string, bool) {
	name = strings.ReplaceAll(Bare(name), "\\", "/")
	file := path.Clean(name)
	if path.IsAbs(file) || strings.HasPrefix(file, "..") || p.Options.Has == nil || strings.ContainsAny(file, "\x00:") || len(file) > 200 || !p.Options.Has(file) {
		return "", false
	}
	return file, true
}

// Resolved puts the params' values in the place of their marks.
func (p *Plan) Resolved(s string) string {
	if !Marked(s) {
		return s
	}
	var b strings.Builder
	for _, piece := range Pieces(s) {
		switch piece.Mark {
		case ParamOpen:
			if i := p.Find(piece.Text); i >= 0 {
				b.WriteString(p.params[i].value)
			}
		case valueOpen:
			b.WriteString("value")
		default:
			b.WriteString(piece.Text)
		}
	}
	return b.String()
}
