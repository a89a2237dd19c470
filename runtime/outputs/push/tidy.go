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

	"hyperscale/runtime/outputs"
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

// figureFields puts figures into fields: counts, quantiles in nanoseconds, and at most so many statuses and kinds of errors;
// the rest of those is in status_rest and error_rest.
func figureFields(m map[string]any, f *outputs.Figures, most int) {
	m["begun"], m["ok"], m["failed"], m["timed_out"], m["cancelled"] = f.Begun, f.OK, f.Failed, f.TimedOut, f.Cancelled
	m["dropped"], m["skipped"], m["bytes_in"], m["bytes_out"], m["active_users"] = f.Dropped, f.Skipped, f.BytesIn, f.BytesOut, f.ActiveUsers
	if quantiles, err := model.Quantiles(f.Latency); err == nil {
		for _, q := range quantiles {
			m[q.Name+"_ns"] = q.Nanos
		}
	}
	add := func(i int, name, rest string, n uint64) {
		if i >= most {
			name = rest
		}
		was, _ := m[name].(uint64) // 0 at first
		m[name] = was + n
	}
	for i, s := range f.Statuses {
		add(i, "status_"+outputs.StatusName(s.Status), "status_rest", s.Count)
	}
	for i, e := range f.Errors {
		add(i, "error_"+e.Kind, "error_rest", e.Count)
	}
}

// cut keeps the begin of a text.
func cut(s string, most int) string {
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "")
	}
	return s
}
