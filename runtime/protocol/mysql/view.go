package mysql

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"hyperscale/runtime/protocol/http1"
)

// show appends a row that is checked to the view.
func (c *Conn) show(b []byte) *http1.Error {
	in := &c.in
	t := in.table
	view := in.view
	if len(view) > 1 {
		view = append(view, ',')
	}
	view = append(view, '{')
	if t.typed {
		b = b[1+len(t.nulls):]
	}
	start := 0
	for i := range t.columns {
		k := &t.columns[i]
		if i > 0 {
			view = append(view, ',')
		}
		view = append(view, t.names[start:k.end]...)
		start = k.end
		switch {
		case t.typed && (t.null(i) || k.kind == typeNull):
			view = append(view, "null"...)
		case !t.typed && b[0] == headNull:
			view, b = append(view, "null"...), b[1:]
		case !t.typed || width(k.kind) == widthText:
			var text []byte
			text, b, _ = readText(b)
			view = k.appendText(view, text)
		default:
			view, b = k.appendTyped(view, b)
		}
	}
	if in.view = append(view, '}'); int64(len(in.view)) > in.most {
		return errLarge(in.most)
	}
	return nil
}

// appendText appends a value that came as a text as JSON. What is not of its type is a text.
func (k *column) appendText(dst, b []byte) []byte {
	switch k.kind {
	case typeDecimal, typeNewDecimal, typeTiny, typeShort, typeLong, typeLongLong, typeInt24, typeFloat, typeDouble, typeYear:
		if isNumber(b) {
			return append(dst, b...)
		}
	case typeBit:
		if len(b) <= 8 {
			n := uint64(0)
			for _, one := range b {
				n = n<<8 | uint64(one)
			}
			return strconv.AppendUint(dst, n, 10)
		}
	case typeJSON:
		if utf8.Valid(b) && json.Valid(b) {
			return append(dst, b...)
		}
	case typeDate, typeDatetime, typeTimestamp, typeTime:
	default:
		if k.binary {
			return fmt.Appendf(dst, `"\\x%x"`, b)
		}
	}
	return appendQuoted(dst, b)
}

// appendTyped appends a value in the form of its type as JSON, and returns what follows it.
func (k *column) appendTyped(dst, b []byte) (out, rest []byte) {
	signed := func(n int64, bits int) []byte {
		if k.unsigned {
			return strconv.AppendUint(dst, uint64(n)&(math.MaxUint64>>(64-bits)), 10)
		}
		return strconv.AppendInt(dst, n, 10)
	}
	switch k.kind {
	case typeTiny:
		return signed(int64(int8(b[0])), 8), b[1:]
	case typeYear:
		return strconv.AppendUint(dst, uint64(binary.LittleEndian.Uint16(b)), 10), b[2:]
	case typeShort:
		return signed(int64(int16(binary.LittleEndian.Uint16(b))), 16), b[2:]
	case typeLong, typeInt24:
		return signed(int64(int32(binary.LittleEndian.Uint32(b))), 32), b[4:]
	case typeLongLong:
		return signed(int64(binary.LittleEndian.Uint64(b)), 64), b[8:]
	case typeFloat:
		return appendFloat(dst, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), 32), b[4:]
	case typeDouble:
		return appendFloat(dst, math.Float64frombits(binary.LittleEndian.Uint64(b)), 64), b[8:]
	}
	n := int(b[0])
	value := b[1 : 1+n]
	if dst = append(dst, '"'); k.kind == typeTime {
		dst = k.appendTime(dst, value)
	} else {
		dst = k.appendDate(dst, value)
	}
	return append(dst, '"'), b[1+n:]
}

// appendFloat appends a number; what JSON has not is a text.
func appendFloat(dst []byte, f float64, bits int) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Appendf(dst, "%q", strconv.FormatFloat(f, 'g', -1, bits))
	}
	return strconv.AppendFloat(dst, f, 'g', -1, bits)
}

// appendDate appends a date, with its time of day where the type has one, as the server writes it.
func (k *column) appendDate(dst, b []byte) []byte {
	var v [11]byte
	copy(v[:], b)
	dst = fmt.Appendf(dst, "%04d-%02d-%02d", binary.LittleEndian.Uint16(v[:]), v[2], v[3])
	if k.kind == typeDate {
		return dst
	}
	dst = fmt.Appendf(dst, " %02d:%02d:%02d", v[4], v[5], v[6])
	return k.appendFraction(dst, binary.LittleEndian.Uint32(v[7:]))
}

// appendTime appends a time, which may have more than 24 hours, or be negative.
func (k *column) appendTime(dst, b []byte) []byte {
	var v [12]byte
	if copy(v[:], b); v[0] == 1 {
		dst = append(dst, '-')
	}
	hours := uint64(binary.LittleEndian.Uint32(v[1:]))*24 + uint64(v[5])
	dst = fmt.Appendf(dst, "%02d:%02d:%02d", hours, v[6], v[7])
	return k.appendFraction(dst, binary.LittleEndian.Uint32(v[8:]))
}

// appendFraction appends so many digits of a second's fraction as the column has.
func (k *column) appendFraction(dst []byte, micros uint32) []byte {
	const most = 6
	digits := int(k.decimals)
	if digits > most { // it does not say: what there is
		digits = 0
		if micros > 0 {
			digits = most
		}
	}
	if digits == 0 {
		return dst
	}
	return append(append(dst, '.'), fmt.Sprintf("%06d", micros)[:digits]...)
}

// isNumber reports whether JSON has the number as it stands: NaN and Infinity it has not.
func isNumber(b []byte) bool {
	if len(b) > 0 && b[0] == '-' {
		b = b[1:]
	}
	whole, rest := digits(b)
	if whole == 0 || whole > 1 && b[0] == '0' {
		return false
	}
	if len(rest) > 0 && rest[0] == '.' {
		var n int
		if n, rest = digits(rest[1:]); n == 0 {
			return false
		}
	}
	if len(rest) > 0 && (rest[0] == 'e' || rest[0] == 'E') {
		if rest = rest[1:]; len(rest) > 0 && (rest[0] == '+' || rest[0] == '-') {
			rest = rest[1:]
		}
		var n int
		if n, rest = digits(rest); n == 0 {
			return false
		}
	}
	return len(rest) == 0
}

// digits counts the digits at the beginning of b.
func digits(b []byte) (n int, rest []byte) {
	for n < len(b) && b[n] >= '0' && b[n] <= '9' {
		n++
	}
	return n, b[n:]
}

// appendQuoted appends a text as JSON. Bytes that are no UTF-8 become U+FFFD.
func appendQuoted(dst, text []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		dst = append(dst, text[from:i]...)
		switch {
		case c == '"' || c == '\\':
			dst, i = append(dst, '\\', c), i+1
		case c < ' ':
			dst, i = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf]), i+1
		default:
			r, size := utf8.DecodeRune(text[i:])
			dst, i = utf8.AppendRune(dst, r), i+size
		}
		from = i
	}
	return append(append(dst, text[from:]...), '"')
}
