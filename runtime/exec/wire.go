package exec

import (
	"encoding/binary"
	"fmt"
	"io"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// write sends one frame behind its 4-byte length. scratch is reused and returned.
func write(w io.Writer, m node.Message, scratch []byte) ([]byte, error) {
	b, err := message.Append(append(scratch[:0], 0, 0, 0, 0), m)
	if err != nil {
		return b, err
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	_, err = w.Write(b)
	return b, err
}

// read receives one frame. The length is judged before anything is allocated.
func read(r io.Reader) (message.Body, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > message.FrameMax {
		return nil, fmt.Errorf("read frame: length %d is above the bound of %d: %w", n, message.FrameMax, message.ErrFrame)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, err
	}
	return message.Decode(b)
}
