package hostile

import "encoding/binary"

// frames writes an HTTP/2 server's bytes. It is no codec: it writes invalid frames, too.
type frames []byte

const (
	fData         = 0x0
	fHeaders      = 0x1
	fPriority     = 0x2
	fReset        = 0x3
	fSettings     = 0x4
	fPush         = 0x5
	fPing         = 0x6
	fGoaway       = 0x7
	fWindow       = 0x8
	fContinuation = 0x9

	ack      = 0x1
	ends     = 0x1 // END_STREAM
	headEnds = 0x4 // END_HEADERS
	padded   = 0x8
	weighed  = 0x20

	setTable   = 1
	setPush    = 2
	setStreams = 3
	setWindow  = 4
	setFrame   = 5

	frameHead = 9
	frameMost = 1 << 14
	windowMax = 1<<31 - 1

	windowFirst = 1<<16 - 1
)

func (f frames) frame(kind, flags byte, stream uint32, payload string) frames {
	n := len(payload)
	f = append(f, byte(n>>16), byte(n>>8), byte(n), kind, flags)
	return append(binary.BigEndian.AppendUint32(f, stream), payload...)
}

// settings are pairs of a number and a value.
func (f frames) settings(pairs ...uint32) frames {
	var payload []byte
	for i := 0; i < len(pairs); i += 2 {
		payload = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint16(payload, uint16(pairs[i])), pairs[i+1])
	}
	return f.frame(fSettings, 0, 0, string(payload))
}

// head is a head in one frame.
func (f frames) head(stream uint32, flags byte, names ...string) frames {
	return f.frame(fHeaders, flags|headEnds, stream, block(names...))
}

func (f frames) data(stream uint32, flags byte, body string) frames {
	return f.frame(fData, flags, stream, body)
}

// whole are whole answers of two bytes.
func (f frames) whole(streams ...uint32) frames {
	for _, id := range streams {
		f = f.head(id, 0, ":status", "200", "content-length", "2").data(id, ends, "ok")
	}
	return f
}

func (f frames) reset(stream, code uint32) frames { return f.frame(fReset, 0, stream, words(code)) }

func (f frames) goaway(last, code uint32) frames { return f.frame(fGoaway, 0, 0, words(last, code)) }

func (f frames) window(stream, by uint32) frames { return f.frame(fWindow, 0, stream, words(by)) }

func (f frames) times(n int, more func(frames) frames) frames {
	for range n {
		f = more(f)
	}
	return f
}

// block is a header block without table and without Huffman code.
func block(fields ...string) string {
	var b []byte
	text := func(s string) {
		if len(s) < 0x7f {
			b = append(b, byte(len(s)))
		} else {
			b = append(b, 0x7f)
			n := len(s) - 0x7f
			for ; n >= 0x80; n >>= 7 {
				b = append(b, byte(n)|0x80)
			}
			b = append(b, byte(n))
		}
		b = append(b, s...)
	}
	for i := 0; i < len(fields); i += 2 {
		b = append(b, 0)
		text(fields[i])
		text(fields[i+1])
	}
	return string(b)
}

func words(numbers ...uint32) string {
	var b []byte
	for _, n := range numbers {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	return string(b)
}
