package engine

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"hyperscale/core/workflow"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/sse"
	"hyperscale/runtime/redact"
	"hyperscale/runtime/trace"
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

// protocol returns the name of the protocol that carried a request.
func (x *exchange) protocol() string {
	switch {
	case x.two:
		return "HTTP/2"
	case x.talk != nil:
		return x.talk.Protocol()
	}
	return "HTTP/1.1"
}

// sent returns a request's text in the version that carried it: over HTTP/2 it was frames.
func (x *exchange) sent(text string) string {
	if x.two {
		text = strings.Replace(text, " HTTP/1.1\r\n", " HTTP/2\r\n", 1)
	}
	return text
}

// got returns the head of an answer, without credentials.
func (x *exchange) got() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d %s\r\n", x.protocol(), x.status, http.StatusText(int(x.status)))
	if x.answer != nil {
		for _, h := range x.answer.Pairs() {
			fmt.Fprintf(&b, "%s: %s\r\n", h.Name, redact.Head(h.Name, h.Value))
		}
	}
	return b.String()
}

// sample is what an exchange knows of its place in a sampled iteration.
type sample struct {
	of    *trace.Iteration // nil: it is not sampled
	due   int64            // of the request that is under way
	first int              // of the chain; 0: none has ended
	cause trace.Cause      // why the one under way follows it
}

// follows notes that the exchange sends another request.
func (s *sample) follows(cause trace.Cause) { s.cause = cause }

// repeats links a request to the one that it repeats.
func (s *sample) repeats(before sample) {
	if s.of != nil && s.of == before.of {
		s.first, s.cause = before.first, trace.Retry
	}
}

// record takes a sample of the request that has just ended.
func (q *requests) record(n *pool.RequestSlot, x *exchange, now int64) {
	s := &x.sample
	if s.of == nil || x.kind == http1.KindCancelled && !n.Counted { // that has not started
		return
	}
	var t measure.Times
	t.Begin(s.due)
	n.AddTo(&t, now)
	out := trace.Sample{
		Place: s.of.Next(), Base: q.Clock.Base, Due: s.due, Began: now, Ended: now, Phases: t.Spent(),
		Protocol: x.protocol(), Method: x.call.Method, URL: pool.Key(x.call) + x.call.Path,
		Status: int(x.status), Kind: string(x.kind), Detail: x.detail, Out: int64(n.Sent), In: n.In,
	}
	out.Step, out.First, out.Cause = q.g.steps[n.Step].plan.Name, s.first, s.cause
	for _, at := range []int64{n.Named, n.Dialled, n.Shook, n.Wrote} {
		if at != 0 {
			out.Began = at
			break
		}
	}
	if x.as != nil {
		out.Name = strings.Trim(x.as.Group+"/"+x.as.Name, "/")
	}
	if x.call.HeadLen <= len(x.call.Bytes) {
		out.Head = x.sent(string(x.call.Bytes[:x.call.HeadLen]))
	}
	if x.kind == http1.KindNone {
		out.Answer = x.got()
	}
	q.cfg.Trace.Add(out)
	if s.first == 0 {
		s.first = out.Request
	}
	s.due = now
}

// hop shows one request and its response.
func (p *printer) hop(x *exchange) {
	if p == nil {
		return
	}
	var b bytes.Buffer
	if x.talks() { // its upgrade was shown with its answer
		fmt.Fprintf(&b, "* %s: ", p.mask.Values(talkURL(x.call)))
		if x.kind != http1.KindNone {
			fmt.Fprintf(&b, "%s: %s\n\n", x.kind, x.detail)
		} else {
			fmt.Fprintf(&b, "%d in %v\n\n", x.status, x.latency().Round(time.Microsecond))
		}
		p.printf("%s", b.Bytes())
		return
	}
	fmt.Fprintf(&b, "* %s %s\n", x.call.Method, p.mask.Values(pool.Key(x.call)+x.call.Path))
	show(&b, "> ", []byte(p.mask.Dump(x.sent(printable(x.call))))) // masked before it is cut
	if x.kind != http1.KindNone {
		fmt.Fprintf(&b, "* %s: %s\n\n", x.kind, x.detail)
		p.printf("%s", b.Bytes())
		return
	}
	head := strings.ReplaceAll(x.got(), "\r\n", "\n")
	var body []byte
	if x.answer != nil {
		if body = x.answer.Body; x.answer.Decoder != nil {
			if meant, kind, _ := x.answer.Decoder.Decode(body); kind == "" {
				body = meant
			}
		}
	}
	show(&b, "< ", []byte(p.mask.Values(head+"\n"+string(body))))
	fmt.Fprintf(&b, "* %d in %v\n\n", x.status, x.latency().Round(time.Microsecond))
	p.printf("%s", b.Bytes())
}

// talkURL is where an exchange goes: of a WebSocket, whose call is a request of HTTP, under its own scheme.
func talkURL(c *http1.Call) string {
	url := pool.Key(c) + c.Path
	if rest, ok := strings.CutPrefix(url, "http"); ok {
		return "ws" + rest
	}
	return url
}

// talks reports whether the exchange is one of messages.
func (x *exchange) talks() bool {
	return x.talk != nil || x.session != nil && x.session.talk != nil
}

// Upgraded implements pool.Watcher: it shows an upgrade with its answer.
func (p *printer) Upgraded(secure bool, asked []byte, status int, answer codec.Fields) {
	scheme := "ws://"
	if secure {
		scheme = "wss://"
	}
	line, rest, _ := strings.Cut(string(asked), "\r\n")
	host, path := "", strings.TrimSuffix(strings.TrimPrefix(line, "GET "), " HTTP/1.1")
	for field := range strings.SplitSeq(rest, "\r\n") {
		if value, found := strings.CutPrefix(field, "Host: "); found {
			host = value
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "* GET %s\n", p.mask.Values(scheme+host+path))
	show(&b, "> ", []byte(p.mask.Dump(string(asked))))
	head := fmt.Sprintf("HTTP/1.1 %d %s\n", status, http.StatusText(status))
	for i := range answer.Len() {
		name, value := answer.At(i)
		head += string(name) + ": " + redact.Head(string(name), string(value)) + "\n"
	}
	show(&b, "< ", []byte(p.mask.Values(head)))
	p.printf("%s", b.Bytes())
}

// event shows an event of a stream.
func (p *printer) event(count int, e *sse.Event) {
	if p == nil {
		return
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "* event %d", count)
	for _, part := range []struct {
		name string
		text []byte
	}{{"type", e.Type}, {"id", e.ID}} {
		if len(part.text) > 0 {
			fmt.Fprintf(&b, ", %s %q", part.name, part.text)
		}
	}
	fmt.Fprintf(&b, ", %d bytes\n", len(e.Data))
	show(&b, "< ", []byte(p.mask.Values(string(e.Data))))
	p.printf("%s", b.Bytes())
}

// message shows a message of an exchange.
func (p *printer) message(way string, payload []byte) {
	if p == nil {
		return
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "* message, %d bytes\n", len(payload))
	show(&b, way, []byte(p.mask.Values(string(payload))))
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
