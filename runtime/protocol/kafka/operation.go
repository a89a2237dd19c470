package kafka

import (
	"strconv"

	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/redact"
)

// Field is a header of a record.
type Field struct {
	Name  string
	Value Text
}

// Acks says how many replicas have a record before its broker answers.
type Acks int16

// The values of acks.
const (
	AcksNone   Acks = 0  // the broker does not answer
	AcksLeader Acks = 1  // the leader
	AcksAll    Acks = -1 // all replicas in sync
)

// Message is what an operation sends.
type Message struct {
	Topic       Text
	Key         Text // nil: it has none
	Value       Text // nil: it has none, which deletes the key in a compacted topic
	Headers     []Field
	Acks        Acks
	Compression Compression
}

// Operation is a message, compiled before the clock runs. It refers to no connection and does not change.
type Operation struct {
	Message
	topic string // empty: it has values
}

// Prepare makes an operation of a message. Its own texts are checked where the file is loaded.
func Prepare(m Message) *Operation {
	o := &Operation{Message: m}
	if !m.Topic.open() {
		o.topic = string(m.Topic.fill(nil, nil))
	}
	return o
}

// In appends the name of the operation's topic.
func (o *Operation) In(dst []byte, values [][]byte) ([]byte, error) {
	if o.topic != "" {
		return append(dst, o.topic...), nil
	}
	start := len(dst)
	dst = o.Topic.fill(dst, values)
	if why := Unsendable(string(dst[start:])); why != "" {
		return dst, &http1.Error{Kind: http1.KindValue, Detail: "the topic " + strconv.Quote(clip(dst[start:])) + " " + why}
	}
	return dst, nil
}

// Choose returns the partition of so many that the operation's key belongs to. It is below 0 for a record
// without a key: any will do. Scratch is memory that the call may use, and returns.
func (o *Operation) Choose(partitions int, values [][]byte, scratch []byte) (partition int32, memory []byte) {
	if o.Key == nil {
		return -1, scratch
	}
	scratch = o.Key.fill(scratch[:0], values)
	return PartitionOf(scratch, partitions), scratch
}

const shownMost = 60 // bytes of a name in an error

func clip(b []byte, secrets ...string) string {
	return redact.Excerpt(string(b), shownMost, secrets...)
}
