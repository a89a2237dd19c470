package target

import (
	"encoding/binary"

	"golang.org/x/net/http2/hpack"
)

// intake reads an HTTP/2 client's frames in parallel with the library, and finds the complete
// requests: head, body and the end of the stream. It answers nothing and refuses nothing. After
// a protocol error it ignores the rest, as the error ends the connection.
type intake struct {
	arrived []string // paths of complete requests, for the caller
	decoder *hpack.Decoder
	carry   []byte            // the beginning of a frame that is looked into
	skip    int               // bytes of a frame that is not
	open    map[uint32]string // paths of streams whose body is still to come
	path    string            // of the header block
	stream  uint32            // whose; 0 outside a block
	last    uint32            // the youngest stream
	ends    bool              // the stream ends with its header block
	done    uint32            // the stream that ends with the skipped frame; 0: none
	deaf    bool
}

// The frame types and flags that intake reads (RFC 9113, 6).
const (
	frameHead  = 9
	frameMost  = 1 << 20 // the library takes no longer ones
	openMost   = 4 * streamsMost
	dataFrame  = 0
	headFrame  = 1
	resetFrame = 3
	moreFrame  = 9 // CONTINUATION
	endStream  = 1
	endHeaders = 4
	padded     = 8
	weighted   = 32 // PRIORITY
)

func newIntake() *intake {
	t := &intake{skip: len(preface), open: map[uint32]string{}}
	t.decoder = hpack.NewDecoder(4<<10, func(f hpack.HeaderField) {
		if f.Name == ":path" {
			t.path = f.Value
		}
	})
	t.decoder.SetMaxStringLength(maxHead)
	return t
}

// feed takes the next bytes that were read.
func (t *intake) feed(b []byte) {
	for len(b) > 0 && !t.deaf {
		if t.skip > 0 {
			n := min(t.skip, len(b))
			b, t.skip = b[n:], t.skip-n
			t.skipped()
			continue
		}
		if len(t.carry) == 0 {
			if used := t.frame(b); used > 0 {
				b = b[used:]
				continue
			}
		}
		t.carry = append(t.carry, b...)
		b = nil
		if used := t.frame(t.carry); used > 0 {
			rest := t.carry[used:]
			t.carry = nil
			b = rest
		}
	}
}

// skipped ends the request whose last frame was skipped.
func (t *intake) skipped() {
	if t.skip == 0 && t.done != 0 {
		t.finish(t.done)
		t.done = 0
	}
}

// frame handles one frame and returns its length, or only its head's if the caller must skip
// the rest. It returns 0 if it needs more bytes.
func (t *intake) frame(b []byte) int {
	if len(b) < frameHead {
		return 0
	}
	length, kind, flags := int(b[0])<<16|int(b[1])<<8|int(b[2]), b[3], b[4]
	stream := binary.BigEndian.Uint32(b[5:]) & (1<<31 - 1)
	if length > frameMost || (t.stream != 0) != (kind == moreFrame) {
		t.deaf = true
		return len(b)
	}
	if kind != headFrame && kind != moreFrame {
		t.skip, t.done = length, 0
		switch {
		case kind == resetFrame:
			delete(t.open, stream)
		case kind == dataFrame && flags&endStream != 0:
			t.done = stream
		}
		t.skipped()
		return frameHead
	}
	if len(b) < frameHead+length {
		return 0
	}
	t.head(b[frameHead:frameHead+length], kind, flags, stream)
	return frameHead + length
}

// head takes a piece of a header block.
func (t *intake) head(b []byte, kind, flags byte, stream uint32) {
	if kind == headFrame {
		var ok bool
		if b, ok = unpadded(b, flags); !ok || stream%2 == 0 {
			t.deaf = true
			return
		}
		t.path, t.stream, t.ends = "", stream, flags&endStream != 0
	}
	if _, err := t.decoder.Write(b); err != nil || stream != t.stream {
		t.deaf = true
		return
	}
	if flags&endHeaders == 0 {
		return
	}
	t.stream = 0
	if t.decoder.Close() != nil {
		t.deaf = true
		return
	}
	if stream > t.last { // else they are trailers
		t.last = stream
		if t.path == "" || len(t.open) == openMost {
			return
		}
		t.open[stream] = pathOf(t.path)
	}
	if t.ends {
		t.finish(stream)
	}
}

// finish ends a request, if its head was valid.
func (t *intake) finish(stream uint32) {
	if path, ok := t.open[stream]; ok {
		delete(t.open, stream)
		t.arrived = append(t.arrived, path)
	}
}

// pathOf leaves out the query.
func pathOf(target string) string {
	for i := range len(target) {
		if target[i] == '?' {
			return target[:i]
		}
	}
	return target
}

// unpadded is a HEADERS frame's piece of a header block.
func unpadded(b []byte, flags byte) ([]byte, bool) {
	pad := 0
	if flags&padded != 0 {
		if len(b) == 0 {
			return nil, false
		}
		pad, b = int(b[0]), b[1:]
	}
	if flags&weighted != 0 {
		if len(b) < 5 {
			return nil, false
		}
		b = b[5:]
	}
	if pad > len(b) {
		return nil, false
	}
	return b[:len(b)-pad], true
}
