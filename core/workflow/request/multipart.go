package request

import (
	"encoding/hex"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/secret"
	"strings"

	"github.com/cespare/xxhash/v2"
	"go.starlark.net/starlark"
)

// multipart encodes fields and files. The boundary is a digest of the parts, so that the same
// call gives the same bytes.
func (r *Request) multipart(thread *starlark.Thread, fn string, b *Placeholders, v starlark.Value) error {
	d, ok := v.(*starlark.Dict)
	if !ok {
		return language.WrongType(fn, "multipart", "a dict such as {\"field\": \"value\"}", v)
	}
	form := parts{fn: fn, blanks: b}
	for name, value := range d.Entries() {
		key, ok := name.(starlark.String)
		if !ok {
			return language.Faultf("%s: multipart has the name %s, which is not a text", fn, language.Describe(name)).In("multipart")
		}
		if err := b.none(fn, "multipart", "the name of a part", string(key)); err != nil {
			return err
		}
		values := []starlark.Value{value}
		if l, ok := value.(*starlark.List); ok {
			values, _ = language.List(fn, "multipart", "parts", l)
		}
		for _, value := range values {
			if err := form.add(string(key), value); err != nil {
				return err
			}
			if m := guard.MeterOf(thread); form.total > m.Limits.ValueBytes { // a list may contain one text many times
				return m.Text(thread, "multipart", form.total)
			}
		}
	}
	if err := guard.MeterOf(thread).Text(thread, "multipart", form.total); err != nil {
		return err
	}
	boundary := form.boundary()
	for i, body := range form.bodies {
		r.Body = append(r.Body, "--"+boundary+"\r\n"+form.heads[i]+"\r\n\r\n"...)
		r.Body = append(append(r.Body, body...), "\r\n"...)
	}
	r.Body = append(r.Body, "--"+boundary+"--\r\n"...)
	r.ContentType = "multipart/form-data; boundary=" + boundary
	if b.count() > 0 {
		r.Boundary = boundary
	}
	return nil
}

// parts are the parts of a form, in order; a name may repeat.
type parts struct {
	fn     string
	blanks *Placeholders
	heads  []string
	bodies [][]byte
	total  int
}

func (p *parts) add(name string, value starlark.Value) error {
	escape := strings.NewReplacer("\"", "%22", "\r", "%0D", "\n", "%0A")
	head, body, text := "Content-Disposition: form-data; name=\""+escape.Replace(name)+"\"", []byte(nil), false
	switch value := value.(type) {
	case starlark.String:
		body, text = []byte(value), true
	case starlark.Bytes:
		body = []byte(value)
	case *secret.Text:
		sent, err := value.Sent()
		if err != nil {
			return err
		}
		body, text = []byte(sent), true
	case *partValue:
		if err := p.blanks.none(p.fn, "multipart", "the name or the type of a file", value.filename+value.kind); err != nil {
			return err
		}
		if body, text = value.data, value.text; value.hidden != nil {
			sent, err := value.hidden.Sent()
			if err != nil {
				return err
			}
			body, text = []byte(sent), true
		}
		if value.filename != "" {
			head += "; filename=\"" + escape.Replace(value.filename) + "\""
		}
		if value.kind != "" {
			head += "\r\nContent-Type: " + value.kind
		}
	default:
		f := language.Faultf("%s: multipart: the value of %q must be a text, bytes or http.part(...), not %s", p.fn, language.Clip(name, 40), language.Describe(value))
		return f.In("multipart")
	}
	if text {
		filled, err := p.blanks.put(p.fn, "multipart", string(body))
		if err != nil {
			return err
		}
		body = []byte(filled)
	}
	p.heads, p.bodies, p.total = append(p.heads, head), append(p.bodies, body), p.total+len(head)+len(body)+64
	return nil
}

// boundary returns one that no part contains.
func (p *parts) boundary() string {
	digest := xxhash.New()
	for _, body := range p.bodies {
		_, _ = digest.Write(body) // a hash accepts everything
	}
	boundary := "hyperscale-" + hex.EncodeToString(digest.Sum(nil))
	for _, body := range p.bodies {
		for strings.Contains(string(body), boundary) {
			_, _ = digest.Write([]byte{1})
			boundary = "hyperscale-" + hex.EncodeToString(digest.Sum(nil))
		}
	}
	return boundary
}
