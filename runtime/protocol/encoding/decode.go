package encoding

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"hyperscale/runtime/protocol/http1"
)

// LimitDefault bounds a decoded body, as http1.BodyLimitDefault does one that is not
// encoded.
const LimitDefault = http1.BodyLimitDefault

// codingsMax bounds how many codings lie upon each other.
const codingsMax = 3

// Decode undoes the codings of a Content-Encoding field, the last one first. Limit 0 is
// LimitDefault. What it returns may be body itself.
func Decode(field string, body []byte, limit int64) ([]byte, error) {
	if limit <= 0 {
		limit = LimitDefault
	}
	codings, err := list(field)
	if err != nil {
		return nil, err
	}
	for i := len(codings) - 1; i >= 0; i-- {
		if body, err = one(codings[i], body, limit); err != nil {
			return nil, err
		}
	}
	return body, nil
}

// list reads the field; identity says nothing.
func list(field string) ([]string, error) {
	var codings []string
	for part := range strings.SplitSeq(field, ",") {
		name := strings.ToLower(strings.TrimSpace(part))
		if name == "" || name == "identity" {
			continue
		}
		if len(codings) == codingsMax {
			return nil, &http1.Error{Kind: http1.KindEncoding, Detail: fmt.Sprintf("the body has more than %d codings upon each other", codingsMax)}
		}
		codings = append(codings, name)
	}
	return codings, nil
}

func one(coding string, body []byte, limit int64) ([]byte, error) {
	if len(body) == 0 {
		return body, nil // an answer to HEAD, or one without a body, may have the field too
	}
	pool, ok := pools[coding]
	if !ok {
		return nil, &http1.Error{Kind: http1.KindEncoding, Detail: fmt.Sprintf("the body's coding is %.20q, and the request did not ask for it", coding)}
	}
	d := pool.Get().(decoder)
	defer pool.Put(d)
	out, err := d.decode(body, limit)
	d.forget()
	switch {
	case err == nil:
		return out, nil
	case errors.Is(err, errBomb):
		return nil, &http1.Error{Kind: http1.KindBomb, Detail: fmt.Sprintf("%d bytes of %s grow to more than %d", len(body), coding, limit)}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, &http1.Error{Kind: http1.KindEncoding, Detail: coding + ": the body ends too early"}
	}
	return nil, &http1.Error{Kind: http1.KindEncoding, Detail: fmt.Sprintf("%s: %v", coding, err)}
}

var errBomb = errors.New("more than the limit")

// drain reads all that comes out, within the limit.
func drain(r io.Reader, sent int, limit int64) ([]byte, error) {
	out := make([]byte, 0, min(limit, int64(sent)*4+512))
	for {
		if len(out) == cap(out) {
			out = append(out, 0)[:len(out)]
		}
		n, err := r.Read(out[len(out):min(int64(cap(out)), limit+1)])
		out = out[:len(out)+n]
		if int64(len(out)) > limit {
			return nil, errBomb
		}
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
