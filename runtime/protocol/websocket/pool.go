package websocket

import (
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/flate"
)

// Pool has the memory that connections of one goroutine hold only while a message is under way:
// buffers and inflaters. An idle connection holds nothing of it. The zero value is empty.
type Pool struct {
	small     shelf // buffers of at most smallMost bytes
	large     shelf
	inflaters []*inflater
	deflated  bytes.Buffer // of a message that is sent
}

const (
	smallMost = 64 << 10
	// What idle buffers may hold, in bytes, and how many inflaters may be idle.
	smallKept    = 4 << 20
	largeKept    = 32 << 20
	inflaterKept = 8
)

// shelf holds idle buffers.
type shelf struct {
	buffers [][]byte
	size    int // bytes
}

// looksMost is how many buffers take looks at.
const looksMost = 16

// take returns a buffer of so many bytes, if there is one at hand; nil: there is none.
func (s *shelf) take(n int) []byte {
	last := len(s.buffers) - 1
	for i := last; i >= 0 && i > last-looksMost; i-- {
		if b := s.buffers[i]; cap(b) >= n {
			s.buffers[i], s.buffers[last] = s.buffers[last], nil
			s.buffers = s.buffers[:last]
			s.size -= cap(b)
			return b
		}
	}
	return nil
}

// put takes a buffer back unless the shelf is full.
func (s *shelf) put(b []byte, most int) {
	if s.size+cap(b) <= most {
		s.buffers = append(s.buffers, b[:0])
		s.size += cap(b)
	}
}

// buffer returns an empty buffer for so many bytes.
func (p *Pool) buffer(n int) []byte {
	shelf := &p.small
	if n > smallMost {
		shelf = &p.large
	}
	if b := shelf.take(n); b != nil {
		return b
	}
	return make([]byte, 0, max(n, 512))
}

// reserve makes room for so many more bytes behind those of a buffer, or takes a larger one.
func (p *Pool) reserve(b []byte, more int) []byte {
	if cap(b)-len(b) >= more {
		return b
	}
	larger := append(p.buffer(max(len(b)+more, 2*cap(b))), b...)
	p.free(b)
	return larger
}

// free takes a buffer back; nil is none.
func (p *Pool) free(b []byte) {
	switch n := cap(b); {
	case n == 0:
	case n <= smallMost:
		p.small.put(b, smallKept)
	default:
		p.large.put(b, largeKept)
	}
}

func (p *Pool) inflater() *inflater {
	if last := len(p.inflaters) - 1; last >= 0 {
		i := p.inflaters[last]
		p.inflaters = p.inflaters[:last]
		return i
	}
	i := &inflater{}
	i.flate = flate.NewReader(&i.source)
	return i
}

func (p *Pool) freeInflater(i *inflater) {
	i.source.Reset(nil)
	if len(p.inflaters) < inflaterKept {
		p.inflaters = append(p.inflaters, i)
	}
}

// deflateTail ends a message as it was before its sender cut it (RFC 7692, 7.2.1), and then the
// stream.
const deflateTail = "\x00\x00\xff\xff" + "\x01\x00\x00\xff\xff"

// windowMost is how far DEFLATE refers back, in bytes.
const windowMost = 32 << 10

// finalsMost is how many blocks of a message may end the stream. Each costs a copy of the context,
// so that two bytes a block would stop the loop for minutes.
const finalsMost = 256

// inflater undoes the compression of one message at a time.
type inflater struct {
	source bytes.Reader
	flate  io.ReadCloser
}

var (
	errGrows = errors.New("more than the limit")
	errBad   = errors.New("no DEFLATE")
)

// inflate appends the message to dst, a buffer of the pool that begins with the context. It stops
// behind so many bytes of message. What is compressed ends with deflateTail.
func (p *Pool) inflate(dst, compressed []byte, most int64) ([]byte, error) {
	i := p.inflater()
	defer p.freeInflater(i)
	start := len(dst)
	i.source.Reset(compressed)
	for range finalsMost {
		// A block may end the stream and yet be followed by more of the message (RFC 7692, 7.2.3.4).
		if i.flate.(flate.Resetter).Reset(&i.source, dst[max(0, len(dst)-windowMost):]) != nil {
			return dst, errBad
		}
		for {
			if len(dst) == cap(dst) {
				dst = p.reserve(dst, 512)
			}
			n, err := i.flate.Read(dst[len(dst):int(min(int64(cap(dst)), int64(start)+most+1))])
			dst = dst[:len(dst)+n]
			if int64(len(dst)-start) > most {
				return dst, errGrows
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return dst, errBad
			}
		}
		if i.source.Len() == 0 {
			return dst, nil
		}
	}
	return dst, errBad
}
