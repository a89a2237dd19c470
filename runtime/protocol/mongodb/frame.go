package mongodb

import (
	"encoding/binary"
	"hash/crc32"

	"hyperscale/core/workflow/bson"
	"hyperscale/runtime/protocol/http1"
)

// The codes of messages.
const (
	opReply      = 1
	opCompressed = 2012
	opMsg        = 2013
)

// The flags of OP_MSG.
const (
	flagChecksum   = 1 << 0
	flagMoreToCome = 1 << 1
	flagsRequired  = 1<<16 - 1 // one that is not known ends the connection
)

const (
	headLength = 16
	bodyAt     = headLength + 4 + 1 // flags, and the kind of the section
	frameLeast = bodyAt + 5         // with an empty document
)

// beginFrame appends a message up to its document.
func beginFrame(dst []byte, number int32) []byte {
	dst = append(dst, 0, 0, 0, 0)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(number))
	dst = binary.LittleEndian.AppendUint32(dst, 0) // it answers none
	dst = binary.LittleEndian.AppendUint32(dst, opMsg)
	return append(dst, 0, 0, 0, 0, 0)
}

// endFrame puts the length of a message in.
func endFrame(b []byte, start int) {
	binary.LittleEndian.PutUint32(b[start:], uint32(len(b)-start))
}

// length returns how long the message is that b begins with; 0: b has not enough of it to say so. Left is how many
// bytes of most may come.
func length(b []byte, left, most int64) (int, *http1.Error) {
	if len(b) < 4 {
		return 0, nil
	}
	n := int64(int32(binary.LittleEndian.Uint32(b)))
	switch {
	case n < headLength:
		return 0, breach("a message of the server says that it has %d bytes", n)
	case n > frameMost:
		return 0, breach("a message of the server says that it has %d bytes, and the protocol has %d at most", n, frameMost)
	case n > left:
		return 0, errLarge(most)
	}
	return int(n), nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// documentOf returns the document of a whole message, which answers the command of a number.
func documentOf(b []byte, number int32) ([]byte, *http1.Error) {
	switch code := int32(binary.LittleEndian.Uint32(b[12:])); code {
	case opMsg:
	case opReply:
		return nil, errOld
	case opCompressed:
		return nil, errCompressed
	default:
		return nil, breach("the server sent a message of code %d", code)
	}
	if to := int32(binary.LittleEndian.Uint32(b[8:])); to != number {
		return nil, breach("the server answers message %d, and %d was asked", to, number)
	}
	if len(b) < frameLeast {
		return nil, errFrame
	}
	flags := binary.LittleEndian.Uint32(b[headLength:])
	switch {
	case flags&flagsRequired&^(flagChecksum|flagMoreToCome) != 0:
		return nil, breach("a message of the server has the flags %#x, of which one is not known", flags)
	case flags&flagMoreToCome != 0:
		return nil, errMore
	case b[bodyAt-1] != 0:
		return nil, breach("a message of the server has a section of kind %d", b[bodyAt-1])
	}
	body := b[bodyAt:]
	if flags&flagChecksum != 0 {
		end := len(b) - 4
		if end < frameLeast || crc32.Checksum(b[:end], castagnoli) != binary.LittleEndian.Uint32(b[end:]) {
			return nil, errChecksum
		}
		body = b[bodyAt:end]
	}
	if bson.Length(body) != len(body) {
		return nil, errFrame
	}
	if err := bson.Check(body); err != nil {
		return nil, breach("an answer is no BSON: %v", err)
	}
	return body, nil
}
