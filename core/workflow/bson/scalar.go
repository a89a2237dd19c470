package bson

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// form is how the text of a scalar becomes bytes.
type form uint8

const (
	formText form = iota
	formInt
	formLong
	formDouble
	formDecimal
	formObjectID
	formDate
)

func (f form) of() Type {
	return [...]Type{Text, Int, Long, Double, Decimal, ObjectID, Date}[f]
}

// append appends the scalar that a text stands for.
func (f form) append(dst []byte, text string) ([]byte, error) {
	switch f {
	case formInt:
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return dst, fmt.Errorf("%q is no whole number of 32 bits", clip(text))
		}
		return binary.LittleEndian.AppendUint32(dst, uint32(n)), nil
	case formLong:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return dst, fmt.Errorf("%q is no whole number of 64 bits", clip(text))
		}
		return binary.LittleEndian.AppendUint64(dst, uint64(n)), nil
	case formDouble:
		n, err := parseDouble(text)
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(n)), err
	case formDecimal:
		high, low, err := parseDecimal(text)
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(dst, low), high), err
	case formObjectID:
		b, err := hex.DecodeString(text)
		if err != nil || len(b) != idLength {
			return dst, fmt.Errorf("%q is not 24 hexadecimal digits", clip(text))
		}
		return append(dst, b...), nil
	case formDate:
		n, err := parseDate(text)
		return binary.LittleEndian.AppendUint64(dst, uint64(n)), err
	}
	if !utf8.ValidString(text) {
		return dst, errors.New("a text is not UTF-8")
	}
	return appendText(dst, text), nil
}

const idLength = 12

func parseDouble(text string) (float64, error) {
	switch text {
	case "Infinity":
		return math.Inf(1), nil
	case "-Infinity":
		return math.Inf(-1), nil
	case "NaN":
		return math.NaN(), nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.ContainsAny(text, "xXpPiInN_") {
		return 0, fmt.Errorf("%q is no number", clip(text))
	}
	return n, nil
}

// parseDate reads milliseconds since 1970, or an instant of RFC 3339.
func parseDate(text string) (int64, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return 0, fmt.Errorf("%q is neither milliseconds since 1970 nor an instant such as \"2026-01-31T12:00:00Z\"", clip(text))
	}
	return t.UnixMilli(), nil
}

func appendText(dst []byte, text string) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(text)+1))
	return append(append(dst, text...), 0)
}

func putLength(b []byte, at, n int) { binary.LittleEndian.PutUint32(b[at:], uint32(n)) }

// clip shortens a text for an error.
func clip(text string) string {
	if len(text) > 40 {
		return text[:40] + "..."
	}
	return text
}

// wrapped writes an object that stands for a value of a type that JSON lacks; false: it is a document, as
// {"$set": ...} is.
func (c *compiler) wrapped(name string, t *tree) (is bool, err error) {
	word, v := t.names[0], &t.each[0]
	if f, known := map[string]form{"$oid": formObjectID, "$numberInt": formInt, "$numberLong": formLong, "$numberDouble": formDouble, "$numberDecimal": formDecimal}[word]; known {
		if v.kind != kindText || len(t.names) > 1 {
			return true, fmt.Errorf("%s has a text, and nothing stands beside it", word)
		}
		return true, c.scalar(name, f, v.text)
	}
	if (word == "$code" || word == "$scope") && t.field("$scope") != nil {
		return true, errors.New("code with a scope: not as yet")
	}
	if !slices.Contains([]string{"$date", "$binary", "$uuid", "$timestamp", "$regularExpression", "$code", "$symbol", "$minKey", "$maxKey", "$undefined", "$dbPointer"}, word) {
		return false, nil
	}
	if len(t.names) > 1 {
		return true, fmt.Errorf("nothing stands beside %s", word)
	}
	switch word {
	case "$date":
		return true, c.date(name, v)
	case "$code", "$symbol":
		if v.kind != kindText {
			return true, fmt.Errorf("%s has a text", word)
		}
		c.head(map[string]Type{"$code": Code, "$symbol": Symbol}[word], name)
		c.text(v.text)
	case "$minKey", "$maxKey", "$undefined":
		c.head(map[string]Type{"$minKey": MinKey, "$maxKey": MaxKey, "$undefined": Undefined}[word], name)
	case "$dbPointer":
		return true, errors.New("$dbPointer: not as yet")
	default:
		if c.open(v) {
			return true, fmt.Errorf("no value stands in %s: write it out", word)
		}
		return true, c.composed(name, word, v)
	}
	return true, nil
}

// date writes {"$date": "2026-01-31T12:00:00Z"} or {"$date": {"$numberLong": "0"}}.
func (c *compiler) date(name string, v *tree) error {
	if v.kind == kindObject && len(v.names) == 1 && v.names[0] == "$numberLong" {
		v = &v.each[0]
	}
	if v.kind != kindText && v.kind != kindNumber {
		return errors.New("$date has a text such as \"2026-01-31T12:00:00Z\", or milliseconds since 1970")
	}
	return c.scalar(name, formDate, v.text)
}

// composed writes values that several texts make.
func (c *compiler) composed(name, word string, v *tree) error {
	switch word {
	case "$uuid":
		b, err := hex.DecodeString(strings.ReplaceAll(v.text, "-", ""))
		if err != nil || len(b) != 16 || len(v.text) != 36 {
			return fmt.Errorf("%q is no UUID", clip(v.text))
		}
		c.binary(name, binaryUUID, b)
		return nil
	case "$binary":
		text, sub := v.field("base64"), v.field("subType")
		if text == nil || sub == nil || len(v.names) != 2 {
			return errors.New("$binary has base64 and subType")
		}
		b, err := base64.StdEncoding.DecodeString(text.text)
		kind, bad := strconv.ParseUint(sub.text, 16, 8)
		if err != nil || bad != nil {
			return errors.New("$binary: base64 or subType cannot be read")
		}
		c.binary(name, byte(kind), b)
		return nil
	case "$timestamp":
		var n [2]uint64
		for i, word := range []string{"t", "i"} {
			one := v.field(word)
			if one == nil {
				return errors.New("$timestamp has t and i")
			}
			var err error
			if n[i], err = strconv.ParseUint(one.text, 10, 32); err != nil {
				return fmt.Errorf("%s = %s is no number of 32 bits", word, clip(one.text))
			}
		}
		c.head(Timestamp, name)
		c.raw = binary.LittleEndian.AppendUint64(c.raw, n[0]<<32|n[1])
		return nil
	}
	pattern, options := v.field("pattern"), v.field("options")
	if pattern == nil || options == nil || strings.ContainsRune(pattern.text+options.text, 0) {
		return errors.New("$regularExpression has pattern and options, without a zero byte")
	}
	c.head(Regex, name)
	letters := []byte(options.text)
	slices.Sort(letters) // the format has them in this order
	c.raw = append(append(append(append(c.raw, pattern.text...), 0), letters...), 0)
	return nil
}

const (
	binaryUUID = 4
	binaryOld  = 2 // it has its length twice
)

func (c *compiler) binary(name string, kind byte, b []byte) {
	c.head(Binary, name)
	if kind == binaryOld {
		c.raw = binary.LittleEndian.AppendUint32(c.raw, uint32(len(b)+4))
		c.raw = append(c.raw, kind)
		c.raw = append(binary.LittleEndian.AppendUint32(c.raw, uint32(len(b))), b...)
		return
	}
	c.raw = append(binary.LittleEndian.AppendUint32(c.raw, uint32(len(b))), kind)
	c.raw = append(c.raw, b...)
}
