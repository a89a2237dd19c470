package rpc

import (
	"encoding/binary"
	"fmt"

	"hyperscale/core/workflow/extract"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/protocol/encoding"
	"hyperscale/runtime/protocol/grpc"
	"hyperscale/runtime/protocol/http1"
)

// Decoder turns the messages of an answer into JSON: one, or a list of those that a method streams.
type Decoder struct {
	Of    *request.GRPC
	Head  extract.Fields
	Limit int64 // of a message, in bytes; 0: the default
}

// Decode implements workflow.Decoder.
func (d Decoder) Decode(sent []byte) (body []byte, kind, why string) {
	limit := d.Limit
	if limit <= 0 {
		limit = grpc.MessageMost
	}
	out := []byte(nil)
	list := d.Of.Method.ServerStreams
	if list {
		out = append(out, '[')
	}
	for n := 0; len(sent) >= grpc.HeadLen; n++ {
		size := int(binary.BigEndian.Uint32(sent[1:]))
		if size > len(sent)-grpc.HeadLen {
			break
		}
		text, err := d.message(sent[0] == 1, sent[grpc.HeadLen:grpc.HeadLen+size], limit)
		if err != nil {
			return nil, string(err.Kind), err.Detail
		}
		if limit -= int64(len(text)); limit < 0 {
			return nil, string(http1.KindTooLarge), "the messages are larger than max_body as JSON"
		}
		if sent = sent[grpc.HeadLen+size:]; list && n > 0 {
			out = append(out, ',')
		}
		out = append(out, text...)
		if !list {
			return out, "", ""
		}
	}
	if list {
		out = append(out, ']')
	}
	return out, "", ""
}

func (d Decoder) message(packed bool, b []byte, limit int64) ([]byte, *http1.Error) {
	if packed {
		coding := "identity"
		for i := range d.Head.Len() {
			if name, value := d.Head.At(i); string(name) == "grpc-encoding" {
				coding = string(value)
				break
			}
		}
		if coding == "identity" {
			return nil, &http1.Error{Kind: http1.KindProtocol, Detail: "a message is compressed, and there is no grpc-encoding"}
		}
		if coding != "gzip" {
			return nil, &http1.Error{Kind: http1.KindEncoding, Detail: fmt.Sprintf("a message is compressed by %.20q, and gzip alone is known", coding)}
		}
		out, err := encoding.Decode(coding, b, limit)
		if err != nil {
			return nil, &http1.Error{Kind: http1.KindOf(err), Detail: detail(err)}
		}
		b = out
	}
	text, err := d.Of.Method.JSON(b)
	if err != nil {
		return nil, &http1.Error{Kind: http1.KindProtocol, Detail: "the message cannot be decoded: " + err.Error()}
	}
	return text, nil
}

// count is how many messages a list in JSON has: brackets and commas outside of texts, at the top.
func count(list []byte) (n int) {
	depth, text := 0, false
	for i := 0; i < len(list); i++ {
		switch c := list[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case text:
		case c == '[' || c == '{':
			if depth++; depth == 2 && n == 0 {
				n = 1
			}
		case c == ']' || c == '}':
			depth--
		case c == ',' && depth == 1:
			n++
		}
	}
	return n
}
