package frames

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Type is the media type of a question, and of its answers.
const Type = "application/vnd.hyperscale.frames"

// BeatEvery is how long a sender of answers is silent at most.
const BeatEvery = 5 * time.Second

// head is the length before each frame, in bytes.
const head = 4

// BodyMax bounds a body of one frame, in bytes.
const BodyMax = head + message.FrameMax

// Append appends a message with its length to b.
func Append(b []byte, m node.Message) ([]byte, error) {
	at := len(b)
	all, err := message.Append(append(b, make([]byte, head)...), m)
	if err != nil {
		return b, err
	}
	binary.BigEndian.PutUint32(all[at:], uint32(len(all)-at-head))
	return all, nil
}

// Beat is a length of zero.
func Beat() []byte { return make([]byte, head) }

// Reader reads frames.
type Reader struct {
	from *bufio.Reader
	beat func()
}

// NewReader returns one that calls beat for each frame and each beat that it reads.
func NewReader(r io.Reader, beat func()) *Reader { return &Reader{bufio.NewReader(r), beat} }

// Next returns the next message. The error is io.EOF at an end between two frames, io.ErrUnexpectedEOF within one, and
// wraps message.ErrFrame for bytes that are no frame.
func (r *Reader) Next() (message.Body, error) {
	for {
		var length [head]byte
		if _, err := io.ReadFull(r.from, length[:]); err != nil {
			return nil, err
		}
		n := binary.BigEndian.Uint32(length[:])
		if n > message.FrameMax {
			return nil, fmt.Errorf("a frame of %d bytes is above the bound of %d: %w", n, message.FrameMax, message.ErrFrame)
		}
		b := make([]byte, n)
		if _, err := io.ReadFull(r.from, b); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		r.beat()
		if n > 0 {
			return message.Decode(b)
		}
	}
}

// Only returns the only message of a body.
func (r *Reader) Only() (message.Body, error) {
	m, err := r.Next()
	if err != nil {
		return nil, err
	}
	if _, err := r.from.ReadByte(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("something follows the frame: %w", message.ErrFrame)
	}
	return m, nil
}

// Last reports whether nothing follows an answer to a question. What ends before is asked again.
func Last(question, answer node.Message) bool {
	if _, watches := question.(*message.JobWatch); !watches {
		return true
	}
	switch answer.(type) {
	case *message.JobStatus, *message.WorkflowEnded:
		return false
	}
	return true
}
