package http2

import "encoding/binary"

// huffmanBits is the length in bits of each symbol's code, the end-of-string symbol last
// (RFC 7541, appendix B). The code is canonical, so the lengths say everything.
var huffmanBits = [257]uint8{
	13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
	28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
	6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
	5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
	13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
	7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
	15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
	6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
	20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
	24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
	22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
	21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
	26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
	19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
	20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
	26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
	30,
}

const (
	huffmanLeast = 5  // bits of the shortest code
	huffmanMost  = 30 // bits of the longest
	huffmanPeek  = 9  // bits looked up at once: every letter and digit has at most 8
	huffmanEnd   = 256
)

// huffmanTables is the code, both ways.
type huffmanTables struct {
	code  [257]uint32
	short [1 << huffmanPeek]uint16 // bits<<9 | symbol, 0 if the code is longer

	// Of each length: the first code beyond it, aligned to 32 bits; its first code, and
	// where its symbols begin in order.
	end   [huffmanMost + 1]uint64
	first [huffmanMost + 1]uint32
	base  [huffmanMost + 1]uint16
	order [257]uint16
}

var huffman = makeHuffman()

func makeHuffman() *huffmanTables {
	t := new(huffmanTables)
	code, placed := uint32(0), uint16(0)
	for bits := uint8(huffmanLeast); bits <= huffmanMost; bits++ {
		code <<= 1
		t.first[bits], t.base[bits] = code, placed
		for symbol := range huffmanBits {
			if huffmanBits[symbol] != bits {
				continue
			}
			t.code[symbol], t.order[placed] = code, uint16(symbol)
			if bits <= huffmanPeek {
				low := code << (huffmanPeek - bits)
				for i := range uint32(1) << (huffmanPeek - bits) {
					t.short[low+i] = uint16(bits)<<9 | uint16(symbol)
				}
			}
			code++
			placed++
		}
		t.end[bits] = uint64(code) << (32 - bits)
	}
	return t
}

// appendHuffman encodes text.
func appendHuffman(b []byte, text string) []byte {
	var acc uint64
	have := uint(0)
	for i := range len(text) {
		bits := uint(huffmanBits[text[i]])
		acc = acc<<bits | uint64(huffman.code[text[i]])
		for have += bits; have >= 8; {
			have -= 8
			b = append(b, byte(acc>>have))
		}
	}
	if have > 0 { // the rest of the last byte is the beginning of the end-of-string symbol
		b = append(b, byte(acc<<(8-have))|byte(1<<(8-have)-1))
	}
	return b
}

// huffmanLen is the number of bytes of text's code.
func huffmanLen(text string) int {
	n := 0
	for i := range len(text) {
		n += int(huffmanBits[text[i]])
	}
	return (n + 7) / 8
}

// decodeHuffman appends what src says; false if it is no code or badly padded.
func decodeHuffman(dst, src []byte) ([]byte, bool) {
	var acc uint64 // the next bits, at the top
	have := uint(0)
	for len(src) >= 8 {
		acc |= binary.BigEndian.Uint64(src) >> have
		src = src[(63-have)>>3:]
		for have |= 56; have >= huffmanMost; {
			entry := huffman.short[acc>>(64-huffmanPeek)]
			if entry == 0 {
				if entry = huffman.slow(acc); entry&0x1ff == huffmanEnd {
					return dst, false
				}
			}
			dst = append(dst, byte(entry))
			acc <<= entry >> 9
			have -= uint(entry >> 9)
		}
	}
	acc &^= 1<<(64-have) - 1 // there are zeros beyond the end, so that no code fits there
	for {
		for ; have <= 56 && len(src) > 0; src = src[1:] {
			acc |= uint64(src[0]) << (56 - have)
			have += 8
		}
		entry := huffman.short[acc>>(64-huffmanPeek)]
		if entry == 0 {
			entry = huffman.slow(acc)
		}
		bits := uint(entry >> 9)
		if bits > have {
			return dst, have < 8 && acc>>(64-have) == 1<<have-1
		}
		if entry&0x1ff == huffmanEnd {
			return dst, false
		}
		dst = append(dst, byte(entry))
		acc <<= bits
		have -= bits
	}
}

// slow finds a code that is longer than the lookup table's index.
func (t *huffmanTables) slow(acc uint64) uint16 {
	top := acc >> 32
	bits := huffmanPeek + 1
	for top >= t.end[bits] {
		bits++
	}
	place := uint32(t.base[bits]) + uint32(top>>(32-bits)) - t.first[bits]
	return uint16(bits)<<9 | t.order[place]
}
