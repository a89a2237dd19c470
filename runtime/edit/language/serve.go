package language

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/inspect"
	"hyperscale/runtime/edit/manual"
)

// settle is how long nothing is typed before files are checked.
const settle = 150 * time.Millisecond

// ErrNoShutdown is the error of a session that ends without a shutdown request.
var ErrNoShutdown = errors.New("the editor went away without shutdown")

// Server is one session with an editor.
type Server struct {
	// Load reads the program whose main file is at path. read returns the editor's open text,
	// else the file on disk. Its error is a *language.Error if a file is wrong, and then one of the
	// findings, too.
	Load   func(path string, read func(path string) ([]byte, error)) (*workflow.Program, []inspect.Finding, error)
	Manual *manual.Manual
	// Version is reported to the editor.
	Version string

	out       io.Writer
	documents map[string]*document
	told      map[string]bool // files at which mistakes are shown
	removed   bool            // a document was closed since the last check
	shut      bool
}

// Serve answers until the editor says exit, or goes away.
func (s *Server) Serve(in io.Reader, out io.Writer) error {
	s.out, s.documents, s.told = out, map[string]*document{}, map[string]bool{}
	type frame struct {
		body []byte
		err  error
	}
	frames, done := make(chan frame), make(chan struct{})
	defer close(done)
	go func() {
		r := bufio.NewReaderSize(in, headMax)
		for {
			body, err := readFrame(r)
			select {
			case frames <- frame{body, err}:
			case <-done:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	timer := time.NewTimer(settle)
	defer timer.Stop()
	for {
		select {
		case f := <-frames:
			if errors.Is(f.err, io.EOF) {
				return ErrNoShutdown
			}
			if f.err != nil {
				return f.err
			}
			if exit, err := s.receive(f.body); exit || err != nil {
				return err
			}
			timer.Reset(settle)
		case <-timer.C:
			if err := s.check(); err != nil {
				return err
			}
		}
	}
}

// receive handles one message, and says whether it was the last.
func (s *Server) receive(body []byte) (exit bool, err error) {
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		return false, s.refuse(json.RawMessage("null"), badMessage, "no JSON-RPC message: %v", err)
	}
	if m.Method == "" {
		return false, nil // an answer: nothing was asked
	}
	if m.Method == "exit" {
		if s.shut {
			return true, nil
		}
		return true, ErrNoShutdown
	}
	asks := len(m.ID) > 0
	if s.shut && asks {
		return false, s.refuse(m.ID, badRequest, "the server is shut down")
	}
	handle, known := s.handlers()[m.Method]
	if !known {
		if asks {
			return false, s.refuse(m.ID, unknownMethod, "no method %q", m.Method)
		}
		return false, nil
	}
	result, err := handle(m.Params)
	var wrong *paramsError
	switch {
	case errors.As(err, &wrong) && asks:
		return false, s.refuse(m.ID, badParams, "%s: %v", m.Method, wrong.err)
	case errors.As(err, &wrong):
		return false, nil
	case err != nil || !asks:
		return false, err
	}
	if result == nil {
		result = json.RawMessage("null")
	}
	return false, writeFrame(s.out, &message{ID: m.ID, Result: result})
}

func (s *Server) refuse(id json.RawMessage, code int, format string, args ...any) error {
	return writeFrame(s.out, &message{ID: id, Error: &failure{code, fmt.Sprintf(format, args...)}})
}

func (s *Server) notify(method string, params any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return fmt.Errorf("encode %s: %w", method, err)
	}
	return writeFrame(s.out, &message{Method: method, Params: raw})
}

// paramsError says that a message's params are not what its method takes.
type paramsError struct{ err error }

func (p *paramsError) Error() string { return p.err.Error() }

type handler func(params json.RawMessage) (any, error)

// taking makes a handler from a function with typed params.
func taking[P any](f func(*P) (any, error)) handler {
	return func(raw json.RawMessage) (any, error) {
		params := new(P)
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, params); err != nil {
				return nil, &paramsError{err}
			}
		}
		return f(params)
	}
}

func (s *Server) handlers() map[string]handler {
	return map[string]handler{
		"initialize":              taking(s.initialize),
		"shutdown":                taking(func(*struct{}) (any, error) { s.shut = true; return nil, nil }),
		"textDocument/didOpen":    taking(s.opened),
		"textDocument/didChange":  taking(s.changed),
		"textDocument/didClose":   taking(s.closed),
		"textDocument/completion": taking(s.complete),
		"textDocument/hover":      taking(s.hover),
		"textDocument/formatting": taking(s.format),
	}
}

func (s *Server) initialize(*struct{}) (any, error) {
	return map[string]any{
		"capabilities": map[string]any{
			"textDocumentSync":           1, // a change tells the whole text
			"completionProvider":         map[string]any{"triggerCharacters": []string{".", "{", "("}},
			"hoverProvider":              true,
			"documentFormattingProvider": true,
		},
		"serverInfo": map[string]string{"name": "hyperscale", "version": s.Version},
	}, nil
}
