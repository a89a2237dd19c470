package kafka

import (
	"encoding/binary"
	"fmt"
)

// hiddenText is what is shown of a secret.
const hiddenText = "***"

// Describe appends a line about the bytes of a greeting: what proves the user is hidden.
func Describe(dst, b []byte) []byte {
	for len(b) >= 14 {
		size := int(binary.BigEndian.Uint32(b))
		if size < 10 || size > len(b)-4 {
			break
		}
		if len(dst) > 0 {
			dst = append(dst, "; "...)
		}
		a := api(int16(binary.BigEndian.Uint16(b[4:])))
		dst = fmt.Appendf(dst, "%s v%d", a, binary.BigEndian.Uint16(b[6:]))
		if a == apiAuthenticate {
			dst = append(dst, " "+hiddenText...)
		}
		b = b[4+size:]
	}
	return dst
}

// Show appends a line about a record that goes out.
func (o *Operation) Show(dst []byte, partition int32, values [][]byte) []byte {
	dst = o.Topic.fill(append(dst, "produce "...), values)
	dst = fmt.Appendf(dst, "[%d] ", partition)
	if o.Key != nil {
		dst = append(o.Key.fill(dst, values), ": "...)
	}
	return o.Value.fill(dst, values)
}

// ShowPositions appends a line about what is asked for.
func ShowPositions(dst []byte, all []Position) []byte {
	for _, p := range all {
		dst = fmt.Appendf(dst, " %s[%d]@%d", p.Topic, p.Partition, p.Offset)
	}
	return dst
}
