package talk

import (
	"fmt"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/datagram"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/raw"
)

// stretch is tcp.exchange.
type stretch struct {
	framing raw.Framing
	answers bool // it has an answer
	send    []byte
	says    said // in place of send, with values; no pieces: it has none
	limit   int64
}

var _ verb = (*stretch)(nil)

// raw prepares an exchange over TCP.
func (p *Plan) raw(r *request.Request, w *workflow.Workflow) error {
	to, f := r.Raw.Target, &r.Raw.Receive
	if w.HTTP.Proxy != nil {
		return &http1.InputError{Field: "url", Value: r.URL, Remedy: "take the proxy out of http.client: it carries HTTP"}
	}
	v := &stretch{answers: f.Kind != request.FramingNone, send: r.Body, limit: w.HTTP.MaxBody}
	switch f.Kind {
	case request.FramingUntil:
		v.framing = raw.Until(string(f.End))
	case request.FramingBytes:
		v.framing = raw.Bytes(f.N)
	case request.FramingPrefixed:
		v.framing = raw.Prefixed(f.N)
	case request.FramingClosed:
		v.framing = raw.Closed()
	}
	v.says.pieces = pieces(string(r.Body), r.Placeholders, map[string]bool{})
	p.verb, p.Host = v, pool.TalkHost{Key: fmt.Sprintf("%s %v", r.URL, v.answers), Secure: to.Secure}
	p.stays = p.stays && f.Kind != request.FramingClosed
	p.Shown = http1.Call{Method: "TCP", Scheme: to.Scheme, Host: to.Host, Port: to.Port}
	return nil
}

func (v *stretch) open() codec.Opening { return codec.Opening{Dialogue: raw.New(v.limit)} }

func (v *stretch) say(x *Exchange, d codec.Dialogue) error {
	d.(*raw.Conn).Expect(v.framing)
	text := v.send
	if v.says.pieces != nil {
		text = x.filled(&v.says)
	}
	if len(text) == 0 {
		return nil
	}
	x.shows(text)
	return d.Send(codec.MessageBinary, text, x.account.Messages().Sent())
}

func (v *stretch) hear(x *Exchange, _ codec.MessageKind, payload []byte) bool {
	x.received(payload)
	return true
}

func (v *stretch) deaf() bool { return !v.answers }

func (v *stretch) status() uint16 { return 200 }

func (v *stretch) protocol() string { return "TCP" }

// left implements verb: no goodbye comes over TCP.
func (v *stretch) left(uint16, string) error { return nil }

// packet is udp.exchange.
type packet struct {
	want  datagram.Want
	send  []byte
	says  said // in place of send, with values; no pieces: it has none
	limit int64
}

var _ verb = (*packet)(nil)

// datagram prepares an exchange over UDP.
func (p *Plan) datagram(r *request.Request, w *workflow.Workflow) error {
	d := r.Datagram
	if w.HTTP.Proxy != nil {
		return &http1.InputError{Field: "url", Value: r.URL, Remedy: "take the proxy out of http.client: it carries HTTP"}
	}
	v := &packet{send: r.Body, limit: w.HTTP.MaxBody}
	v.want = datagram.Want{Answers: d.Receive, Match: datagram.Match{Count: d.Match.Count, At: d.Match.At, SentAt: d.Match.SentAt}}
	v.says.pieces = pieces(string(r.Body), r.Placeholders, map[string]bool{})
	p.verb, p.Host = v, pool.TalkHost{Key: fmt.Sprintf("%s %v", r.URL, v.deaf()), Over: pool.OverUDP}
	p.Shown = http1.Call{Method: "UDP", Scheme: d.Target.Scheme, Host: d.Target.Host, Port: d.Target.Port}
	return nil
}

func (v *packet) open() codec.Opening { return codec.Opening{Dialogue: datagram.New(v.limit)} }

func (v *packet) say(x *Exchange, d codec.Dialogue) error {
	d.(*datagram.Conn).Expect(v.want, x.account.Datagrams())
	text := v.send
	if v.says.pieces != nil {
		text = x.filled(&v.says)
	}
	x.shows(text)
	return d.Send(codec.MessageBinary, text, x.account.Messages().Sent())
}

func (v *packet) hear(x *Exchange, _ codec.MessageKind, payload []byte) bool {
	x.received(payload)
	return x.got == v.want.Answers
}

func (v *packet) deaf() bool { return v.want.Answers == 0 }

func (v *packet) status() uint16 { return 200 }

func (v *packet) protocol() string { return "UDP" }

// left implements verb: no goodbye comes over UDP.
func (v *packet) left(uint16, string) error { return nil }
