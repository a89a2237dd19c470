package gate

import (
	"fmt"
	"strings"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Keys of this gate's own store, beside those of the registers and the files:
//
//	datacenter/<name>  a datacenter that was heard of
//	probe              tells whether the disk is well
const (
	datacenterPrefix = "datacenter/"
	probeKey         = "probe"
)

// detailMax bounds the sentences of a record, so that it fits a register.
const detailMax = 256

// encoded is a file that holds a message.
func encoded(m node.Message) []byte {
	b, err := message.Append(nil, m)
	if err != nil {
		node.Bug("gate: encode %s: %v", message.Name(m.Kind()), err)
	}
	return b
}

func decoded[T message.Body](bytes []byte) (T, error) {
	var none T
	b, err := message.Decode(bytes)
	if err != nil {
		return none, err
	}
	m, ok := b.(T)
	if !ok {
		return none, fmt.Errorf("it holds a %s", message.Name(b.Kind()))
	}
	return m, nil
}

// shortened keeps a sentence of somebody else within what a record takes.
func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}
