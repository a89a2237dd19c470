package push

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"hyperscale/runtime/outputs/model"
)

// tidy makes a name one that a service keeps as it is: clean replaces characters, and most bounds its bytes. A name that
// changes ends with its digest, so names that differ stay different.
func tidy(s string, most int, clean func(s string) string) string {
	out := clean(strings.ToValidUTF8(s, "_"))
	if out == s && len(out) <= most {
		return out
	}
	sum := sha256.Sum256([]byte(s))
	end := hex.EncodeToString(sum[:5])
	if len(out) > most-len(end)-1 {
		out = strings.ToValidUTF8(out[:most-len(end)-1], "")
	}
	if out = strings.TrimRight(out, "_"); out == "" {
		return end
	}
	return out + "_" + end
}

// labelled are labels with what tells the points of a metric apart.
func labelled(labels []model.Label, p *model.Point) []model.Label {
	if p.Metric.Attribute == "" {
		return labels
	}
	return append(labels[:len(labels):len(labels)], model.Label{Name: p.Metric.Attribute, Value: p.Attribute})
}

// zipped compresses a body.
func zipped(body []byte) ([]byte, error) {
	return packed(body, func(to io.Writer) io.WriteCloser { return gzip.NewWriter(to) })
}

// deflated compresses a body as the content encoding deflate is.
func deflated(body []byte) ([]byte, error) {
	return packed(body, func(to io.Writer) io.WriteCloser { return zlib.NewWriter(to) })
}

func packed(body []byte, with func(io.Writer) io.WriteCloser) ([]byte, error) {
	var b bytes.Buffer
	w := with(&b)
	_, err := w.Write(body)
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, fmt.Errorf("compress a request: %w", err)
	}
	return b.Bytes(), nil
}
