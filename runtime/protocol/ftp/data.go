package ftp

import (
	"errors"
	"fmt"
	"io"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// data is the data connection of the operation under way, and what it moves.
type data struct {
	port  uint16 // 0: there is none
	limit int64  // of kept
	bytes uint64
	kept  []byte
	out   []byte // of an upload: what is not written
	held  int    // bytes that are written, and that this machine has not sent
	state
}

// state is how far the data connection is.
type state struct {
	secured bool
	runs    bool // the server has said that data begins
	over    bool // it has ended
}

// begin puts the bytes of an upload in place.
func (d *data) begin(o *Operation, values [][]byte) {
	if d.out = o.raw; o.raw == nil {
		d.out = o.data.Fill(nil, values)
	}
}

// Branch implements codec.Branching.
func (c *Conn) Branch() codec.Branch {
	d := &c.data
	if d.port == 0 || d.over || c.broken != nil || c.op.of == nil {
		return codec.Branch{}
	}
	return codec.Branch{Port: d.port, Secure: d.runs && c.protocol.secures(), Ends: c.op.of.verb == verbPut && c.op.goes,
		Quiet: c.op.of.verb != verbPut && !c.protocol.secures()}
}

// Branched implements codec.Branching: the command goes out when the data connection stands.
func (c *Conn) Branched(secure bool) {
	if c.op.of == nil {
		return
	}
	if c.data.secured = secure; c.op.step == stepConnect {
		c.op.step, c.op.goes = stepBegins, c.op.of.verb != verbPut
		c.out = append(c.out, c.op.command...)
	}
	c.uploaded()
}

// uploaded notes that all of an upload is written.
func (c *Conn) uploaded() {
	a := &c.op
	if a.of.verb == verbPut && a.step == stepRuns && len(c.data.out) == 0 && (c.data.secured || !c.protocol.secures()) && !c.data.over {
		a.goes = true
	}
}

// BranchOutput implements codec.Branching.
func (c *Conn) BranchOutput() []byte {
	if !c.data.runs || c.data.over || c.protocol.secures() && !c.data.secured {
		return nil
	}
	return c.data.out
}

// BranchSent implements codec.Branching.
func (c *Conn) BranchSent(n int) {
	c.data.out = c.data.out[n:]
	c.data.bytes += uint64(n)
	if c.op.of != nil {
		c.uploaded()
	}
}

// BranchHeld implements codec.Branching.
func (c *Conn) BranchHeld(n int) { c.data.held = n }

// BranchFeed implements codec.Branching. What comes before 150 is data as well: the two connections are not
// ordered. What a server sends in an upload is dropped.
func (c *Conn) BranchFeed(b []byte, _ codec.Listener) error {
	a := &c.op
	if a.of == nil || a.of.verb == verbPut || c.data.port == 0 {
		return nil
	}
	if c.protocol.secures() && !c.data.secured {
		return c.breaks(&http1.Error{Kind: http1.KindProtocol, Detail: "data connection: the server sent data in clear, and has agreed to protect it"})
	}
	c.data.bytes += uint64(len(b))
	if !a.with.Keeps {
		return nil
	}
	if int64(len(c.data.kept)+len(b)) > c.data.limit {
		return c.breaks(&http1.Error{Kind: http1.KindTooLarge, Detail: fmt.Sprintf("what is downloaded exceeds %d bytes: raise max_body, or read less", c.data.limit)})
	}
	c.data.kept = append(c.data.kept, b...)
	return nil
}

// breaks ends both connections.
func (c *Conn) breaks(err *http1.Error) error {
	c.broken, c.op.goes = err, false
	c.drop()
	return err
}

// BranchEnds implements codec.Branching.
func (c *Conn) BranchEnds(err error, on codec.Listener) error {
	a := &c.op
	if a.of == nil || c.data.over {
		return nil
	}
	c.data.over = true
	ordered := errors.Is(err, io.EOF)
	switch upload := a.of.verb == verbPut; {
	case ordered && c.protocol.secures() && !c.data.secured:
		c.fail(&http1.Error{Kind: http1.KindClosed, Detail: "data connection: the server closed it before TLS began"})
		c.data.out = nil
	case ordered && !upload, ordered && a.goes:
	case ordered:
		a.err, c.data.out = &http1.Error{Kind: http1.KindClosed, Detail: "data connection: the server closed it before it had all"}, nil
	default:
		c.fail(&http1.Error{Kind: http1.KindOf(err), Detail: "data connection: " + detail(err)})
		c.data.out = nil
	}
	switch {
	case a.step == stepConnect: // the command was never said
		c.finish(0, on)
	case a.said != 0:
		c.finish(a.said, on)
	}
	return nil
}

// detail is an error's text without its kind.
func detail(err error) string {
	var own *http1.Error
	if errors.As(err, &own) {
		return own.Detail
	}
	return err.Error()
}
