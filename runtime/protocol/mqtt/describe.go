package mqtt

import (
	"fmt"
)

// hiddenText is what is shown of a secret.
const hiddenText = "***"

// Describe appends a line about whole packets: of CONNECT only that it is one.
func Describe(dst, b []byte) []byte {
	for len(b) > 0 {
		p, head, err := readHead(b)
		if err != nil || head == 0 || len(b) < head+p.size {
			return append(dst, "..."...)
		}
		if len(dst) > 0 {
			dst = append(dst, "; "...)
		}
		dst = append(dst, p.kind.String()...)
		switch body := b[head : head+p.size]; {
		case p.kind == packetConnect:
			dst = append(dst, " "+hiddenText...)
		case p.kind == packetPublish:
			topic, _, _ := cutText(body)
			dst = fmt.Appendf(dst, " %q, %d bytes", clip(topic), p.size)
		case p.size > 0:
			dst = fmt.Appendf(dst, " %d bytes", p.size)
		}
		b = b[head+p.size:]
	}
	return dst
}

// Show appends a line about a message that goes out: its QoS, its topic, and its data.
func (o *Operation) Show(dst []byte, values [][]byte) []byte {
	dst = fmt.Appendf(dst, "publish qos %d ", o.QoS)
	if o.Retain {
		dst = append(dst, "retain "...)
	}
	dst = append(o.Topic.fill(dst, values), ": "...)
	return o.Data.fill(dst, values)
}
