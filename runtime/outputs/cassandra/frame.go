package cassandra

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The version of the protocol, of requests; the highest bit marks answers.
const (
	version = 0x04
	answers = 0x80
)

// opcode says what a frame is.
type opcode byte

const (
	opError         opcode = 0x00
	opStartup       opcode = 0x01
	opReady         opcode = 0x02
	opAuthenticate  opcode = 0x03
	opQuery         opcode = 0x07
	opResult        opcode = 0x08
	opPrepare       opcode = 0x09
	opExecute       opcode = 0x0A
	opAuthChallenge opcode = 0x0E
	opAuthResponse  opcode = 0x0F
	opAuthSuccess   opcode = 0x10
)

// Flags of an answer: what stands before its body.
const (
	flagCompressed = 0x01
	flagTracing    = 0x02
	flagPayload    = 0x04
	flagWarning    = 0x08
)

// Flags of a query.
const (
	queryValues   = 0x01
	queryPageSize = 0x04
	queryPaging   = 0x08
)

// Kinds of results.
const (
	resultRows     = 2
	resultPrepared = 4
)

// Flags of the metadata of rows.
const (
	metaGlobal = 0x01
	metaMore   = 0x02
	metaNone   = 0x04
)

const (
	headLen  = 9
	frameMax = 64 << 20 // bytes of an answer
)

// errAnswer is of bytes that are none of the protocol.
var errAnswer = errors.New("the server does not speak CQL's native protocol, version 4: correct the address, or use Cassandra 2.2 or newer")

// frame is an answer.
type frame struct {
	op     opcode
	stream int16
	body   reader
}

// appendFrame appends a request.
func appendFrame(dst []byte, stream int, op opcode, body []byte) []byte {
	dst = append(dst, version, 0, byte(stream>>8), byte(stream), byte(op))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(body)))
	return append(dst, body...)
}

// readFrame reads an answer.
func readFrame(from io.Reader) (f frame, err error) {
	var head [headLen]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return f, err
	}
	n := binary.BigEndian.Uint32(head[5:])
	f.op, f.stream = opcode(head[4]), int16(binary.BigEndian.Uint16(head[2:]))
	switch {
	case head[0]&answers == 0 || head[0] != version|answers && f.op != opError || head[1]&flagCompressed != 0:
		return f, errAnswer
	case n > frameMax:
		return f, fmt.Errorf("an answer has %d bytes, and the output takes %d", n, frameMax)
	}
	body, err := readBody(from, int(n))
	if err != nil {
		return f, err
	}
	f.body.b = body
	if head[1]&flagTracing != 0 {
		f.body.take(16)
	}
	if head[1]&flagWarning != 0 {
		for range f.body.short() {
			f.body.text()
		}
	}
	if head[1]&flagPayload != 0 {
		for range f.body.short() {
			f.body.text()
			f.body.bytes()
		}
	}
	return f, f.body.err
}

// readBody reads n bytes. It allocates as they come, not as the head promises.
func readBody(from io.Reader, n int) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(from, int64(n)))
	if err == nil && len(b) < n {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}

// reader reads the notations of the protocol; the first error stays.
type reader struct {
	b   []byte
	err error
}

func (r *reader) take(n int) []byte {
	if r.err != nil || n < 0 || n > len(r.b) {
		r.b, r.err = nil, errAnswer
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) short() int {
	b := r.take(2)
	if b == nil {
		return 0
	}
	return int(binary.BigEndian.Uint16(b))
}

func (r *reader) int() int {
	b := r.take(4)
	if b == nil {
		return 0
	}
	return int(int32(binary.BigEndian.Uint32(b)))
}

func (r *reader) text() string { return string(r.take(r.short())) }

// bytes is a value; nil: it is null.
func (r *reader) bytes() []byte {
	n := r.int()
	if n < 0 {
		return nil
	}
	return r.take(n)
}

func appendText(dst []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint16(dst, uint16(len(s))), s...)
}

func appendLong(dst []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(s))), s...)
}

// appendValue appends a value; nil: it is not set, and its column stays as it is.
func appendValue(dst, v []byte) []byte {
	if v == nil {
		return binary.BigEndian.AppendUint32(dst, 0xFFFFFFFE)
	}
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(v))), v...)
}

// query is what parameters a statement runs with.
type query struct {
	level  uint16
	values [][]byte
	page   int    // rows of a page; zero: all
	paging []byte // where the next page begins
}

func (q *query) append(dst []byte) []byte {
	flags := byte(0)
	if len(q.values) > 0 {
		flags |= queryValues
	}
	if q.page > 0 {
		flags |= queryPageSize
	}
	if q.paging != nil {
		flags |= queryPaging
	}
	dst = append(binary.BigEndian.AppendUint16(dst, q.level), flags)
	if len(q.values) > 0 {
		dst = binary.BigEndian.AppendUint16(dst, uint16(len(q.values)))
	}
	for _, v := range q.values {
		dst = appendValue(dst, v)
	}
	if q.page > 0 {
		dst = binary.BigEndian.AppendUint32(dst, uint32(q.page))
	}
	if q.paging != nil {
		dst = appendValue(dst, q.paging)
	}
	return dst
}

// rowsOf reads a result: the values of one column, and where the next page begins; nil: there is none.
func rowsOf(body reader) (values [][]byte, next []byte, err error) {
	if body.int() != resultRows {
		return nil, nil, errAnswer
	}
	flags, columns := body.int(), body.int()
	if flags&metaMore != 0 {
		next = body.bytes()
	}
	if flags&metaNone == 0 {
		if flags&metaGlobal != 0 {
			body.text()
			body.text()
		}
		for range columns {
			if body.err != nil || columns != 1 {
				return nil, nil, errAnswer
			}
			if flags&metaGlobal == 0 {
				body.text()
				body.text()
			}
			body.text()
			if body.short() == 0 {
				body.text() // the name of a type that is no one of the protocol's
			}
		}
	}
	for range body.int() {
		if values = append(values, body.bytes()); body.err != nil {
			return nil, nil, body.err
		}
	}
	return values, next, body.err
}
