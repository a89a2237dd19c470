package engine

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"hyperscale/core/workflow"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/redact"
)

// printer prints requests and answers. A nil printer prints nothing.
type printer struct {
	w    io.Writer
	mask *redact.Mask
}

const bodyShown = 4 << 10 // bytes of a body

func (p *printer) printf(format string, args ...any) {
	if p == nil {
		return
	}
	_, _ = io.WriteString(p.w, p.mask.Line(fmt.Sprintf(format, args...))) // a closed terminal must not end the run
}

// hop shows one request and its response.
func (p *printer) hop(x *exchange) {
	if p == nil {
		return
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "* %s %s\n", x.call.Method, p.mask.Values(pool.Key(x.call)+x.call.Path))
	version := "HTTP/1.1"
	request := []byte(p.mask.Dump(printable(x.call))) // before it is cut
	if x.two {                                        // in readable form: on the wire it is frames
		version = "HTTP/2"
		request = bytes.Replace(request, []byte(" HTTP/1.1\r\n"), []byte(" HTTP/2\r\n"), 1)
	}
	show(&b, "> ", request)
	if x.kind != http1.KindNone {
		fmt.Fprintf(&b, "* %s: %s\n\n", x.kind, x.detail)
		p.printf("%s", b.Bytes())
		return
	}
	head := fmt.Appendf(nil, "%s %d %s\n", version, x.status, http.StatusText(int(x.status)))
	var body []byte
	if x.answer != nil {
		if body = x.answer.Body; x.answer.Decoder != nil {
			if meant, kind, _ := x.answer.Decoder.Decode(body); kind == "" {
				body = meant
			}
		}
		for _, h := range x.answer.Pairs() {
			head = fmt.Appendf(head, "%s: %s\n", h.Name, redact.Head(h.Name, h.Value))
		}
	}
	show(&b, "< ", []byte(p.mask.Values(string(append(append(head, '\n'), body...)))))
	fmt.Fprintf(&b, "* %d in %v\n\n", x.status, x.latency().Round(time.Microsecond))
	p.printf("%s", b.Bytes())
}

// printable returns a request with the length of each file in place of its bytes.
func printable(c *http1.Call) string {
	var b strings.Builder
	from := 0
	for _, in := range c.Inserts {
		at := c.HeadLen + in.At
		b.Write(c.Bytes[from:at])
		fmt.Fprintf(&b, "<a file of %d bytes>", len(in.Data))
		from = at
	}
	b.Write(c.Bytes[from:])
	return b.String()
}

// show puts a mark before each line and escapes what a terminal would execute.
func show(b *bytes.Buffer, mark string, text []byte) {
	cut := max(0, len(text)-bodyShown)
	for line := range bytes.Lines(text[:len(text)-cut]) {
		line = bytes.TrimRight(line, "\r\n")
		b.WriteString(mark)
		for _, c := range string(line) {
			if c < ' ' && c != '\t' || c == 0x7f {
				c = '\uFFFD'
			}
			b.WriteRune(c)
		}
		b.WriteByte('\n')
	}
	if cut > 0 {
		fmt.Fprintf(b, "* ... %d more bytes\n", cut)
	}
}

// step shows how a request step ended.
func (p *printer) step(name string, good bool, x *exchange) {
	switch {
	case p == nil:
	case good:
		p.printf("step %s: ok\n\n", name)
	case x.kind == http1.KindNone:
		p.printf("step %s: failed, status %d\n\n", name, x.status)
	default:
		p.printf("step %s: failed, %s: %s\n\n", name, x.kind, x.detail)
	}
}

// outcome shows how a function ended.
func (p *printer) outcome(name string, out workflow.Outcome) {
	switch {
	case p == nil:
	case out.OK && out.HasValue:
		p.printf("step %s: %d.%03d\n\n", name, out.Value/1000, out.Value%1000)
	case out.OK:
		p.printf("step %s: ok\n\n", name)
	default:
		p.printf("step %s: failed, %s: %s\n\n", name, out.Kind, out.Detail)
	}
}
