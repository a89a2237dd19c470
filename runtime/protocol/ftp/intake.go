package ftp

import (
	"bytes"
	"strconv"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/reply"
)

const (
	codeQuit     = 221
	codePassive  = 227
	codeExtended = 229
	codeMore     = 350
	codeCloses   = 421
)

// Feed takes what the server sent on the control connection.
func (c *Conn) Feed(b []byte, on codec.Listener) error {
	for len(b) > 0 && c.broken == nil {
		one, used, err := c.in.Next(b)
		if b = b[used:]; err != nil {
			c.broken = err
		} else if one.Code != 0 {
			c.broken = c.take(&one, on)
		}
	}
	if c.broken != nil {
		c.op.goes = false
		c.drop()
	}
	return c.broken
}

// take takes a reply.
func (c *Conn) take(r *reply.Reply, on codec.Listener) error {
	switch {
	case c.end >= endLeft:
		if r.Code == codeQuit || r.Code == codeCloses {
			c.end = endAgree
		}
		return nil
	case r.Code == codeCloses && c.op.of == nil:
		c.end = endTold
		return nil
	case r.Code == codeCloses && c.op.said != 0: // it has said how the transfer ended
		c.end = endTold
		return nil
	case r.Code == codeCloses:
		c.end = endTold
		c.op.err = nil
		c.fail(r.Refused(c.asks()))
		c.finish(r.Code, on)
		return nil
	case c.early:
		return reply.ErrUnasked
	case c.pinged:
		c.pinged = false
		on.Pong(c.payload)
		return nil
	case c.op.of == nil || c.op.step == stepConnect || len(c.Output()) > 0:
		return reply.ErrUnasked
	}
	return c.answer(r, on)
}

// asks is the command that the next reply answers.
func (c *Conn) asks() string {
	switch c.op.step {
	case stepEPSV:
		return "EPSV"
	case stepPASV, stepConnect:
		return "PASV"
	case stepRenames:
		return "RNTO"
	}
	return c.op.of.verb.command()
}

// answer takes the answer to the command under way.
func (c *Conn) answer(r *reply.Reply, on codec.Listener) error {
	a := &c.op
	switch a.step {
	case stepEPSV, stepPASV:
		return c.port(r, on)
	case stepBegins:
		if a.of.verb.transfers() {
			return c.begins(r, on)
		}
		if a.of.verb == verbRename && r.Code == codeMore {
			a.step, a.goes = stepRenames, true
			c.out, _ = appendCommand(c.out, "RNTO", a.of.to, a.with.Values) // it was looked at before
			return nil
		}
		if a.of.verb == verbRename && r.Positive() {
			return r.Unexpected(c.asks())
		}
	case stepRuns:
		return c.ends(r, on)
	}
	if r.Code < 400 && !r.Positive() {
		return r.Unexpected(c.asks())
	}
	if !r.Positive() {
		c.fail(r.Refused(c.asks()))
	}
	c.finish(r.Code, on)
	return nil
}

// port takes the answer to EPSV or PASV.
func (c *Conn) port(r *reply.Reply, on codec.Listener) error {
	a := &c.op
	extended := a.step == stepEPSV
	switch want := map[bool]int{true: codeExtended, false: codePassive}[extended]; {
	case r.Code == want:
	case extended && unknown(r.Code): // a server from before RFC 2428
		c.asksPASV()
		return nil
	case r.Code < 400:
		return r.Unexpected(c.asks())
	default:
		c.fail(r.Refused(c.asks()))
		c.finish(r.Code, on)
		return nil
	}
	read := passivePort
	if extended {
		read = extendedPort
	}
	c.protocol.passive = !extended
	if c.data.port = read(r.Text()); c.data.port == 0 {
		return &http1.Error{Kind: http1.KindProtocol, Detail: c.asks() + ": the server names no port: " + r.Shown()}
	}
	a.step = stepConnect
	return nil
}

// unknown reports that a server refuses a command because it does not have it, or not for this network.
func unknown(code int) bool { return code >= 500 && code <= 504 || code == 522 }

// extendedPort reads (|||port|); 0: there is none.
func extendedPort(text []byte) uint16 {
	_, rest, _ := bytes.Cut(text, []byte("("))
	if len(rest) < 5 || rest[1] != rest[0] || rest[2] != rest[0] {
		return 0
	}
	number, _, found := bytes.Cut(rest[3:], rest[:1])
	n, err := strconv.ParseUint(string(number), 10, 16)
	if err != nil || !found {
		return 0
	}
	return uint16(n)
}

// passivePort reads h1,h2,h3,h4,p1,p2, of which the last two count; 0: there is none. Servers differ in what
// stands around the numbers.
func passivePort(text []byte) uint16 {
	at := bytes.IndexByte(text, '(') + 1
	for at < len(text) && (text[at] < '0' || text[at] > '9') {
		at++
	}
	words := bytes.Split(text[at:], []byte(","))
	if len(words) != 6 {
		return 0
	}
	port := uint64(0)
	for i, w := range words {
		end := 0
		for end < len(w) && w[end] >= '0' && w[end] <= '9' {
			end++
		}
		n, err := strconv.ParseUint(string(w[:end]), 10, 8)
		if err != nil || end < len(w) && i < len(words)-1 {
			return 0
		}
		port = port<<8 | n
	}
	return uint16(port)
}

// begins takes the answer to the command of a transfer.
func (c *Conn) begins(r *reply.Reply, on codec.Listener) error {
	switch {
	case r.Code/100 == 1:
		c.op.step = stepRuns
		c.data.runs = true
		if c.op.of.verb == verbPut {
			c.data.begin(c.op.of, c.op.with.Values)
			c.uploaded()
		}
		return nil
	case r.Code < 400: // the end of data that never began
		return r.Unexpected(c.asks())
	}
	c.refuses(r, on)
	return nil
}

// ends takes what the server says behind the data.
func (c *Conn) ends(r *reply.Reply, on codec.Listener) error {
	a := &c.op
	switch {
	case r.Code < 400 && !r.Positive() || a.said != 0:
		return r.Unexpected(c.asks())
	case !r.Positive():
		c.refuses(r, on)
		return nil
	case a.of.verb == verbPut && (!a.goes || c.data.held > 0) && a.err == nil:
		return &http1.Error{Kind: http1.KindProtocol, Detail: "STOR: the server says that it has what was not sent"}
	}
	if a.said = r.Code; a.of.verb == verbPut || c.data.over {
		c.finish(r.Code, on)
	}
	return nil
}

// refuses ends the operation by what the server says of it. That tells more than an end of the data connection
// that may have come before.
func (c *Conn) refuses(r *reply.Reply, on codec.Listener) {
	if own := c.op.err; own != nil && (own.Kind == http1.KindClosed || own.Kind == http1.KindReset || own.Kind == http1.KindTruncated) {
		c.op.err = nil
	}
	c.fail(r.Refused(c.asks()))
	c.finish(r.Code, on)
}

// fail notes what fails the operation: the first failure is its own.
func (c *Conn) fail(err *http1.Error) {
	if c.op.err == nil {
		c.op.err = err
	}
}

// finish ends the operation.
func (c *Conn) finish(code int, on codec.Listener) {
	a := &c.op
	c.outcome = Outcome{Code: code, Bytes: c.data.bytes, Up: a.of.verb == verbPut}
	if a.err != nil {
		c.outcome.Err = a.err
	}
	if a.with.Keeps && a.err == nil {
		c.outcome.Body = c.data.kept
	}
	body := c.outcome.Body
	c.op = asked{command: a.command[:0], goes: a.goes}
	c.data = data{kept: c.data.kept[:0]}
	if cap(c.data.kept) > bufferKept {
		c.data.kept = nil
	}
	on.Message(codec.MessageBinary, body)
	c.outcome.Body = nil
}
