package language

import (
	"errors"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/inspect"
	"hyperscale/core/workflow/language"
	"hyperscale/runtime/edit/format"
)

// documentsMax bounds the open documents: the server ignores further ones.
const documentsMax = 1000

// document is a file that is open in the editor.
type document struct {
	text   string
	stale  bool   // not checked since it has changed
	at     string // the file in which the last check found the mistake
	wrong  []diagnostic
	values []string // that fill requests, when it loaded last
}

type documentParams struct {
	Document struct {
		URI  string `json:"uri"`
		Text string `json:"text"`
	} `json:"textDocument"`
	Changes []struct {
		Text string `json:"text"`
	} `json:"contentChanges"`
	Position position `json:"position"`
}

type position struct {
	Line      int `json:"line"`
	Character int `json:"character"` // in UTF-16 units
}

type textRange struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type diagnostic struct {
	Range    textRange `json:"range"`
	Severity int       `json:"severity"`
	Source   string    `json:"source"`
	Message  string    `json:"message"`
}

// Severities of diagnostics.
const (
	severityError       = 1
	severityWarning     = 2
	severityInformation = 3
)

func (s *Server) opened(p *documentParams) (any, error) {
	if len(s.documents) < documentsMax {
		s.documents[p.Document.URI] = &document{text: p.Document.Text}
		s.soil()
	}
	return nil, nil
}

func (s *Server) changed(p *documentParams) (any, error) {
	if d := s.documents[p.Document.URI]; d != nil && len(p.Changes) > 0 {
		d.text = p.Changes[len(p.Changes)-1].Text
		s.soil()
	}
	return nil, nil
}

// soil makes all open files to be checked again: one may load another.
func (s *Server) soil() {
	for _, d := range s.documents {
		d.stale = true
	}
}

func (s *Server) closed(p *documentParams) (any, error) {
	if s.documents[p.Document.URI] == nil {
		return nil, nil
	}
	delete(s.documents, p.Document.URI)
	s.removed, s.told[p.Document.URI] = true, true // nothing is wrong with it now
	s.soil()
	return nil, nil
}

func (s *Server) format(p *documentParams) (any, error) {
	d := s.documents[p.Document.URI]
	if d == nil {
		return nil, nil
	}
	out, err := format.File(filepath.Base(pathOf(p.Document.URI)), []byte(d.text))
	if err != nil || string(out) == d.text {
		return nil, nil // the diagnostics show the mistake
	}
	lines := strings.Split(d.text, "\n")
	whole := textRange{End: position{Line: len(lines) - 1, Character: units(lines[len(lines)-1])}}
	return []map[string]any{{"range": whole, "newText": string(out)}}, nil
}

// check loads all changed files, and publishes the mistakes, and an empty list where a mistake
// is gone. Several files may find the same mistake in one that they load.
func (s *Server) check() error {
	changed := s.removed
	s.removed = false
	open := slices.Sorted(maps.Keys(s.documents))
	for _, uri := range open {
		d := s.documents[uri]
		if !d.stale {
			continue
		}
		d.stale, changed = false, true
		program, findings, err := s.Load(pathOf(uri), s.read)
		if err == nil {
			d.values = nil
			for _, w := range program.Plan().Workflows {
				d.values = append(d.values, program.Workflow(w.Name).Vars...)
			}
			slices.Sort(d.values)
			d.values = slices.Compact(d.values)
		}
		d.at, d.wrong = s.diagnose(uri, err)
		if err == nil || d.at == uri {
			d.wrong = append(d.wrong, diagnoses(uri, findings, err)...)
		}
	}
	if !changed {
		return nil
	}
	found := map[string][]diagnostic{}
	for _, uri := range open {
		found[uri] = []diagnostic{}
	}
	for uri := range s.told {
		found[uri] = []diagnostic{}
	}
	clear(s.told)
	for _, uri := range open {
		for _, w := range s.documents[uri].wrong {
			at := s.documents[uri].at
			if !slices.Contains(found[at], w) {
				found[at] = append(found[at], w)
			}
			s.told[at] = true
		}
	}
	for _, uri := range slices.Sorted(maps.Keys(found)) {
		if err := s.notify("textDocument/publishDiagnostics", map[string]any{"uri": uri, "diagnostics": found[uri]}); err != nil {
			return err
		}
	}
	return nil
}

// diagnose makes of an error what an editor shows, and at which file.
func (s *Server) diagnose(uri string, err error) (string, []diagnostic) {
	if err == nil {
		return uri, []diagnostic{}
	}
	d := diagnostic{Severity: severityWarning, Source: "hyperscale", Message: err.Error()}
	var wrong *language.Error
	if !errors.As(err, &wrong) {
		return uri, []diagnostic{d}
	}
	d.Message = text(wrong)
	if wrong.File != "" && wrong.File != filepath.Base(pathOf(uri)) {
		uri = beside(uri, wrong.File)
	}
	d.Severity = severityInformation // a file that others load declares no workflow
	var unasked *workflow.Unreflected
	if wrong.Line > 0 {
		if d.Range = marked(wrong); !errors.As(err, &unasked) { // an editor asks no server
			d.Severity = severityError
		}
	}
	return uri, []diagnostic{d}
}

// diagnoses makes of what a file's functions have wrong what an editor shows, without the error
// that it shows already.
func diagnoses(uri string, findings []inspect.Finding, shown error) []diagnostic {
	var first *language.Error
	errors.As(shown, &first)
	var out []diagnostic
	for _, f := range findings {
		if f.File != filepath.Base(pathOf(uri)) || f.Line == 0 || first != nil && *first == f.Error {
			continue
		}
		d := diagnostic{Severity: severityError, Source: "hyperscale", Message: text(&f.Error), Range: marked(&f.Error)}
		if f.Warning {
			d.Severity = severityWarning
		}
		out = append(out, d)
	}
	return out
}

func text(e *language.Error) string {
	if e.Remedy == "" {
		return e.Message
	}
	return e.Message + "\n" + e.Remedy
}

// marked is the part of its line that an error is about.
func marked(e *language.Error) textRange {
	from := units(runes(e.Source, e.Col-1))
	to := units(runes(e.Source, e.Col-1+max(e.Width, 1)))
	return textRange{position{e.Line - 1, from}, position{e.Line - 1, max(to, from+1)}}
}

// read finds a file as the editor has it.
func (s *Server) read(path string) ([]byte, error) {
	for uri, d := range s.documents {
		if pathOf(uri) == path {
			return []byte(d.text), nil
		}
	}
	return nil, os.ErrNotExist
}

// pathOf is where a document lies. One that is not saved has its name alone.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return "untitled.star"
	}
	return filepath.Clean(u.Path)
}

// beside returns the URI of a file in the same folder, or below it.
func beside(uri, name string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return uri
	}
	return (&url.URL{Scheme: "file", Path: filepath.Join(filepath.Dir(u.Path), filepath.FromSlash(name))}).String()
}
