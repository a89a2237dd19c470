package mongodb

import (
	"hyperscale/core/workflow/bson"
)

// hiddenText is what is shown of a secret.
const hiddenText = "***"

// Describe appends a line about the bytes of a greeting: what proves the user is hidden.
func Describe(dst, b []byte) []byte {
	for first := true; len(b) >= frameLeast; first = false {
		n, err := length(b, frameMost, frameMost)
		if err != nil || n < frameLeast || n > len(b) {
			break
		}
		if !first {
			dst = append(dst, "; "...)
		}
		dst = describeOne(dst, b[bodyAt:n])
		b = b[n:]
	}
	return dst
}

func describeOne(dst, body []byte) []byte {
	fields, err := bson.Fields(body)
	if err != nil || len(fields) == 0 {
		return append(dst, "a message"...)
	}
	e, _, err := bson.Next(fields)
	if err != nil {
		return append(dst, "a message"...)
	}
	if dst = append(dst, clip(e.Name)...); string(e.Name) != "hello" {
		dst = append(dst, " "+hiddenText...)
	}
	return dst
}

// Show appends a command that goes out, as JSON.
func (o *Operation) Show(dst []byte, values [][]byte) []byte {
	b, err := o.of.Append(nil, values)
	if err != nil {
		return append(dst, err.Error()...)
	}
	return bson.AppendJSON(dst, b)
}
