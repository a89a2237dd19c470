package request

import (
	"encoding/hex"
	"fmt"
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
	for i, p := range form.all {
		r.Body = append(r.Body, "--"+boundary+"\r\n"+form.heads[i]+"\r\n\r\n"...)
		if p.file != nil {
			r.Files = append(r.Files, Attached{len(r.Body), p.file})
		}
		r.Body = append(append(r.Body, p.text...), "\r\n"...)
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
	all    []content
	total  int
}

// content is what a part holds: a file, or bytes.
type content struct {
	file *File
	text []byte
}

func (p *parts) add(name string, value starlark.Value) error {
	escape := strings.NewReplacer("\"", "%22", "\r", "%0D", "\n", "%0A")
	head, body, text := "Content-Disposition: form-data; name=\""+escape.Replace(name)+"\"", []byte(nil), false
	var file *File
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
		file = value.file
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
	case *File:
		file = value
		head += "; filename=\"" + escape.Replace(value.Base()) + "\"\r\nContent-Type: application/octet-stream"
	default:
		f := language.Faultf("%s: multipart: the value of %q must be a text, bytes, a file or http.part(...), not %s", p.fn, language.Clip(name, 40), language.Describe(value))
		return f.In("multipart")
	}
	if text {
		filled, err := p.blanks.put(p.fn, "multipart", string(body))
		if err != nil {
			return err
		}
		body = []byte(filled)
	}
	p.heads, p.all, p.total = append(p.heads, head), append(p.all, content{file, body}), p.total+len(head)+len(body)+64
	return nil
}

// boundary returns one that no part contains. A file counts by its name, its size and its digest:
// not every process that makes the body has its bytes. A file that holds a text made of its own
// digest does not come about by chance.
func (p *parts) boundary() string {
	digest := xxhash.New()
	for _, c := range p.all {
		if _, _ = digest.Write(c.text); c.file != nil { // a hash accepts everything
			_, _ = fmt.Fprintf(digest, "%s %d %x", c.file.Name, c.file.Size, c.file.Digest)
		}
	}
	boundary := "hyperscale-" + hex.EncodeToString(digest.Sum(nil))
	for _, c := range p.all {
		for strings.Contains(string(c.text), boundary) {
			_, _ = digest.Write([]byte{1})
			boundary = "hyperscale-" + hex.EncodeToString(digest.Sum(nil))
		}
	}
	return boundary
}
