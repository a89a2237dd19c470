package bson

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// A decimal of IEEE 754-2008 with 128 bits: a sign, an exponent and an integer of 34 digits.
const (
	decimalDigits = 34
	decimalBias   = 6176
	decimalMost   = 6111  // exponent
	decimalLeast  = -6176 // exponent
	decimalNaN    = uint64(0x7c) << 56
	decimalInf    = uint64(0x78) << 56
	decimalSign   = uint64(1) << 63
)

// parseDecimal reads a decimal number: it is exact, or an error.
func parseDecimal(text string) (high, low uint64, err error) {
	wrong := fmt.Errorf("%q is no decimal number of 34 digits", clip(text))
	rest, sign := text, uint64(0)
	if strings.HasPrefix(rest, "-") {
		sign = decimalSign
	}
	rest = strings.TrimPrefix(strings.TrimPrefix(rest, "-"), "+")
	if len(text)-len(rest) > 1 {
		return 0, 0, wrong
	}
	switch strings.ToLower(rest) {
	case "nan":
		return decimalNaN, 0, nil
	case "inf", "infinity":
		return decimalInf | sign, 0, nil
	}
	mantissa, power, has := strings.Cut(strings.ToLower(rest), "e")
	exponent := 0
	if has {
		if exponent, err = strconv.Atoi(power); err != nil || exponent < -20_000 || exponent > 20_000 {
			return 0, 0, wrong
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	if digits == "" || len(digits) > 10_000 || strings.Trim(digits, "0123456789") != "" {
		return 0, 0, wrong
	}
	exponent -= len(fraction)
	digits = strings.TrimLeft(digits, "0")
	for len(digits) > 0 && digits[len(digits)-1] == '0' && (len(digits) > decimalDigits || exponent < decimalLeast) {
		digits = digits[:len(digits)-1]
		exponent++
	}
	if digits == "" {
		digits, exponent = "0", min(max(exponent, decimalLeast), decimalMost)
	}
	for exponent > decimalMost && len(digits) < decimalDigits {
		digits += "0"
		exponent--
	}
	if len(digits) > decimalDigits || exponent > decimalMost || exponent < decimalLeast {
		return 0, 0, wrong
	}
	n, _ := new(big.Int).SetString(digits, 10) // they are digits
	low = new(big.Int).And(n, new(big.Int).SetUint64(1<<64-1)).Uint64()
	high = n.Rsh(n, 64).Uint64()
	return sign | uint64(exponent+decimalBias)<<49 | high, low, nil
}

// appendDecimal appends a decimal number as the specification of BSON writes it.
func appendDecimal(dst []byte, high, low uint64) []byte {
	if high&decimalNaN == decimalNaN {
		return append(dst, "NaN"...)
	}
	if high&decimalSign != 0 {
		dst = append(dst, '-')
	}
	if high&decimalInf == decimalInf {
		return append(dst, "Infinity"...)
	}
	var digits string
	exponent := int(high>>49&(1<<14-1)) - decimalBias
	if high>>61&3 == 3 { // the integer would have 114 bits: more digits than there may be, which is zero
		digits, exponent = "0", int(high>>47&(1<<14-1))-decimalBias
	} else {
		n := new(big.Int).SetUint64(high & (1<<49 - 1))
		n.Or(n.Lsh(n, 64), new(big.Int).SetUint64(low))
		if digits = n.String(); len(digits) > decimalDigits {
			digits = "0"
		}
	}
	shown := len(digits) - 1 + exponent
	switch {
	case exponent > 0 || shown < -6:
		dst = append(dst, digits[0])
		if len(digits) > 1 {
			dst = append(append(dst, '.'), digits[1:]...)
		}
		dst = append(dst, 'E')
		if shown >= 0 {
			dst = append(dst, '+')
		}
		return strconv.AppendInt(dst, int64(shown), 10)
	case exponent == 0:
		return append(dst, digits...)
	case shown >= 0:
		at := len(digits) + exponent
		return append(append(append(dst, digits[:at]...), '.'), digits[at:]...)
	}
	dst = append(dst, "0."...)
	for range -exponent - len(digits) {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}
