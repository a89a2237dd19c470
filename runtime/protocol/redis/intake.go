package redis

import (
	"bytes"
	"strconv"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// intake is how far the server's bytes are cut into values, and values put together.
type intake struct {
	line   []byte // of the pool: what came of a line
	text   []byte // of the pool: what came of a text that is kept
	bulk   byte   // the type of the text whose bytes come; 0: a line comes
	left   int64  // bytes of it to come, with its CR LF
	length int64  // of it, without
	chunks bool   // it comes in chunks
	stack  []level
	aside  int   // how deep the push or attribute under way is; 0: none is
	hidden int   // how deep the key is that JSON cannot show; 0: none is
	size   int64 // of the oldest operation's answers
	pushed int64 // of the push under way
	idle   int   // pushes and attributes in a row
}

// level is an aggregate that is not whole.
type level struct {
	kind byte
	left int64 // values to come; below 0: until its end comes
	had  int64 // values that came
	key  int   // where the key under way begins in the view
}

// stackKept is how many levels a connection keeps room for.
const stackKept = 16

// The types of values.
const (
	typeText      = '+'
	typeError     = '-'
	typeInteger   = ':'
	typeBulk      = '$'
	typeArray     = '*'
	typeNull      = '_'
	typeDouble    = ','
	typeBool      = '#'
	typeBulkError = '!'
	typeVerbatim  = '='
	typeBig       = '('
	typeMap       = '%'
	typeSet       = '~'
	typePush      = '>'
	typeAttribute = '|'
	typeChunk     = ';'
	typeEnd       = '.'
)

const types = "+-:$*_,#!=(%~>|;."

// known has the types, by their byte.
var known = func() (all [256]bool) {
	for _, t := range []byte(types) {
		all[t] = true
	}
	return all
}()

// partial reports that an answer has begun and is not whole.
func (t *intake) partial() bool {
	return len(t.line) > 0 || t.bulk != 0 || t.chunks || len(t.stack) > 0
}

// Feed takes the next bytes from the server. The listener may call every method but Feed and
// Release. After an error the connection can only be closed.
func (c *Conn) Feed(b []byte, on codec.Listener) error {
	for len(b) > 0 && c.broken == nil {
		n, err := c.step(b, on)
		if err != nil {
			c.broken = err
			c.quiet()
		}
		b = b[n:]
	}
	if c.broken != nil {
		return c.broken
	}
	return nil
}

// step takes some of the bytes and returns how many.
func (c *Conn) step(b []byte, on codec.Listener) (int, *http1.Error) {
	if c.in.bulk != 0 {
		return c.takeText(b, on)
	}
	return c.takeLine(b, on)
}

// feed takes bytes up to the end of the last operation, and returns how many.
func (c *Conn) feed(b []byte, on codec.Listener) (used int, err *http1.Error) {
	for used < len(b) && len(c.open) > 0 {
		n, err := c.step(b[used:], on)
		if err != nil {
			c.quiet()
			return 0, err
		}
		used += n
	}
	return used, nil
}

// takeLine takes a line, or what came of it, and returns how many bytes that are.
func (c *Conn) takeLine(b []byte, on codec.Listener) (int, *http1.Error) {
	in := &c.in
	if len(in.line) == 0 {
		if err := c.judgeType(b[0]); err != nil {
			return 0, err
		}
	}
	end := bytes.IndexByte(b, '\n')
	n := end + 1
	if end < 0 {
		n = len(b)
	}
	if most := lineMost - len(in.line); n > most || end < 0 && n >= most {
		return 0, errLine
	}
	line := b[:n]
	if end < 0 || len(in.line) > 0 {
		if in.line == nil {
			in.line = c.pool.buffer()
		}
		if in.line = append(in.line, line...); end < 0 {
			return n, nil
		}
		line = in.line
	}
	if len(line) < 3 || line[len(line)-2] != '\r' || bytes.IndexByte(line, '\r') != len(line)-2 {
		return 0, errLineEnd
	}
	err := c.onLine(line[0], line[1:len(line)-2], on)
	c.pool.free(in.line)
	in.line = nil
	return n, err
}

// judgeType judges a line by its first byte.
func (c *Conn) judgeType(t byte) *http1.Error {
	in := &c.in
	switch {
	case !known[t]:
		return breach("an answer begins with %q, which is no type of RESP: is this a Redis server, and does it speak TLS or not?", t)
	case in.chunks && t != typeChunk:
		return errNoChunk
	case !in.chunks && t == typeChunk:
		return errChunk
	case len(in.stack) == 0 && len(c.open) == 0 && t != typePush:
		return errUnasked
	case t == typePush && len(in.stack) > 0:
		return breach("the server sent a push inside an answer")
	}
	return nil
}

// onLine takes a line without its end.
func (c *Conn) onLine(t byte, rest []byte, on codec.Listener) *http1.Error {
	if err := c.grows(t, int64(len(rest)+3), 0); err != nil {
		return err
	}
	switch t {
	case typeBulk, typeBulkError, typeVerbatim, typeChunk:
		return c.beginText(t, rest, on)
	case typeArray, typeSet, typeMap, typePush, typeAttribute:
		return c.beginAggregate(t, rest, on)
	case typeEnd:
		return c.endAggregate(rest, on)
	}
	return c.scalar(t, rest, on)
}

// grows counts bytes of an answer; more are bound to come.
func (c *Conn) grows(t byte, n, more int64) *http1.Error {
	size := &c.in.size
	if t == typePush {
		c.in.pushed = 0
	}
	if t == typePush || len(c.in.stack) > 0 && c.in.stack[0].kind == typePush {
		size = &c.in.pushed
	}
	if *size += n; *size > c.most || more > c.most-*size {
		return errLarge(c.most)
	}
	return nil
}

// lengthOf reads a length; below 0: it is streamed.
func lengthOf(t byte, b []byte) (int64, *http1.Error) {
	if len(b) == 1 && b[0] == '?' && (t == typeBulk || t == typeArray || t == typeSet || t == typeMap) {
		return -1, nil
	}
	n := int64(0)
	for _, d := range b {
		if d < '0' || d > '9' || n > 1<<58 {
			n = -1
			break
		}
		n = 10*n + int64(d-'0')
	}
	if n < 0 || len(b) == 0 {
		return 0, breach("%q is not a length of the type %q", clip(b), t)
	}
	return n, nil
}

// clip returns what an error shows of bytes.
func clip(b []byte) []byte { return b[:min(len(b), 40)] }

// isNull reports whether a text or an array is RESP2's null.
func isNull(t byte, rest []byte) bool {
	return (t == typeBulk || t == typeArray) && string(rest) == "-1"
}

// beginText takes the head of a text whose bytes follow.
func (c *Conn) beginText(t byte, rest []byte, on codec.Listener) *http1.Error {
	in := &c.in
	if isNull(t, rest) {
		return c.scalar(typeNull, nil, on)
	}
	n, err := lengthOf(t, rest)
	switch {
	case err != nil:
		return err
	case n < 0:
		c.begins(false)
		in.chunks = true
		return nil
	case t == typeChunk && n == 0:
		in.chunks = false
		return c.endText(typeBulk, in.text, on)
	case t == typeVerbatim && n < 4:
		return errVerbatim
	}
	if err := c.grows(t, n+2, 0); err != nil {
		return err
	}
	if t != typeChunk && t != typeBulkError {
		c.begins(false)
	}
	in.bulk, in.left, in.length = t, n+2, n
	return nil
}

// takeText takes bytes of a text and its end.
func (c *Conn) takeText(b []byte, on codec.Listener) (int, *http1.Error) {
	in := &c.in
	n := int(min(in.left, int64(len(b))))
	at := in.length + 2 - in.left // of the text, where b begins
	in.left -= int64(n)
	inside := int(min(max(in.length-at, 0), int64(n)))
	text, end := b[:inside], b[inside:n]
	if in.bulk == typeVerbatim && at <= 3 && at+int64(inside) > 3 && text[3-at] != ':' {
		return 0, errVerbatim
	}
	for i := range end {
		if end[i] != "\r\n"[at+int64(inside+i)-in.length] {
			return 0, errBulkEnd
		}
	}
	whole := in.left == 0 && in.bulk != typeChunk && len(in.text) == 0
	if !whole && len(text) > 0 && c.wants(in.bulk) {
		if in.text == nil {
			in.text = c.pool.buffer()
		}
		in.text = append(in.text, text...)
	}
	if in.left > 0 {
		return n, nil
	}
	t := in.bulk
	if in.bulk = 0; t == typeChunk {
		return n, nil
	}
	if !whole {
		text = in.text
	}
	return n, c.endText(t, text, on)
}

// wants reports whether a text is read: an error is.
func (c *Conn) wants(t byte) bool {
	return c.in.aside == 0 && (t == typeBulkError || c.shows())
}

// endText takes a text that is whole.
func (c *Conn) endText(t byte, text []byte, on codec.Listener) *http1.Error {
	if t == typeVerbatim && len(text) >= 4 {
		text = text[4:]
	}
	if t == typeBulkError && c.in.aside == 0 {
		c.failed(text)
		c.separate()
	}
	if c.shows() {
		c.view = appendQuoted(c.view, text)
	}
	c.pool.free(c.in.text)
	c.in.text = nil
	return c.ends(on)
}

// beginAggregate takes the head of an array, a set, a map, a push or an attribute.
func (c *Conn) beginAggregate(t byte, rest []byte, on codec.Listener) *http1.Error {
	in := &c.in
	if isNull(t, rest) {
		return c.scalar(typeNull, nil, on)
	}
	n, err := lengthOf(t, rest)
	if err != nil {
		return err
	}
	if t == typeMap || t == typeAttribute {
		n = 2 * n
	}
	const least = 3 // bytes of a value
	if err := c.grows(t, 0, least*max(n, 0)); err != nil {
		return err
	}
	if len(in.stack) == depthMost {
		return errDeep
	}
	if t == typePush || t == typeAttribute {
		if in.idle++; in.idle > idleMost {
			return errFlood
		}
		if in.aside == 0 {
			in.aside = len(in.stack) + 1
		}
	} else {
		c.begins(false)
		if c.shows() && c.isKey() {
			c.view = append(c.view, `"?"`...) // no server sends one
			in.hidden = len(in.stack) + 1
		} else if c.shows() {
			c.view = append(c.view, opening(t))
		}
	}
	in.stack = append(in.stack, level{kind: t, left: n})
	if n == 0 {
		return c.closes(on)
	}
	return nil
}

// endAggregate takes the end of an aggregate without a length.
func (c *Conn) endAggregate(rest []byte, on codec.Listener) *http1.Error {
	last := len(c.in.stack) - 1
	if len(rest) > 0 || last < 0 || c.in.stack[last].left >= 0 {
		return errNoEnd
	}
	if top := c.in.stack[last]; top.kind == typeMap && top.had%2 != 0 {
		return errHalfPair
	}
	return c.closes(on)
}

// scalar takes a value that is a line.
func (c *Conn) scalar(t byte, rest []byte, on codec.Listener) *http1.Error {
	if t == typeError {
		if c.in.aside == 0 {
			c.failed(rest)
			c.separate()
		}
	} else {
		c.begins(t == typeNull)
	}
	shows := c.shows()
	switch t {
	case typeText, typeError:
		if shows {
			c.view = appendQuoted(c.view, rest)
		}
	case typeInteger:
		n, ok := integer(rest)
		if !ok {
			return breach("%q is not an integer", clip(rest))
		}
		if shows {
			c.view = strconv.AppendInt(c.view, n, 10)
		}
	case typeNull:
		if len(rest) > 0 {
			return breach("%q follows a null", clip(rest))
		}
		if shows {
			c.view = append(c.view, "null"...)
		}
	case typeBool:
		switch {
		case string(rest) != "t" && string(rest) != "f":
			return breach("%q is neither true nor false", clip(rest))
		case shows:
			c.view = strconv.AppendBool(c.view, rest[0] == 't')
		}
	case typeDouble, typeBig:
		view, ok := appendNumber(c.view, rest, t == typeDouble)
		switch {
		case !ok:
			return breach("%q is not a number", clip(rest))
		case shows:
			c.view = view
		}
	}
	return c.ends(on)
}
