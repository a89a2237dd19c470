package talk

import (
	"fmt"
	"strings"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/websocket"
)

// Plan is what the exchanges of a step over WebSocket send, made before the clock.
type Plan struct {
	of       *request.Socket
	protocol *websocket.Protocol
	says     []said
	Shown    http1.Call // the request that upgrades, as its URL is written
	stays    bool       // connections outlive an exchange
}

// said is a message: prepared, or cut where values stand.
type said struct {
	prepared *websocket.Prepared // nil: it has values
	pieces   []saidPiece
}

// saidPiece is text and the value behind it.
type saidPiece struct {
	text  string
	value int // index; below 0: none
}

// Compile prepares what a step exchanges. It returns the request that upgrades, without the
// placeholders of messages.
func Compile(r *request.Request, w *workflow.Workflow, memory *websocket.Pool) (*Plan, *request.Request, error) {
	s := &Plan{of: r.Socket, stays: !w.HTTP.NoKeepAlive}
	for _, h := range r.Headers {
		if websocket.Reserved(h.Name) {
			return nil, nil, &http1.InputError{Field: "headers", Value: h.Name, Remedy: "take it out: the upgrade sets it"}
		}
	}
	config := websocket.Config{Protocols: s.of.Protocols, MessageMax: w.HTTP.MaxBody, Pool: memory}
	switch s.of.Compress {
	case request.CompressFresh:
		config.Compression = websocket.CompressionFresh
	case request.CompressTakeover:
		config.Compression = websocket.CompressionTakeover
	}
	var err error
	if s.protocol, err = websocket.New(config); err != nil {
		return nil, nil, err
	}
	upgrade := *r
	upgrade.Placeholders = nil
	in := map[string]bool{} // placeholders of messages
	for i := range s.of.Send {
		m, err := prepare(&s.of.Send[i], r.Placeholders, s.of.Compress != request.CompressNot, in)
		if err != nil {
			return nil, nil, fmt.Errorf("send[%d]: %w", i, err)
		}
		s.says = append(s.says, m)
	}
	for _, h := range r.Placeholders {
		if !in[h.Word] {
			upgrade.Placeholders = append(upgrade.Placeholders, h)
		}
	}
	return s, &upgrade, nil
}

// prepare prepares one message, and notes the placeholders in it.
func prepare(m *request.Said, all []request.Placeholder, compressed bool, in map[string]bool) (s said, err error) {
	rest := string(m.Data)
	for !m.Binary {
		first, at := (*request.Placeholder)(nil), len(rest)
		for i := range all {
			if k := strings.Index(rest[:at], all[i].Word); k >= 0 {
				first, at = &all[i], k
			}
		}
		if first == nil {
			break
		}
		in[first.Word] = true
		s.pieces = append(s.pieces, saidPiece{rest[:at], first.Var})
		rest = rest[at+len(first.Word):]
	}
	if s.pieces != nil {
		s.pieces = append(s.pieces, saidPiece{rest, -1})
		return s, nil
	}
	kind := codec.MessageText
	if m.Binary {
		kind = codec.MessageBinary
	}
	s.prepared, err = websocket.Prepare(kind, m.Data, compressed)
	return s, err
}

// Key tells targets apart: exchanges of a user that ask for the same upgrade share its connection.
func (s *Plan) Key(r *request.Request) string {
	auth := request.Auth{}
	if r.Auth != nil {
		auth = *r.Auth
	}
	return fmt.Sprintf("websocket %q %q %q %q %q %q %d", r.URL, r.Headers, r.Params, r.Cookies, auth, s.of.Protocols, s.of.Compress)
}

// Show keeps the request that upgrades under the scheme of its URL.
func (s *Plan) Show(c *http1.Call) {
	s.Shown = *c
	s.Shown.Method, s.Shown.Scheme = "WebSocket", "ws"
	if c.Scheme == "https" {
		s.Shown.Scheme = "wss"
	}
}
