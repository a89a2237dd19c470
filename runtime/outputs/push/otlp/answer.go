package otlp

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

// Numbers of fields of ExportMetricsServiceResponse and of google.rpc.Status.
const (
	responsePartial = 1
	partialRejected = 1
	partialMessage  = 2
	statusMessage   = 2
)

// ErrAnswer says that an answer is none of the protocol.
var ErrAnswer = errors.New("it is no answer of OTLP")

// Partial reads a response: how many data points the receiver rejects, and why. A why without rejected points is a
// warning.
func Partial(body []byte) (rejected int64, why string, err error) {
	err = EachField(body, func(field protowire.Number, inner []byte, _ uint64) error {
		if field != responsePartial || inner == nil {
			return nil
		}
		return EachField(inner, func(field protowire.Number, inner []byte, n uint64) error {
			switch {
			case field == partialRejected && inner == nil:
				rejected = max(int64(n), 0)
			case field == partialMessage:
				why = string(inner)
			}
			return nil
		})
	})
	return rejected, why, err
}

// Status reads why a receiver rejects a request; empty if it does not say so.
func Status(body []byte) (why string) {
	_ = EachField(body, func(field protowire.Number, inner []byte, _ uint64) error { // what is no status has no message
		if field == statusMessage {
			why = string(inner)
		}
		return nil
	})
	return why
}

// EachField calls f for each field of a message of protobuf: inner is nil but for those with bytes. What is no message is ErrAnswer.
func EachField(b []byte, f func(field protowire.Number, inner []byte, n uint64) error) error {
	for len(b) > 0 {
		field, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			return ErrAnswer
		}
		b = b[size:]
		var inner []byte
		var n uint64
		switch kind {
		case protowire.BytesType:
			if inner, size = protowire.ConsumeBytes(b); inner == nil {
				inner = []byte{}
			}
		case protowire.VarintType:
			n, size = protowire.ConsumeVarint(b)
		default:
			size = protowire.ConsumeFieldValue(field, kind, b)
		}
		if size < 0 {
			return ErrAnswer
		}
		if err := f(field, inner, n); err != nil {
			return err
		}
		b = b[size:]
	}
	return nil
}
