package kafka

import (
	"strconv"

	"hyperscale/runtime/protocol/kafka/wire"
)

// Least bytes of what a list of Produce has.
const (
	answerTopicLeast     = 2 + 4
	answerPartitionLeast = 4 + 2 + 8 + 8
	answerRecordLeast    = 4 + 2
)

// asError is an error that a broker told, and whether it says that the cluster has changed.
func asError(number int16, text []byte) (error, bool) {
	if err := serverError(number, text); err != nil {
		return err, moved(number)
	}
	return nil, false
}

// produced reads the answer to Produce: that of one partition.
func (c *Conn) produced(r *wire.Reader, a *asked) {
	if r.List(answerTopicLeast) != 1 {
		r.Bad = true
		return
	}
	topic := r.Text()
	if r.List(answerPartitionLeast) != 1 {
		r.Bad = true
		return
	}
	o := &c.outcome
	if o.Partition = r.Int32(); o.Partition != a.partition || string(topic) != string(c.topic) {
		r.Bad = true
		return
	}
	number := r.Int16()
	o.Offset = r.Int64()
	r.Int64() // the time, where the broker sets it
	var why []byte
	if c.speaks.produce >= 5 {
		r.Int64() // where the log begins
	}
	if c.speaks.produce >= 8 {
		for range r.List(answerRecordLeast) {
			r.Int32()
			if text := r.Text(); len(why) == 0 {
				why = text
			}
		}
		if text := r.Text(); len(why) == 0 {
			why = text
		}
	}
	o.Throttled = r.Int32()
	if o.Err, o.Moved = asError(number, why); o.Err != nil || !a.keeps {
		return
	}
	c.body = AppendPlace(c.body, topic, o.Partition, o.Offset)
}

// AppendPlace appends where a record is.
func AppendPlace[T ~string | ~[]byte](dst []byte, topic T, partition int32, offset int64) []byte {
	dst = append(append(dst, `{"topic":"`...), topic...)
	dst = strconv.AppendInt(append(dst, `","partition":`...), int64(partition), 10)
	return append(strconv.AppendInt(append(dst, `,"offset":`...), offset, 10), '}')
}
