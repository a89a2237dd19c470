package amqp

import (
	"encoding/binary"
)

// The kinds of frames, and the byte that ends one.
const (
	frameMethod    = 1
	frameHeader    = 2
	frameBody      = 3
	frameHeartbeat = 8

	frameEnd  = 0xce
	frameHead = 7 // bytes before the payload: kind, channel, size
	frameOver = frameHead + 1
)

// channelNumber is that of the channel that a connection has.
const channelNumber = 1

// argumentsMost is how many numbers, and how many texts, a method has at most.
const argumentsMost = 6

// arguments are those of a method, numbers and bits apart from texts and tables. Texts are valid as long as
// the frame is.
type arguments struct {
	numbers [argumentsMost]uint64
	texts   [argumentsMost][]byte
}

// is reports whether a number is set, as a bit is.
func (a *arguments) is(at int) bool { return a.numbers[at] != 0 }

// sizes are those of the numbers and of the lengths of texts, by the letter of their field.
func sizeOf(field byte) int {
	switch field {
	case 'o', 'S', 'b':
		return 1
	case 's':
		return 2
	case 'q':
		return 8
	}
	return 4
}

// number reads a number of so many bytes.
func number(b []byte, size int) (n uint64) {
	for _, one := range b[:size] {
		n = n<<8 | uint64(one)
	}
	return n
}

// read reads the arguments of a method, which are all of b; false: they are not.
func (a *arguments) read(fields string, b []byte) bool {
	numbers, texts, bit := 0, 0, 0
	for i := range len(fields) {
		field := fields[i]
		if field == 'b' && bit > 0 { // a further bit of the same byte
			a.numbers[numbers] = uint64(b[0]>>bit) & 1
			numbers++
			if bit++; bit == 8 || i+1 == len(fields) || fields[i+1] != 'b' {
				b, bit = b[1:], 0
			}
			continue
		}
		size := sizeOf(field)
		if len(b) < size {
			return false
		}
		n := number(b, size)
		switch field {
		case 'b':
			a.numbers[numbers] = n & 1
			numbers++
			if i+1 < len(fields) && fields[i+1] == 'b' {
				bit = 1
				continue
			}
			b = b[1:]
		case 'S', 'L', 'T':
			if uint64(len(b)-size) < n {
				return false
			}
			a.texts[texts] = b[size : size+int(n)]
			texts++
			b = b[size+int(n):]
		default:
			a.numbers[numbers] = n
			numbers++
			b = b[size:]
		}
	}
	return len(b) == 0
}

// appendNumber appends a number of so many bytes.
func appendNumber(dst []byte, n uint64, size int) []byte {
	for size--; size >= 0; size-- {
		dst = append(dst, byte(n>>(8*size)))
	}
	return dst
}

// appendShort appends a short text: its callers have checked that it is one.
func appendShort[T string | []byte](dst []byte, s T) []byte {
	return append(append(dst, byte(len(s))), s...)
}

// appendLong appends a long text, or a table.
func appendLong[T string | []byte](dst []byte, s T) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(s))), s...)
}

// appendMethod appends the frame of a method. Its numbers and texts stand in the order of its fields; those
// at the end that are missing are 0 and empty.
func appendMethod(dst []byte, m method, numbers []uint64, texts ...string) []byte {
	fields := shapeOf(m).fields
	dst = beginFrame(dst, frameMethod, m>>16 != 10)
	at := len(dst)
	dst = binary.BigEndian.AppendUint32(dst, uint32(m))
	bits, bit := byte(0), 0
	for i := range len(fields) {
		switch field := fields[i]; field {
		case 'S', 'L', 'T':
			text := ""
			if len(texts) > 0 {
				text, texts = texts[0], texts[1:]
			}
			if field == 'S' {
				dst = appendShort(dst, text)
			} else {
				dst = appendLong(dst, text)
			}
		default:
			n := uint64(0)
			if len(numbers) > 0 {
				n, numbers = numbers[0], numbers[1:]
			}
			if field != 'b' {
				dst = appendNumber(dst, n, sizeOf(field))
				break
			}
			bits |= byte(n&1) << bit
			if bit++; i+1 == len(fields) || fields[i+1] != 'b' {
				dst, bits, bit = append(dst, bits), 0, 0
			}
		}
	}
	return endFrame(dst, at)
}

// beginFrame begins a frame, on the channel or on the connection itself.
func beginFrame(dst []byte, kind byte, onChannel bool) []byte {
	channel := byte(0)
	if onChannel {
		channel = channelNumber
	}
	return append(dst, kind, 0, channel, 0, 0, 0, 0)
}

// endFrame ends the frame whose payload begins at that place.
func endFrame(dst []byte, at int) []byte {
	binary.BigEndian.PutUint32(dst[at-4:], uint32(len(dst)-at))
	return append(dst, frameEnd)
}

// frame is a whole one, as it came.
type frame struct {
	kind    byte
	channel uint16
	payload []byte
}

// cut takes the frame that begins b, and returns its length; 0: it is not whole, and need is how many bytes
// it has, as far as that is known. Most bounds its payload.
func (f *frame) cut(b []byte, most int) (used, need int, err error) {
	switch b[0] {
	case frameMethod, frameHeader, frameBody, frameHeartbeat:
	default:
		return 0, 0, errNoFrame
	}
	if len(b) < frameHead {
		return 0, frameHead, nil
	}
	size := uint64(binary.BigEndian.Uint32(b[3:]))
	if size > uint64(most) {
		return 0, 0, errFrame(size, most)
	}
	whole := frameOver + int(size)
	if len(b) < whole {
		return 0, whole, nil
	}
	if b[whole-1] != frameEnd {
		return 0, 0, errEnd
	}
	f.kind, f.channel, f.payload = b[0], binary.BigEndian.Uint16(b[1:]), b[frameHead:whole-1]
	return whole, 0, nil
}

// call is a method as it came.
type call struct {
	*shape
	arguments
}

// read reads the method that a frame carries.
func (m *call) read(f *frame) error {
	if len(f.payload) < 4 {
		return errShort
	}
	of := method(binary.BigEndian.Uint32(f.payload))
	m.shape = shapeOf(of)
	switch {
	case m.shape == nil || m.from&server == 0:
		return breach("the server sent the method %d.%d, which no server has", of>>16, of&0xffff)
	case (of>>16 == 10) != (f.channel == 0):
		return breach("the server sent %s on channel %d", m.name, f.channel)
	case !m.arguments.read(m.fields, f.payload[4:]):
		return breach("the server sent %s with arguments that are too short or too long", m.name)
	}
	return nil
}
