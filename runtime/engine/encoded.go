package engine

import (
	"errors"
	"strings"

	"hyperscale/core/workflow/extract"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/engine/rpc"
	"hyperscale/runtime/protocol/encoding"
	"hyperscale/runtime/protocol/http1"
)

// contentEncoding returns a body's encoding; empty: it has none, or the workflow did not
// request one.
func (q *requests) contentEncoding(fields extract.Fields) string {
	if !q.cfg.Workflow.HTTP.Compression || fields == nil {
		return ""
	}
	all := ""
	for i := range fields.Len() {
		name, value := fields.At(i)
		if len(name) != len("Content-Encoding") || !strings.EqualFold(string(name), "Content-Encoding") {
			continue
		}
		if all != "" {
			all += ","
		}
		all += string(value)
	}
	return all
}

// decoding arranges that an answer's body is decoded when a function reads it.
func (q *requests) decoding(x *exchange) {
	a := x.answer
	if x.rpc != nil {
		a.Decoder = rpc.Decoder{Of: x.request.GRPC, Head: &a.head, Limit: q.Slots.Common.BodyMax}
		return
	}
	codings, limit := q.contentEncoding(&a.head), q.Slots.Common.BodyMax
	if codings == "" {
		return
	}
	a.Decoder = decoder{codings, limit}
}

// decoder decodes one body.
type decoder struct {
	codings string
	limit   int64 // of the body
}

// Decode runs when a function reads the body.
func (d decoder) Decode(sent []byte) (body []byte, kind, why string) {
	out, err := encoding.Decode(d.codings, sent, d.limit)
	if err != nil {
		kind, why := undecoded(err)
		return nil, string(kind), why
	}
	return out, "", ""
}

// decodeView decodes the body that a request step inspects.
func (q *requests) decodeView(of *request.Request, r *extract.View) (http1.Kind, string) {
	if of.GRPC != nil {
		body, kind, why := rpc.Decoder{Of: of.GRPC, Head: r.Fields, Limit: q.Slots.Common.BodyMax}.Decode(r.Body)
		if kind == "" {
			r.Body = body
		}
		return http1.Kind(kind), why
	}
	codings := q.contentEncoding(r.Fields)
	if codings == "" {
		return http1.KindNone, ""
	}
	out, err := encoding.Decode(codings, r.Body, q.Slots.Common.BodyMax)
	if err != nil {
		return undecoded(err)
	}
	r.Body = out
	return http1.KindNone, ""
}

func undecoded(err error) (http1.Kind, string) {
	var known *http1.Error
	if errors.As(err, &known) {
		return known.Kind, known.Detail
	}
	return http1.KindEncoding, err.Error()
}
