package grpc

import (
	"encoding/binary"
	"fmt"

	"hyperscale/runtime/protocol/http1"
)

// MessageMost bounds a message that no setting bounds, in bytes.
const MessageMost = http1.BodyLimitDefault

// Reader reads the messages of an answer while it comes.
type Reader struct {
	Most  int64 // of one message, in bytes; 0: MessageMost
	Keeps bool  // the last message is kept

	Count      int    // messages that are whole
	Last       []byte // the last one, if Keeps
	Compressed bool   // whether Last is
	Packed     bool   // some message was compressed

	head [HeadLen]byte
	have int   // bytes of the head
	left int64 // of the message
	err  *http1.Error
}

// Begin prepares for an answer, and keeps the memory of the last one.
func (r *Reader) Begin(most int64, keeps bool) {
	if cap(r.Last) > lastMost {
		r.Last = nil
	}
	if most <= 0 {
		most = MessageMost
	}
	*r = Reader{Most: most, Keeps: keeps, Last: r.Last[:0]}
}

// lastMost is what memory an idle Reader keeps.
const lastMost = 64 << 10

var errFlag = &http1.Error{Kind: http1.KindProtocol, Detail: "the first byte of a message is neither 0 nor 1: the answer is no gRPC"}

// Feed takes a piece of the answer, and returns how many messages ended in it. After an error it
// takes nothing.
func (r *Reader) Feed(b []byte) (ended int, err error) {
	for len(b) > 0 && r.err == nil {
		n, whole := r.Next(b)
		if b = b[n:]; whole {
			ended++
		}
	}
	if r.err != nil {
		return ended, r.err
	}
	return ended, nil
}

// Next takes bytes up to the end of a message, and returns how many. Whole: a message has ended, which is
// Last if it is kept.
func (r *Reader) Next(b []byte) (used int, whole bool) {
	all := len(b)
	for len(b) > 0 && r.err == nil {
		if r.have < HeadLen {
			n := copy(r.head[r.have:], b)
			r.have += n
			b = b[n:]
			if r.head[0] > 1 {
				r.err = errFlag
				break
			}
			if r.have < HeadLen {
				break
			}
			if r.left = int64(binary.BigEndian.Uint32(r.head[1:])); r.left > r.Most {
				r.err = &http1.Error{Kind: http1.KindTooLarge, Detail: fmt.Sprintf("a message has %d bytes, and max_body is %d", r.left, r.Most)}
				break
			}
			r.Last, r.Compressed = r.Last[:0], r.head[0] == 1
			r.Packed = r.Packed || r.Compressed
		}
		n := min(int64(len(b)), r.left)
		if r.Keeps {
			r.Last = append(r.Last, b[:n]...)
		}
		b = b[n:]
		if r.left -= n; r.left == 0 {
			r.have = 0
			r.Count++
			return all - len(b), true
		}
	}
	return all - len(b), false
}

// Broken reports that the answer cannot be read on.
func (r *Reader) Broken() bool { return r.err != nil }

var errCut = &http1.Error{Kind: http1.KindTruncated, Detail: "the answer ended in the middle of a message"}

// End says what is wrong with an answer that ends here; nil: nothing.
func (r *Reader) End() *http1.Error {
	switch {
	case r.err != nil:
		return r.err
	case r.have > 0:
		return errCut
	}
	return nil
}
