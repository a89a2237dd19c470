package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"hyperscale/core/workflow/request"
	"hyperscale/core/workflow/schema"
	"hyperscale/runtime/protocol/grpc"
	"hyperscale/runtime/protocol/http1"
)

// Compile completes the request of a call, which has the method's URL and the call's metadata.
// Timeout becomes the deadline that the server gets.
func Compile(out *http1.Request, r *request.Request, timeout time.Duration) error {
	var texts []json.RawMessage
	if err := json.Unmarshal(r.Body, &texts); err != nil {
		return &http1.InputError{Field: "message", Value: string(r.Body), Remedy: "write JSON that the method's type allows"}
	}
	holes := make([]schema.Hole, len(r.Placeholders))
	for i, h := range r.Placeholders {
		holes[i] = schema.Hole{Word: h.Word, Name: h.Name, Value: h.Var}
	}
	m := messages{compress: r.GRPC.Compress}
	fixed := true
	for i, text := range texts {
		t, err := r.GRPC.Method.Compile(text, holes)
		if err != nil {
			return fmt.Errorf("message %d: %w", i+1, err)
		}
		_, has := t.Fixed()
		fixed = fixed && has
		m.all = append(m.all, t)
	}
	out.Headers = append(out.Headers, http1.Pair{Name: "content-type", Value: "application/grpc"}, http1.Pair{Name: "te", Value: "trailers"})
	if timeout > 0 {
		out.Headers = append(out.Headers, http1.Pair{Name: "grpc-timeout", Value: grpc.Timeout(timeout)})
	}
	if r.GRPC.Compress {
		out.Headers = append(out.Headers, http1.Pair{Name: "grpc-encoding", Value: "gzip"}, http1.Pair{Name: "grpc-accept-encoding", Value: "gzip"})
	}
	out.URL = "http" + strings.TrimPrefix(out.URL, "grpc") // grpcs becomes https
	out.Body, out.ContentType, out.Escape, out.Unsized = nil, "", http1.EscapeNone, true
	if !fixed {
		out.Encode = m.append
		return nil
	}
	var err error
	out.Body, err = m.append(nil, nil)
	return err
}

// messages are those of one call.
type messages struct {
	all      []*schema.Template
	compress bool
	plain    []byte // of the message that is compressed
	packer   *gzip.Writer
}

// append appends the messages with their values, each behind its head.
func (m *messages) append(dst []byte, values [][]byte) ([]byte, error) {
	for _, t := range m.all {
		from := len(dst)
		var err error
		if dst = grpc.Begin(dst); m.compress {
			m.plain, err = t.Append(m.plain[:0], values)
			dst = m.pack(dst)
		} else {
			dst, err = t.Append(dst, values)
		}
		if wrong := (*schema.ValueError)(nil); errors.As(err, &wrong) {
			return dst, &http1.InputError{Field: "${" + wrong.Name + "}", Value: "in a message", Remedy: "it " + wrong.Why}
		}
		if err != nil {
			return dst, err
		}
		grpc.Put(dst, from, m.compress)
	}
	return dst, nil
}

// pack appends the plain message as gzip.
func (m *messages) pack(dst []byte) []byte {
	w := bytes.NewBuffer(dst)
	if m.packer == nil {
		m.packer = gzip.NewWriter(w)
	} else {
		m.packer.Reset(w)
	}
	_, _ = m.packer.Write(m.plain) // a buffer takes everything
	_ = m.packer.Close()
	return w.Bytes()
}
