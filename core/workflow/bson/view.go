package bson

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"
	"time"

	"hyperscale/core/workflow/language"
)

func doubleOf(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }

// AppendJSON appends a document that Check has accepted, as relaxed extended JSON.
func AppendJSON(dst, b []byte) []byte { return AppendWithin(dst, b, math.MaxInt64) }

// AppendWithin does so until dst has more than so many bytes: what it holds then is no JSON. JSON may have eleven
// times the bytes of its document.
func AppendWithin(dst, b []byte, most int64) []byte { return appendFields(dst, b, Document, most) }

func appendFields(dst, b []byte, as Type, most int64) []byte {
	ends := "{}"
	if as == Array {
		ends = "[]"
	}
	dst = append(dst, ends[0])
	rest, err := Fields(b)
	for first := true; err == nil && len(rest) > 0 && int64(len(dst)) <= most; first = false {
		var e Element
		if e, rest, err = Next(rest); err != nil {
			break
		}
		if !first {
			dst = append(dst, ',')
		}
		if as != Array {
			dst = append(quoted(dst, e.Name), ':')
		}
		dst = e.AppendWithin(dst, most)
	}
	return append(dst, ends[1])
}

func quoted(dst, text []byte) []byte { return language.AppendQuoted(dst, string(text)) }

// AppendWithin appends the field's value, until dst has more than so many bytes.
func (e *Element) AppendWithin(dst []byte, most int64) []byte {
	switch v := e.Value; e.Type {
	case Text:
		return quoted(dst, v[4:len(v)-1])
	case Document, Array:
		return appendFields(dst, v, e.Type, most)
	case Null:
		return append(dst, "null"...)
	case Bool:
		return strconv.AppendBool(dst, v[0] == 1)
	case Int, Long:
		n, _ := e.Whole() // it is one
		return strconv.AppendInt(dst, n, 10)
	case Double:
		return appendDouble(dst, doubleOf(v))
	case Date:
		return appendDate(dst, int64(binary.LittleEndian.Uint64(v)))
	case ObjectID:
		dst = append(dst, `{"$oid":"`...)
		return append(hex.AppendEncode(dst, v), `"}`...)
	case Decimal:
		dst = append(dst, `{"$numberDecimal":"`...)
		return append(appendDecimal(dst, binary.LittleEndian.Uint64(v[8:]), binary.LittleEndian.Uint64(v)), `"}`...)
	}
	return e.appendRare(dst, most)
}

// appendRare appends values of the types that few documents have.
func (e *Element) appendRare(dst []byte, most int64) []byte {
	switch v := e.Value; e.Type {
	case Binary:
		kind, b := v[4], v[5:]
		if kind == binaryOld {
			b = b[4:]
		}
		dst = append(dst, `{"$binary":{"base64":"`...)
		dst = append(base64.StdEncoding.AppendEncode(dst, b), `","subType":"`...)
		return append(hex.AppendEncode(dst, []byte{kind}), `"}}`...)
	case Timestamp:
		n := binary.LittleEndian.Uint64(v)
		dst = strconv.AppendUint(append(dst, `{"$timestamp":{"t":`...), n>>32, 10)
		return append(strconv.AppendUint(append(dst, `,"i":`...), n&(1<<32-1), 10), "}}"...)
	case Regex:
		pattern, options, _ := bytes.Cut(v[:len(v)-1], []byte{0})
		dst = quoted(append(dst, `{"$regularExpression":{"pattern":`...), pattern)
		return append(quoted(append(dst, `,"options":`...), options), "}}"...)
	case Code:
		return append(quoted(append(dst, `{"$code":`...), v[4:len(v)-1]), '}')
	case Symbol:
		return append(quoted(append(dst, `{"$symbol":`...), v[4:len(v)-1]), '}')
	case Scoped:
		n := int(binary.LittleEndian.Uint32(v[4:]))
		dst = quoted(append(dst, `{"$code":`...), v[8:8+n-1])
		return append(AppendWithin(append(dst, `,"$scope":`...), v[8+n:], most), '}')
	case Pointer:
		at := len(v) - idLength
		dst = quoted(append(dst, `{"$dbPointer":{"$ref":`...), v[4:at-1])
		dst = hex.AppendEncode(append(dst, `,"$id":{"$oid":"`...), v[at:])
		return append(dst, `"}}}`...)
	case MinKey:
		return append(dst, `{"$minKey":1}`...)
	case MaxKey:
		return append(dst, `{"$maxKey":1}`...)
	}
	return append(dst, `{"$undefined":true}`...)
}

// appendDouble appends a number that reads as a double again.
func appendDouble(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, `{"$numberDouble":"NaN"}`...)
	case math.IsInf(f, 1):
		return append(dst, `{"$numberDouble":"Infinity"}`...)
	case math.IsInf(f, -1):
		return append(dst, `{"$numberDouble":"-Infinity"}`...)
	}
	start := len(dst)
	form := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		form = 'e'
	}
	if dst = strconv.AppendFloat(dst, f, form, -1, 64); !bytes.ContainsAny(dst[start:], ".e") {
		dst = append(dst, ".0"...)
	}
	return dst
}

// appendDate appends an instant: as a text in the years that RFC 3339 and MongoDB agree upon.
func appendDate(dst []byte, millis int64) []byte {
	const year10000 = 253_402_300_800_000
	if millis < 0 || millis >= year10000 {
		dst = strconv.AppendInt(append(dst, `{"$date":{"$numberLong":"`...), millis, 10)
		return append(dst, `"}}`...)
	}
	dst = append(dst, `{"$date":"`...)
	return append(time.UnixMilli(millis).UTC().AppendFormat(dst, "2006-01-02T15:04:05.999Z"), `"}`...)
}
