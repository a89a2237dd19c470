package websocket

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"github.com/klauspost/compress/flate"

	"hyperscale/runtime/protocol/codec"
)

// Prepared is a message made before the clock runs: its payload without a mask, and deflated
// once. It refers to no connection and does not change.
type Prepared struct {
	opcode   byte
	payload  []byte
	deflated []byte // empty: it would not be smaller
}

// deflateLeast is the shortest payload that is compressed: of shorter ones little is saved.
const deflateLeast = 32

// Prepare makes a message; it keeps the payload. Compressed says that a connection may agree on
// compression.
func Prepare(kind codec.MessageKind, payload []byte, compressed bool) (*Prepared, error) {
	if kind == codec.MessageText && !utf8.Valid(payload) {
		return nil, errSendText
	}
	p := &Prepared{opcode: opcodeOf(kind), payload: payload}
	if !compressed || len(payload) < deflateLeast {
		return p, nil
	}
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.DefaultCompression)
	if err == nil {
		_, err = w.Write(payload)
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		return nil, err
	}
	if d := cutTail(b.Bytes()); len(d) < len(payload) {
		p.deflated = d
	}
	return p, nil
}

// cutTail removes what the receiver adds again (RFC 7692, 7.2.1).
func cutTail(b []byte) []byte { return bytes.TrimSuffix(b, []byte(deflateTail[:4])) }

// bytes returns the payload for a connection, and the head's first byte.
func (p *Prepared) bytes(compressed bool) (first byte, payload []byte) {
	if compressed && len(p.deflated) > 0 {
		return bitFin | bitDeflated | p.opcode, p.deflated
	}
	return bitFin | p.opcode, p.payload
}

func opcodeOf(kind codec.MessageKind) byte {
	if kind == codec.MessageBinary {
		return opBinary
	}
	return opText
}

// The opcodes and bits of a frame's head (RFC 6455, 5.2).
const (
	opContinuation = 0x0
	opText         = 0x1
	opBinary       = 0x2
	opClose        = 0x8
	opPing         = 0x9
	opPong         = 0xa

	bitFin      = 0x80
	bitDeflated = 0x40 // RSV1
	bitsRest    = 0x30 // RSV2, RSV3
	bitMask     = 0x80
	bitControl  = 0x08 // of an opcode

	headMost    = 10 // without a mask
	maskLen     = 4
	controlMost = 125
	reasonMost  = controlMost - 2
)

// appendHead appends a frame's head with its mask.
func appendHead(dst []byte, first byte, n int, with uint32) []byte {
	switch {
	case n <= controlMost:
		dst = append(dst, first, bitMask|byte(n))
	case n <= 0xffff:
		dst = append(dst, first, bitMask|126, byte(n>>8), byte(n))
	default:
		dst = binary.BigEndian.AppendUint64(append(dst, first, bitMask|127), uint64(n))
	}
	return binary.LittleEndian.AppendUint32(dst, with)
}
